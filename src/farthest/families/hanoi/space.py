"""The hanoi family: only the smallest disc of a peg moves, onto an empty peg or a larger disc."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.families.hanoi.definition import Hanoi, hanoi
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.family import draw_of_union, undecided
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import is_packed
from farthest.spaces.digits import DigitBoards, ExpandedDigitSpace, PackedDigits
from farthest.spaces.packed import PackedSpace

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board
    from farthest.random_source import RandomSource
    from farthest.spaces.digits import Digits, Step


# --- The moves of discs on arrays of boards.


class HanoiBoards(DigitBoards):
    """Digit i is the peg of disc i, disc 0 the smallest."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self.definition = hanoi(puzzle)
        super().__init__(puzzle, origin, self.definition.radices, undirected=self.definition.undirected)

    def arcs(self, *, forward: bool) -> list[tuple[int, int]]:
        """From peg to peg. Made backward, a move takes the disc from where it lies back to where it was."""
        return [(a, b) if forward else (b, a) for a, b in self.definition.arcs]

    def steps(self, digits: Digits, *, forward: bool) -> Iterator[Step]:
        import numpy as np

        discs = self.definition.discs
        every = np.arange(len(digits))
        tops = np.full((len(digits), self.definition.pegs), discs)  # the smallest disc of each peg
        for disc in reversed(range(discs)):
            tops[every, digits[:, disc]] = disc
        for (a, b), (source, target) in zip(self.definition.arcs, self.arcs(forward=forward), strict=True):
            rows = np.flatnonzero(tops[:, source] < tops[:, target])
            reached = digits[rows]
            reached[np.arange(len(rows)), tops[rows, source]] = target
            yield f"{a}→{b}", rows, reached


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> HanoiSpace | PackedSpace:
    known = HanoiBoards(puzzle, origin)
    return PackedDigits(known) if is_packed(layout) else HanoiSpace(known, layout)


class HanoiSpace(ExpandedDigitSpace[HanoiBoards]):
    @cached_property
    def expander(self) -> _kernel.DiscExpander:
        definition = self.known.definition
        arcs = self.known.arcs(forward=self.known.forward(toward=False))
        return _kernel.DiscExpander(definition.pegs, definition.discs, arcs)


# --- Hanoi: with three pegs or more, between which discs can get from each to each other, every board can be
# reached from every board: the larger discs never hinder the smaller ones, so all discs smaller than one can be put
# out of its way.


class SolvableTowers:
    """All boards; with two pegs those whose discs but the smallest lie as in a target. See Solvable."""

    def __init__(self, definition: Hanoi, targets: tuple[Board, ...]) -> None:
        self._pegs = definition.pegs
        # Which discs can be moved at all, and where the others have to be.
        movable = definition.discs if definition.pegs > 2 else 1
        self._targets = [(WILDCARD,) * movable + target[movable:] for target in targets]

    def why_not(self, board: Board) -> str | None:
        if any(self._holds(target, board) for target in self._targets):
            return None
        wanted = self._targets[0]
        disc, peg = next((i, peg) for i, peg in enumerate(wanted) if peg not in (WILDCARD, board[i]))
        return (
            f"with two pegs no disc but the smallest can ever move, and disc {disc + 1} is on peg "
            f"{board[disc]}, at the target on peg {peg}; put it there, or add a peg"
        )

    def draw(self, rng: RandomSource) -> Board:
        return draw_of_union(
            [self._pegs ** target.count(WILDCARD) for target in self._targets],
            lambda i: tuple(rng.below(self._pegs) if peg == WILDCARD else peg for peg in self._targets[i]),
            lambda i, board: self._holds(self._targets[i], board),
            rng,
        )

    def _holds(self, target: Board, board: Board) -> bool:
        return all(wanted in (WILDCARD, peg) for wanted, peg in zip(target, board, strict=True))


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> SolvableTowers:
    """See Family. UndecidedError where discs cannot get from each peg to each other."""
    definition = hanoi(puzzle)
    reached = [_reached(definition, peg) for peg in range(definition.pegs)]
    if any(len(pegs) < definition.pegs for pegs in reached):
        raise undecided(puzzle)
    return SolvableTowers(definition, targets)


def _reached(definition: Hanoi, peg: int) -> set[int]:
    queue, seen = [peg], {peg}
    for here in queue:
        for a, b in definition.arcs:
            if a == here and b not in seen:
                seen.add(b)
                queue.append(b)
    return seen
