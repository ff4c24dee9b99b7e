"""Sets of boards of a puzzle that were published with the lengths of their shortest solutions: ``korf-100``.

A set is a file of ``puzzles/sets``, named for it. ``boards`` has a line for each board: ``LENGTH: BOARD``, or ``LENGTH,
NODES: BOARD`` where the nodes of a search were published too. ``also``: names of puzzles that are the same but for the
way in which boards are written; people give them for the set's own.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache

from farthest.errors import SettingError
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.wording import near_match, or_list, shown

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sets")
_SUFFIX = ".toml"
_RANGE = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")


@dataclass(frozen=True, slots=True)
class KnownBoard:
    """A board with its ``number`` in the set, from 1. ``length``: moves of its shortest solutions; ``nodes``: of a
    published search, None where none was."""

    number: int
    text: str
    length: int
    nodes: int | None


@dataclass(frozen=True, slots=True)
class BoardSet:
    """A set of boards. ``puzzle``: the name of theirs; ``also``: see above."""

    name: str
    title: str
    source: str
    puzzle: str
    also: tuple[str, ...]
    boards: tuple[KnownBoard, ...]

    def is_of(self, puzzle: Puzzle) -> bool:
        """Whether the set may be asked of the puzzle."""
        return any(load(name) == puzzle for name in (self.puzzle, *self.also))

    def numbered(self, numbers: str) -> BoardSet:
        """Those of the boards that have these numbers, ``12,30-33``. Raises SettingError for other numbers."""
        chosen = set[int]()
        for part in numbers.split(","):
            found = _RANGE.fullmatch(part.strip())
            first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
            if not 1 <= first <= last <= len(self.boards):
                raise SettingError(
                    f"{self.name}: boards {shown(part)}, expected numbers from 1 to {len(self.boards)}; write "
                    f"{self.name}:12,30-33"
                )
            chosen.update(range(first, last + 1))
        return replace(self, boards=tuple(board for board in self.boards if board.number in chosen))


def set_names() -> list[str]:
    """The names of all sets, sorted."""
    return sorted(file.removesuffix(_SUFFIX) for file in os.listdir(_FOLDER) if file.endswith(_SUFFIX))


def sets_of(puzzle: Puzzle) -> list[BoardSet]:
    """The sets that may be asked of the puzzle."""
    return [found for found in map(board_set, set_names()) if found.is_of(puzzle)]


@cache  # the files are parts of the program
def board_set(name: str) -> BoardSet:
    """The set of this name. Raises SettingError where there is none."""
    if name not in set_names():
        mend = near_match(name, set_names()) or f"the sets are {or_list(set_names())}"
        raise SettingError(f"no set of boards is called {shown(name)}; {mend}")
    with open(os.path.join(_FOLDER, name + _SUFFIX), "rb") as file:
        fields = tomllib.load(file)
    boards = [
        _known(number, line) for number, line in enumerate(fields.pop("boards").strip().splitlines(), 1)
    ]
    return BoardSet(**{"also": (), **fields, "boards": tuple(boards)})


def _known(number: int, line: str) -> KnownBoard:
    figures, _, text = line.partition(": ")
    length, *nodes = map(int, figures.split(","))
    return KnownBoard(number, text, length, nodes[0] if nodes else None)
