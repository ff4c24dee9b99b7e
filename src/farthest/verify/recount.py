"""A second enumeration of a space by the moves of whole blocks of keys, which proves a large residue map.

Layer d + 1 are the neighbours of layer d that are not in layer d - 1, nor, unless every move leads from one colour to
another, in layer d; of each of its states the map must have the number of d + 1. That is the proof of ``residues``,
with bits in place of codes.

Moves are tables of blocks of keys, made by the plain model. Keys are mixed-radix numbers (docs/key-layout.md). Those
that agree in the first digits are a *block*: the first pieces stand in the same places, and the keys differ in how the
others stand in the free ones. A move takes each place to a place, so it leads from all boards of a block to all boards
of one other block, and in which way depends on the order of the free places alone: moves of few *kinds* are enough for
all blocks. They are looked up for one state after another by a part of the kernel (kernel/src/recount.cpp) that shares
nothing with the steps by which maps are found.

What is not taken on trust: of each block some states are expanded by the plain model. Which block a move leads to, and
of which kind it is, is read off these; the first block with a new kind is expanded as a whole, which gives its table.
Then one more state of each block, at random, and some blocks as a whole must be as the tables say. Each move must have
a move that takes it back. Where any of this is otherwise there are no such tables.

The bits of two layers, one bit a key for a space of two colours and else two, are in memory, or in a file of the
scratch folder where that is more than is allowed.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from farthest import _kernel
from farthest.errors import ResourceError
from farthest.verify.local import folder_error, memory_of
from farthest.verify.models import Codes, Model
from farthest.wording import bytes_text

WORD_BITS = 64


class BitOrder:
    """Where the bits of keys are in a residue map, as docs/map-files.md has it: keys in groups of ``group`` keys, which
    take ``group_words`` words."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.keys = int(fields["keys"])
        self.group = int(fields["words_per_group"]) * int(fields["bits"])
        self.group_words = int(fields["words_per_group"])
        self._order = np.array(fields["order"] or range(self.group), dtype=np.int64)

    def places(self, keys: NDArray[Any]) -> NDArray[np.int64]:
        """For each key word * 64 + bit."""
        group, k = np.divmod(keys.astype(np.int64), self.group)
        return group * (self.group_words * WORD_BITS) + self._order[k]


Finding = tuple[str, int, int, str]
"""The name of a check, how many states were checked, how many are wrong, and the first wrong one in words."""

MOST_WORDS = 1024
"""Most words of a block: in its tables bits are numbers of 16 bits."""

MOST_KINDS = 4096
NO_BLOCK = 2**32 - 1
SAMPLES = 5
"""States of a block that tell the kinds of its moves."""

WHOLE_BLOCKS = 20
"""Blocks that are expanded as a whole, to compare them with the tables."""

TOGETHER = 1 << 15
"""States that are expanded together."""

SEED = 20_261_122
"""The seed of the random states: each proof takes the same."""


class NoTablesError(Exception):
    """The moves of the space are not those of whole blocks."""


@dataclass(frozen=True, slots=True)
class BlockTables:
    """``leads[b, m]``: the block that move m leads to from block b, NO_BLOCK for none; ``kinds[b, m]``: its kind.
    ``moves``: the same for the kernel. ``size``: keys of a block, in ``words`` words. ``order``: blocks in an order in
    which those that lead to each other are near. ``bits``: word * 64 + bit of each of its keys. ``sampled``: states
    that the plain model has expanded."""

    size: int
    words: int
    bits: NDArray[np.int64]
    leads: NDArray[np.uint32]
    kinds: NDArray[np.uint16]
    moves: _kernel.BlockMoves
    order: NDArray[np.uint32]
    sampled: int

    @property
    def blocks(self) -> int:
        """All blocks."""
        return len(self.leads)

    def most_bytes(self) -> int:
        """Bytes of the tables that grow with the space."""
        return self.leads.nbytes + self.kinds.nbytes


def block_size(sizes: Sequence[int], order: BitOrder, ranges: int) -> int | None:
    """The most keys of a block that is whole groups of bits, in MOST_WORDS words; None: there are none such.

    ``sizes``: see BlockModel; ``ranges``: all keys are to be so many ranges of whole blocks.
    """
    fitting = [
        size
        for size in sizes
        if size % order.group == 0
        and size // order.group * order.group_words <= MOST_WORDS
        and order.keys % (size * ranges) == 0
    ]
    return max(fitting, default=None)


def block_tables(
    model: Model, order: BitOrder, size: int, threads: int, progress: Callable[[int, int], None]
) -> BlockTables:
    """The tables of a space with blocks of ``size`` keys. ``progress`` is called with (blocks done, all), and may raise
    an exception. Raises NoTablesError."""
    return _Tables(model, order, size).found(threads, progress)


