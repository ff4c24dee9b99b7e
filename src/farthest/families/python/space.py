"""The python family: a user's class is the space, see docs/python.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from farthest.errors import PuzzleError, StorageError
from farthest.families.python.definition import python
from farthest.families.python.user_moves import UserMoves
from farthest.puzzles.definition import Board
from farthest.puzzles.origin_boards import origin_patterns
from farthest.puzzles.origin_names import names_of
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY
from farthest.spaces.packed_layout import is_packed

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.puzzles.definition import MoveName
    from farthest.spaces.contract import Boards, Codes, EngineKind

VERSION = 1

SPARSE = "sparse"
"""The kind of layout of a map that has only the keys that were found, of a class with a size."""

_LOOKS = 8
"""Of so many batches of states one is looked at, whether its moves can be taken back: layers may have few states."""


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> PythonSpace:
    """See ``spaces.compile_space``."""
    return PythonSpace(puzzle, origin, layout)


class PythonSpace:
    """A ScatterSpace whose codes are the keys of a user's class."""

    engine: EngineKind = "scatter"
    graded = False

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None) -> None:
        definition = python(puzzle)
        user = definition.user
        self.puzzle = puzzle
        self.origin = origin
        self.user = user
        self.moves = UserMoves(user)
        self.cells = self.code_bytes = user.width
        sparse = is_packed(layout) or (layout is not None and layout.get("kind") == SPARSE)
        self.keys = None if sparse else user.size
        self.undirected = user.undirected
        if layout is not None and not is_packed(layout) and layout != self.layout_fields():
            raise StorageError(
                f"puzzle class {user.reference}: its keys are {self.layout_fields()}, those of the stored map "
                f"{layout}; the class has changed, enumerate it again"
            )
        if origin.direction == "to" and not user.backward:
            raise PuzzleError(
                f"puzzle {puzzle.name}: distances to the origin need the states before a state; "
                "count from the start, write predecessors, or undirected = True where each move can be taken back"
            )
        self.moves_both_ways = user.backward
        if "goal" in names_of(origin.where):
            raise PuzzleError(f"puzzle {puzzle.name}: it has no goal; count from start, or name a board")
        self.origins: list[Board] = list(origin_patterns(definition, origin.where, puzzle.name))
        if user.hashes is not None:
            user.hashes.forget()
            for state in user.initial_states:
                user.code(state, "initial")
        self._batches = count()
        self.moves.check()

    def layout_fields(self) -> dict[str, Any]:
        """See Space."""
        fields = {"version": VERSION, "size": self.user.size, "bytes": self.user.width}
        return fields if self.keys == self.user.size else {**fields, "kind": SPARSE}

    def encode(self, boards: Boards) -> Codes:
        """See Space."""
        rows = np.ascontiguousarray(boards, dtype=np.uint8).reshape(-1, self.cells)
        if self.code_bytes != 8:
            return np.frombuffer(rows.tobytes(), dtype=self.moves.dtype)
        keys = rows.view(">u8").reshape(-1).astype(np.uint64)
        if self.user.size is not None:
            keys[keys >= self.user.size] = NO_KEY
        return keys

    def decode(self, codes: Codes) -> Boards:
        """See Space."""
        if self.code_bytes == 8:
            size = self.user.size
            if size is not None and codes.size and int(codes.max()) >= size:
                raise ValueError(f"key {int(codes.max())} is out of range, expected less than {size}")
            codes = codes.astype(">u8")
        return np.frombuffer(codes.tobytes(), dtype=np.uint8).reshape(-1, self.cells).copy()

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        """See Space."""
        codes = self.encode(boards)
        if (self.origin.direction == "to") == toward:
            for name, rows, after in self.moves.steps(codes, forward=True):
                if rows.size:
                    yield name, rows, self.decode(after)
            return
        # The states before, and which of their moves lead here: the player makes those.
        before = [(rows, found) for _, rows, found in self.moves.steps(codes, forward=False)]
        if not before:
            return
        rows = np.concatenate([rows for rows, _ in before])
        found = np.concatenate([found for _, found in before])
        pairs = np.empty(rows.size, dtype=[("row", np.intp), ("code", self.moves.dtype)])
        pairs["row"], pairs["code"] = rows, found
        pairs = np.unique(pairs)
        rows, found = np.ascontiguousarray(pairs["row"]), np.ascontiguousarray(pairs["code"])
        for name, made, after in self.moves.steps(found, forward=True):
            here = after == codes[rows[made]]
            if here.any():
                yield name, rows[made][here], self.decode(found[made][here])

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """See Space: none is known."""
        del board
        return None

    def origin_codes(self) -> Buffer:
        """See ScatterSpace."""
        return self.encode(np.array(self.origins, dtype=np.uint8)).tobytes()

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        """See ScatterSpace: the class is asked by one thread."""
        del threads
        given = np.frombuffer(memoryview(codes), dtype=self.moves.dtype)
        forward = self.origin.direction == "from"
        if (
            self.undirected and next(self._batches) % _LOOKS == 0
        ):  # else states would be found again and again
            self.moves.check_return(given[:1], forward=forward)
        return self.moves.reached(given, forward=forward).tobytes()
