"""The progress of a search, or of a list of searches, on standard error."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.printing import event_line, note, stderr_is_terminal
from farthest.coordinator.search.settings import SearchReporter
from farthest.safe_text import tell_at_once
from farthest.wording import counted, seconds_text

if TYPE_CHECKING:
    from farthest.search.contract import Way
    from farthest.search.deepening import Iteration

LIST_SECONDS = 5.0
"""Between two lines that a terminal shows of a list of boards."""


class QuietSearchReporter(SearchReporter):
    """Reports only signals and notices. Of a list of boards it counts those that are done: ``boards`` with their
    ``nodes``, and those of them that are ``unsolvable``; and those that are ``wrong``. ``line``: of the board that is
    searched."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.line = self.boards = self.unsolvable = self.wrong = self.nodes = 0

    def notice(self, text: str) -> None:
        note(text)

    def stopping(self) -> None:
        """Called by a signal handler."""
        tell_at_once("Stopping after the pieces under way. A second Ctrl-C does not wait for them.")

    def board(self, line: int) -> None:
        """The board of this line is read, and searched next."""
        self.line = line

    def answered(self, length: int | None, nodes: int) -> None:
        """The board is solved in so many moves; None: it cannot be solved."""
        self.boards += 1
        self.unsolvable += length is None
        self.nodes += nodes

    def refused(self) -> None:
        """What was read is no board, or cannot be searched."""
        self.wrong += 1

    def ended(self) -> None:
        """The list has no more boards."""

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self.started


class LineSearchReporter(QuietSearchReporter):
    """A line for each event, and for progress where there is any."""

    def __init__(self) -> None:
        super().__init__()
        self._told: dict[str, Any] = {}

    def board(self, line: int) -> None:
        event_line("board", line=line)

    def ended(self) -> None:
        event_line(
            "ended",
            boards=self.boards,
            unsolvable=self.unsolvable,
            wrong=self.wrong,
            nodes=self.nodes,
            seconds=float(self.seconds),
        )

    def begun(self, job: int | None, bound: int) -> None:
        event_line("begun", **({} if job is None else {"job": job}), bound=bound)

    def stored(self, job: int) -> None:
        event_line("stored", job=job)

    def resumed(self, job: int, bound: int, pieces: int) -> None:
        event_line("resumed", job=job, bound=bound, pieces=pieces)

    def iteration(self, iteration: Iteration) -> None:
        event_line(
            "iteration",
            bound=iteration.bound,
            nodes=iteration.nodes,
            solutions=iteration.solutions,
            pieces=iteration.pieces,
            seconds=float(iteration.seconds),
        )

    def found(self, way: Way, bound: int) -> None:
        event_line("found", moves=len(way), bound=bound)

    def progress(self, known: dict[str, Any]) -> None:
        if known != self._told:
            self._told = dict(known)
            event_line("progress", **{name: str(value) for name, value in known.items()})


class TerminalSearchReporter(QuietSearchReporter):
    """A line for each iteration, as people read it."""

    def begun(self, job: int | None, bound: int) -> None:
        click.echo(f"first bound {bound}", err=True)

    def stored(self, job: int) -> None:
        click.echo(f"now stored as job {job}", err=True)

    def resumed(self, job: int, bound: int, pieces: int) -> None:
        click.echo(f"job {job} continues at bound {bound}, after {counted(pieces, 'piece')}", err=True)

    def iteration(self, iteration: Iteration) -> None:
        found = counted(iteration.nodes, "node")
        click.echo(f"bound {iteration.bound}: {found}, {seconds_text(iteration.seconds)}", err=True)

    def found(self, way: Way, bound: int) -> None:
        needed = f"; {bound} or more are needed" if bound else ""
        click.echo(f"{counted(len(way), 'move')} found{needed}", err=True)


class TerminalListReporter(QuietSearchReporter):
    """Of a list of boards a line every few seconds: how many are done, and how far the search of the next one is."""

    def __init__(self) -> None:
        super().__init__()
        self._told = self.started
        self._reached = ""

    def board(self, line: int) -> None:
        super().board(line)
        self._reached = ""
        self._tell_if_due()

    def begun(self, job: int | None, bound: int) -> None:
        self._reached = f", bound {bound}"

    def resumed(self, job: int, bound: int, pieces: int) -> None:
        self._reached = f", bound {bound}"
        click.echo(f"line {self.line}: job {job} continues at bound {bound}", err=True)

    def stored(self, job: int) -> None:
        click.echo(f"line {self.line}: now stored as job {job}", err=True)

    def iteration(self, iteration: Iteration) -> None:
        self._reached = f", after bound {iteration.bound}"
        self._tell_if_due()

    def progress(self, known: dict[str, Any]) -> None:
        self._tell_if_due()

    def ended(self) -> None:
        if self._told > self.started:
            click.echo(self._done(), err=True)

    def _done(self) -> str:
        unsolvable = f", {self.unsolvable:,} of them unsolvable" if self.unsolvable else ""
        boards, nodes = counted(self.boards, "board"), counted(self.nodes, "node")
        return f"{boards}{unsolvable}, {nodes}, {seconds_text(self.seconds)}"

    def _tell_if_due(self) -> None:
        now = time.monotonic()
        if now - self._told >= LIST_SECONDS:
            self._told = now
            click.echo(f"{self._done()}; line {self.line}{self._reached}", err=True)


def search_reporter(progress: bool | None, *, of_list: bool) -> QuietSearchReporter:
    """What a terminal shows, lines with --progress, else only notices."""
    terminal = stderr_is_terminal()
    if not (terminal if progress is None else progress):
        return QuietSearchReporter()
    if not terminal:
        return LineSearchReporter()
    return TerminalListReporter() if of_list else TerminalSearchReporter()
