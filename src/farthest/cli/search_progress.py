"""The progress of a search, on standard error while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from farthest.cli.messages import note
from farthest.cli.printing import counted
from farthest.coordinator.search.settings import SearchReporter
from farthest.safe_text import tell_at_once
from farthest.wording import seconds_text

if TYPE_CHECKING:
    from farthest.coordinator.search.settings import Iteration


class QuietSearchReporter(SearchReporter):
    """Reports only signals and notices."""

    def notice(self, text: str) -> None:
        note(text)

    def stopping(self) -> None:
        """Called by a signal handler."""
        tell_at_once("Stopping after the pieces under way. A second Ctrl-C does not wait for them.")


class LineSearchReporter(QuietSearchReporter):
    """A line of ``key=value`` pairs for each event, and for progress where there is any."""

    def __init__(self) -> None:
        self._told: dict[str, Any] = {}

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
