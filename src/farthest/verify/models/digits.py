"""Codes that are numbers in mixed radix: digit i of a board counts the product of the radices before it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from farthest.puzzles.definition import PuzzleDefinition
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin
from farthest.verify.models import Boards, Codes
from farthest.verify.ranking import LayoutError

# --- Boards packed into codes, as docs/key-layout.md says, bit by bit.


class Moves(Protocol):
    """A model's moves, and what its boards hold cell by cell."""

    def origins(self) -> Boards:
        """See Model."""

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model."""

    def contents(self, boards: Boards) -> NDArray[np.int64]:
        """For each packed cell the number of its content; -1 where it is none."""

    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        """Inverse of ``contents``."""


class PackedModel:
    """See Model. ``radices``: the number of contents of each cell; ``total``: the sum of all contents, where the last
    cell has no bits."""

    keys: int | None = None

    def __init__(
        self, moves: Moves, layout: Mapping[str, Any], radices: Sequence[int], total: int | None
    ) -> None:
        if layout != {"version": 1, "kind": "packed"}:
            raise LayoutError(f"the key layout is {dict(layout)!r}, expected version 1 of the kind packed")
        self._moves = moves
        self._radices = np.array(radices)
        self._total = total
        self._bits: list[range] = []  # of each cell with bits, the highest first
        at = 0
        for radix in radices if total is None else radices[:-1]:
            size = max(1, len(f"{radix - 1:b}"))
            if at // 64 != (at + size - 1) // 64:
                at = (at + 63) // 64 * 64
            self._bits.append(range(at, at + size))
            at += size
        if at < 64:
            self._bits = [range(one.start + 64 - at, one.stop + 64 - at) for one in self._bits]
            self.code_bytes = 8
        else:
            full = sum(map(len, self._bits)) == at and at % 8 == 0
            self.code_bytes = max(9, (at + 7) // 8 + full)

    def origins(self) -> Boards:
        """See Model."""
        return self._moves.origins()

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model."""
        return self._moves.successors(boards)

    def codes(self, boards: Boards) -> Codes:
        """See Model."""
        contents = self._moves.contents(boards)
        wrong = (contents < 0) | (contents >= self._radices)
        none = wrong.any(axis=1)
        if self._total is not None:
            none |= contents.sum(axis=1) != self._total
        bits = np.zeros((len(boards), 8 * self.code_bytes), dtype=np.uint8)
        for cell, places in enumerate(self._bits):
            for weight, place in enumerate(reversed(places)):
                bits[:, place] = contents[:, cell] >> weight & 1
        bits[none] = 1
        packed = np.packbits(bits, axis=1).reshape(-1)
        if self.code_bytes == 8:
            return packed.view(">u8").astype(np.uint64)
        return packed.view(f"S{self.code_bytes}")

    def boards(self, codes: Codes) -> Boards:
        """See Model."""
        rows = np.ascontiguousarray(codes.astype(">u8") if self.code_bytes == 8 else codes)
        bits = np.unpackbits(rows.view(np.uint8).reshape(len(codes), self.code_bytes), axis=1)
        contents = np.zeros((len(codes), len(self._radices)), dtype=np.int64)
        for cell, places in enumerate(self._bits):
            for place in places:
                contents[:, cell] = 2 * contents[:, cell] + bits[:, place]
        if self._total is not None:
            contents[:, -1] = self._total - contents[:, :-1].sum(axis=1)
        return self._moves.with_contents(np.clip(contents, 0, self._radices - 1))


_ANY = -1
_NONE = 2**64 - 1


