"""Many boards, asked and answered a batch at a time."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TextIO

from farthest.errors import BoardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from farthest.queries.distance_map import DistanceMap

BATCH = 65_536  # lines read before they are answered
MOST_OF_A_LINE = 65_536  # characters


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines with their boards' distances, -1 where there is none."""

    lines: list[str]
    distances: list[int]


def standard_input() -> Iterable[str]:
    """The lines of standard input; bytes that are not UTF-8 become characters that no board has."""
    if sys.stdin is None:
        raise BoardError("standard input is closed; expected boards, one a line")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    return _bounded_lines(sys.stdin)


def _bounded_lines(stream: TextIO) -> Iterator[str]:
    number = 0
    while line := stream.readline(MOST_OF_A_LINE):
        number += 1
        if len(line) == MOST_OF_A_LINE:
            raise BoardError(
                f"line {number}: {MOST_OF_A_LINE} characters or more, expected a board; one is to be on a line"
            )
        yield line


def answers_to_lines(opened: DistanceMap, lines: Iterable[str], *, numbered: bool) -> Iterator[Batch]:
    """The distances of boards, one a line; empty lines are left out.

    A person at a terminal is answered line by line. Raises BoardError for the first line that is no board,
    with its number if ``numbered``; the lines before it in earlier batches have been answered by then.
    """
    size = 1 if numbered and sys.stdin.isatty() else BATCH
    stream = iter(lines)
    read = 0
    while batch := list(islice(stream, size)):
        boards = [line for line in map(str.strip, batch) if line] if numbered else batch
        try:
            found = opened.distances(boards)
        except BoardError:
            for number, line in enumerate(batch, read + 1):
                _check(opened, line.strip(), f"line {number}: " if numbered else "")
            raise
        read += len(batch)
        if boards:
            yield Batch(boards, found.tolist())


def _check(opened: DistanceMap, line: str, place: str) -> None:
    """Raises BoardError, naming the place, if the line is no board."""
    if line or not place:
        try:
            opened.labels(line)
        except BoardError as error:
            raise BoardError(f"{place}{error}") from None
