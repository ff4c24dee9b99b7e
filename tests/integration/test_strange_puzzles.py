"""Whatever puzzle is read: what it is too large or too strange for is said in one message, and soon."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import farthest
from farthest.coordinator.enumeration.choice import MOST_MAP_KEYS
from farthest.coordinator.enumeration.machine import Machine
from farthest.coordinator.enumeration.plan import plan
from farthest.coordinator.settings import Settings
from farthest.errors import FarthestError
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import gather
from strange_puzzles import strange_puzzle

SEEDS = range(20, 26)
MEMORY = 64 * 2**20
MOST_KEYS = 2**26
SECONDS = 20
"""For one puzzle; a second at most, but other tests run beside these."""


@pytest.mark.slow
def test_nothing_but_messages_comes_of_a_strange_puzzle(tmp_path: Path) -> None:
    """Reading, compiling, planning and enumerating each puzzle to depth 1, and searching."""
    try_all(tmp_path, SEEDS)


@pytest.mark.night
def test_more_of_them(tmp_path: Path) -> None:
    try_all(tmp_path, range(26, 60))


def try_all(tmp_path: Path, seeds: range) -> None:
    wrong = {}
    for seed in seeds:
        try:
            try_everything(tmp_path, seed)
        except Exception as error:  # each is a finding
            wrong[seed] = repr(error)
    assert not wrong


def try_everything(folder: Path, seed: int) -> dict[str, str]:
    """What was said of each thing that cannot be done with the puzzle. Raises what is no FarthestError."""
    name, text = strange_puzzle(seed)
    file = folder / name
    file.write_text(text)
    began = time.monotonic()
    said: dict[str, str] = {}
    try:
        puzzle = farthest.load_puzzle(str(file))
    except FarthestError as error:
        return {"read": str(error)}
    database = str(folder / f"{seed}.db")
    acts: dict[str, Callable[[], object]] = {
        "compile": lambda: compiled(puzzle),
        "count": lambda: farthest.histogram(puzzle, max_depth=1, memory=MEMORY, threads=1),
        "enumerate": lambda: asked(puzzle, database),
        "submit": lambda: farthest.submit(puzzle, database=database),
        "solve": lambda: solved(puzzle),
    }
    for what, act in acts.items():
        try:
            act()
        except FarthestError as error:
            said[what] = str(error)
    assert time.monotonic() - began < SECONDS
    return said


def compiled(puzzle: Puzzle) -> None:
    space = compile_space(puzzle)
    if space.engine == "gather":
        settings = Settings(memory=MEMORY)
        plan(puzzle, settings, Machine(settings), space)
        assert gather(space).kernel.keys == space.keys
        assert len(gather(space).keys_of(space.origins)) == len(space.origins)


def asked(puzzle: Puzzle, database: str) -> None:
    keys = compile_space(puzzle).keys
    if keys is not None and MOST_KEYS < keys <= MOST_MAP_KEYS:
        return  # it can be stored, but takes its time
    with farthest.enumerate(puzzle, database=database, max_depth=1, memory=MEMORY, threads=1) as found:
        assert found.depth <= 1
        assert found.distance(found.farthest(1)[0]) == found.depth


def solved(puzzle: Puzzle) -> None:
    """A board that is a goal: what a search needs is made, and it ends at once."""
    where = "goal" if puzzle.definition.has_origin("goal") else "start"
    farthest.solve(puzzle, where, to=where, threads=1)
