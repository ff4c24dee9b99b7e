"""Runs that stop on the way, as by Ctrl-C."""

import signal

from farthest.coordinator.reporter import Reporter
from farthest.coordinator.search.settings import SearchReporter


class StoppedAt(Reporter):
    """Ctrl-C after the layer at a depth."""

    def __init__(self, depth: int) -> None:
        self._depth = depth

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if depth == self._depth:
            signal.raise_signal(signal.SIGINT)


class StoppedAfter(SearchReporter):
    """Ctrl-C after some commits of a search."""

    def __init__(self, commits: int = 60) -> None:
        self._left = commits

    def progress(self, known: dict[str, object]) -> None:
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt
