"""What a progress bar tells of searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.coordinator.search.settings import SearchReporter

if TYPE_CHECKING:
    from farthest.coordinator.bars import Bar
    from farthest.coordinator.search.settings import Iteration


class SearchBar(SearchReporter):
    """Bound and nodes; of a list of boards, those that are done."""

    def __init__(self, bar: Bar, boards: int = 1) -> None:
        self._bar = bar
        self._boards = boards
        self._done = 0
        self._nodes = 0
        self._bound = 0

    def begun(self, job: int | None, bound: int) -> None:
        self._bound = bound
        self._tell()

    def resumed(self, job: int, bound: int, pieces: int) -> None:
        self.begun(job, bound)

    def iteration(self, iteration: Iteration) -> None:
        self._nodes += iteration.nodes
        self._bound = iteration.bound
        self._tell()

    def progress(self, known: dict[str, Any]) -> None:
        self._bound = known.get("bound") or self._bound
        self._tell()

    def board_done(self) -> None:
        """The search of one board of the list is over."""
        self._done += 1
        self._tell()

    def _tell(self) -> None:
        several = self._boards > 1
        done = f"{self._done:,} of {self._boards:,} boards · " if several else ""
        self._bar.tell(
            f"{done}bound {self._bound} · {self._nodes:,} nodes",
            self._done / self._boards if several else None,
        )
