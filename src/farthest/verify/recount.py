"""A second enumeration of a space by the moves of whole blocks of keys, which proves a large residue map.

Layer d + 1 are the neighbours of layer d that are not in layer d - 1, nor, unless every move leads from one colour to
another, in layer d; of each of its states the map must have the number of d + 1. That is the proof of ``residues``,
with bits in place of codes. Moves are the tables of ``block_moves``, looked up for one state after another by a part of
the kernel (kernel/src/recount.cpp) that shares nothing with the steps by which maps are found.

The bits of two layers, one bit a key for a space of two colours and else two, are in memory, or in a file of the
scratch folder where that is more than is allowed.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from farthest.errors import NoRoomError, ResourceError, StorageError
from farthest.sizes import bytes_text
from farthest.verify.bit_order import WORD_BITS
from farthest.verify.block_moves import NO_BLOCK, BlockTables, NoTablesError
from farthest.verify.models import Codes

BASE_BYTES = 200 * 2**20
"""Memory of the interpreter, its libraries, and the states that are expanded together."""

LAST_STATES = 2**22
"""Most states of the last layer that are listed."""

TURNS = 32
"""A layer is stepped in so many parts at least: progress is told, and Ctrl-C heard, after each."""


class MapWords(Protocol):
    """The words of a map file."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """See docs/map-files.md."""

    def mapped(self, scratch: Path, threads: int) -> NDArray[np.uint64]:
        """All words, read from the file where they are used; from a copy in the folder ``scratch`` where the file is
        not on this machine. Raises OSError."""

    def release(self) -> None:
        """Gives the memory back that these have taken."""


class Recount:
    """The layers of a space, one after the other, compared with ``words``.

    ``number``: of the states of a layer in the map. ``memory``: bytes; ``scratch``: the folder for what is more. Raises
    ResourceError where the memory is too little, NoRoomError where the folder is, NoTablesError where moves join states
    of one colour.
    """

    def __init__(
        self,
        tables: BlockTables,
        words: MapWords,
        origins: Codes,
        *,
        memory: int,
        scratch: Path,
        threads: int,
    ) -> None:
        self._tables = tables
        self._words = words
        try:
            self._map = words.mapped(scratch, threads)
        except OSError as error:
            raise _folder_error(scratch, words.fields["keys"] // 4, error) from error
        self._planes = 1 if words.fields["modulus"] == 4 else 2
        self._threads = threads
        self._colours = _colours(tables, words.fields) if self._planes == 1 else None
        arrays = 1 if self._planes == 1 else 2
        room = memory - BASE_BYTES - tables.most_bytes() - 4 * arrays * tables.blocks
        size = tables.blocks * tables.words * 8
        # What the blocks of a turn touch: their own words and the map's, and those of the blocks that lead to them.
        each = tables.words * 8 * (arrays + self._planes + tables.leads.shape[1])
        if room < 64 * each:
            raise ResourceError(
                f"the proof needs more memory than the {bytes_text(memory)} allowed; allow about "
                f"{-(-(memory - room + 64 * each) // 2**20)}MiB with --memory"
            )
        self._in_file = arrays * size > room - 64 * each
        self._bound = self._in_file or arrays * size + self._map.nbytes > room
        self._together = max(64, min(room // (2 * each), -(-tables.blocks // TURNS)))
        self._memories = [_memory(size, scratch if self._in_file else None) for _ in range(arrays)]
        self._layers = [np.frombuffer(one, dtype=np.uint64) for one in self._memories]
        self._counts = [np.zeros(tables.blocks, dtype=np.uint32) for _ in range(arrays)]
        self.depth = 0
        self.states = len(origins)
        places = self._places(origins)
        bits = np.uint64(1) << (places % WORD_BITS).astype(np.uint64)
        np.bitwise_or.at(self._layers[0], places // WORD_BITS, bits)
        np.add.at(self._counts[0], origins.astype(np.int64) // tables.size, np.uint32(1))

    def _places(self, codes: Codes) -> NDArray[np.int64]:
        block, offset = np.divmod(codes.astype(np.int64), self._tables.size)
        places: NDArray[np.int64] = block * (self._tables.words * WORD_BITS) + self._tables.bits[offset]
        return places

    def compare_origins(self, origins: Codes, number: int) -> int:
        """How many origins have another number in the map, or another colour than that of distance 0."""
        word, bit = np.divmod(self._places(origins), WORD_BITS)
        wrong = np.zeros(len(origins), dtype=np.bool_)
        for plane in range(self._planes):
            found = self._map[word * self._planes + plane] >> bit.astype(np.uint64) & np.uint64(1)
            wrong |= found != number >> plane & 1
        if self._colours is not None:
            wrong |= self._colours[origins.astype(np.int64) // self._tables.size] != 0
        return int(wrong.sum())

    def holds(self, codes: Codes) -> bool:
        """Whether any of these states is in the last layer."""
        places = self._places(codes)
        layer = self._layers[self.depth % len(self._layers)]
        bits = layer[places // WORD_BITS] >> (places % WORD_BITS).astype(np.uint64) & np.uint64(1)
        if self._colours is not None:
            here = codes.astype(np.int64) // self._tables.size
            bits = bits[self._colours[here] == self.depth % 2]
        return bool(bits.any())

    def step(self, number: int, told: Callable[[float], None]) -> tuple[int, int | None]:
        """Finds the next layer, whose states have a number in the map. ``told`` is called with the share that is done,
        and may raise an exception. Returns how many states have another, and the key of one."""
        now, after = (depth % len(self._layers) for depth in (self.depth, self.depth + 1))
        order = self._tables.order
        if self._colours is not None:
            order = order[self._colours[order] == (self.depth + 1) % 2]
        states = wrong = 0
        first: int | None = None
        for at in range(0, len(order), self._together):
            found, bad, where = self._tables.moves.step(
                order[at : at + self._together],
                self._layers[now],
                self._counts[now],
                self._layers[after],
                self._counts[after],
                now != after,
                self._map,
                self._planes,
                number,
                self._threads,
            )
            states += found
            wrong += bad
            if bad and first is None:
                first = self._key_at(where)
            if self._bound:
                self._release()
            told(min(1.0, (at + self._together) / len(order)))
        self.depth += 1
        self.states = states
        return wrong, first

    def _key_at(self, place: int) -> int:
        block, bit = divmod(place, self._tables.words * WORD_BITS)
        return block * self._tables.size + int(np.flatnonzero(self._tables.bits == bit)[0])

    def _release(self) -> None:
        self._words.release()
        for one in self._memories:
            if self._in_file and hasattr(mmap, "MADV_DONTNEED"):
                one.madvise(mmap.MADV_DONTNEED)

    def before(self) -> Codes:
        """The least keys of the last layer but one, ascending, LAST_STATES at most."""
        at = (self.depth - 1) % len(self._layers)
        layer, blocks = self._layers[at], np.flatnonzero(self._counts[at])
        if self._colours is not None:
            blocks = blocks[self._colours[blocks] == (self.depth - 1) % 2]
        parts: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
        left = LAST_STATES
        for block in blocks.tolist():
            words = layer[block * self._tables.words : (block + 1) * self._tables.words]
            bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
            parts.append(block * self._tables.size + np.flatnonzero(bits[self._tables.bits]))
            left -= len(parts[-1])
            if left <= 0:
                break
        return np.concatenate(parts)[:LAST_STATES].astype(np.uint64)


def _colours(tables: BlockTables, fields: Mapping[str, Any]) -> NDArray[np.int64]:
    """The colour of each block."""
    colours = np.array([int(digit) for digit in fields["colours"]], dtype=np.int64)
    found = np.repeat(colours, tables.blocks // len(colours))
    for leads in tables.leads.T:
        here = np.flatnonzero(leads != NO_BLOCK)
        if (found[leads[here]] == found[here]).any():
            raise NoTablesError
    return found


def _memory(size: int, scratch: Path | None) -> mmap.mmap:
    """So many bytes of zeros: of memory, or of a file in a folder, which has no name and goes with the process."""
    if scratch is None:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        with tempfile.TemporaryFile(prefix="farthest-verify-", dir=scratch) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)  # else a full disk would end the process
            else:
                file.truncate(size)
            return mmap.mmap(file.fileno(), size)
    except OSError as error:
        raise _folder_error(scratch, size, error) from error


def _folder_error(scratch: Path, size: int, error: OSError) -> StorageError:
    kind = NoRoomError if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else StorageError
    return kind(
        f"{scratch}: what the proof keeps, {bytes_text(size)}, cannot be kept there ({error.strerror}); make room, "
        "name another folder with --scratch, or allow more memory with --memory"
    )
