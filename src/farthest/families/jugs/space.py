"""The moves of jugs on arrays of amounts: fill a jug, empty it, or pour from one into another until that is full or
this is empty.

A move that would change nothing cannot be made. Moves are one-way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import TYPE_CHECKING, Any, TypeVar

from farthest.arrays import np
from farthest.families.jugs.definition import Jugs
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import is_packed
from farthest.spaces.digits import DigitBoards, DigitSpace, PackedDigits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.spaces.contract import Codes
    from farthest.spaces.digits import Digits, Step

    Column = NDArray[np.int64]
    """The amounts in one jug: shape (boards,)."""
    Changes = dict[int, Column]

Made = TypeVar("Made")

AT_ONCE = 1 << 18
"""Boards before a move that are made at once, about."""


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> JugsSpace | PackedDigits:
    boards = JugsBoards(puzzle, origin)
    return PackedDigits(boards) if is_packed(layout) else JugsSpace(boards, layout)


class JugsBoards(DigitBoards):
    """Digit i is the amount in jug i."""

    definition: Jugs

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        super().__init__(puzzle, origin, puzzle.defined_as(Jugs), undirected=False)

    def steps(self, digits: Digits, *, forward: bool) -> Iterator[Step]:
        def step(name: str, rows: NDArray[np.intp], changes: Changes) -> Step:
            reached = digits[rows]
            for jug, change in changes.items():
                reached[:, jug] += change
            return name, rows, reached

        yield from self.changes(list(digits.T), step, forward=forward)

    def changes(
        self, held: list[Column], made: Callable[[str, NDArray[np.intp], Changes], Made], *, forward: bool
    ) -> Iterator[Made]:
        """What ``made`` makes of each move: of its name, the rows that it can be made on, and what it adds to the
        amounts in some jugs. ``held``: of each jug."""
        return (self._forward_changes if forward else self._backward_changes)(held, made)

    def _forward_changes(self, held: list[Column], made: Callable[..., Made]) -> Iterator[Made]:
        capacities = self.definition.capacities
        for jug, capacity in enumerate(capacities):
            if "fill" in self.definition.moves:
                rows = np.flatnonzero(held[jug] < capacity)
                yield made(f"fill {jug + 1}", rows, {jug: capacity - held[jug][rows]})
            if "empty" in self.definition.moves:
                rows = np.flatnonzero(held[jug] > 0)
                yield made(f"empty {jug + 1}", rows, {jug: -held[jug][rows]})
        if "pour" in self.definition.moves:
            for a, b in permutations(range(len(capacities)), 2):
                amount = np.minimum(held[a], capacities[b] - held[b])
                rows = np.flatnonzero(amount)
                yield made(f"pour {a + 1}→{b + 1}", rows, {a: -amount[rows], b: amount[rows]})

    def _backward_changes(self, held: list[Column], made: Callable[..., Made]) -> Iterator[Made]:
        """The move before: what a full or empty jug held is any amount, and so is what was poured."""
        capacities = self.definition.capacities
        for jug, capacity in enumerate(capacities):
            any_amount = np.full(len(held[jug]), capacity)
            if "fill" in self.definition.moves:
                for rows, more in _amounts(np.where(held[jug] == capacity, any_amount, 0)):
                    yield made(f"fill {jug + 1}", rows, {jug: -more})
            if "empty" in self.definition.moves:
                for rows, more in _amounts(np.where(held[jug] == 0, any_amount, 0)):
                    yield made(f"empty {jug + 1}", rows, {jug: more})
        if "pour" in self.definition.moves:
            for a, b in permutations(range(len(capacities)), 2):
                ended = (held[a] == 0) | (held[b] == capacities[b])
                most = np.minimum(held[b], capacities[a] - held[a])
                for rows, more in _amounts(np.where(ended, most, 0)):
                    yield made(f"pour {a + 1}→{b + 1}", rows, {a: more, b: -more})


def _amounts(most: Column) -> Iterator[tuple[NDArray[np.intp], Column]]:
    """All amounts from 1 to the most of each row, as rows and amounts, some rows at a time."""
    rows = np.flatnonzero(most)
    parts = np.cumsum(most[rows]) // AT_ONCE
    for part in np.split(rows, np.flatnonzero(np.diff(parts)) + 1):
        counts = most[part]
        before = np.repeat(np.cumsum(counts) - counts, counts)
        yield np.repeat(part, counts), np.arange(1, len(before) + 1) - before


class JugsSpace(DigitSpace):
    """Amounts as keys: numpy adds what a move changes to the key, without making boards."""

    plain: JugsBoards

    def expand(self, codes: Codes) -> Codes:
        self.check(codes)

        def reached(name: str, rows: NDArray[np.intp], changes: Changes) -> Codes:
            del name
            after = codes[rows].view(np.int64)
            for jug, change in changes.items():
                after += change * self.weights[jug]
            return after.view(np.uint64)

        held = [self.digit(codes, jug) for jug in range(len(self.radices))]
        found = list(self.plain.changes(held, reached, forward=self.plain.forward(toward=False)))
        return np.concatenate(found) if found else np.empty(0, dtype=np.uint64)
