"""The puzzles of the catalogue."""

from farthest.puzzles.catalogue import load, names
from farthest.puzzles.puzzle import Puzzle


def catalogued() -> list[Puzzle]:
    """All of them, by name."""
    return [load(name) for name in names()]
