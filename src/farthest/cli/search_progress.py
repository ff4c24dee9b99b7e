"""The progress of a search, on standard error while it runs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.messages import note
from farthest.cli.printing import counted
from farthest.coordinator.search.settings import SearchReporter
from farthest.safe_text import tell_at_once
from farthest.wording import seconds_text

if TYPE_CHECKING:
    from farthest.coordinator.search.settings import Iteration


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
