"""Enumerations of patterns that are stopped: nothing is kept, and that is said."""

import signal
from pathlib import Path

import pytest

import farthest
from cases import for_each
from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Settings
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.models.records import INTERRUPTED
from farthest.puzzles.catalogue import load
from kernels import compiled

NAME = "8-puzzle@1-4"


class Impatient(Reporter):
    """Presses Ctrl-C at a depth."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if depth == 4:
            signal.raise_signal(signal.SIGINT)

    def notice(self, text: str) -> None:
        self.said.append(text)


def test_a_stopped_pattern_begins_again(tmp_path: Path) -> None:
    undisturbed = enumerate_puzzle(load(NAME), None)
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        reporter = Impatient()
        with pytest.raises(Interrupted) as stopped:
            enumerate_puzzle(load(NAME), database, Settings(checkpoint_seconds=0), reporter)
        assert stopped.value.depth is None
        assert reporter.said == [
            "stopping after this layer; this run stores no checkpoints, so the same command will begin again"
        ]
        assert Jobs(database).get(1).status == INTERRUPTED
        assert Maps(database).depth(1) is None
        again = enumerate_puzzle(load(NAME), database, Settings(threads=3))
        assert (again.job, again.digest, again.resumed_from) == (1, undisturbed.digest, None)


@for_each("name", ["15-puzzle@1.6.11", "24-puzzle@1.7.12"])
@for_each("isa", ["portable", ""])
def test_digests_do_not_depend_on_threads_or_instructions(isa: str, name: str) -> None:
    with compiled(isa):
        digests = {enumerate_puzzle(load(name), None, Settings(threads=threads)).digest for threads in (1, 4)}
    assert digests == {enumerate_puzzle(load(name), None).digest}


@pytest.mark.slow
def test_patterns_of_alike_pieces_are_admissible_heuristics(tmp_path: Path) -> None:
    """Against the true distances of the 2x2x2, as values and in searches."""
    database, name = str(tmp_path / "maps.db"), "cube-2x2x2-htm"
    patterns = ("@turns:all", "@URF=UFL=ULB.turns:all", "@URF=UFL.places:DFR=DRB")
    for pattern in patterns:
        farthest.enumerate(name + pattern, database=database).close()
    with farthest.enumerate(name, database=database) as stored:
        boards = stored.random(300, seed=1)
        distances = [stored.distance(board) for board in boards]
        for pattern in patterns:
            values = farthest.heuristic_values(name, boards, pattern, database=database)
            assert all(value <= distance for value, distance in zip(values, distances, strict=True))
            assert max(values) > 3
            for board, distance in list(zip(boards, distances, strict=True))[::60]:
                found = farthest.solve(name, board, heuristic=pattern, database=database, store=False)
                assert found.length == distance
