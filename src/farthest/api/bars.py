"""Progress bars of Python's functions: in a notebook and on a terminal, elsewhere none unless one is asked for."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from farthest.coordinator.reporter import EnumerationProgress
from farthest.coordinator.search.settings import SearchReporter
from farthest.safe_text import SafeStream, raw, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TextIO

    from rich.console import Console
    from rich.progress import Progress, TaskID

    from farthest.search.deepening import Iteration


PATIENCE = 0.5
"""Seconds after which a bar is first shown."""
APART = 0.1
"""Seconds between two changes of a bar."""
LINES_APART = 5.0


class Bar:
    """What is told is shown at most every ``apart`` seconds, and not before ``PATIENCE``. This one shows nothing."""

    apart = APART

    def __init__(self) -> None:
        self._due = time.monotonic() + PATIENCE

    def tell(self, text: str, share: float | None = None) -> None:
        """What is done, as text, and as a part of the whole where that is known."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + self.apart
            self.show(safe(text), None if share is None else min(1.0, share))

    def show(self, text: str, share: float | None) -> None:
        """Puts it in place of what is shown."""

    def close(self) -> None:
        """Takes the bar away."""


class NotebookBar(Bar):
    """A bar below the cell, which needs no extension of the notebook."""

    def __init__(self) -> None:
        super().__init__()
        self._display: Any = import_module("IPython.display").display
        self._handle: Any = None

    def show(self, text: str, share: float | None) -> None:
        from farthest.drawing.svg import escape

        value = "" if share is None else f' value="{share:.4f}"'
        self._put({"text/html": f"<progress{value}></progress> {escape(text)}", "text/plain": text})

    def close(self) -> None:
        if self._handle is not None:
            self._put({"text/html": "", "text/plain": ""})

    def _put(self, data: dict[str, str]) -> None:
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


class TerminalBar(Bar):
    """A line on standard error that changes; what others write there comes above it."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Progress, TaskID, TextIO] | None = None

    def show(self, text: str, share: float | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        if self._shown is None:
            columns = (
                BarColumn(bar_width=20),
                TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
            )
            progress = Progress(
                *columns,
                console=Console(file=raw(sys.stderr)),  # the text is safe already
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._shown = progress, progress.add_task("", total=None), sys.stderr
            progress.start()
            sys.stderr = LinesAbove(sys.stderr, progress.console)
        progress, task, _ = self._shown
        progress.update(task, description=text, total=None if share is None else 1.0, completed=share or 0.0)

    def close(self) -> None:
        if self._shown is not None:
            progress, _, sys.stderr = self._shown
            progress.stop()


class LinesAbove(SafeStream):
    """Standard error while the live line is shown: whole lines appear above it, as they are."""

    def __init__(self, stream: TextIO, console: Console) -> None:
        super().__init__(raw(stream))
        self._console = console
        self._begun = ""  # of a line that is not whole

    def write(self, text: str) -> int:
        from rich.text import Text

        *lines, self._begun = (self._begun + text).split("\n")
        with suppress(OSError):
            for line in lines:
                self._console.print(Text(safe(line)), soft_wrap=True)
        return len(text)


class LineBar(Bar):
    """A line on standard error every few seconds."""

    apart = LINES_APART

    def show(self, text: str, share: float | None) -> None:
        print(text if share is None else f"{share:.0%}: {text}", file=sys.stderr)


@contextmanager
def progress_bar(progress: bool | None) -> Iterator[Bar]:
    """A bar where one is wanted, taken away at the end. ``progress``: None: in a notebook and on a terminal; True:
    elsewhere too, as lines; False: nowhere."""
    bar = _bar(progress)
    try:
        yield bar
    finally:
        bar.close()


def _bar(progress: bool | None) -> Bar:
    if progress is False:
        return Bar()
    if _in_notebook():
        return NotebookBar()
    if sys.stderr is not None and sys.stderr.isatty():
        return TerminalBar()
    return LineBar() if progress else Bar()


def _in_notebook() -> bool:
    """Whether a notebook's kernel runs this; IPython in a terminal has none."""
    ipython: Any = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


class EnumerationBar(EnumerationProgress):
    """Depth and states; of the states that there can be at most, those that have been found."""

    def __init__(self, bar: Bar) -> None:
        super().__init__()
        self._bar = bar

    def resuming(self, job: int, depth: int, share: float) -> None:
        self._bar.tell(f"job {job}: reading the checkpoint at depth {depth}", share)

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        super().layer(depth, states, total, seconds)
        self.progress({"blocks": 0})

    def progress(self, known: Mapping[str, Any]) -> None:
        super().progress(known)
        share = self.pace.share if self.pace.at_most else None
        self._bar.tell(" · ".join([*self.counts(), *self.blocks()]), share)


class SearchBar(SearchReporter):
    """Bound and nodes; of a list of ``boards``, those that are done."""

    def __init__(self, bar: Bar, boards: int = 1) -> None:
        self._bar = bar
        self._boards = boards
        self._done = self._nodes = self._bound = 0

    def begun(self, job: int | None, bound: int) -> None:
        self._tell(bound)

    def resumed(self, job: int, bound: int, pieces: int) -> None:
        self._tell(bound)

    def iteration(self, iteration: Iteration) -> None:
        self._nodes += iteration.nodes
        self._tell(iteration.bound)

    def progress(self, known: dict[str, Any]) -> None:
        self._tell(known.get("bound"))

    def answered(self) -> None:
        """The search of a board of the list has ended."""
        self._done += 1
        self._tell()

    def _tell(self, bound: int | None = None) -> None:
        self._bound = bound or self._bound
        several = self._boards > 1
        done = f"{self._done:,} of {self._boards:,} boards · " if several else ""
        share = self._done / self._boards if several else None
        self._bar.tell(f"{done}bound {self._bound} · {self._nodes:,} nodes", share)
