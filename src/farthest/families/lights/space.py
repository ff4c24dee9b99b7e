"""The presses of lamps on arrays of boards, and which boards can be solved: those whose difference from a target is a
sum of presses.

press: one press is one move. multi: any number of presses of one lamp, less than the number of colours, is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import gcd, prod
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.arrays import np
from farthest.families.lights.definition import Lights
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.family import SolvableUnion
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.cells import CellMap, automorphisms, cell_space
from farthest.spaces.digits import DigitBoards, DigitSpace, PackedDigits, digit_space
from farthest.spaces.packed import CONTENTS, UNCHANGED, PackedMove

if TYPE_CHECKING:
    from farthest.random_source import RandomSource
    from farthest.spaces.digits import Digits, Step
    from farthest.spaces.reduced import RepresentativeSpace

Row = list[int]


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> DigitSpace | PackedDigits:
    return digit_space(LightsBoards(puzzle, origin), layout)


def compile_reduced(puzzle: Puzzle, origin: Origin, order: int | None) -> RepresentativeSpace | None:
    """See ``spaces.reduced_space``. A permutation of the lamps that takes presses to presses moves the difference from
    an origin; where presses can be made any number of times at once, it may also be multiplied."""
    plain = LightsBoards(puzzle, origin)
    presses, colours = plain.definition.presses, plain.definition.colours
    every = range(colours)
    fixed = plain.origins[0] if len(plain.origins) == 1 else (0,) * plain.cells
    lamps = automorphisms(
        plain.cells, [(lamp, other) for lamp, press in enumerate(presses) for other in press]
    )
    maps = [
        CellMap(
            to,
            tuple(
                tuple((fixed[there] + times * (colour - fixed[lamp])) % colours for colour in every)
                for lamp, there in enumerate(to)
            ),
        )
        for times in (every if puzzle.metric == "multi" else [1])
        if gcd(times, colours) == 1
        for to in lamps
    ]
    pulls = [
        CellMap(
            lamps[0],
            tuple(
                tuple((colour - added * (lamp in press)) % colours for colour in every) for lamp in lamps[0]
            ),
        )
        for _, press, added in plain.presses(forward=plain.forward(toward=False))
    ]
    return cell_space(plain, maps, pulls, order)


class LightsBoards(DigitBoards):
    """Digit i is the colour of lamp i."""

    definition: Lights

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        definition = puzzle.defined_as(Lights)
        multi = puzzle.metric == "multi"
        self._times = range(1, definition.colours if multi else 2)
        super().__init__(puzzle, origin, definition, undirected=definition.colours == 2 or multi)

    def presses(self, *, forward: bool) -> Iterator[tuple[str, Sequence[int], int]]:
        """Each move: its name, the lamps that it changes, and how many colours it turns them on."""
        for times in self._times:
            for lamp, press in enumerate(self.definition.presses):
                if press:
                    name = f"press {lamp}{f' ×{times}' if times > 1 else ''}"
                    yield name, press, times if forward else self.definition.colours - times

    def steps(self, digits: Digits, *, forward: bool) -> Iterator[Step]:
        for name, press, added in self.presses(forward=forward):
            reached = digits.copy()
            reached[:, press] = (reached[:, press] + added) % self.definition.colours
            yield name, np.arange(len(digits)), reached

    def expander(self) -> _kernel.LampExpander:
        presses = self.presses(forward=self.forward(toward=False))
        moves = [(sum(1 << lamp for lamp in press), added) for _, press, added in presses]
        return _kernel.LampExpander(self.definition.colours, self.cells, moves)

    def packed_moves(self) -> list[PackedMove]:
        """A press leaves all lamps in place, and turns some on."""
        colours, cells = self.definition.colours, range(self.cells)
        turned = [
            bytes((colour + added) % colours if colour < colours else colour for colour in range(CONTENTS))
            for added in range(colours)
        ]
        return [
            PackedMove(cells, [turned[added] if lamp in press else UNCHANGED for lamp in cells])
            for _, press, added in self.presses(forward=self.forward(toward=False))
        ]

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        return self._solvable.why_not(tuple(board))

    @cached_property
    def _solvable(self) -> SolvableUnion:
        """Whether boards are joined to the origin: presses can be taken back, by more of them."""
        return solvable(self.puzzle, origin_patterns(self.definition, self.origin.where, self.puzzle.name))


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> SolvableUnion:
    return SolvableUnion([_Target(puzzle.defined_as(Lights), target) for target in targets])


class _Target:
    """One target. The colour of a lamp where it is ``WILDCARD`` does not matter, as if a press changed it alone."""

    def __init__(self, definition: Lights, target: Board) -> None:
        self._definition = definition
        self._board = [0 if colour == WILDCARD else colour for colour in target]
        own = [(lamp,) for lamp, colour in enumerate(target) if colour == WILDCARD]
        self._presses = [*definition.presses, *own]
        rows = [[int(lamp in press) for lamp in range(definition.cells)] for press in self._presses]
        self._unchanged = annihilator(rows, definition.cells, definition.colours)
        """How often to take each lamp's colour for a sum that no press changes, modulo the colours."""
        self.size = definition.colours**definition.cells // prod(order for _, order in self._unchanged)

    def why_not(self, board: Sequence[int]) -> str | None:
        for taken, _ in self._unchanged:
            there = _sum(self._definition, taken, self._board)
            if _sum(self._definition, taken, board) != there:
                lamps = " ".join(
                    f"{lamp}" if times == 1 else f"{times}×{lamp}"
                    for lamp, times in enumerate(taken)
                    if times
                )
                return (
                    f"no press changes the sum of the colours of the lamps {lamps} (modulo "
                    f"{self._definition.colours}): it is {_sum(self._definition, taken, board)} here, expected "
                    f"{there}; change the colour of one of them"
                )
        return None

    def draw(self, rng: RandomSource) -> Board:
        """The target after each press was made any number of times."""
        found = list(self._board)
        for press in self._presses:
            times = rng.below(self._definition.colours)
            for lamp in press:
                found[lamp] = (found[lamp] + times) % self._definition.colours
        return tuple(found)


