"""How an enumeration reports its progress, how fast states are found, and how long the rest takes at most; and all that
is known of this: a terminal and a notebook draw it (``cli.progress``, ``api.bars``)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from farthest.wording import counted

if TYPE_CHECKING:
    from farthest.coordinator.settings import Estimate, Outcome
    from farthest.models.records import Progress


class Reporter:
    """Receives the events of one enumeration, in order, in its thread. This one does nothing; subclasses override
    methods."""

    def estimate(self, estimate: Estimate) -> None:
        """Before anything large is allocated."""

    def resuming(self, job: int, depth: int, share: float) -> None:
        """The checkpoint of job ``job`` at ``depth`` is being read; ``share``: the part that has been read, 0 to 1."""

    def begun_anew(self, job: int, depth: int, seconds: float) -> None:
        """The run begins job ``job`` again at depth 0: its layers up to the checkpoint at ``depth`` took ``seconds``,
        and reading it would take longer."""

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        """Job ``job`` continues after its layer ``depth``, which has ``states`` of ``total`` states."""

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        """A layer is complete; ``total`` states have been found; the layer took ``seconds``."""

    def progress(self, known: Mapping[str, Any]) -> None:
        """How far the layer under way is, where workers step it: ``JobRecord.progress`` as it is now."""

    def checkpoint(self, depth: int, seconds: float) -> None:
        """The map up to ``depth`` has been stored, which took ``seconds``."""

    def notice(self, text: str) -> None:
        """Something that the user should know, and perhaps mend: no worker is alive, a server is away."""

    def stopping(self) -> None:
        """A signal asked the attempt to stop: it will at the end of the layer under way."""

    def finished(self, outcome: Outcome) -> None:
        """The result is complete and stored."""


RATE_SECONDS = 10.0
"""The rate is that of the layers of the last seconds."""

LITTLE = 0.02
"""Of the states that there can be: layers grow a hundredfold and more at first, and until then no rate predicts the
rest."""


class Pace:
    """``at_most``: the most states that there can be; 0: not known."""

    def __init__(self, at_most: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.at_most = at_most
        self._clock = clock
        self._known: deque[tuple[float, int]] = deque()  # times, each with the number of states known then

    def reach(self, total: int) -> None:
        """So many states are known now."""
        now = self._clock()
        self._known.append((now, total))
        while len(self._known) > 2 and now - self._known[1][0] > RATE_SECONDS:
            self._known.popleft()

    @property
    def share(self) -> float:
        """The part of ``at_most`` that is known; 0 where that cannot be said."""
        return self._known[-1][1] / self.at_most if self._known and self.at_most else 0.0

    def rate(self) -> float:
        """States per second in the last seconds; 0 where that is not known yet."""
        if len(self._known) < 2:
            return 0.0
        (first_time, first_total), (last_time, last_total) = self._known[0], self._known[-1]
        return (last_total - first_total) / (last_time - first_time) if last_time > first_time else 0.0

    def seconds_left(self) -> float | None:
        """How long the rest takes at most; None where that cannot be said."""
        rate = self.rate()
        if not rate or not LITTLE < self.share <= 1:
            return None
        last_time, last_total = self._known[-1]
        return max(0.0, (self.at_most - last_total) / rate - (self._clock() - last_time))


class EnumerationProgress(Reporter):
    """What is known of an enumeration. ``at_most``: the most states that there can be; 0: not known yet. ``reading``:
    how far its checkpoint has been read, empty where none is."""

    def __init__(self, at_most: int = 0) -> None:
        self.pace = Pace(at_most)
        self.known: Progress = {}
        self.reading = ""

    def estimate(self, estimate: Estimate) -> None:
        self.pace.at_most = estimate.most_states or 0

    def resuming(self, job: int, depth: int, share: float) -> None:
        self.reading = f"reading the checkpoint at depth {depth}: {share:.0%}"

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        self.layer(depth, states, total, 0.0)

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        self.reading = ""
        self.known |= {"depth": depth, "layer_states": states, "states": total}
        self.pace.reach(total)

    def progress(self, known: Mapping[str, Any]) -> None:
        self.known |= cast("Progress", known)

    def counts(self) -> list[str]:
        """The last layer, and all states."""
        known = self.known
        depth, states, total = known.get("depth", 0), known.get("layer_states", 0), known.get("states", 0)
        return [f"depth {depth}", f"{states:,} new", f"{total:,} states"]

    def blocks(self) -> list[str]:
        """How far the layer under way is, where workers step it."""
        blocks = self.known.get("blocks")
        return [f"block {self.known.get('blocks_done') or 0:,} of {blocks:,}"] if blocks else []

    def workers(self) -> list[str]:
        """Who steps it."""
        workers, resent = self.known.get("workers"), self.known.get("resent")
        return [
            *([counted(workers, "worker")] if workers else []),
            *([f"{resent:,} sent again"] if resent else []),
        ]
