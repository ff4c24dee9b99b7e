"""Families whose boards are digits: towers of Hanoi disc by disc, jugs by their amounts, lights press by press, pegs
hole by hole."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.families.hanoi.definition import Hanoi
from farthest.families.jugs.definition import Jugs
from farthest.families.lights.definition import Lights
from farthest.families.pegs.definition import Pegs
from farthest.puzzles.definition import WILDCARD, PuzzleDefinition
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import NO_KEY, Boards, CodedModel, Codes, LayoutError, MixedRadix, Packed, joined

Moved = tuple[NDArray[np.intp], Boards]
"""Rows of boards, and the boards that follow them."""


class DigitModel(CodedModel):
    """See Model. A digit is a cell, or ``cells_per_digit`` of them, the first the highest; the first digit of a board
    is the lowest of its key."""

    def __init__(
        self,
        definition: PuzzleDefinition,
        origin: Origin,
        layout: Mapping[str, Any],
        radices: Sequence[int],
        cells_per_digit: int = 1,
    ) -> None:
        self.definition = definition
        self.origin = origin
        self.radices = list(radices)
        self.cells_per_digit = cells_per_digit
        self.coder = self.coder_of(layout)

    def coder_of(self, layout: Mapping[str, Any]) -> Packed | MixedRadix:
        """The codes that a layout describes. Raises LayoutError."""
        if layout.get("kind") == "packed":
            return Packed(layout, self.radices)
        if layout != {"version": 1}:
            raise LayoutError(f"the key layout is {dict(layout)!r}, expected version 1 and nothing else")
        return MixedRadix(self.radices, dense=True, lowest_first=True)

    def contents(self, boards: Boards) -> NDArray[np.int64]:
        """The digits, shape (boards, digits)."""
        parts = boards.reshape(len(boards), len(self.radices), self.cells_per_digit).astype(np.int64)
        digits = parts[:, :, 0]
        for k in range(1, self.cells_per_digit):
            digits = digits * 256 + parts[:, :, k]
        return digits

    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        powers = 256 ** np.arange(self.cells_per_digit - 1, -1, -1)
        cells = contents[:, :, None] // powers % 256
        return cells.reshape(len(contents), len(self.radices) * self.cells_per_digit).astype(np.uint8)

    def origins(self) -> Boards:
        """See Model: any content of a cell is any digit."""
        found = []
        for pattern in origin_patterns(self.definition, self.origin.where, ""):
            wild = [i for i in range(len(self.radices)) if pattern[i * self.cells_per_digit] == WILDCARD]
            known = [0 if cell == WILDCARD else cell for cell in pattern]
            digits = DigitModel.contents(self, np.array([known], dtype=np.uint8))[0]
            for filling in product(*(range(self.radices[i]) for i in wild)):
                filled = digits.copy()
                filled[wild] = filling
                found.append(filled)
        return DigitModel.with_contents(self, np.array(found, dtype=np.int64).reshape(-1, len(self.radices)))

    def successors(self, boards: Boards) -> Moved:
        return joined(list(self.moved(boards)), boards.shape[1])

    @abstractmethod
    def moved(self, boards: Boards) -> Iterator[Moved]:
        """The same move by move."""


class HanoiModel(DigitModel):
    """A digit is the peg of a disc, the smallest first: it moves where no smaller one is on its peg or on the other."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        definition = puzzle.defined_as(Hanoi)
        super().__init__(definition, origin, layout, [definition.pegs] * definition.discs)
        self.ways = [(a, b) if origin.direction == "from" else (b, a) for a, b in definition.arcs]

    def moved(self, boards: Boards) -> Iterator[Moved]:
        for disc in range(boards.shape[1]):
            smaller = boards[:, :disc]
            for a, b in self.ways:
                blocked = ((smaller == a) | (smaller == b)).any(axis=1)
                rows = np.flatnonzero((boards[:, disc] == a) & ~blocked)
                after = boards[rows]
                after[:, disc] = b
                yield rows, after


