"""Plain models of the families' moves and codes, by which ``farthest verify`` proves maps.

A model is written from the definition and the documents alone, independently of the families' spaces and the kernel, so
that it does not repeat their mistakes. It is meant to be simple, not fast.

The module ``farthest.verify.models.<family>`` (``digits`` for families whose boards are digits) has

    model(puzzle, origin, layout) -> Model      ``layout`` as stored with the job; raises LayoutError where it is not
                                                one of the puzzle's, BoardError where the origin's text is not one
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from math import prod
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import REPRESENTATIVES

Boards = NDArray[np.uint8]
"""Boards: shape (boards, cells)."""

Codes = NDArray[Any]
"""Codes: uint64, or ``S<width>`` for byte strings; shape (states,)."""

NO_KEY = np.uint64(2**64 - 1)
"""The code, where codes are numbers, of a board that has none."""

OF_DIGITS = ("hanoi", "jugs", "lights", "pegs")
"""Families whose models are in one module."""


class LayoutError(ValueError):
    """The stored key layout is malformed or is not one of the puzzle's; ``str(error)`` says how."""


class Model(Protocol):
    """One puzzle's moves in the direction in which distances are counted, and its codes."""

    @property
    def keys(self) -> int | None:
        """The number of keys of a dense map, whose codes are 0 to keys - 1; None: sparse."""

    @property
    def code_bytes(self) -> int:
        """Bytes of a code: 8 where codes are numbers (uint64)."""

    @property
    def block_sizes(self) -> Sequence[int]:
        """Where keys are mixed-radix numbers: how many consecutive keys agree in all digits but the last one, two, ...,
        ascending; the last: all keys. Else empty."""

    def origins(self) -> Boards:
        """All boards at distance 0, in any order, perhaps repeated."""

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """All boards one move farther from the origin: (rows of ``boards`` that they follow, the boards).

        Where distances are counted from the origin, these are the boards that the player's moves lead to; where they
        are counted to it, the boards that the moves come from. In any order, perhaps repeated; moves that change
        nothing may be left out.
        """

    def codes(self, boards: Boards) -> Codes:
        """The codes of boards; 2**64 - 1, or bytes of 255, for a board that has none."""

    def boards(self, codes: Codes) -> Boards:
        """The boards of codes; for a code of no board any board, whose code is another. Never raises an exception."""


