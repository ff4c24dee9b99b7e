"""The distances of many boards, looked up some lines at a time."""

from __future__ import annotations

import io
import select
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from os.path import isfile
from queue import Empty, Queue
from shlex import quote
from typing import TYPE_CHECKING, Generic, TypeVar

from farthest.errors import BoardError
from farthest.puzzles.origin import MAX_NAMED
from farthest.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from farthest.queries.distance_map import DistanceMap

Item = TypeVar("Item")

BATCH = 65_536  # lines read before they are answered
MOST_OF_A_LINE = 65_536  # characters
READ_AHEAD = 256  # lines
SIGNALS_SECONDS = 0.1
"""Between two looks for a signal while no item is there: one that comes just before a call that waits for ever does not
wake it."""
NEAREST_LISTED = 1000  # boards of the least distance that are kept


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines with their boards' distances, -1 where there is none."""

    lines: list[str]
    distances: list[int]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The least distance of a set of boards, None where none of them has one. ``boards``: those that have it as they
    were written, ``NEAREST_LISTED`` at most, of ``number``. ``asked``: boards of the set."""

    distance: int | None
    number: int
    boards: list[str]
    asked: int


def nearest_of(answers: Iterable[Batch]) -> Nearest:
    """The nearest of all boards."""
    least: int | None = None
    number = asked = 0
    kept: list[str] = []
    for batch in answers:
        asked += len(batch.lines)
        for line, found in zip(batch.lines, batch.distances, strict=True):
            if found < 0 or (least is not None and found > least):
                continue
            if found != least:
                least, number, kept = found, 0, []
            number += 1
            if len(kept) < NEAREST_LISTED:
                kept.append(line)
    return Nearest(least, number, kept, asked)


@contextmanager
def perhaps_files(boards: Iterable[str | None]) -> Iterator[None]:
    """Where a board of the command line is wrong, and is the name of a file, the BoardError says how files are read."""
    try:
        yield
    except BoardError as error:
        for board in boards:
            if board is not None and isfile(board):
                mend = f"{shown(board)} is a file; to read boards from it, write - < {quote(board)}"
                raise BoardError(f"{error}; {mend}") from None
        raise


def numbered_boards() -> Iterator[tuple[int, str]]:
    """The lines of standard input that are not empty, with their numbers from 1; bytes that are not UTF-8 become
    characters that no board has. Raises BoardError for a line that is much too long."""
    if sys.stdin is None:
        raise BoardError("standard input is closed; expected boards, one per line")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    number = 0
    while line := _line():
        number += 1
        if len(line) == MOST_OF_A_LINE:
            raise BoardError(
                f"line {number}: {MOST_OF_A_LINE} characters or more, expected a board; write one board on each line"
            )
        text = line.strip()
        if text:
            yield number, text


def _line() -> str:
    """The next line of standard input; '' at its end. A read that has begun does not notice a signal that arrived just
    before it: of a terminal, where Ctrl-C would be lost, nothing is read before a line is there."""
    while sys.stdin.isatty() and not select.select([sys.stdin], [], [], SIGNALS_SECONDS)[0]:
        pass
    return sys.stdin.readline(MOST_OF_A_LINE)


class ReadAhead(Generic[Item]):
    """Items that a thread reads, some ahead of those who want them. An error comes in its turn."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._read = Queue[Item | BaseException | None](READ_AHEAD)
        self._ended = False
        threading.Thread(target=self._run, args=(items,), name="farthest-read", daemon=True).start()

    def _run(self, items: Iterable[Item]) -> None:
        try:
            for item in items:
                self._read.put(item)
            self._read.put(None)
        except BaseException as error:
            self._read.put(error)

    def next(self, *, wait: bool) -> Item | None:
        """The next item; None: there is none, or without ``wait`` none is read yet. Raises what reading does."""
        if self._ended:
            return None
        while True:
            try:
                found = self._read.get(block=wait, timeout=SIGNALS_SECONDS)
                break
            except Empty:
                if not wait:
                    return None
        self._ended = found is None or isinstance(found, BaseException)
        if isinstance(found, BaseException):
            raise found
        return found


def boards_of_a_set() -> list[str]:
    """The boards of standard input as a set. Raises BoardError where there are none or more than ``MAX_NAMED``, and as
    ``numbered_boards``."""
    found = [text for _, text in islice(numbered_boards(), MAX_NAMED + 1)]
    if not 1 <= len(found) <= MAX_NAMED:
        many = f"more than {MAX_NAMED:,}" if found else "no"
        raise BoardError(f"standard input: {many} boards; expected 1 to {MAX_NAMED:,}, one per line")
    return found


def answers_to_boards(
    opened: DistanceMap, boards: Iterable[tuple[int, str]], *, of_lines: bool
) -> Iterator[Batch]:
    """The distances of boards that have numbers. ``of_lines``: they are lines of standard input; a person who types
    them is answered line by line.

    Raises BoardError for the first that is not a board, with the number of its line, after those before it.
    """
    size = 1 if of_lines and sys.stdin is not None and sys.stdin.isatty() else BATCH
    stream = iter(boards)
    while True:
        batch, problem = _read(stream, size)
        try:
            found = _answered(opened, batch)
        except BoardError:
            batch, problem = _before_the_first_wrong(opened, batch, of_lines=of_lines)
            found = _answered(opened, batch)
        if found.lines:
            yield found
        if problem is not None:
            raise problem
        if len(batch) < size:
            return


def _read(stream: Iterator[tuple[int, str]], size: int) -> tuple[list[tuple[int, str]], BoardError | None]:
    """The next boards, at most ``size``, and the error of the line after them."""
    batch: list[tuple[int, str]] = []
    try:
        batch.extend(islice(stream, size))
    except BoardError as error:
        return batch, error
    return batch, None


def _answered(opened: DistanceMap, batch: list[tuple[int, str]]) -> Batch:
    boards = [text for _, text in batch]
    return Batch(boards, opened.distances(boards).tolist() if boards else [])


def _before_the_first_wrong(
    opened: DistanceMap, batch: list[tuple[int, str]], *, of_lines: bool
) -> tuple[list[tuple[int, str]], BoardError | None]:
    """What stands before the first that is not a board, and the error of that."""
    for place, (number, text) in enumerate(batch):
        try:
            opened.labels(text)
        except BoardError as error:
            return batch[:place], BoardError(f"line {number}: {error}" if of_lines else str(error))
    return batch, None
