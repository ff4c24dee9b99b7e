"""The plain model of peg puzzles: each jump tried on each board, hole by hole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.families.pegs.definition import pegs
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import Boards, Codes
from farthest.verify.ranking import LayoutError


class PegModel:
    """See Model. ``bits``: the holes of the key's bits, the lowest first; None where codes are masks of holes."""

    code_bytes = 8

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        self._puzzle = puzzle
        self._origin = origin
        self._holes = pegs(puzzle).holes
        self._bits, self._dropped = _layout(layout, self._holes)
        self.keys = None if layout["kind"] == "boards" else 2 ** len(self._bits)

    def origins(self) -> Boards:
        """See Model."""
        boards = [
            board
            for pattern in origin_patterns(pegs(self._puzzle), self._origin.where, "")
            for board in product(*((0, 1) if hole == WILDCARD else (hole,) for hole in pattern))
        ]
        return np.array(boards, dtype=np.uint8).reshape(-1, self._holes)

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model."""
        found = list(self._jumped(boards, np.arange(len(boards)), None))
        if not found:
            return np.empty(0, dtype=np.intp), np.empty((0, self._holes), dtype=np.uint8)
        return np.concatenate([rows for rows, _ in found]), np.concatenate([reached for _, reached in found])

    def _jumped(
        self, boards: Boards, rows: NDArray[np.intp], peg: int | None
    ) -> Iterator[tuple[NDArray[np.intp], Boards]]:
        """Jumps of any peg, or of the one in hole ``peg``; in the metric ``chain`` the same peg goes on jumping."""
        for a, b, c in pegs(self._puzzle).jumps:
            # Taking a jump back, the peg goes from c to a, and the one in b comes back.
            first, last, before = (a, c, (1, 1, 0)) if self._origin.direction == "from" else (c, a, (0, 0, 1))
            if peg is not None and peg != first:
                continue
            can = (boards[:, a] == before[0]) & (boards[:, b] == before[1]) & (boards[:, c] == before[2])
            if not can.any():
                continue
            reached = boards[can].copy()
            reached[:, [a, b, c]] ^= 1
            yield rows[can], reached
            if self._puzzle.metric == "chain":
                yield from self._jumped(reached, rows[can], last)

    def codes(self, boards: Boards) -> Codes:
        """See Model."""
        codes = np.zeros(len(boards), dtype=np.uint64)
        for i, hole in enumerate(self._bits):
            codes |= boards[:, hole].astype(np.uint64) << np.uint64(i)
        codes[(self.boards(codes) != boards).any(axis=1)] = 2**64 - 1
        return codes

    def boards(self, codes: Codes) -> Boards:
        """See Model."""
        boards = np.zeros((len(codes), self._holes), dtype=np.uint8)
        for i, hole in enumerate(self._bits):
            boards[:, hole] = codes >> np.uint64(i) & np.uint64(1)
        for hole, needed, flipped in self._dropped:
            boards[:, hole] = (boards[:, needed].sum(axis=1) + flipped) % 2
        return boards


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> PegModel:
    """See models."""
    return PegModel(puzzle, origin, layout)


def _layout(layout: Mapping[str, Any], holes: int) -> tuple[list[int], list[tuple[int, list[int], bool]]]:
    """The holes of the bits, and the dropped ones: (hole, the holes whose pegs it follows from, flipped)."""
    try:
        if layout["version"] != 1 or layout["kind"] not in ("lines", "boards"):
            raise LayoutError("the stored key layout is of another version")
        if layout["kind"] == "boards":
            return list(range(holes)), []
        bits = [int(hole) for hole in layout["holes"]]
        dropped = [
            (int(hole), [bits[i] for i in range(len(bits)) if parity >> i & 1], bool(flipped))
            for hole, parity, flipped in layout["dropped"]
        ]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise LayoutError(f"the stored key layout is damaged: {error!r}") from None
    if sorted([*bits, *(hole for hole, _, _ in dropped)]) != list(range(holes)):
        raise LayoutError("the stored key layout does not name each hole once")
    return bits, dropped