def model_of(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> Model:
    """The model of a puzzle."""
    name = "digits" if puzzle.family in OF_DIGITS else puzzle.family
    if layout.get("kind") == REPRESENTATIVES:
        name = "representatives"
    module = import_module(f"farthest.verify.models.{name}")
    return cast(Model, module.model(puzzle, origin, layout))


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


class Packed:
    """Contents in bits. ``radices``: the number of contents of each cell; ``total``: the sum of all contents, where the
    last cell has no bits."""

    keys: int | None = None

    def __init__(self, layout: Mapping[str, Any], radices: Sequence[int], total: int | None = None) -> None:
        if layout != {"version": 1, "kind": "packed"}:
            raise LayoutError(f"the key layout is {dict(layout)!r}, expected version 1 of the kind packed")
        self._radices = np.array(radices)
        self._total = total
        bits: list[range] = []  # of each cell with bits, the highest first
        at = 0
        for radix in radices if total is None else radices[:-1]:
            size = max(1, len(f"{radix - 1:b}"))
            if at // 64 != (at + size - 1) // 64:
                at = (at + 63) // 64 * 64
            bits.append(range(at, at + size))
            at += size
        self.code_bytes = 8
        if at < 64:
            bits = [range(one.start + 64 - at, one.stop + 64 - at) for one in bits]
        else:
            full = sum(map(len, bits)) == at and at % 8 == 0
            self.code_bytes = max(9, (at + 7) // 8 + full)
        # Of each cell its word of 64 bits, how far its content is shifted there, and the content with all bits set.
        self._places = [
            (one.start // 64, np.uint64(-one.stop % 64), np.uint64((1 << len(one)) - 1)) for one in bits
        ]

    def codes(self, contents: NDArray[np.integer[Any]]) -> Codes:
        """The codes of contents, shape (boards, cells); several times faster where the contents of a cell are beside
        each other in memory."""
        count = len(contents)
        words = np.zeros((-(-self.code_bytes // 8), count), dtype=np.uint64)
        none, total = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)
        for column, radix in zip(contents.T, self._radices.tolist(), strict=True):
            none |= (column < 0) | (column >= radix)
            total += column
        for column, (word, shift, _) in zip(contents.T, self._places, strict=False):
            words[word] |= column.astype(np.uint64) << shift
        if self._total is not None:
            none |= total != self._total
        words[:, none] = NO_KEY
        if self.code_bytes == 8:
            first: Codes = words[0]
            return first
        rows = np.ascontiguousarray(words.T, dtype=">u8").view(np.uint8)[:, : self.code_bytes]
        return np.ascontiguousarray(rows).reshape(-1).view(f"S{self.code_bytes}")

    def contents(self, codes: Codes) -> NDArray[np.int64]:
        """Inverse of ``codes``; the contents of a cell are beside each other in memory."""
        rows = np.zeros((len(codes), -(-self.code_bytes // 8)), dtype=">u8")
        written = np.ascontiguousarray(codes.astype(">u8") if self.code_bytes == 8 else codes)
        shape = len(codes), self.code_bytes
        rows.view(np.uint8)[:, : self.code_bytes] = written.view(np.uint8).reshape(shape)
        words = np.ascontiguousarray(rows.T.astype(np.uint64))
        contents = np.zeros((len(self._radices), len(codes)), dtype=np.int64)
        for column, (word, shift, most) in zip(contents, self._places, strict=False):
            column[:] = words[word] >> shift & most
        if self._total is not None:
            contents[-1] = self._total - contents[:-1].sum(axis=0)
        return np.clip(contents, 0, self._radices[:, None] - 1).T


class MixedRadix:
    """Contents as digits of a number, the most significant first, or the least (``lowest_first``)."""

    def __init__(self, radices: Sequence[int], *, dense: bool, lowest_first: bool = False) -> None:
        self._radices = list(radices)
        self._order = range(len(radices))[:: -1 if lowest_first else 1]
        numbers = prod(radices)
        self.keys = numbers if dense else None
        self.code_bytes = 8 if dense or numbers <= 2**64 else 16

    def codes(self, contents: NDArray[np.integer[Any]]) -> Codes:
        """The codes of contents, shape (boards, digits)."""
        right: NDArray[np.bool_] = np.all((contents >= 0) & (contents < np.array(self._radices)), axis=1)
        if self.code_bytes == 8:
            codes = np.zeros(len(contents), dtype=np.uint64)
            for at in self._order:
                codes = codes * np.uint64(self._radices[at]) + contents[:, at].astype(np.uint64)
            return np.where(right, codes, NO_KEY)
        texts = []
        for digits, good in zip(contents.tolist(), right.tolist(), strict=True):
            code = 0
            for at in self._order:
                code = code * self._radices[at] + digits[at]
            texts.append(code.to_bytes(16, "big") if good else b"\xff" * 16)
        return np.frombuffer(b"".join(texts), dtype="S16")

    def contents(self, codes: Codes) -> NDArray[np.int64]:
        """Inverse of ``codes``."""
        contents = np.zeros((len(codes), len(self._radices)), dtype=np.int64)
        if self.code_bytes == 8:
            rest = np.ascontiguousarray(codes, dtype=np.uint64)
            for at in reversed(self._order):
                rest, contents[:, at] = np.divmod(rest, np.uint64(self._radices[at]))
            return contents
        numbers = [int.from_bytes(text, "big") for text in np.ascontiguousarray(codes).view("V16").tolist()]
        for at in reversed(self._order):
            parts = [divmod(number, self._radices[at]) for number in numbers]
            numbers = [number for number, _ in parts]
            contents[:, at] = [digit for _, digit in parts]
        return contents


class CodedModel(ABC):
    """See Model. A family adds origins, successors, and what its boards hold cell by cell; ``coder`` makes codes."""

    block_sizes: Sequence[int] = ()
    coder: Packed | MixedRadix

    @property
    def keys(self) -> int | None:
        return self.coder.keys

    @property
    def code_bytes(self) -> int:
        return self.coder.code_bytes

    @abstractmethod
    def contents(self, boards: Boards) -> NDArray[np.integer[Any]]:
        """For each cell, or digit, the number of its content; -1 where it is none."""

    @abstractmethod
    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        """Inverse of ``contents``."""

    def codes(self, boards: Boards) -> Codes:
        return self.coder.codes(self.contents(boards))

    def boards(self, codes: Codes) -> Boards:
        return self.with_contents(self.coder.contents(codes))
