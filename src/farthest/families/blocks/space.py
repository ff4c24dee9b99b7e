"""The family ``blocks``: codes of boards, and the moves of pieces in the metrics ``step``, ``slide`` and ``move``.

step: one piece moves one cell. slide: one piece moves straight, any number of free cells. move: one piece goes any way
through free cells while the others stay. Every move can be taken back by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from farthest import _kernel
from farthest.errors import PuzzleError
from farthest.families.blocks.definition import Blocks, move_name
from farthest.puzzles.definition import Board
from farthest.puzzles.grid import WALL
from farthest.puzzles.origin import MAX_ORIGINS, origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import PACKED, check_version, is_packed
from farthest.spaces.packed import packed_fields

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.spaces.contract import Boards, Codes

VERSION = 1

MOST_NUMBERS = 2**128
"""Where there are so many codes or more, they are packed."""

_WAYS = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right, as in the kernel


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> BlockSpace:
    packed = is_packed(layout) or (
        layout is None and puzzle.defined_as(Blocks).arrangements() >= MOST_NUMBERS
    )
    if layout is not None and not packed:
        check_version(layout, VERSION)
    return BlockSpace(puzzle, origin, packed=packed)


class BlockSpace:
    """See ``ScatterSpace``. Codes are numbers, or 16 bytes where numbers of 64 bits are too few; ``packed``: a field of
    bits for each kind (docs/blocks.md)."""

    engine: Literal["scatter"] = "scatter"
    keys: int | None = None
    moves_both_ways = True
    undirected = True
    graded = False

    def __init__(self, puzzle: Puzzle, origin: Origin, *, packed: bool) -> None:
        self.puzzle = puzzle
        self.origin = origin
        self.definition = puzzle.defined_as(Blocks)
        self.cells = self.definition.cells
        self._packed = packed
        self._kernel = _compiled(puzzle, packed=packed)
        self.code_bytes = self._kernel.code_bytes
        self.expander = self._kernel.expander()
        self.code_dtype: np.dtype[Any] = np.dtype("<u8" if self.code_bytes == 8 else f"S{self.code_bytes}")
        self._origin_codes = _origin_codes(puzzle, origin, self._kernel, self.code_dtype)
        self.origins: list[Board] = [tuple(board) for board in self.decode(self._origin_codes).tolist()]

    def layout_fields(self) -> dict[str, Any]:
        """The puzzle alone decides the codes."""
        return dict(PACKED) if self._packed else {"version": VERSION}

    def encode(self, boards: Boards) -> Codes:
        flat = np.ascontiguousarray(boards, dtype=np.uint8).reshape(-1)
        return np.frombuffer(self._kernel.encode(flat), dtype=self.code_dtype)

    def decode(self, codes: Codes) -> Boards:
        data = self._kernel.decode(np.ascontiguousarray(codes, dtype=self.code_dtype).tobytes())
        return np.frombuffer(data, dtype=np.uint8).reshape(-1, self.cells)

    def placements(self, most: int, part: int, parts: int) -> Codes:
        """The codes of a part of all boards, ascending; ``most`` + 1 of them where there are more."""
        data = self._kernel.placements([0] * len(self.definition.kinds), most, part, parts)
        return np.sort(np.frombuffer(data, dtype=self.code_dtype))

    def components(
        self, starts: Codes, among: Codes | None, most: int, enough: int
    ) -> Iterator[tuple[Codes, NDArray[np.intp]]]:
        """The states of the components of which a start is the least state, or the least of ``among``, ascending;
        ``enough`` or more at a time, ascending, and the number of the component of each. Raises ``LimitError`` for a
        component of more than ``most``."""
        known = b"" if among is None else among.tobytes()
        while len(starts):
            data, sizes, done = self._kernel.components(starts.tobytes(), known, most, enough)
            if sizes:
                codes = np.frombuffer(data, dtype=self.code_dtype)
                order = np.argsort(codes)
                yield codes[order], np.repeat(np.arange(len(sizes)), sizes)[order]
            starts = starts[done:]

    def origin_codes(self) -> Buffer:
        return self._origin_codes.tobytes()

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        return _kernel.expand_codes(self.expander, codes, threads)

    def lines(self) -> _kernel.BlockLines | None:
        """A new search of the kernel that needs no codes; None where it has none for such pieces."""
        return self._kernel.lines(self.origin_codes())

    def neighbours(self, boards: Boards, *, toward: bool) -> Iterator[tuple[str, NDArray[np.intp], Boards]]:
        """See Space. A move's name is the piece and its way (families/blocks/definition.py)."""
        codes = self.encode(boards)
        if (codes == _no_code(self.code_dtype)).any():
            raise ValueError("a row is no board of the puzzle")
        row_bytes, next_bytes, name_bytes = self._kernel.moves(codes.tobytes())
        rows = np.frombuffer(row_bytes, dtype=np.uint64).astype(np.intp)
        found = np.frombuffer(next_bytes, dtype=self.code_dtype)
        names = np.frombuffer(name_bytes, dtype=np.uint8).reshape(-1, 5)
        if not found.size:
            return
        if (self.origin.direction == "from") == toward:  # the player comes from there
            names = names[:, [0, 2, 1, 4, 3]]
        # Of one name: kind, anchors, number of the piece, a byte each.
        packed = np.ascontiguousarray(names[:, :4]).view("<u4").reshape(-1)
        order = np.argsort(packed, kind="stable")
        starts = np.flatnonzero(np.diff(packed[order], prepend=~packed[order[0]]))
        reached = self.decode(found)
        for chosen in np.split(order, starts[1:]):
            kind, before, after, number = names[chosen[0], :4].tolist()
            yield move_name(self.definition, kind, before, after, number), rows[chosen], reached[chosen]

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """Only a search can tell."""
        return None


