"""The plan of a layer: the order in which its units are stepped, and where their sources are kept meanwhile.

A *unit* is a run of shards that are stepped and stored together. Shards are put in an order in which neighbours have
sources in common: ``GatherSpace.shard_order``, or that of ``greedy_order`` for representatives of symmetries, whose
sources are all over. A source is decoded into one of the slots of a cache; where all slots are taken, the one whose
shard is needed again last is used (Belady, IBM Systems Journal 5, 1966). With slots for a twentieth of a layer most
sources of a sliding board are then decoded once a layer.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from farthest import _kernel
from farthest.errors import ResourceError
from farthest.spaces.contract import GatherSpace, reduced
from farthest.stores.blocks import cut, inputs_of, searches_in_place
from farthest.stores.contract import excluded
from farthest.stores.nearest import NearestFirst
from farthest.wording import bytes_text

NEVER = 2**62
"""The unit that needs a shard next where none does."""


class Plan:
    """To step ``shards``, in this order, in about ``units`` units, with ``slots`` slots.

    ``units[u]``: the shards of unit u. ``slots[u]``: for each of them the slot of each of its sources, in the order of
    the kernel's ``sources``, and of the shard itself where layers are ``united``. ``sources[u]``: the slot of each
    shard that the unit needs. Raises ResourceError where the slots do not hold the sources of one unit.
    """

    def __init__(
        self, kernel: _kernel.Space, shards: Sequence[int], units: int, slots: int, *, united: bool = False
    ) -> None:
        count = max(1, min(units, len(shards)))
        cuts = [len(shards) * unit // count for unit in range(count + 1)]
        self.units = [list(shards[a:b]) for a, b in pairwise(cuts)]
        pulls = [[inputs_of(kernel, shard, united=united) for shard in unit] for unit in self.units]
        needed = [sorted({source for sources in unit for source in sources}) for unit in pulls]
        self.sources = _placed(needed, slots)
        self.slots = [
            [[where[source] for source in sources] for sources in unit]
            for unit, where in zip(pulls, self.sources, strict=True)
        ]


def _placed(needed: Sequence[Sequence[int]], slots: int) -> list[dict[int, int]]:
    """The slot of each shard that each unit needs."""
    uses: dict[int, list[int]] = {}
    for unit, shards in enumerate(needed):
        for shard in shards:
            uses.setdefault(shard, []).append(unit)
    slot_of: dict[int, int] = {}
    free = list(range(slots - 1, -1, -1))
    last_needed: list[
        tuple[int, int]
    ] = []  # (-next unit, shard), of shards in slots; some entries are outdated
    placed = []
    for unit, shards in enumerate(needed):
        if len(shards) > slots:
            raise ResourceError(f"the sources of a unit are {len(shards)} shards, and {slots} fit the memory")
        here = set(shards)
        for shard in shards:
            if shard in slot_of:
                continue
            if not free:
                free.append(slot_of.pop(_evicted(last_needed, slot_of, uses, unit, here)))
            slot_of[shard] = free.pop()
        for shard in shards:
            heapq.heappush(last_needed, (-_next_use(uses[shard], unit), shard))
        placed.append({shard: slot_of[shard] for shard in shards})
    return placed


def _evicted(
    last_needed: list[tuple[int, int]],
    slot_of: dict[int, int],
    uses: dict[int, list[int]],
    unit: int,
    here: set[int],
) -> int:
    """The shard in a slot that is needed again last, and not by this unit."""
    while True:
        when, shard = heapq.heappop(last_needed)
        if shard in slot_of and shard not in here and -when == _next_use(uses[shard], unit - 1):
            return shard


def _next_use(units: list[int], after: int) -> int:
    """The first of the ascending ``units`` that comes after that one."""
    at = bisect_right(units, after)
    return units[at] if at < len(units) else NEVER


def greedy_order(
    kernel: _kernel.Space, shards: Sequence[int], held: int, *, united: bool = False
) -> list[int]:
    """The shards in an order in which sources are read seldom where ``held`` of them fit the memory: the next is always
    the first of those with the fewest sources not held. Those go that were read longest ago."""
    nearest = NearestFirst(
        {shard: sorted({*inputs_of(kernel, shard, united=united)}) for shard in shards}, held
    )
    order: list[int] = []
    while best := nearest.best():
        nearest.take(best[0])
        order += best
    return order


SHARD_SIZE = 4 * 2**20
"""Bytes of a shard's bitmap, where labels allow it: small beside a layer, large beside what a read costs."""

UNIT_SHARE = {"none": 32, "before": 32, "two": 32, "all": 32, "united": 128}
"""A unit's bitmaps take this part of the memory at most; what is not for units is for slots."""
UNITS_HELD = {"none": 8, "before": 5, "two": 8, "all": 14, "united": 11}
"""Room for so many units: what was read for the unit that is stepped and for the next one, its sources and one older
layer, two or all; of united layers, whose sources are all over, twice as many; what is found and what is written. All
is coded."""

