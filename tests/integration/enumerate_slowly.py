"""A run for test_kill: python enumerate_slowly.py PUZZLE DATABASE SECONDS

Checkpoints as often as it may, sleeps SECONDS in every layer, and prints each event as a line.
"""

import sys
import time

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Estimate, Outcome, Settings
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load


class Printer(Reporter):
    """Prints the events of a run."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def estimate(self, estimate: Estimate) -> None:
        print("begun", flush=True)

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        print("resumed", depth, flush=True)

    def begun_anew(self, job: int, depth: int, seconds: float) -> None:
        print("anew", depth, flush=True)

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        print("layer", depth, flush=True)
        time.sleep(self.seconds)

    def checkpoint(self, depth: int, seconds: float) -> None:
        print("checkpoint", depth, flush=True)

    def stopping(self) -> None:
        print("stopping", flush=True)

    def finished(self, outcome: Outcome) -> None:
        print("finished", outcome.digest, flush=True)


if __name__ == "__main__":
    with open_database(sys.argv[2], create=True) as database:
        enumerate_puzzle(
            load(sys.argv[1]),
            database,
            Settings(checkpoint_seconds=0, threads=2),
            Printer(float(sys.argv[3])),
        )
