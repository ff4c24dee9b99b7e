"""Small enumerations in processes of the server's own; larger ones wait for a coordinator."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from farthest.environment import DATABASE_URL
from farthest.errors import FarthestError
from farthest.web.requests import estimate_of

if TYPE_CHECKING:
    from farthest.models.transactions import Database
    from farthest.puzzles.puzzle import Puzzle

MOST_STATES = 10_000_000
MOST_PROCESSES = 2
STOP_SECONDS = 10.0
PROGRAM = "from farthest.cli.entry import main; main()"


class LocalJobs:
    """The processes. Each is `farthest resume JOB --here`: it claims the job as a coordinator does, stores progress and
    checkpoints, and ends where the job is cancelled."""

    def __init__(self, database: Database, url: str | None) -> None:
        """``url``: of the database, as for ``open_database``. It is handed on in the environment, which others cannot
        read."""
        self._database = database
        self._environment = {**os.environ, **({DATABASE_URL.name: url} if url else {})}
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def begin(self, number: int, puzzle: Puzzle) -> bool:
        """Runs a queued job, if it is small and few are run now; else it stays in the queue."""
        if puzzle.definition.module or not self._small(puzzle):
            return False
        with self._lock:
            self._processes = [process for process in self._processes if process.poll() is None]
            if len(self._processes) >= MOST_PROCESSES:
                return False
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, "resume", str(number), "--here"],
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C in the server's terminal is for the server
                )
            )
        return True

    def _small(self, puzzle: Puzzle) -> bool:
        try:
            needs = estimate_of(puzzle, self._database)
        except FarthestError:
            return False
        return needs.states_at_most <= MOST_STATES and not needs.problem

    def close(self) -> None:
        """Lets each store a checkpoint and end; what has not ended after ``STOP_SECONDS`` is killed."""
        with self._lock:
            for process in self._processes:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
            for process in self._processes:
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            self._processes.clear()
