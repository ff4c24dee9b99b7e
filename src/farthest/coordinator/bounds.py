"""Tables of lower bounds, a bit or two per state, made by an enumeration whose map is never stored.

A map of all distances would be larger than the table by far. So the layers are found in memory, by representatives of
symmetries, and each adds its states to bit planes, which become the table. Layers beyond the greatest number that the
bits tell are not looked for.
"""

from __future__ import annotations

from functools import lru_cache
from shutil import disk_usage
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from farthest.errors import ResourceError, StorageError
from farthest.families.permutation.representatives import look_up_of
from farthest.heuristics.table_files import TableFiles, bounds_facts, bounds_name
from farthest.heuristics.tables import TableForm, write_table
from farthest.machine import memory_limit
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space, reduced_space
from farthest.spaces.contract import gather
from farthest.spaces.reduced import RepresentativeSpace
from farthest.stores.blocks import Bitmap
from farthest.stores.contract import step
from farthest.stores.memory.gather_store import MemoryStore
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from farthest.models.database import Database

    Bytes = NDArray[np.uint8]

LAYERS = 2
"""Bitmaps of all states, beside the planes."""

BYTE_SECONDS = 9.6e-9
"""Seconds for each byte of memory that making a table takes, measured with two threads of an AMD EPYC of 2024."""

AT_ONCE = 2**20
"""Words of a plane that are packed together."""


class _Numbers:
    """What the planes tell of a depth, for ``MemoryStore``: what the number in the table is less than the greatest, so
    that states that are not found have the greatest."""

    def __init__(self, form: TableForm) -> None:
        self._form = form
        self.planes = form.bits

    def number(self, depth: int) -> int:
        return self._form.top - min(max(depth - self._form.base, 0), self._form.top)


@lru_cache(maxsize=2)
def bounds_space(puzzle: Puzzle) -> RepresentativeSpace:
    """The space of representatives of which such a table is. Raises ResourceError where there is none."""
    found = reduced_space(puzzle, Origin(), None)
    if not isinstance(found, RepresentativeSpace) or found.cut.word % 64 != 0:
        raise _no_bounds(puzzle)
    return found


def _no_bounds(puzzle: Puzzle) -> ResourceError:
    return ResourceError(f"puzzle {puzzle.name}: there is no table of bounds for it (docs/patterns.md)")


def bounds_bytes(puzzle: Puzzle, form: TableForm) -> tuple[int, int]:
    """The bytes of the table, and those of memory that making it takes. Raises ResourceError."""
    keys = bounds_space(puzzle).keys
    return form.bytes(keys), (LAYERS + form.bits) * keys // 8


def seconds_to_make(puzzle: Puzzle, form: TableForm, folder: Path | None) -> float:
    """About. Raises ResourceError where the table cannot be made in the memory that may be used now, or does not fit
    the disk of ``folder``, where it will be or near there; None: that is not asked."""
    size, needed = bounds_bytes(puzzle, form)
    free = memory_limit(None)
    if needed > free:
        raise ResourceError(
            f"puzzle {puzzle.name}: making its table of bounds needs {bytes_text(needed)} of memory, more than the "
            f"{bytes_text(free)} allowed; free some, or take a smaller --memory"
        )
    if folder is not None and size > (room := disk_usage(folder).free):
        raise ResourceError(
            f"puzzle {puzzle.name}: its table of bounds needs {bytes_text(size)} of disk, but {folder} has "
            f"{bytes_text(room)} free; make room, or take a smaller --memory"
        )
    return BYTE_SECONDS * needed


def make_bounds(
    puzzle: Puzzle,
    form: TableForm,
    database: Database,
    threads: int,
    told: Callable[[int, int], None] = lambda depth, states: None,
) -> None:
    """Makes the table of the distances to the puzzle's goal, where there is none yet. ``told``: called
    with each layer's depth and states. Raises ResourceError, StorageError."""
    space = bounds_space(puzzle)
    if not gather(space).kernel.united:  # some seconds
        raise _no_bounds(puzzle)
    files = TableFiles(database.path, database.place)
    existing = next(each for each in (files.folder, *files.folder.absolute().parents) if each.is_dir())
    seconds_to_make(puzzle, form, existing)
    look_up = look_up_of(compile_space(puzzle, Origin()), space)
    if look_up is None:
        raise ResourceError(f"puzzle {puzzle.name}: boards cannot be looked up in its table of bounds")

    def write(file: BinaryIO) -> None:
        planes = _planes(space, form, threads, told)
        write_table(file, bounds_facts(puzzle), form, space.keys, look_up, _packed(planes, form))

    try:
        files.opened(bounds_name(puzzle, form), bounds_facts(puzzle), write)
    except OSError as error:
        raise StorageError(f"{files.folder}: the table of {puzzle.name} cannot be written: {error}") from None


def _planes(
    space: RepresentativeSpace, form: TableForm, threads: int, told: Callable[[int, int], None]
) -> list[Bitmap]:
    store = MemoryStore(
        gather(space).kernel, space.keys_of(space.origins), distances=False, numbers=_Numbers(form)
    )
    for depth in range(1, form.base + form.top):
        step(store, depth, store.begin(depth, store.reachable(depth)), threads)
        states = sum(store.counts(depth).values())
        if states == 0:
            break
        told(depth, states)
    return store.released()


def _packed(planes: list[Bitmap], form: TableForm) -> Iterator[Bytes]:
    """The numbers of entries, or of those that share one the least. What planes tell is the other way round."""
    words = [np.asarray(plane.words).view(np.uint8) for plane in planes]
    told = np.arange(256 ** len(words))
    eight = np.zeros((len(told), 8), dtype=np.int64)  # of a byte of each plane the numbers of entries
    for plane in range(len(words)):
        eight += ((told >> 8 * plane)[:, None] >> np.arange(8) & 1) << plane
    greatest = form.top - eight.reshape(-1, 8 // form.shared, form.shared).max(axis=2)
    width = form.bits * 8 // form.shared
    packed = (
        (greatest << form.bits * np.arange(8 // form.shared))
        .sum(axis=1)
        .astype("<u2" if width > 8 else np.uint8)
    )
    together = max(1, 8 // width)
    size = 8 * AT_ONCE
    for at in range(0, len(words[0]), size):
        each = words[0][at : at + size].astype(np.uint16)
        if len(words) > 1:
            each |= words[1][at : at + size].astype(np.uint16) << np.uint16(8)
        found = packed[each].view(np.uint8)
        whole = found[0::together].copy()
        for place in range(1, together):
            whole |= found[place::together] << np.uint8(place * width)
        yield whole
