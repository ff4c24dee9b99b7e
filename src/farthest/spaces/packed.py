"""Spaces that are enumerated by scattering, whose codes are made for the boards of another space or of a family; among
them boards packed into codes, a field of bits for what stands in each cell (docs/key-layout.md).

A packed puzzle may have any number of arrangements: codes are never ranked, and memory goes by the states that are
found. The kernel makes moves that permute the contents of cells, which are then numbers below 256, and change what
stands there; numpy makes all others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.arrays import np
from farthest.errors import ResourceError
from farthest.spaces.contract import NO_KEY, PACKED, OfBoards

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.spaces.contract import Boards, Codes, EngineKind, MovedBoards

WORD = 64
MOST_CELLS = 1024
MOST_MASKED = 64
"""Cells of a board whose moves ask for cells that hold 0, or do not."""

CONTENTS = 256
UNCHANGED = bytes(range(CONTENTS))
BLOCK = 1 << 15
"""Codes that numpy expands at a time: their arrays stay in the cache."""


class CodedSpace(OfBoards, ABC):
    """A ScatterSpace with codes for the boards of ``plain``."""

    engine: EngineKind = "scatter"
    keys: int | None = None
    code_bytes = 8
    graded = False
    moves_both_ways = True

    @abstractmethod
    def encode(self, boards: Boards) -> Codes: ...

    @abstractmethod
    def decode(self, codes: Codes) -> Boards: ...

    def origin_codes(self) -> Buffer:
        boards = np.array(self.origins, dtype=np.uint8).reshape(-1, self.cells)
        return np.ascontiguousarray(self.encode(boards)).view(np.uint8).data

    @property
    def expander(self) -> _kernel.Expander | None:
        """The kernel's successors; None: numpy finds them."""
        return None

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        if self.expander is not None:
            return _kernel.expand_codes(self.expander, codes, threads)
        given = np.frombuffer(
            memoryview(codes), dtype="u8" if self.code_bytes == 8 else f"S{self.code_bytes}"
        )
        blocks = [given[first : first + BLOCK] for first in range(0, given.size, BLOCK)]
        if threads > 1 and len(blocks) > 1:  # numpy lets threads work beside each other
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(self.expand, blocks))
        else:
            found = [self.expand(block) for block in blocks]
        return np.concatenate(found).view(np.uint8).data if found else b""

    def expand(self, codes: Codes) -> Codes:
        """The successors of some codes, by np."""
        found = [self.encode(reached) for _, _, reached in self.neighbours(self.decode(codes), toward=False)]
        return np.concatenate(found) if found else codes[:0]


@dataclass(frozen=True, slots=True)
class PackedMove:
    """What stands in cell i goes to cell ``to[i]`` and becomes ``turns[i][content]``, where the cells of the bit mask
    ``require`` hold 0 and those of ``forbid`` do not; and all ``guards`` hold: (kinds, cells, joined), of the contents
    of these kinds none stands in the cells of the bit mask, or, where they are joined, all of them do or none."""

    to: Sequence[int]
    turns: Sequence[bytes]
    require: int = 0
    forbid: int = 0
    guards: Sequence[tuple[Sequence[int], int, bool]] = ()