MOST_UNITS = 4096

UNITS_TRIED = 100
"""Units that tell how much memory is too little, before all are planned."""


@dataclass(frozen=True, slots=True)
class FolderCut:
    """``kernel`` with ``classes`` shard classes; whether layers are ``united``; the plans by the parity of the depth;
    ``slots`` for sources. ``memory``: bytes that all this takes."""

    kernel: _kernel.Space
    classes: int
    in_place: bool
    united: bool
    plans: tuple[Plan, Plan]
    slots: int
    memory: int


def cut_for_files(
    space: GatherSpace, memory: int, base: int, *, units: int | None = None, layers_stay: bool = False
) -> FolderCut:
    """Cuts a space so that it is stepped within ``memory`` bytes, of which ``base`` are taken besides. ``units``: so
    many a layer, as an earlier attempt had; None: as many as memory makes necessary. ``layers_stay``: for a map, so
    they are not united. Raises WantedError."""
    classes = shard_classes(space)
    kernel = space.compile_kernel(classes)
    slot = _kernel.UnitStepper.slot_bytes(kernel)
    room = memory - base - kernel.row_bytes
    if room < slot:
        raise _too_little(space, memory, memory - room + 16 * slot)
    in_place, orders = _orders(space, kernel)
    rule = excluded(
        graded=kernel.graded,
        undirected=kernel.reversible,
        alternating=in_place,
        united=kernel.united and not layers_stay,
    )
    united, held, share = rule == "united", UNITS_HELD[rule], UNIT_SHARE[rule]
    most = len(orders[0])
    least = base + kernel.row_bytes + slot * _least_slots(kernel, orders, held, united=united)
    if memory < least:
        raise _too_little(space, memory, least)
    count = units or min(max(-(-most * slot * share // max(room, 1)), 1), most)
    while True:
        unit = -(-most // count) * slot
        slots = min((room - held * unit) // slot, kernel.shards - most if in_place else kernel.shards)
        try:
            if (
                reduced(space) is not None
            ):  # by the number of units alone, which an earlier attempt may have chosen
                most_held = -(-most // count) * (share - held)
                orders = [greedy_order(kernel, order, most_held, united=united) for order in orders]
            plans = [Plan(kernel, order, count, slots, united=united) for order in orders]
        except ResourceError:
            if units is not None or count >= min(most, MOST_UNITS):
                raise _too_little(space, memory, max(memory, least) * 3 // 2) from None
            count = min(2 * count, most, MOST_UNITS)
            continue
        used = base + kernel.row_bytes + slots * slot + held * unit
        return FolderCut(kernel, classes, in_place, united, (plans[0], plans[-1]), slots, used)


def _least_slots(kernel: _kernel.Space, orders: Sequence[Sequence[int]], held: int, *, united: bool) -> int:
    """As many slots as the smallest units and their sources take, by some of these units."""
    most = 1
    for order in orders:
        unit = -(-len(order) // MOST_UNITS)
        for first in range(0, len(order), max(1, len(order) // UNITS_TRIED)):
            shards = order[first : first + unit]
            sources = {source for shard in shards for source in inputs_of(kernel, shard, united=united)}
            most = max(most, len(sources) + held * unit)
    return most


class WantedError(ResourceError):
    """Layers in files that cannot be: ``memory`` and ``disk`` that they need at least, about."""

    def __init__(self, message: str, memory: int, disk: int = 0) -> None:
        super().__init__(message)
        self.memory = memory
        self.disk = disk


def _too_little(space: GatherSpace, memory: int, enough: int) -> WantedError:
    return WantedError(
        f"puzzle {space.puzzle.name}: its layers cannot be stepped within {bytes_text(memory)}, even where they are "
        f"kept in files; allow about {-(-enough // 2**20)}MiB with --memory",
        enough,
    )


def shard_classes(space: GatherSpace) -> int:
    """The labels whose places make a shard."""
    return cut(space, SHARD_SIZE).classes


def _orders(space: GatherSpace, kernel: _kernel.Space) -> tuple[bool, list[Sequence[int]]]:
    """Whether the space is searched in place, and the shards in the order in which they are stepped, by the parity of
    the depth."""
    order = space.shard_order(kernel.shards)
    origins = space.keys_of(space.origins)
    if not searches_in_place(kernel, origins):
        return False, [order]
    colours = kernel.colours  # a list that is made at each call
    first = colours[origins[0] // (kernel.keys // kernel.shards)]
    return True, [[shard for shard in order if colours[shard] ^ first == parity] for parity in (0, 1)]
