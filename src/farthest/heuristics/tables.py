"""Tables that searches look distances up in: files, made once from a map and then mapped into the memory of all
processes of a machine that search with it. docs/map-files.md has the format.

Each block of a file is compared with its checksum whenever a process opens it, so that a damaged file is made again and
never used.
"""

from __future__ import annotations

import mmap
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import numpy

from farthest import _kernel
from farthest.typed import convert
from farthest.untrusted_json import read_json_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from farthest.families.permutation.representatives import LookUp

    Bytes = NDArray[numpy.uint8]


MAGIC = b"farthest table 1"
PAGE, BLOCK = 2**12, 2**21
"""Where the header and the arrays end, at a multiple; the bytes that have one checksum and are written at once: Linux
then keeps them on one huge page, where the file system allows that."""

THREADS = 2
"""Which compare checksums."""


@dataclass(frozen=True, slots=True)
class TableForm:
    """What a table has of a distance: a number of 1, 2, 4 or 8 ``bits``, for ``base`` + number. 0 stands for all
    distances up to the base, the greatest number for all from there on, or where ``never`` for none (in maps of bytes
    255). ``shared`` entries that follow one another, a power of two, have one number: of the least distance."""

    bits: int = 8
    base: int = 0
    never: bool = True
    shared: int = 1

    @property
    def top(self) -> int:
        """The greatest number."""
        return (1 << self.bits) - 1

    def bytes(self, entries: int) -> int:
        """That the numbers of so many entries take."""
        return -(-entries * self.bits // (8 * self.shared))

    def packed(self, distances: NDArray[Any]) -> Bytes:
        """The bytes of distances, which fill bytes but for the last; none share a number."""
        if self == TableForm():
            return numpy.ascontiguousarray(distances, dtype=numpy.uint8)
        numbers = numpy.clip(distances, self.base, self.base + self.top - self.never)
        numbers -= numbers.dtype.type(self.base)
        if self.never:
            numbers[distances == numpy.iinfo(distances.dtype).max] = self.top
        together = 8 // self.bits
        whole = numpy.zeros(-(-len(numbers) // together) * together, dtype=numpy.uint8)
        whole[: len(numbers)] = numbers
        found = whole[0::together].copy()
        for place in range(1, together):
            found |= whole[place::together] << numpy.uint8(place * self.bits)
        return found


def best_base(layers: Sequence[int], bits: int) -> int:
    """The base with which the bounds of random states are greatest on average. ``layers``: states by distance."""
    top = 2**bits - 1

    def mean(base: int) -> int:
        return sum(min(depth, base + top) * states for depth, states in enumerate(layers) if depth > base)

    return max(range(max(1, len(layers) - top)), key=mean)


class Table:
    """An open table. ``kernel``: for searches. ``form``: what it has of distances. ``numbers``: uint8, as in memory."""

    def __init__(self, kernel: _kernel.DistanceTable, form: TableForm, numbers: Bytes) -> None:
        self.kernel = kernel
        self.form = form
        self.numbers = numbers

    @property
    def by_key(self) -> NDArray[numpy.uint8] | None:
        """The distances in key order, where the table has just these."""
        return self.numbers if self.form == TableForm() and self.kernel.entry_is_key else None

    @property
    def nbytes(self) -> int:
        """The memory that distances take."""
        return int(self.numbers.nbytes)

    def __len__(self) -> int:
        """The number of keys."""
        return self.kernel.keys

    def bounds(self, keys: NDArray[numpy.integer]) -> NDArray[numpy.int32]:
        """The least distance that each key has, int32; ``UNREACHABLE`` where there is none, or no such key."""
        found = numpy.empty(len(keys), dtype=numpy.int32)
        self.kernel.bounds(numpy.ascontiguousarray(keys, dtype=numpy.uint64), found)
        return found


def write_table(
    file: BinaryIO,
    facts: dict[str, Any],
    form: TableForm,
    entries: int,
    look_up: LookUp | None,
    packed: Iterable[Bytes],
) -> None:
    """Writes a table from the file's beginning on. ``facts``: what it is made of, JSON; ``packed``: the bytes of all
    entries. Raises OSError."""
    header = {"facts": facts, **asdict(form), "entries": entries}
    arrays: list[NDArray[Any]] = []
    if look_up is not None:
        header |= {"digits": look_up.digits, "lists": [len(terms) for terms in look_up.terms]}
        arrays = [look_up.first, look_up.lists, look_up.added, *look_up.terms]
    text = msgspec.json.encode(header)
    size = _rounded(len(MAGIC) + 8 + len(text))
    begin = (MAGIC + size.to_bytes(8, "little") + text).ljust(size)
    parts = [numpy.ascontiguousarray(each).reshape(-1).view(numpy.uint8) for each in arrays]
    told = sum(map(len, parts))
    sums = []
    held = bytearray(begin)
    for part in chain(parts, [numpy.zeros(_rounded(told) - told, dtype=numpy.uint8)], packed):
        held += part.data
        whole = len(held) // BLOCK * BLOCK
        sums += [_kernel.xxh3(held[at : at + BLOCK]) for at in range(0, whole, BLOCK)]
        file.write(held[:whole])
        del held[:whole]
    if held:
        sums.append(_kernel.xxh3(held))
        file.write(held)
    checksums = numpy.array(sums, dtype="<u8").tobytes()
    file.write(checksums + _kernel.xxh3(checksums).to_bytes(8, "little"))


def _rounded(size: int) -> int:
    """To whole pages."""
    return -(-size // PAGE) * PAGE


def mapped(path: Path) -> mmap.mmap:
    """A file in memory that all who map it share. Raises OSError; ValueError where it is empty."""
    with path.open("rb") as file:
        found = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a wish: small pages do as well
            found.madvise(mmap.MADV_HUGEPAGE)
    return found


def read_table(data: mmap.mmap | memoryview, facts: dict[str, Any]) -> Table:
    """The table that these bytes are, which it keeps. Raises ValueError where they are not what was written, or made
    of something else than ``facts`` says."""
    whole = numpy.frombuffer(data, dtype=numpy.uint8)
    text = len(MAGIC) + 8
    if len(whole) < PAGE or whole[: len(MAGIC)].tobytes() != MAGIC:
        raise ValueError("it is no table")
    size = int.from_bytes(whole[len(MAGIC) : text].tobytes(), "little")
    header = convert(read_json_object(whole[text:size].tobytes()), _Header)
    if header.facts != facts:
        raise ValueError("it was made of another map")
    form = TableForm(header.bits, header.base, header.never, header.shared)
    sides = max((side for _, side in header.digits), default=0)
    numbers = [prod(radix for radix, side in header.digits if side == each) for each in range(sides + 1)]
    counts = [
        numbers[0],
        numbers[0] * sides,
        numbers[0],
        *(a * b for a, b in zip(header.lists, numbers[1:], strict=True)),
    ]
    types = ["<u8", *("<u4" for _ in counts[1:])]
    arrays: list[NDArray[Any]] = []
    at = size
    for count, kind in zip(counts, types, strict=True) if header.digits else ():
        arrays.append(numpy.frombuffer(data, dtype=kind, count=count, offset=at))
        at += arrays[-1].nbytes
    begin = _rounded(at)
    if form.shared < 1:
        raise ValueError("no entries share a number")
    end = begin + form.bytes(header.entries)
    _check(whole, end)
    representatives = None
    if header.digits:
        first, lists, added, *terms = arrays
        representatives = _kernel.Representatives(header.digits, header.entries, first, lists, added, terms)
    kept = whole[begin:end]
    kernel = _kernel.DistanceTable(
        kept, header.entries, form.bits, form.base, form.never, representatives, form.shared
    )
    return Table(kernel, form, kept)


class _Header(msgspec.Struct):
    facts: dict[str, Any]
    bits: int
    base: int
    never: bool
    entries: int
    shared: int = 1
    digits: list[tuple[int, int]] = []
    lists: list[int] = []


def _check(whole: Bytes, end: int) -> None:
    """Raises ValueError unless all blocks up to the end are as they were written."""
    blocks = -(-end // BLOCK)
    if len(whole) != end + 8 * blocks + 8:
        raise ValueError("it has another length")
    checksums = whole[end:-8].tobytes()
    if _kernel.xxh3(checksums) != int.from_bytes(whole[-8:].tobytes(), "little"):
        raise ValueError("its checksums are damaged")

    def summed(block: int) -> int:
        return _kernel.xxh3(whole[block * BLOCK : min((block + 1) * BLOCK, end)])

    with ThreadPoolExecutor(THREADS) as executor:
        found = list(executor.map(summed, range(blocks)))
    if found != numpy.frombuffer(checksums, dtype="<u8").tolist():
        raise ValueError("a block is damaged")
