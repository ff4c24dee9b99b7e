"""Work of an enumeration that was sent to workers: the blocks of a layer, or the parts of a map.

A message is sent for each item; workers report commits on the attempt's done-list (coordinator/outstanding.py). Only
the records of committed items count: the work is complete when all of its items have one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.coordinator.outstanding import Outstanding
from farthest.worker.enumeration.choice import offer

if TYPE_CHECKING:
    from farthest.coordinator.publisher import Publisher
    from farthest.stores.redis.attempt_layers import AttemptLayers
    from farthest.stores.redis.reports import WorkKind

NAMES = {
    "step": ("the step of block", "layer {}: blocks"),
    "part": ("the map part", "the map up to depth {}: parts"),
}


@dataclass(frozen=True, slots=True)
class LayerProgress:
    """The layer, or the map, under way. ``resent``: messages that were sent again. ``note``: for the user, once, else
    ''."""

    depth: int
    blocks: int
    done: int
    workers: int
    resent: int
    note: str = ""


class SentWork:
    """``Work`` of one depth. ``committed`` gives the items that have records; ``provide``: see Outstanding."""

    def __init__(
        self,
        store: AttemptLayers[Any],
        kind: WorkKind,
        depth: int,
        items: Sequence[int],
        committed: Callable[[], Collection[int]],
        publisher: Publisher,
        lease_seconds: float,
        provide: Callable[[int], None] = lambda item: None,
    ) -> None:
        self.nodes = store.nodes
        self.attempt = store.attempt
        self.kind = kind
        self._store = store
        self._depth = depth
        self._items = items
        self._committed = committed
        # Where workers lose their steps because the place of blobs is away, this one waits for it, too.
        self.outstanding = Outstanding(
            self, depth, publisher, lease_seconds, lambda items: store.look_for_mark(), provide
        )

    @property
    def done_key(self) -> str:
        """See Work."""
        return self._store.done_key

    def finished(self, depth: int) -> Collection[int]:
        """See Work."""
        return self._committed()

    def name(self, depth: int, item: int) -> str:
        """See Work."""
        return f"{NAMES[self.kind][0]} {item} at depth {depth}"

    def named(self, depth: int, items: Iterable[int]) -> str:
        """See Work."""
        return f"{NAMES[self.kind][1].format(depth)} {list(items)}"

    def begin(self) -> None:
        """Sends what is not committed."""
        missing = self._missing()
        if missing:
            offer(self.nodes, self.attempt, self._depth, missing, self.kind)
        self.outstanding.send(missing)

    def complete(self) -> bool:
        """Whether all items are committed."""
        if self.outstanding:
            return False
        # A reported record may be lost, where Redis came back with older data.
        self.outstanding.expect(self._missing())
        return not self.outstanding

    def _missing(self) -> list[int]:
        committed = self._committed()
        return [item for item in self._items if item not in committed]

    def progress(self, workers: int, resent: int, note: str) -> LayerProgress:
        """The progress of the work; ``resent``: messages sent again before it."""
        done = len(self._items) - len(self.outstanding)
        resent += self.outstanding.resent
        return LayerProgress(self._depth, len(self._items), done, workers, resent, note)
