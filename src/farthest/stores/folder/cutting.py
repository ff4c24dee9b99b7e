"""How a space is cut for its layers in files, and how many slots fit the memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.errors import ResourceError
from farthest.stores.blocks import cut
from farthest.stores.folder.plan import Plan
from farthest.stores.memory.gather_store import searches_in_place

if TYPE_CHECKING:
    from farthest.spaces.contract import GatherSpace

SHARD_SIZE = 4 * 2**20
"""Bytes of a shard's bitmap, where labels allow it: small beside a layer, large beside what a read costs."""

UNIT_SHARE = 32
"""A unit's bitmaps take this part of the memory: those that are read, stepped and written are coded, in five units'
room at most, and all else is slots."""
UNITS_HELD = 5

MOST_UNITS = 4096


@dataclass(frozen=True, slots=True)
class FolderCut:
    """``kernel`` with ``classes`` shard classes; the plans by the parity of the depth; ``slots`` for sources.
    ``memory``: bytes that all this takes."""

    kernel: _kernel.Space
    classes: int
    in_place: bool
    plans: tuple[Plan, Plan]
    slots: int
    memory: int


def cut_for_files(
    space: GatherSpace, memory: int, base: int, *, units: int | None = None, isa: str = ""
) -> FolderCut:
    """Cuts a space so that it is stepped within ``memory`` bytes, of which ``base`` are taken besides. ``units``: so
    many a layer, as an earlier attempt had; None: as many as memory makes necessary. Raises ResourceError where that
    is too little."""
    blocks = cut(space, SHARD_SIZE)
    kernel = space.compile_kernel(blocks.classes, isa)
    origins = space.keys_of(space.origins)
    in_place = searches_in_place(kernel, origins)
    orders = _orders(space, kernel, origins, in_place)
    slot = _kernel.UnitStepper.slot_bytes(kernel)
    room = memory - base - kernel.row_bytes
    most = max(len(order) for order in orders)
    count = units or min(max(-(-most * slot * UNIT_SHARE // max(room, 1)), 1), most)
    while True:
        unit = -(-most // count) * slot
        slots = min((room - UNITS_HELD * unit) // slot, kernel.shards - most if in_place else kernel.shards)
        try:
            if slots < 1:
                raise ResourceError("no source fits the memory")
            plans = [Plan(kernel, order, count, slots) for order in orders]
        except ResourceError as error:
            if units is not None or count >= min(most, MOST_UNITS):
                raise ResourceError(
                    f"puzzle {space.puzzle.name}: its layers cannot be stepped within {memory // 2**20:,} MiB: {error}"
                ) from None
            count = min(2 * count, most, MOST_UNITS)
            continue
        used = base + kernel.row_bytes + slots * slot + UNITS_HELD * unit
        return FolderCut(kernel, blocks.classes, in_place, (plans[0], plans[-1]), slots, used)


def _orders(
    space: GatherSpace, kernel: _kernel.Space, origins: Sequence[int], in_place: bool
) -> list[Sequence[int]]:
    """The shards in the order in which they are stepped, by the parity of the depth."""
    order = space.shard_order(kernel.shards)
    if not in_place:
        return [order]
    first = kernel.colours[origins[0] // (kernel.keys // kernel.shards)]
    return [[shard for shard in order if kernel.colours[shard] ^ first == parity] for parity in (0, 1)]
