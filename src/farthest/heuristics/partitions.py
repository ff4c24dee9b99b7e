"""Additive patterns that have a name in the literature, by the numbers of their pieces: ``6-6-6-6`` of the 24-puzzle.

Source: R. Korf, A. Felner, Disjoint pattern database heuristics, 2002.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.families.sliding.definition import Sliding

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Puzzle

PARTITIONS = {
    "7-8": (4, "sym:@1-7+@8-15"),
    "6-6-6-6": (5, "sym:@1.2.5-7.12+@3.4.8.9.13.14+@10.11.15.16.20.21+@17-19.22-24"),
}
"""Of each name: the rows and columns of the grid, and the heuristic in full."""


def in_full(text: str, puzzle: Puzzle) -> str:
    """A heuristic's text with what the names of the puzzle's partitions stand for in their places."""
    there = partitions(puzzle)
    return ",".join(PARTITIONS[term][1] if term in there else term for term in text.split(","))


def partitions(puzzle: Puzzle) -> list[str]:
    """The names that mean something for the puzzle: a square of numbered pieces in their order, the blank first."""
    definition = puzzle.definition
    if not isinstance(definition, Sliding) or puzzle.metric != "step":
        return []
    cells = tuple(range(definition.cells))
    if definition.goals != (cells,) or definition.tokens[1:] != tuple(map(str, cells[1:])):
        return []
    return [
        name
        for name, (side, _) in PARTITIONS.items()
        if definition.rows == tuple(cells[row * side : (row + 1) * side] for row in range(side))
    ]
