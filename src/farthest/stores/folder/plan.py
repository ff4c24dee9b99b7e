"""The plan of a layer: the order in which its units are stepped, and where their sources are kept meanwhile.

A *unit* is a run of shards that are stepped and stored together. Shards are put in an order in which neighbours have
sources in common (``GatherSpace.shard_order``). A source is decoded into one of the slots of a cache; where all slots
are taken, the one whose shard is needed again last is used (Belady, IBM Systems Journal 5, 1966). With slots for a
twentieth of a layer most sources of a sliding board are then decoded once a layer.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from farthest.errors import ResourceError

if TYPE_CHECKING:
    from farthest import _kernel

NEVER = 2**62
"""The unit that needs a shard next where none does."""


class Plan:
    """To step ``shards``, in this order, in about ``units`` units, with ``slots`` slots.

    ``units[u]``: the shards of unit u. ``slots[u]``: for each of them the slot of each of its sources, in the order of
    the kernel's ``sources``. ``sources[u]``: the slot of each shard that the unit needs. Raises ResourceError where the
    slots do not hold the sources of one unit.
    """

    def __init__(self, kernel: _kernel.Space, shards: Sequence[int], units: int, slots: int) -> None:
        count = max(1, min(units, len(shards)))
        cuts = [len(shards) * unit // count for unit in range(count + 1)]
        self.units = [list(shards[a:b]) for a, b in pairwise(cuts)]
        pulls = [[kernel.sources(shard) for shard in unit] for unit in self.units]
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