def _sum(definition: Lights, taken: Row, board: Sequence[int]) -> int:
    return sum(times * colour for times, colour in zip(taken, board, strict=True)) % definition.colours


# Linear algebra over the integers modulo m, m perhaps composite: what sums of given rows can never change.


def annihilator(rows: Sequence[Sequence[int]], columns: int, modulus: int) -> list[tuple[Row, int]]:
    """The vectors y with y · row = 0 (mod ``modulus``) for each row, as (y, order of y): all of them are sums of these,
    each taken less often than its order, in one way only.

    A vector v is a sum of the rows, each taken some times, exactly where y · v = 0 for all of these y; such v are
    modulus ** columns / (product of the orders) many. By Smith's form over each prime power that divides the modulus.
    """
    found, rest = [], modulus
    for prime in range(2, modulus + 1):
        power = _valuation(rest, prime, rest)  # none where it is no prime: its factors are taken out already
        rest //= prime**power
        if power:
            for vector, order in _of_prime_power(rows, columns, prime, power):
                found.append(([value * (modulus // prime**power) % modulus for value in vector], order))
    return found


def _of_prime_power(
    rows: Sequence[Sequence[int]], columns: int, prime: int, power: int
) -> list[tuple[Row, int]]:
    q = prime**power
    left = [[value % q for value in row] for row in rows]
    # Column operations are collected in ``right``: in the end (rows · right) is diagonal but for the order of rows.
    right = [[int(i == j) for j in range(columns)] for i in range(columns)]
    orders = []
    for column in range(columns):
        pivot = min(
            (
                (_valuation(row[j], prime, power), i, j)
                for i, row in enumerate(left)
                for j in range(column, columns)
            ),
            default=(power, 0, 0),
        )
        valuation, at, j = pivot
        if valuation == power:
            orders += [q] * (columns - column)
            break
        for row in (*left, *right):
            row[column], row[j] = row[j], row[column]
        chosen = left.pop(at)
        unit = pow(chosen[column] // prime**valuation, -1, q)
        chosen = [value * unit % q for value in chosen]
        # All other entries are multiples of the pivot, the least one in valuation.
        for row in left:
            times = row[column] // prime**valuation
            if times:
                row[:] = [(a - times * b) % q for a, b in zip(row, chosen, strict=True)]
        for other in range(column + 1, columns):
            times = chosen[other] // prime**valuation
            if times:
                for row in right:
                    row[other] = (row[other] - times * row[column]) % q
        orders.append(prime**valuation)
    return [
        ([row[i] * (q // order) % q for row in right], order) for i, order in enumerate(orders) if order > 1
    ]


def _valuation(value: int, prime: int, power: int) -> int:
    """How often the prime divides the value, at most ``power`` times; of 0 that often."""
    count = 0
    while count < power and value % prime == 0:
        value //= prime
        count += 1
    return count
