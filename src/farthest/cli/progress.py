"""The progress of an enumeration, on standard error while it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.printing import counted, note
from farthest.coordinator.reporter import Pace, Reporter
from farthest.coordinator.search.settings import SearchReporter
from farthest.safe_text import SafeStream, raw, safe, tell_at_once
from farthest.wording import bytes_text, rate_text, seconds_text

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import Console, RenderableType
    from rich.live import Live

    from farthest.coordinator.settings import Estimate, Outcome
    from farthest.search.deepening import Iteration


# A shorter enumeration needs no display, and importing rich would take longer.
PATIENCE_SECONDS = 0.3
# Above this a single layer may take long.
LARGE = 20_000_000


class QuietReporter(Reporter):
    """Reports only signals and notices."""

    def notice(self, text: str) -> None:
        note(text)

    def stopping(self) -> None:
        """Called by a signal handler."""
        tell_at_once(
            "Stopping after this layer; a checkpoint follows. A second Ctrl-C stops at once, without it."
        )

    def followed(self, progress: Mapping[str, Any], seconds: float) -> None:
        """The progress of a job that began ``seconds`` ago elsewhere; ``progress`` as in ``JobRecord``."""

    def stop(self) -> None:
        """Removes the display; here there is none."""


class LineReporter(QuietReporter):
    """A line of ``key=value`` pairs for each event."""

    def estimate(self, estimate: Estimate) -> None:
        disk = estimate.disk + estimate.layers_disk
        needs = f"memory={estimate.memory} disk={disk} memory_limit={estimate.memory_limit}"
        click.echo(f"estimate states_at_most={estimate.states_at_most} {needs}", err=True)

    def resuming(self, job: int, depth: int, share: float) -> None:
        if share == 0:
            click.echo(f"resuming job={job} depth={depth}", err=True)

    def begun_anew(self, job: int, depth: int, seconds: float) -> None:
        click.echo(f"begun-anew job={job} checkpoint={depth} seconds={seconds:.6f}", err=True)

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        click.echo(f"resumed job={job} depth={depth} states={states} total={total}", err=True)

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        click.echo(f"layer depth={depth} states={states} total={total} seconds={seconds:.6f}", err=True)

    def checkpoint(self, depth: int, seconds: float) -> None:
        click.echo(f"checkpoint depth={depth} seconds={seconds:.6f}", err=True)

    def finished(self, outcome: Outcome) -> None:
        click.echo(f"finished states={outcome.states} seconds={outcome.seconds:.6f}", err=True)

    def followed(self, progress: Mapping[str, Any], seconds: float) -> None:
        known = (f"{name}={value}" for name, value in progress.items() if name != "layers")
        click.echo(" ".join(("progress", *known)), err=True)


class LiveReporter(QuietReporter):
    """The estimate, then one line that changes, on a terminal; it is removed at the end.

    ``at_most``: the most states that there can be, where no estimate will follow.
    """

    def __init__(self, at_most: int = 0) -> None:
        self._started = time.monotonic()
        self._live: Live | None = None
        self._stderr = sys.stderr
        self._stopping = False
        self._pace = Pace(at_most)
        self._depth = 0
        self._states = 0
        self._total = 0
        self._shared: list[str] = []  # the blocks of the layer
        self._reading = ""  # the share of the checkpoint that has been read

    def estimate(self, estimate: Estimate) -> None:
        self._pace.at_most = estimate.states_at_most
        disk = bytes_text(estimate.disk + estimate.layers_disk)
        click.echo(
            f"at most {estimate.states_at_most:,} states; needs {bytes_text(estimate.memory)} of memory "
            f"(of {bytes_text(estimate.memory_limit)}), {disk} of disk at most",
            err=True,
        )
        if estimate.states_at_most > LARGE:
            self._show()

    def resuming(self, job: int, depth: int, share: float) -> None:
        self._depth, self._reading = depth, f"reading the checkpoint at depth {depth}: {share:.0%}"
        self._show_if_due()

    def begun_anew(self, job: int, depth: int, seconds: float) -> None:
        click.echo(
            f"job {job} begins anew: its layers up to depth {depth} took {seconds:.1f} s, and reading their checkpoint "
            "would take longer",
            err=True,
        )

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        self._reading = ""
        self._depth, self._states, self._total = depth, states, total
        self._pace.reach(total)
        click.echo(f"job {job} goes on after depth {depth}", err=True)

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        self._depth, self._states, self._total = depth, states, total
        self._pace.reach(total)
        self._show_if_due()

    def _show_if_due(self) -> None:
        if self._live is None and time.monotonic() - self._started > PATIENCE_SECONDS:
            self._show()

    def followed(self, progress: Mapping[str, Any], seconds: float) -> None:
        self._started = time.monotonic() - seconds
        states, total = progress.get("layer_states") or 0, progress.get("states") or 0
        self.layer(progress.get("depth") or 0, states, total, 0.0)
        self.progress(progress)
        if self._live is None:  # who follows a job wants the display at once
            self._show()

    def progress(self, known: Mapping[str, Any]) -> None:
        self._shared = []
        if known.get("blocks"):
            self._shared.append(f"block {known.get('blocks_done') or 0:,} of {known['blocks']:,}")
        if known.get("workers"):
            self._shared.append(counted(known["workers"], "worker"))
        if known.get("resent"):
            self._shared.append(f"{known['resent']:,} sent again")

    def checkpoint(self, depth: int, seconds: float) -> None:
        """The live line has no room for it."""

    def stopping(self) -> None:
        self._stopping = True

    def finished(self, outcome: Outcome) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the line away."""
        if self._live is not None:
            self._live.stop()
            self._live = None
            sys.stderr = self._stderr

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._stderr = sys.stderr
        console = Console(file=raw(sys.stderr))
        self._live = Live(
            console=console,
            get_renderable=self._line,
            refresh_per_second=8,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,  # click writes past rich's stream
        )
        self._live.start()
        sys.stderr = _LinesAbove(sys.stderr, console)

    def _line(self) -> RenderableType:
        from rich.text import Text

        return Text(" · ".join(self.parts()), no_wrap=True, overflow="ellipsis")

    def parts(self) -> list[str]:
        """What the line says, the most important first: a narrow terminal cuts the rest."""
        if self._reading:
            return [self._reading, seconds_text(time.monotonic() - self._started)]
        parts = [f"depth {self._depth}", f"{self._states:,} new", f"{self._total:,} states"]
        share, rate, left = self._pace.share, self._pace.rate(), self._pace.seconds_left()
        if share:
            parts.append(f"{share:.1%}")
        if self._stopping:
            return ["stopping, storing a checkpoint", *parts]
        if share >= 1:
            return ["storing the map", *parts]
        parts += self._shared
        if rate:
            parts.append(f"{rate_text(rate)}/s")
        if left is not None:
            parts.append(f"at most {seconds_text(left)} left")
        parts.append(seconds_text(time.monotonic() - self._started))
        return parts


