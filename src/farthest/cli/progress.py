"""The progress of an enumeration on standard error while it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.printing import event_line, note, stderr_is_terminal
from farthest.coordinator.reporter import EnumerationProgress, Reporter
from farthest.safe_text import raw, tell_at_once
from farthest.wording import bytes_text, rate_text, seconds_text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from farthest.coordinator.settings import Estimate, Outcome

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
    """A line for each event."""

    def estimate(self, estimate: Estimate) -> None:
        disk = estimate.disk + estimate.layers_disk
        limit = estimate.memory_limit
        event_line(
            "estimate",
            states_at_most=estimate.states_at_most,
            memory=estimate.memory,
            disk=disk,
            memory_limit=limit,
        )

    def resuming(self, job: int, depth: int, share: float) -> None:
        if share == 0:
            event_line("resuming", job=job, depth=depth)

    def begun_anew(self, job: int, depth: int, seconds: float) -> None:
        event_line("begun-anew", job=job, checkpoint=depth, seconds=float(seconds))

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        event_line("resumed", job=job, depth=depth, states=states, total=total)

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        event_line("layer", depth=depth, states=states, total=total, seconds=float(seconds))

    def checkpoint(self, depth: int, seconds: float) -> None:
        event_line("checkpoint", depth=depth, seconds=float(seconds))

    def finished(self, outcome: Outcome) -> None:
        event_line("finished", states=outcome.states, seconds=float(outcome.seconds))

    def followed(self, progress: Mapping[str, Any], seconds: float) -> None:
        event_line("progress", **{name: str(value) for name, value in progress.items() if name != "layers"})


class LiveReporter(EnumerationProgress, QuietReporter):
    """The estimate, then one line that changes, on a terminal; it is removed at the end.

    ``at_most``: the most states that there can be, where no estimate will follow.
    """

    def __init__(self, at_most: int = 0) -> None:
        super().__init__(at_most)
        self._started = time.monotonic()
        self._live: Live | None = None
        self._stderr = sys.stderr
        self._stopping = False

    def estimate(self, estimate: Estimate) -> None:
        super().estimate(estimate)
        disk = bytes_text(estimate.disk + estimate.layers_disk)
        click.echo(
            f"{estimate.states_text}; needs {bytes_text(estimate.memory)} of memory "
            f"(of {bytes_text(estimate.memory_limit)}), {disk} of disk at most",
            err=True,
        )
        if (estimate.most_states or estimate.states_at_most) > LARGE:
            self._show()

    def resuming(self, job: int, depth: int, share: float) -> None:
        super().resuming(job, depth, share)
        self._show_if_due()

    def begun_anew(self, job: int, depth: int, seconds: float) -> None:
        click.echo(
            f"job {job} starts over: its layers up to depth {depth} took {seconds:.1f} s, and reading their checkpoint "
            "would take longer",
            err=True,
        )

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        super().layer(depth, states, total, 0.0)
        click.echo(f"job {job} continues after depth {depth}", err=True)

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        super().layer(depth, states, total, seconds)
        self._show_if_due()

    def followed(self, progress: Mapping[str, Any], seconds: float) -> None:
        self._started = time.monotonic() - seconds
        states, total = progress.get("layer_states") or 0, progress.get("states") or 0
        self.layer(progress.get("depth") or 0, states, total, 0.0)
        self.progress(progress)
        if self._live is None:  # who follows a job wants the display at once
            self._show()

    def stopping(self) -> None:
        self._stopping = True

    def finished(self, outcome: Outcome) -> None:
        self.stop()

    def stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
            sys.stderr = self._stderr

    def parts(self) -> list[str]:
        """What the line says, the most important first: a narrow terminal cuts the rest."""
        if self.reading:
            return [self.reading, seconds_text(time.monotonic() - self._started)]
        parts = self.counts()
        share, rate, left = self.pace.share, self.pace.rate(), self.pace.seconds_left()
        if share:
            parts.append(f"{share:.1%}")
        if self._stopping:
            return ["stopping, storing a checkpoint", *parts]
        if share >= 1:
            return ["storing the map", *parts]
        parts += [*self.blocks(), *self.workers()]
        if rate:
            parts.append(f"{rate_text(rate)}/s")
        if left is not None:
            parts.append(f"at most {seconds_text(left)} left")
        return [*parts, seconds_text(time.monotonic() - self._started)]

    def _show_if_due(self) -> None:
        if self._live is None and time.monotonic() - self._started > PATIENCE_SECONDS:
            self._show()

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live

        from farthest.api.bars import LinesAbove

        self._stderr = sys.stderr
        console = Console(file=raw(sys.stderr))
        self._live = Live(
            console=console,
            get_renderable=self._text,
            refresh_per_second=8,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,  # click writes past rich's stream
        )
        self._live.start()
        sys.stderr = LinesAbove(sys.stderr, console)

    def _text(self) -> RenderableType:
        from rich.text import Text

        return Text(" · ".join(self.parts()), no_wrap=True, overflow="ellipsis")


def enumeration_reporter(progress: bool | None) -> QuietReporter:
    """A live display on a terminal, lines with --progress, else only notices."""
    terminal = stderr_is_terminal()
    if not (terminal if progress is None else progress):
        return QuietReporter()
    return LiveReporter() if terminal else LineReporter()