def _no_code(dtype: np.dtype[Any]) -> Any:
    return np.frombuffer(b"\xff" * dtype.itemsize, dtype=dtype)[0]


def _compiled(puzzle: Puzzle, *, packed: bool) -> _kernel.Blocks:
    definition = puzzle.defined_as(Blocks)
    beside: list[list[int]] = [[-1] * definition.cells for _ in _WAYS]
    for r, row in enumerate(definition.rows):
        for c, cell in enumerate(row):
            for way, (down, right) in enumerate(_WAYS):
                if cell != WALL and 0 <= r + down < len(definition.rows) and 0 <= c + right < len(row):
                    beside[way][cell] = definition.rows[r + down][c + right]
    fields, code_bytes = packed_fields(definition.radices) if packed else ([], 8)
    return _kernel.Blocks(
        definition.cells,
        beside,
        [len(kind.tokens) for kind in definition.kinds],
        [kind.ways for kind in definition.kinds],
        [[sum(1 << cell for cell in covered) for covered in covers] for covers in definition.covers],
        puzzle.metric,
        fields,
        code_bytes,
    )


def _origin_codes(puzzle: Puzzle, origin: Origin, kernel: _kernel.Blocks, dtype: np.dtype[Any]) -> Codes:
    """The codes at depth 0, ascending, none twice."""
    definition = puzzle.defined_as(Blocks)
    found = []
    for pattern in origin_patterns(puzzle.definition, origin.where, puzzle.name):
        fixed = [sum(1 << cell for cell in cells) for cells in definition.anchors(pattern) or ()]
        codes = np.frombuffer(kernel.placements(fixed, MAX_ORIGINS), dtype=dtype)
        if len(codes) > MAX_ORIGINS:
            raise PuzzleError(
                f"puzzle {puzzle.name}: the goals stand for more than {MAX_ORIGINS:,} boards "
                f"(goal {definition.format_board(pattern)}); name more pieces in the goal, or count from the start"
            )
        if not codes.size:
            raise PuzzleError(
                f"puzzle {puzzle.name}: no board matches the goal {definition.format_board(pattern)}: "
                "the other pieces have no room; correct the goal"
            )
        found.append(codes)
    return np.unique(np.concatenate(found))