class _LinesAbove(SafeStream):
    """Standard error while the live line is shown: whole lines appear above it, as they are."""

    def __init__(self, stream: TextIO, console: Console) -> None:
        super().__init__(raw(stream))
        self._console = console
        self._begun = ""  # of a line that is not whole

    def write(self, text: str) -> int:
        """As streams do."""
        from rich.text import Text

        *lines, self._begun = (self._begun + text).split("\n")
        with suppress(OSError):
            for line in lines:
                self._console.print(Text(safe(line)), soft_wrap=True)
        return len(text)


# --- The progress of a search, on standard error while it runs.

LIST_SECONDS = 5.0
"""Between two lines that a terminal shows of a list of boards."""


@dataclass(slots=True)
class _Count:
    """What is done of a list of boards."""

    started: float
    line: int = 0
    boards: int = 0
    unsolvable: int = 0
    nodes: int = 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def add(self, length: int | None, nodes: int) -> None:
        self.boards += 1
        self.unsolvable += length is None
        self.nodes += nodes

    def text(self) -> str:
        unsolvable = f", {self.unsolvable:,} of them unsolvable" if self.unsolvable else ""
        done = f"{counted(self.boards, 'board')}{unsolvable}"
        return f"{done}, {counted(self.nodes, 'node')}, {seconds_text(self.seconds)}"


