"""Runs whose memory is taken by other programs while they run, and runs whose database file is."""

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from farthest.coordinator import attempt
from farthest.coordinator.enumeration import machine
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.enumeration.resources import PROCESS_BYTES
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Outcome, Settings
from farthest.errors import MemoryUsedUpError, StorageError
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.searches import Searches
from farthest.puzzles.catalogue import load
from integration.conftest import Run

Squeeze = Callable[[int], None]


class Notices(Reporter):
    def __init__(self) -> None:
        self.told: list[str] = []
        self.checkpoints: list[int] = []

    def notice(self, text: str) -> None:
        self.told.append(text)

    def checkpoint(self, depth: int, seconds: float) -> None:
        self.checkpoints.append(depth)


@pytest.fixture
def squeezed(monkeypatch: pytest.MonkeyPatch) -> Squeeze:
    """Lets the memory run out once, when it is looked at for the n-th time."""
    monkeypatch.setattr(attempt, "WATCH_SECONDS", 0.0)

    def squeeze(turn: int) -> None:
        free: Iterator[int] = itertools.chain([2**34] * turn, [2**20], itertools.repeat(2**34))
        monkeypatch.setattr(attempt, "available_memory", lambda: next(free))

    return squeeze


def run(folder: Path, puzzle: str, reporter: Reporter | None = None, **settings: object) -> Outcome:
    with open_database(str(folder / "jobs.db"), create=True) as database:
        return enumerate_puzzle(load(puzzle), database, Settings(**settings), reporter)  # type: ignore[arg-type]


def same(outcome: Outcome, puzzle: str, **settings: object) -> bool:
    plain = enumerate_puzzle(load(puzzle), None, Settings(**settings))  # type: ignore[arg-type]
    return (outcome.layers, outcome.digest) == (plain.layers, plain.digest)


@pytest.mark.parametrize(
    ("puzzle", "settings"),
    [("pancake-8", {"histogram_only": True}), ("hanoi-4-5", {"histogram_only": True})],
)
def test_counted_layers_go_over_to_files(
    tmp_path: Path, squeezed: Squeeze, puzzle: str, settings: dict[str, object]
) -> None:
    squeezed(4)
    reporter = Notices()
    outcome = run(tmp_path, puzzle, reporter, **settings)
    assert outcome.figures
    assert len(reporter.told) == 1
    assert "other programs use it too" in reporter.told[0]
    assert "starting over with layers in files in" in reporter.told[0]
    assert same(outcome, puzzle, **settings)


