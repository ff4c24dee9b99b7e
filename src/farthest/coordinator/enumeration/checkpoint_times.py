"""When an enumeration stores checkpoints, and which it has."""

from __future__ import annotations

from time import monotonic


class CheckpointTimes:
    """``wanted``: there are any. ``depth``: of the last one; the layers known may be fewer. ``seconds``: between
    two."""

    def __init__(self, seconds: float) -> None:
        self.wanted = True
        self.depth: int | None = None
        self._seconds = seconds
        self.begin()

    def begin(self) -> None:
        """The time to the next one begins; the last one has cost nothing."""
        self._last, self._cost = monotonic(), 0.0

    def take_more_often(self) -> None:
        """The working state was lost: what is lost again and again, sooner than that, would never end."""
        self._seconds /= 2

    @property
    def due(self) -> bool:
        """Whether it is time for one: they take at most a tenth of the time."""
        return monotonic() - self._last >= max(self._seconds, 10 * self._cost)

    def has(self, depth: int) -> bool:
        """Whether the last one is as deep."""
        return self.depth is not None and depth <= self.depth

    def stored(self, depth: int, cost: float) -> None:
        """One was stored, in ``cost`` seconds."""
        self.depth = depth
        self._last, self._cost = monotonic(), cost