class DigitMoves(ABC):
    """Boards of digits; a family adds ``successors``. A digit is a cell, or ``cells_per_digit`` of them, the first the
    highest."""

    def __init__(
        self, definition: PuzzleDefinition, origin: Origin, radices: Sequence[int], cells_per_digit: int = 1
    ) -> None:
        self.definition = definition
        self.origin = origin
        self.radices = list(radices)
        self.cells_per_digit = cells_per_digit

    @abstractmethod
    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model."""

    def digits(self, boards: Boards) -> NDArray[np.int64]:
        """The digits, shape (boards, digits)."""
        parts = boards.reshape(len(boards), len(self.radices), self.cells_per_digit).astype(np.int64)
        digits = parts[:, :, 0]
        for k in range(1, self.cells_per_digit):
            digits = digits * 256 + parts[:, :, k]
        return digits

    def board_rows(self, digits: NDArray[np.int64]) -> Boards:
        """Inverse of ``digits``."""
        powers = 256 ** np.arange(self.cells_per_digit - 1, -1, -1)
        cells = digits[:, :, None] // powers % 256
        return cells.reshape(len(digits), len(self.radices) * self.cells_per_digit).astype(np.uint8)

    def origins(self) -> Boards:
        """See Model: any content of a cell is any digit."""
        found = []
        for pattern in origin_patterns(self.definition, self.origin.where, ""):
            wild = [i for i in range(len(self.radices)) if pattern[i * self.cells_per_digit] == _ANY]
            known = [0 if cell == _ANY else cell for cell in pattern]
            digits = self.digits(np.array([known], dtype=np.uint8))[0]
            for filling in product(*(range(self.radices[i]) for i in wild)):
                filled = digits.copy()
                filled[wild] = filling
                found.append(filled)
        return self.board_rows(np.array(found, dtype=np.int64).reshape(-1, len(self.radices)))

    def contents(self, boards: Boards) -> NDArray[np.int64]:
        """See packed.Moves: the digits."""
        return self.digits(boards)

    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        """See packed.Moves."""
        return self.board_rows(contents)


class DigitModel:
    """See Model: keys."""

    code_bytes = 8

    def __init__(self, moves: DigitMoves, layout: Mapping[str, Any]) -> None:
        if layout != {"version": 1}:
            raise LayoutError(f"the key layout is {dict(layout)!r}, expected version 1 and nothing else")
        self.moves = moves
        self.radices = moves.radices
        self.keys: int | None = prod(self.radices)

    def origins(self) -> Boards:
        """See Model."""
        return self.moves.origins()

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model."""
        return self.moves.successors(boards)

    def codes(self, boards: Boards) -> Codes:
        """See Model."""
        digits = self.moves.digits(boards)
        codes = np.zeros(len(boards), dtype=np.uint64)
        for i in reversed(range(len(self.radices))):
            codes = codes * np.uint64(self.radices[i]) + digits[:, i].astype(np.uint64)
        return np.where((digits < np.array(self.radices)).all(axis=1), codes, np.uint64(_NONE))

    def boards(self, codes: Codes) -> Boards:
        """See Model."""
        digits = np.zeros((len(codes), len(self.radices)), dtype=np.int64)
        rest = codes.astype(np.uint64)
        for i, radix in enumerate(self.radices):
            digits[:, i] = rest % np.uint64(radix)
            rest = rest // np.uint64(radix)
        return self.moves.board_rows(digits)


def digit_model(moves: DigitMoves, layout: Mapping[str, Any]) -> DigitModel | PackedModel:
    """The model whose codes are of this layout."""
    if layout.get("kind") == "packed":
        return PackedModel(moves, layout, moves.radices, None)
    return DigitModel(moves, layout)


def joined(parts: Sequence[tuple[NDArray[np.intp], Boards]], cells: int) -> tuple[NDArray[np.intp], Boards]:
    """Rows and boards of several moves, one after another."""
    if not parts:
        return np.empty(0, dtype=np.intp), np.empty((0, cells), dtype=np.uint8)
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([boards for _, boards in parts])


def trailing_products(radices: Sequence[int], *, halved: bool) -> list[int]:
    """The products of the last one, two, ... of the radices, ascending, each once; half of them in a layout with
    parity, in which a digit is dropped."""
    sizes = sorted({prod(radices[at:]) for at in range(len(radices))})
    return [size // 2 for size in sizes if size % 2 == 0] if halved else sizes