class _Tables:
    def __init__(self, model: Model, order: BitOrder, size: int) -> None:
        assert model.keys is not None
        self._model = model
        self._order = order
        self._size = size
        self._blocks = model.keys // size
        rng = np.random.default_rng(SEED)
        some = rng.integers(0, size, size=SAMPLES - 2)
        self._fixed = np.unique(np.array([0, size - 1, *some], dtype=np.int64))
        self._kind_of: dict[bytes, int] = {}
        self._tables: list[
            NDArray[np.int64]
        ] = []  # of each kind: for each key of a block the one it leads to
        self.sampled = 0

    def found(self, threads: int, progress: Callable[[int, int], None]) -> BlockTables:
        """All tables."""
        per = max(1, TOGETHER // (len(self._fixed) + 1))
        starts = range(0, self._blocks, per)
        rows: list[tuple[NDArray[np.uint32], NDArray[np.uint16]]] = []
        with ThreadPoolExecutor(threads) as pool:
            for at in range(0, len(starts), threads):
                some = starts[at : at + threads]
                ranges = [(first, min(first + per, self._blocks)) for first in some]
                for (first, last), image in zip(ranges, pool.map(self._sampled, ranges), strict=True):
                    rows.append(self._read(first, last, *image))
                progress(ranges[-1][1], self._blocks)
        moves = max(leads.shape[1] for leads, _ in rows)
        leads = np.concatenate([_widened(part, moves, NO_BLOCK) for part, _ in rows])
        kinds = np.concatenate([_widened(part, moves, 0) for _, part in rows])
        self._compare_whole_blocks(leads, kinds)
        tables = np.array(self._tables)
        _check_taken_back(leads, kinds, tables)
        return self._built(leads, kinds, tables)

    def _built(
        self, leads: NDArray[np.uint32], kinds: NDArray[np.uint16], tables: NDArray[np.int64]
    ) -> BlockTables:
        words = self._size // self._order.group * self._order.group_words
        bits = self._order.places(np.arange(self._size))
        # For each bit of the block that a move leads to the bit that leads there; others lead to themselves.
        back = np.tile(np.arange(words * WORD_BITS, dtype=np.uint16), (len(tables), 1))
        for kind, table in enumerate(tables):
            back[kind, bits[table]] = bits
        moves = _kernel.BlockMoves(
            words, leads.shape[1], leads.reshape(-1), kinds.reshape(-1), back.reshape(-1)
        )
        sizes = self._model.block_sizes
        per_first = (sizes[-2] if len(sizes) > 1 else sizes[-1]) // self._size
        # The first digit last: moves of a blank, which comes first, change others little.
        order = np.arange(self._blocks, dtype=np.uint32)
        if per_first > 1:
            order = order.reshape(-1, per_first).T.reshape(-1)
        return BlockTables(
            self._size, words, bits, leads, kinds, moves, np.ascontiguousarray(order), self.sampled
        )

    def _images(self, codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many moves each state has, and the codes that they lead to, state by state in the order of the moves."""
        boards = self._model.boards(codes)
        rows, after = self._model.successors(boards)
        reached = self._model.codes(after)
        assert self._model.keys is not None
        if not (reached < self._model.keys).all() or not (self._model.codes(boards) == codes).all():
            raise NoTablesError
        by_state = np.argsort(rows, kind="stable")
        return np.bincount(rows, minlength=len(codes)), reached[by_state].astype(np.int64)

    def _sampled(
        self, blocks: tuple[int, int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The images of some states of each block, and which state of it was the random one."""
        first, last = blocks
        at_random = np.random.default_rng((SEED, first)).integers(0, self._size, size=last - first)
        offsets = np.concatenate(
            [np.broadcast_to(self._fixed, (last - first, len(self._fixed))), at_random[:, None]], axis=1
        )
        codes = np.arange(first, last)[:, None] * self._size + offsets
        counts, reached = self._images(codes.reshape(-1).astype(np.uint64))
        return at_random, counts.reshape(codes.shape), reached

    def _read(
        self,
        first: int,
        last: int,
        at_random: NDArray[np.int64],
        counts: NDArray[np.int64],
        reached: NDArray[np.int64],
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
        """The moves and kinds of some blocks, from the images of their samples."""
        samples = counts.shape[1]
        self.sampled += counts.size
        if (counts != counts[:, :1]).any():
            raise NoTablesError
        per_block = counts[:, 0]
        ends = np.cumsum(per_block * samples)
        moves = max(1, int(per_block.max()))
        leads = np.full((last - first, moves), NO_BLOCK, dtype=np.uint32)
        kinds = np.zeros((last - first, moves), dtype=np.uint16)
        for count in np.unique(per_block[per_block > 0]).tolist():
            here = np.flatnonzero(per_block == count)
            size = count * samples
            images = reached[(ends[here] - size)[:, None] + np.arange(size)]
            block, offset = np.divmod(images.reshape(len(here), samples, count), self._size)
            if (block != block[:, :1]).any():
                raise NoTablesError
            leads[here, :count] = block[:, 0]
            signs = np.ascontiguousarray(offset[:, :-1].transpose(0, 2, 1)).reshape(-1, samples - 1)
            found = self._kinds(signs, np.repeat(here + first, count), np.tile(np.arange(count), len(here)))
            expected = np.array(self._tables)[found, np.repeat(at_random[here], count)]
            if (expected != offset[:, -1].reshape(-1)).any():
                raise NoTablesError
            kinds[here, :count] = found.reshape(-1, count)
        return leads, kinds

    def _kinds(
        self, signs: NDArray[np.int64], blocks: NDArray[np.int64], moves: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The kind of each move, by where it leads the fixed samples."""
        packed = signs.view(np.dtype((np.void, signs.dtype.itemsize * signs.shape[1]))).reshape(-1)
        distinct, where, which = np.unique(packed, return_index=True, return_inverse=True)
        numbers = []
        for sign, at in zip(distinct, where.tolist(), strict=True):
            if sign.tobytes() not in self._kind_of:
                if len(self._tables) == MOST_KINDS:
                    raise NoTablesError
                self._kind_of[sign.tobytes()] = len(self._tables)
                self._tables.append(self._whole(int(blocks[at]))[1][moves[at]])
            numbers.append(self._kind_of[sign.tobytes()])
        return np.array(numbers, dtype=np.int64)[which.reshape(-1)]

    def _whole(self, block: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All states of a block: for each move the block that it leads to, and the key there of each key here."""
        counts, reached = self._images(
            np.arange(block * self._size, (block + 1) * self._size, dtype=np.uint64)
        )
        self.sampled += len(counts)
        if (counts != counts[0]).any():
            raise NoTablesError
        to, offsets = np.divmod(reached.reshape(self._size, -1).T, self._size)
        if (to != to[:, :1]).any() or (np.sort(offsets, axis=1) != np.arange(self._size)).any():
            raise NoTablesError
        return to[:, 0], offsets

    def _compare_whole_blocks(self, leads: NDArray[np.uint32], kinds: NDArray[np.uint16]) -> None:
        rng = np.random.default_rng(SEED)
        for block in rng.integers(0, self._blocks, size=WHOLE_BLOCKS).tolist():
            to, offsets = self._whole(block)
            same = (leads[block, : len(to)] == to).all() and (leads[block, len(to) :] == NO_BLOCK).all()
            tables = np.array([self._tables[kind] for kind in kinds[block, : len(to)]])
            if not same or (len(to) and (tables != offsets).any()):
                raise NoTablesError


def _widened(part: NDArray[Any], moves: int, fill: int) -> NDArray[Any]:
    return np.pad(part, ((0, 0), (0, moves - part.shape[1])), constant_values=fill)


def _check_taken_back(
    leads: NDArray[np.uint32], kinds: NDArray[np.uint16], tables: NDArray[np.int64]
) -> None:
    """Raises NoTablesError unless each move of each block has one that takes it back."""
    numbers = {table.tobytes(): kind for kind, table in enumerate(tables)}
    inverse = np.array([numbers.get(np.argsort(table).tobytes(), -1) for table in tables])
    for first in range(0, len(leads), TOGETHER):
        rows = np.arange(first, min(first + TOGETHER, len(leads)))
        for move in range(leads.shape[1]):
            here = rows[leads[rows, move] != NO_BLOCK]
            other = leads[here, move]
            back = (leads[other] == here[:, None]) & (kinds[other] == inverse[kinds[here, move]][:, None])
            if not back.any(axis=1).all():
                raise NoTablesError


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
        self._file = words
        try:
            self.words = words.mapped(scratch, threads)
        except OSError as error:
            raise folder_error(scratch, words.fields["keys"] // 4, error) from error
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
        self._bound = self._in_file or arrays * size + self.words.nbytes > room
        self._together = max(64, min(room // (2 * each), -(-tables.blocks // TURNS)))
        self._memories = [memory_of(size, scratch if self._in_file else None) for _ in range(arrays)]
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

    def holds(self, codes: Codes) -> bool:
        """Whether any of these states is in the last layer."""
        places = self._places(codes)
        layer = self._layers[self.depth % len(self._layers)]
        bits = layer[places // WORD_BITS] >> (places % WORD_BITS).astype(np.uint64) & np.uint64(1)
        if self._colours is not None:
            here = codes.astype(np.int64) // self._tables.size
            bits = bits[self._colours[here] == self.depth % 2]
        return bool(bits.any())

    def step(self, distance: int, number: int, progress: Callable[[float], None]) -> list[Finding]:
        """Finds the layer after that at ``distance``, whose states must have a number in the map. ``progress`` is
        called with the share that is done, and may raise an exception."""
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
                self.words,
                self._planes,
                number,
                self._threads,
            )
            states += found
            wrong += bad
            if bad and first is None:
                block, bit = divmod(where, self._tables.words * WORD_BITS)
                first = block * self._tables.size + int(np.flatnonzero(self._tables.bits == bit)[0])
            if self._bound:
                self._release()
            progress(min(1.0, (at + self._together) / len(order)))
        self.depth += 1
        self.states = states
        return [
            ("residues", states, wrong, f"key {first}: its residue is not that of distance {distance + 1}")
        ]

    def _release(self) -> None:
        self._file.release()
        for one in self._memories:
            if self._in_file and hasattr(mmap, "MADV_DONTNEED"):
                one.madvise(mmap.MADV_DONTNEED)

    @property
    def keys(self) -> int:
        """How many keys the last layer has: its states."""
        return self.states

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