class LightsModel(DigitModel):
    """A digit is the colour of a lamp."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        self.lights = puzzle.defined_as(Lights)
        super().__init__(self.lights, origin, layout, [self.lights.colours] * self.lights.cells)
        colours = self.lights.colours
        if puzzle.metric == "multi":
            self.times = list(range(1, colours))
        else:
            self.times = [1 if origin.direction == "from" else colours - 1]

    def moved(self, boards: Boards) -> Iterator[Moved]:
        for press, times in product(self.lights.presses, self.times):
            after = boards.copy()
            for lamp in press:
                after[:, lamp] = (after[:, lamp] + times) % self.lights.colours
            yield np.arange(len(boards)), after


Amounts = NDArray[np.int64]


class JugsModel(DigitModel):
    """A digit is the amount in a jug, two bytes of a board. Predecessors are found by trying every amount."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        self.jugs = puzzle.defined_as(Jugs)
        super().__init__(self.jugs, origin, layout, [capacity + 1 for capacity in self.jugs.capacities], 2)

    def moves(self) -> list[tuple[str, int, int]]:
        """(fill, empty or pour; the jug; the jug poured into)."""
        jugs = range(len(self.jugs.capacities))
        alone = [(move, a, a) for move in ("fill", "empty") if move in self.jugs.moves for a in jugs]
        return alone + [("pour", a, b) for a in jugs for b in jugs if a != b and "pour" in self.jugs.moves]

    def after(self, amounts: Amounts, move: tuple[str, int, int]) -> Amounts:
        """The amounts after a move."""
        kind, a, b = move
        after = amounts.copy()
        if kind == "fill":
            after[:, a] = self.jugs.capacities[a]
        elif kind == "empty":
            after[:, a] = 0
        else:
            both = amounts[:, a] + amounts[:, b]
            after[:, b] = np.minimum(both, self.jugs.capacities[b])
            after[:, a] = both - after[:, b]
        return after

    def before(self, amounts: Amounts, move: tuple[str, int, int]) -> Iterator[Amounts]:
        """All amounts from which the move may lead to these, and others from which it does not: one for each amount
        that jug ``a`` may have held."""
        kind, a, b = move
        for held in range(self.jugs.capacities[a] + 1):
            before = amounts.copy()
            before[:, a] = held
            if kind == "pour":
                before[:, b] = amounts[:, a] + amounts[:, b] - held
            yield before

    def moved(self, boards: Boards) -> Iterator[Moved]:
        amounts = self.contents(boards)
        for move in self.moves():
            if self.origin.direction == "from":
                after = self.after(amounts, move)
                rows = np.flatnonzero((after != amounts).any(axis=1))
                yield rows, self.with_contents(after[rows])
                continue
            for before in self.before(amounts, move):
                possible = ((before >= 0) & (before < np.array(self.radices))).all(axis=1)
                leads = (self.after(before, move) == amounts).all(axis=1) & (before != amounts).any(axis=1)
                rows = np.flatnonzero(possible & leads)
                yield rows, self.with_contents(before[rows])


class PegModel(DigitModel):
    """A digit is a hole, 1 where a peg is in it. A key has the digits of ``_kept`` holes. Those of ``_dropped`` follow:
    the hole, the holes whose pegs it follows from, whether it is flipped."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        definition = puzzle.defined_as(Pegs)
        self._jumps = definition.jumps
        self._is_chain = puzzle.metric == "chain"
        super().__init__(definition, origin, layout, [2] * definition.holes)

    def coder_of(self, layout: Mapping[str, Any]) -> MixedRadix:
        holes = len(self.radices)
        try:
            if layout["version"] != 1 or layout["kind"] not in ("lines", "boards"):
                raise LayoutError("the stored key layout is of another version")
            is_dense = layout["kind"] == "lines"
            self._kept = [int(hole) for hole in layout["holes"]] if is_dense else list(range(holes))
            self._dropped = [
                (int(hole), [self._kept[i] for i in range(len(self._kept)) if parity >> i & 1], bool(flipped))
                for hole, parity, flipped in (layout["dropped"] if is_dense else ())
            ]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            if isinstance(error, LayoutError):
                raise
            raise LayoutError(f"the stored key layout is damaged: {error!r}") from None
        if sorted([*self._kept, *(hole for hole, _, _ in self._dropped)]) != list(range(holes)):
            raise LayoutError("the stored key layout does not name each hole once")
        return MixedRadix([2] * len(self._kept), dense=is_dense, lowest_first=True)

    def moved(self, boards: Boards) -> Iterator[Moved]:
        yield from self._jumped(boards, np.arange(len(boards)), None)

    def _jumped(self, boards: Boards, rows: NDArray[np.intp], peg: int | None) -> Iterator[Moved]:
        """Jumps of any peg, or of the one in hole ``peg``; in the metric ``chain`` the same peg goes on jumping."""
        for a, b, c in self._jumps:
            # Taking a jump back, the peg goes from c to a, and the one in b comes back.
            first, last, before = (a, c, (1, 1, 0)) if self.origin.direction == "from" else (c, a, (0, 0, 1))
            if peg is not None and peg != first:
                continue
            can = (boards[:, a] == before[0]) & (boards[:, b] == before[1]) & (boards[:, c] == before[2])
            if not can.any():
                continue
            reached = boards[can].copy()
            reached[:, [a, b, c]] ^= 1
            yield rows[can], reached
            if self._is_chain:
                yield from self._jumped(reached, rows[can], last)

    def contents(self, boards: Boards) -> NDArray[np.int64]:
        return boards[:, self._kept].astype(np.int64)

    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        boards = np.zeros((len(contents), len(self.radices)), dtype=np.uint8)
        boards[:, self._kept] = contents
        for hole, needed, flipped in self._dropped:
            boards[:, hole] = (boards[:, needed].sum(axis=1) + flipped) % 2
        return boards

    def codes(self, boards: Boards) -> Codes:
        codes = super().codes(boards)
        codes[(self.boards(codes) != boards).any(axis=1)] = NO_KEY
        return codes


MODELS: Mapping[str, Callable[[Puzzle, Origin, Mapping[str, Any]], DigitModel]] = {
    "hanoi": HanoiModel,
    "jugs": JugsModel,
    "lights": LightsModel,
    "pegs": PegModel,
}


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> DigitModel:
    """See models."""
    return MODELS[puzzle.family](puzzle, origin, layout)