def test_layers_in_files_go_on_within_less_memory(
    tmp_path: Path, squeezed: Squeeze, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first squeeze puts the layers into files, a second one takes place there."""
    free = itertools.chain([2**34] * 4, [2**20], [2**34] * 6, [2**20], itertools.repeat(2**34))
    squeezed(0)
    monkeypatch.setattr(attempt, "available_memory", lambda: next(free))
    reporter = Notices()
    outcome = run(tmp_path, "pancake-8", reporter, histogram_only=True)
    assert len(reporter.told) == 2
    assert "going on within" in reporter.told[1]
    assert same(outcome, "pancake-8", histogram_only=True)


@pytest.mark.parametrize(("puzzle", "states"), [("eight-kinds", 90720), ("hanoi-4-6", 4096)])
def test_a_map_stops_with_its_layers_and_goes_on(
    tmp_path: Path, squeezed: Squeeze, puzzle: str, states: int
) -> None:
    """Bitmaps between two layers, sorted runs also within one."""
    squeezed(9)
    reporter = Notices()
    with pytest.raises(MemoryUsedUpError, match="other programs use it too") as caught:
        run(tmp_path, puzzle, reporter)
    (depth,) = reporter.checkpoints
    assert f"the layers up to depth {depth} are stored: the same command continues from there" in str(
        caught.value
    )
    assert depth >= 3
    squeezed(10**6)
    outcome = run(tmp_path, puzzle)
    assert (outcome.job, outcome.states) == (1, states)
    assert outcome.resumed_from in (depth, 0)
    assert same(outcome, puzzle)


def test_layers_in_files_that_cannot_go_on_stay(
    tmp_path: Path, squeezed: Squeeze, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = [PROCESS_BYTES + 105_000]
    monkeypatch.setattr(machine, "memory_limit", lambda asked: allowed[0])

    class LessLeft(Notices):
        def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
            if depth == 5:
                allowed[0] = PROCESS_BYTES

    squeezed(60)
    with pytest.raises(MemoryUsedUpError, match="are stored: the same command continues from there"):
        run(tmp_path, "pancake-9", LessLeft(), histogram_only=True)
    allowed[0] = 2**32  # enough for layers in memory, but there are those
    squeezed(10**6)
    outcome = run(tmp_path, "pancake-9", histogram_only=True)
    assert (outcome.resumed_from or 0) >= 4
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
    assert same(outcome, "pancake-9", histogram_only=True, memory=2**30)


def test_without_a_database_nothing_is_left(
    tmp_path: Path, squeezed: Squeeze, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = [PROCESS_BYTES + 105_000]
    monkeypatch.setattr(
        machine, "memory_limit", lambda asked: allowed.pop() if len(allowed) > 1 else allowed[0]
    )
    allowed.insert(0, PROCESS_BYTES)
    squeezed(60)
    with pytest.raises(MemoryUsedUpError, match="other programs use it too"):
        enumerate_puzzle(load("pancake-9"), None, Settings(histogram_only=True, scratch=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_memory_that_was_asked_for_is_not_watched(tmp_path: Path, squeezed: Squeeze) -> None:
    squeezed(0)
    reporter = Notices()
    run(tmp_path, "eight-kinds", reporter, memory=2**30)
    assert reporter.told == []


class Deletes(Reporter):
    """Removes the database's file, or puts another one in its place, after some layers."""

    def __init__(self, path: Path, act: Callable[[Path], None], depth: int) -> None:
        self._path = path
        self._act = act
        self._depth = depth

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if depth == self._depth:
            self._act(self._path)


def replaced(path: Path) -> None:
    other = path.with_suffix(".other")
    other.write_bytes(b"")
    os.replace(other, path)


@pytest.mark.parametrize("act", [Path.unlink, replaced])
@pytest.mark.parametrize("depth", [5, 30])
def test_a_database_that_was_deleted_meanwhile(
    tmp_path: Path, act: Callable[[Path], None], depth: int
) -> None:
    path = tmp_path / "jobs.db"
    with (
        open_database(str(path), create=True) as database,
        pytest.raises(StorageError, match=r"jobs\.db: the file was deleted or replaced while job 1 ran"),
    ):
        enumerate_puzzle(load("eight-kinds"), database, Settings(), Deletes(path, act, depth))


def test_the_command_fails_then(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish = Jobs.finish

    def finished(self: Jobs, *given: object, **named: object) -> None:
        finish(self, *given, **named)  # type: ignore[arg-type]
        (folder / "farthest.db").unlink()

    monkeypatch.setattr(Jobs, "finish", finished)
    said = run("enumerate", "8-puzzle", status=2)
    assert "the file was deleted or replaced while job 1 ran" in said.stderr
    assert "kept as job" not in said.stdout


def test_a_search_that_is_stored_fails_then(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish = Searches.finish

    def finished(self: Searches, *given: object, **named: object) -> None:
        finish(self, *given, **named)  # type: ignore[arg-type]
        (folder / "farthest.db").unlink()

    monkeypatch.setattr(Searches, "finish", finished)
    said = run("solve", "8-puzzle", "8 1 3/4 0 2/7 6 5", "--store", status=2)
    assert "the file was deleted or replaced while job 1 ran" in said.stderr
