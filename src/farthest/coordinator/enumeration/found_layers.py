"""The layers that an enumeration has found, and how it tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from farthest.coordinator.pace import Pace
from farthest.coordinator.reporter import Reporter

if TYPE_CHECKING:
    from farthest.coordinator.enumeration.record import JobRecorder

LAYERS_TOLD = 300
"""Of more layers a running job does not tell all: its progress is written each second."""


class FoundLayers:
    """``states``: the states of each layer. ``seconds``: what each layer took. ``at_most``: the most states that there
    can be. ``recorder``: the job, whose progress is stored for those who watch it."""

    def __init__(self, reporter: Reporter) -> None:
        self.states: list[int] = []
        self.seconds: list[float] = []
        self.recorder: JobRecorder | None = None
        self._reporter = reporter
        self._pace = Pace()

    def expect(self, at_most: int) -> None:
        """There are so many states at most."""
        self._pace.at_most = at_most

    @property
    def depth(self) -> int:
        """Of the last layer; -1 where there is none."""
        return len(self.states) - 1

    @property
    def total(self) -> int:
        """The states of all layers."""
        return sum(self.states)

    def clear(self) -> None:
        """Forgets all layers."""
        self.states, self.seconds = [], []

    def go_on_with(self, layers: Sequence[tuple[int, float]]) -> None:
        """These layers, their states and seconds, are known."""
        self.states = [states for states, _ in layers]
        self.seconds = [seconds for _, seconds in layers]
        self._tell()

    def add(self, states: int, seconds: float) -> None:
        """A layer has been found."""
        self.states.append(states)
        self.seconds.append(seconds)
        self._tell()
        self._reporter.layer(self.depth, states, self.total, seconds)

    def drop_empty(self) -> None:
        """Forgets empty layers at the end."""
        while not self.states[-1]:
            del self.states[-1], self.seconds[-1]

    def _tell(self) -> None:
        """Stores the last layer in the job's progress."""
        self._pace.reach(self.total)
        known = {"layer_states": self.states[-1], "states": self.total, "seconds": sum(self.seconds)}
        of_next = {"blocks": None, "blocks_done": None}
        told = list(self.states) if len(self.states) <= LAYERS_TOLD else None
        self.store(
            {"depth": self.depth, **known, "states_at_most": self._pace.at_most, "layers": told, **of_next}
        )

    def store(self, known: dict[str, Any]) -> None:
        """Stores what is known in the job's progress, with the rate and the rest of the time."""
        if self.recorder is None:
            return
        left = self._pace.seconds_left()
        self.recorder.progress(
            **known,
            states_a_second=round(self._pace.rate()) or None,
            seconds_left=None if left is None else round(left, 1),
        )

    def progress(self, known: dict[str, Any]) -> None:
        """What is known of the layer under way: stored and reported."""
        self.store(known)
        self._reporter.progress(known)
