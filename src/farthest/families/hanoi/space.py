"""The moves of discs on arrays of boards, and which boards can be solved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.arrays import np
from farthest.families.hanoi.definition import Hanoi
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.family import SolvableUnion, undecided
from farthest.puzzles.grid import round_trips
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.cells import CellMap, automorphisms, cell_space
from farthest.spaces.digits import DigitBoards, DigitSpace, PackedDigits, digit_space

if TYPE_CHECKING:
    from farthest.random_source import RandomSource
    from farthest.spaces.contract import Boards
    from farthest.spaces.digits import Digits, Step
    from farthest.spaces.reduced import RepresentativeSpace


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> DigitSpace | PackedDigits:
    return digit_space(HanoiBoards(puzzle, origin), layout)


def compile_reduced(puzzle: Puzzle, origin: Origin, order: int | None) -> RepresentativeSpace | None:
    """See ``spaces.reduced_space``. Pegs are permuted such that arcs become arcs. A pull puts a disc back where all
    smaller ones are on other pegs."""
    plain = HanoiBoards(puzzle, origin)
    pegs, discs = range(plain.definition.pegs), tuple(range(plain.definition.discs))
    maps = [CellMap(discs, (to,) * len(discs)) for to in automorphisms(len(pegs), plain.definition.arcs)]
    pulls = [
        CellMap(
            discs,
            (
                *[tuple(-1 if peg in arc else peg for peg in pegs)] * disc,
                tuple(arc[0] if peg == arc[1] else -1 for peg in pegs),
                *[tuple(pegs)] * (len(discs) - disc - 1),
            ),
        )
        for disc in discs
        for arc in plain.arcs(forward=plain.forward(toward=False))
    ]
    return cell_space(plain, maps, pulls, order)


class HanoiBoards(DigitBoards):
    """Digit i is the peg of disc i, disc 0 the smallest. The smallest disc of a peg moves, never onto a smaller one."""

    definition: Hanoi

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        definition = puzzle.defined_as(Hanoi)
        super().__init__(puzzle, origin, definition, undirected=definition.undirected)

    def arcs(self, *, forward: bool) -> list[tuple[int, int]]:
        """From peg to peg. Made backward, a move takes the disc from where it lies back to where it was."""
        return [(a, b) if forward else (b, a) for a, b in self.definition.arcs]

    def digits(self, boards: Boards) -> Digits:
        return boards

    def steps(self, digits: Digits, *, forward: bool) -> Iterator[Step]:
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

    def expander(self) -> _kernel.DiscExpander:
        arcs = self.arcs(forward=self.forward(toward=False))
        return _kernel.DiscExpander(self.definition.pegs, self.definition.discs, arcs)


class _Tower:
    """One target: all boards; with two pegs those whose discs but the smallest lie as in the target.

    With three pegs or more, between which discs can get from each to each other, every board can be reached from every
    board: the larger discs never hinder the smaller ones, so all discs smaller than one can be put out of its way.
    """

    def __init__(self, definition: Hanoi, target: Board) -> None:
        self._pegs = definition.pegs
        # Which discs can be moved at all, and where the others have to be.
        movable = definition.discs if definition.pegs > 2 else 1
        self._wanted = (WILDCARD,) * movable + target[movable:]
        self.size = definition.pegs ** self._wanted.count(WILDCARD)

    def why_not(self, board: Board) -> str | None:
        for disc, (peg, wanted) in enumerate(zip(board, self._wanted, strict=True), 1):
            if wanted not in (WILDCARD, peg):
                return (
                    f"with two pegs no disc but the smallest can ever move, and disc {disc} is on peg {peg}, at the "
                    f"target on peg {wanted}; put it there, or add a peg"
                )
        return None

    def draw(self, rng: RandomSource) -> Board:
        return tuple(rng.below(self._pegs) if peg == WILDCARD else peg for peg in self._wanted)


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> SolvableUnion:
    """Raises UndecidedError where discs cannot get from each peg to each other."""
    definition = puzzle.defined_as(Hanoi)
    if not round_trips(definition.pegs, definition.arcs):
        raise undecided(puzzle)
    return SolvableUnion([_Tower(definition, target) for target in targets])