class PackedSpace(CodedSpace):
    """``radices``: for each cell the number of its contents; ``total``: the sum of the contents of
    all cells, where it never changes: then the last cell has no field; ``moves_away``: those away from the origin that
    the kernel makes, None where it makes none; ``kinds``: for each cell the kind of each content, or 0, for guards.

    A family whose boards are more than a content for each cell overrides ``contents`` and ``boards``.
    """

    def __init__(
        self,
        plain: MovedBoards,
        radices: Sequence[int],
        total: int | None,
        moves_away: Sequence[PackedMove] | None,
        *,
        undirected: bool,
        kinds: Sequence[bytes] = (),
    ) -> None:
        super().__init__(plain, undirected=undirected)
        self._kinds_of = kinds
        self._total = total
        self._moves = moves_away
        masked = any(move.require or move.forbid or move.guards for move in moves_away or ())
        most = MOST_MASKED if masked else MOST_CELLS
        if moves_away is not None and len(radices) > most:
            raise ResourceError(
                f"puzzle {self.puzzle.name}: {len(radices)} cells, more than the {most} of a packed board; "
                "search for solutions of single boards with `farthest solve`"
            )
        if moves_away is not None and max(radices) >= CONTENTS:
            raise ResourceError(
                f"puzzle {self.puzzle.name}: up to {max(radices)} kinds and turns of a piece in one cell, more than "
                f"the {CONTENTS - 1} that a packed code can tell; search for solutions of single boards with "
                "`farthest solve`"
            )
        self._radices = tuple(radices)
        self.fields, self.code_bytes = packed_fields(radices if total is None else radices[:-1])

    def layout_fields(self) -> dict[str, Any]:
        return dict(PACKED)

    def contents(self, boards: Boards) -> NDArray[np.integer[Any]]:
        """The contents, shape (boards, packed cells), of boards."""
        return boards

    def boards(self, contents: NDArray[np.integer[Any]]) -> Boards:
        """Inverse of ``contents``."""
        return contents.astype(np.uint8)

    def encode(self, boards: Boards) -> Codes:
        contents = self.contents(np.asarray(boards, dtype=np.uint8).reshape(-1, self.cells))
        words = np.zeros((len(contents), self._words), dtype=np.uint64)
        for cell, (word, shift, _) in enumerate(self.fields):
            words[:, word] |= contents[:, cell].astype(np.uint64) << np.uint64(shift)
        none = (contents >= np.array(self._radices)).any(axis=1)
        if self._total is not None:
            none |= contents.sum(axis=1, dtype=np.int64) != self._total
        if self.code_bytes == 8:
            codes = words[:, 0]
            codes[none] = NO_KEY
            return codes
        found = (
            words.astype(">u8").view(np.uint8).reshape(len(contents), 8 * self._words)[:, : self.code_bytes]
        )
        written = np.zeros((len(contents), self.code_bytes), dtype=np.uint8)
        written[:, : found.shape[1]] = found
        written[none] = 255
        return written.reshape(-1).view(f"S{self.code_bytes}")

    def decode(self, codes: Codes) -> Boards:
        words = np.zeros((codes.size, self._words), dtype=np.uint64)
        if self.code_bytes == 8:
            words[:, 0] = codes
        else:
            written = np.zeros((codes.size, 8 * self._words), dtype=np.uint8)
            strings = np.ascontiguousarray(codes, dtype=f"S{self.code_bytes}")
            found = strings.view(np.uint8).reshape(codes.size, self.code_bytes)[:, : 8 * self._words]
            written[:, : found.shape[1]] = found
            words[:] = written.view(">u8")
        contents = np.empty((codes.size, len(self._radices)), dtype=np.int64)
        for cell, (word, shift, bits) in enumerate(self.fields):
            contents[:, cell] = (words[:, word] >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
        if self._total is not None:
            contents[:, -1] = self._total - contents[:, :-1].sum(axis=1)
        if ((contents < 0) | (contents >= np.array(self._radices))).any():
            raise ValueError(f"a code is of no board of the puzzle {self.puzzle.name}")
        return self.boards(contents)

    @cached_property
    def expander(self) -> _kernel.Expander | None:
        if self._moves is None:
            return None
        tables = list(dict.fromkeys([UNCHANGED, *(table for move in self._moves for table in move.turns)]))
        number = {table: at for at, table in enumerate(tables)}
        moves = [
            (list(move.to), [number[table] for table in move.turns], move.require, move.forbid, move.guards)
            for move in self._moves
        ]
        return _kernel.packed_expander(
            self.code_bytes,
            self.fields,
            self._total,
            [list(table) for table in tables],
            moves,
            [list(kinds) for kinds in self._kinds_of],
        )

    @property
    def _words(self) -> int:
        return self.fields[-1][0] + 1


def packed_fields(radices: Sequence[int]) -> tuple[list[tuple[int, int, int]], int]:
    """For each cell the (word, shift, bits) of its field, and the bytes of a code, for so many contents of each.

    A field has as few bits as its contents need, one at least. The first is the highest of the first word; one that
    does not fit into a word is the first of the next. Where all fit 63 bits they are the lowest of a number; else a
    code has 9 bytes or more, as few as hold all fields and are not all bits.
    """
    fields, word, free = [], 0, WORD
    for radix in radices:
        bits = max(1, (radix - 1).bit_length())
        if bits > free:
            word, free = word + 1, WORD
        free -= bits
        fields.append((word, free, bits))
    if word == 0 and free > 0:
        return [(0, shift - free, bits) for _, shift, bits in fields], 8
    used = -(-(WORD * (word + 1) - free) // 8)
    whole = sum(bits for _, _, bits in fields) == 8 * used
    return fields, max(9, used + whole)