class QuietSearchReporter(SearchReporter):
    """Reports only signals and notices."""

    def notice(self, text: str) -> None:
        note(text)

    def stopping(self) -> None:
        """Called by a signal handler."""
        tell_at_once("Stopping after the pieces under way. A second Ctrl-C does not wait for them.")

    def board(self, line: int) -> None:
        """Of a list of boards, that of this line is read, and searched next."""

    def answered(self, length: int | None, nodes: int) -> None:
        """The board of the last line is solved in so many moves; None: it cannot be solved."""

    def ended(self) -> None:
        """The list has no more boards."""


class LineSearchReporter(QuietSearchReporter):
    """A line of ``key=value`` pairs for each event, and for progress where there is any."""

    def __init__(self) -> None:
        self._told: dict[str, Any] = {}
        self._count = _Count(time.monotonic())

    def board(self, line: int) -> None:
        self._count.line = line
        click.echo(f"board line={line}", err=True)

    def answered(self, length: int | None, nodes: int) -> None:
        self._count.add(length, nodes)

    def ended(self) -> None:
        count = self._count
        click.echo(
            f"ended boards={count.boards} unsolvable={count.unsolvable} nodes={count.nodes} "
            f"seconds={count.seconds:.6f}",
            err=True,
        )

    def begun(self, job: int | None, bound: int) -> None:
        click.echo(f"begun {'' if job is None else f'job={job} '}bound={bound}", err=True)

    def stored(self, job: int) -> None:
        click.echo(f"stored job={job}", err=True)

    def resumed(self, job: int, bound: int, pieces: int) -> None:
        click.echo(f"resumed job={job} bound={bound} pieces={pieces}", err=True)

    def iteration(self, iteration: Iteration) -> None:
        counts = f"nodes={iteration.nodes} solutions={iteration.solutions} pieces={iteration.pieces}"
        click.echo(f"iteration bound={iteration.bound} {counts} seconds={iteration.seconds:.6f}", err=True)

    def progress(self, known: dict[str, Any]) -> None:
        if known == self._told:
            return
        self._told = dict(known)
        click.echo(" ".join(("progress", *(f"{name}={value}" for name, value in known.items()))), err=True)


class TerminalSearchReporter(QuietSearchReporter):
    """A line for each iteration, as people read it."""

    def begun(self, job: int | None, bound: int) -> None:
        click.echo(f"first bound {bound}", err=True)

    def stored(self, job: int) -> None:
        click.echo(f"from now on kept as job {job}", err=True)

    def resumed(self, job: int, bound: int, pieces: int) -> None:
        click.echo(f"job {job} goes on at bound {bound}, after {counted(pieces, 'piece')}", err=True)

    def iteration(self, iteration: Iteration) -> None:
        found = counted(iteration.nodes, "node")
        click.echo(f"bound {iteration.bound}: {found}, {seconds_text(iteration.seconds)}", err=True)


class TerminalListReporter(QuietSearchReporter):
    """Of a list of boards a line every few seconds: how many are done, and how far the search of the next one is."""

    def __init__(self) -> None:
        self._count = _Count(time.monotonic())
        self._told = self._count.started
        self._bound = ""

    def board(self, line: int) -> None:
        self._count.line = line
        self._bound = ""
        self._tell_if_due()

    def answered(self, length: int | None, nodes: int) -> None:
        self._count.add(length, nodes)

    def begun(self, job: int | None, bound: int) -> None:
        self._bound = f", bound {bound}"

    def resumed(self, job: int, bound: int, pieces: int) -> None:
        self._bound = f", bound {bound}"
        click.echo(f"line {self._count.line}: job {job} goes on at bound {bound}", err=True)

    def stored(self, job: int) -> None:
        click.echo(f"line {self._count.line}: from now on kept as job {job}", err=True)

    def iteration(self, iteration: Iteration) -> None:
        self._bound = f", after bound {iteration.bound}"
        self._tell_if_due()

    def progress(self, known: dict[str, Any]) -> None:
        self._tell_if_due()

    def ended(self) -> None:
        if self._told > self._count.started:
            click.echo(self._count.text(), err=True)

    def _tell_if_due(self) -> None:
        now = time.monotonic()
        if now - self._told >= LIST_SECONDS:
            self._told = now
            click.echo(f"{self._count.text()}; line {self._count.line}{self._bound}", err=True)
