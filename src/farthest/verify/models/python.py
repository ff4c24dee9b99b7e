"""Spaces of users' classes: the class is the definition, so it is called again, one state at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.families.python.definition import Python
from farthest.families.python.user_class import MAX_SIZE, MAX_WIDTH
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import NO_KEY, Boards, Codes, LayoutError


def stored_form(layout: Mapping[str, Any]) -> tuple[int | None, int]:
    """The number of keys (None: sparse) and the bytes of a code, from the stored layout. Raises LayoutError."""
    size, width = layout.get("size"), layout.get("bytes")
    sparse = {"kind": "sparse"} if "kind" in layout and size is not None else {}
    if (
        dict(layout) != {"version": 1, "size": size, "bytes": width, **sparse}
        or not (size is None or (type(size) is int and 1 <= size <= MAX_SIZE))
        or not (type(width) is int and 1 <= width <= MAX_WIDTH)
    ):
        raise LayoutError(f"the key layout is {dict(layout)!r}, expected version, size and bytes of keys")
    return None if sparse else size, width


class PythonModel:
    """See Model. A board is the bytes of a key."""

    block_sizes = ()

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        self.definition = puzzle.defined_as(Python)
        self.user = self.definition.user
        self.origin = origin
        self.keys, self.code_bytes = stored_form(layout)
        expected = {"version": 1, "size": self.user.size, "bytes": self.user.width}
        if {**layout, **expected} != layout:
            raise LayoutError(f"the key layout is {dict(layout)!r}, expected {expected!r}")

    def origins(self) -> Boards:
        found = origin_patterns(self.definition, self.origin.where, "")
        return np.array(found, dtype=np.uint8).reshape(-1, self.code_bytes)

    def codes(self, boards: Boards) -> Codes:
        if self.code_bytes != 8:
            return np.frombuffer(boards.tobytes(), dtype=f"S{self.code_bytes}")
        codes = np.zeros(len(boards), dtype=np.uint64)
        for k in range(8):
            codes = codes * np.uint64(256) + boards[:, k]
        size = self.user.size
        return codes if size is None else np.where(codes < size, codes, NO_KEY)

    def boards(self, codes: Codes) -> Boards:
        if self.code_bytes != 8:
            return np.frombuffer(codes.tobytes(), dtype=np.uint8).reshape(-1, self.code_bytes)
        shifts = np.arange(56, -8, -8, dtype=np.uint64)
        return (codes.astype(np.uint64)[:, None] >> shifts & np.uint64(255)).astype(np.uint8)

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        backward = self.origin.direction == "to" and not self.user.undirected
        method = ("predecessors" if backward else "successors") + ("" if self.user.batch else "_of")
        rows, found = self._batch(method, boards) if self.user.batch else self._single(method, boards)
        return np.array(rows, dtype=np.intp), np.array(found, dtype=np.uint8).reshape(-1, self.code_bytes)

    def _single(self, method: str, boards: Boards) -> tuple[list[int], list[tuple[int, ...]]]:
        rows, found = [], []
        for row, board in enumerate(boards.tolist()):
            state = self.user.state(self.user.code_of_board(board))
            with self.user.mended(method):
                answer = list(getattr(self.user.instance, method)(state))
            for item in answer:
                rows.append(row)
                state = item[1] if self.user.named(item) else item
                found.append(self.user.board(self.user.code(state, method)))
        return rows, found

    def _batch(self, method: str, boards: Boards) -> tuple[NDArray[Any], NDArray[Any]]:
        if self.code_bytes == 8:
            keys: NDArray[Any] = self.codes(boards)
        else:
            keys = (
                boards.reshape(-1, 2, 8).view(">u8").astype(np.uint64)[:, :, 0]
                if self.user.wide
                else boards.copy()
            )
        answer = self.user.answer(method, keys)
        if isinstance(answer, np.ndarray):
            parts = [(np.arange(len(boards)), answer[:, k]) for k in range(answer.shape[1])]
        else:
            parts = [(np.asarray(rows), np.asarray(found)) for rows, found in answer]
        rows, found = [np.empty(0, dtype=np.intp)], [np.empty((0, self.code_bytes), dtype=np.uint8)]
        for at, after in parts:
            if self.code_bytes == 8:
                cells = self.boards(after.astype(np.uint64))
            else:
                cells = after.astype(">u8").view(np.uint8).reshape(-1, 16) if self.user.wide else after
            there = (cells != 255).any(axis=1)
            rows.append(at[there])
            found.append(cells[there])
        return np.concatenate(rows), np.concatenate(found)


model = PythonModel
