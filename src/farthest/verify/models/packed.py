"""Boards packed into codes, as docs/key-layout.md says, bit by bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from farthest.verify.models import Boards, Codes
from farthest.verify.ranking import LayoutError


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
