"""What a progress bar tells of an enumeration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.coordinator.reporter import Reporter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from farthest.coordinator.bars import Bar
    from farthest.coordinator.settings import Estimate


class EnumerationBar(Reporter):
    """Depth and states; of the states that there can be at most, those that have been found."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._at_most = 0
        self._layer = 0, 0, 0
        self._blocks = ""

    def estimate(self, estimate: Estimate) -> None:
        self._at_most = estimate.states_at_most

    def resuming(self, job: int, depth: int, share: float) -> None:
        self._bar.tell(f"job {job}: reading the checkpoint at depth {depth}", share)

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        self.layer(depth, states, total, 0.0)

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        self._layer, self._blocks = (depth, states, total), ""
        self._tell()

    def progress(self, known: Mapping[str, Any]) -> None:
        if known.get("blocks"):
            self._blocks = f" · block {known.get('blocks_done') or 0:,} of {known['blocks']:,}"
        self._tell()

    def _tell(self) -> None:
        depth, states, total = self._layer
        share = total / self._at_most if self._at_most else None
        self._bar.tell(f"depth {depth} · {states:,} new · {total:,} states{self._blocks}", share)
