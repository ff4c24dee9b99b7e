"""The text of a definition and where things stand in it, for messages that name the place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import cast

from farthest.errors import BoardError, PuzzleError
from farthest.puzzles.definition import Board
from farthest.wording import near_match, shown

_HEADER = re.compile(r"\s*\[{1,2}([^\[\]]+)\]{1,2}\s*(?:#.*)?$")  # no two parts that both take spaces


class Source:
    """The text of a puzzle definition, and what messages call it (usually the path of its file)."""

    def __init__(self, text: str, place: str) -> None:
        self.text = text
        self.place = place

    def error(self, table: str, key: str, problem: str, occurrence: int = 0, *, row: int = 0) -> PuzzleError:
        """The error at a key of a table. An empty table: the top of the file; an empty key: the table.

        ``occurrence`` is the index of the table where several have the same name, ``row`` the number of a line in the
        key's text of several lines, from 1. The line is told where found.
        """
        line = self._line(table, key, occurrence)
        if line is not None and row:
            line += row - 1 + self.text.splitlines()[line - 1].rstrip().endswith(('"""', "'''"))
        numbered = f" {occurrence + 1}" if occurrence or self._tables(table) > 1 else ""
        named = " ".join(part for part in (f"[{table}]{numbered}" if table else "", key) if part)
        return PuzzleError(
            f"{self.place}{f', line {line}' if line else ''}{f', {named}' if named else ''}: {problem}"
        )

    def _tables(self, table: str) -> int:
        matches = (_HEADER.match(line) for line in self.text.splitlines())
        return sum(match is not None and match[1].strip() == table for match in matches)

    def _line(self, table: str, key: str, occurrence: int) -> int | None:
        wanted = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=") if key else None
        current, seen, header = "", -1, None
        for number, line in enumerate(self.text.splitlines(), 1):
            match = _HEADER.match(line)
            if match:
                current = match[1].strip().strip("\"'")
                if current == table:
                    seen += 1
                    if seen == occurrence:
                        header = number
            elif wanted and current == table and (not table or seen == occurrence) and wanted.match(line):
                return number
        return header


# --- The keys ``goal``, ``goals`` and ``start`` of a table whose boards are texts.

Fail = Callable[[str, str], PuzzleError]
"""Makes the error at a key, from the key and the problem."""

Parse = Callable[[str, str, bool], Board]
"""The board of a text: (text, what messages call it, whether ``*`` is allowed). Raises BoardError."""


def check_keys(table: Mapping[str, object], keys: Iterable[str], fail: Fail) -> None:
    """Raises the error of the first key of the table that is none of ``keys``."""
    known = list(keys)
    for key in table:
        if key not in known:
            mend = near_match(key, known) or f"the keys are {', '.join(known)}"
            raise fail(key, f"key {shown(key)} is not known; {mend}")


def whole_number(
    table: Mapping[str, object], key: str, least: int, most: int, example: int, fail: Fail
) -> int:
    """The number at a key that has to be there. Raises its error unless it lies in the range."""
    if key not in table:
        raise fail("", f"no {key}; expected a whole number from {least} to {most}, write {key} = {example}")
    value = table[key]
    if type(value) is not int or not least <= value <= most:
        raise fail(
            key,
            f"expected a whole number from {least} to {most}, got {shown(value)}; write for example {key} = {example}",
        )
    return value


def read_goals(
    table: Mapping[str, object], default: Board | None, example: str, parse: Parse, fail: Fail
) -> tuple[Board, ...]:
    """The boards of ``goal`` or ``goals``; ``default`` where neither is there (None: none at all)."""
    if "goal" in table and "goals" in table:
        raise fail("goals", "both goal and goals are given; expected one of them, put all boards into goals")
    if "goals" in table:
        values = table["goals"]
        if not isinstance(values, list) or not values:
            found = "an empty array" if values == [] else shown(values)
            raise fail("goals", f'expected an array of boards, got {found}; write goals = ["{example}", ...]')
        names: dict[Board, str] = {}
        for i, value in enumerate(values, 1):
            board = read_board("goals", f"goal {i}", value, example, parse, fail, wildcards=True)
            if board in names:
                raise fail("goals", f"goal {i} is the same board as {names[board]}; leave one out")
            names[board] = f"goal {i}"
        return tuple(names)
    if "goal" in table:
        return (read_board("goal", "goal", table["goal"], example, parse, fail, wildcards=True),)
    return () if default is None else (default,)


def read_start(
    table: Mapping[str, object], default: Board | None, example: str, parse: Parse, fail: Fail
) -> Board | None:
    """The board of ``start``, or the default."""
    if "start" not in table:
        return default
    return read_board("start", "start", table["start"], example, parse, fail, wildcards=False)


def read_board(
    key: str, name: str, value: object, example: str, parse: Parse, fail: Fail, *, wildcards: bool
) -> Board:
    """The board at a key: a text, or its rows as an array of texts."""
    if isinstance(value, list) and value and all(isinstance(row, str) for row in value):
        value = "/".join(cast("list[str]", value))
    if not isinstance(value, str):
        raise fail(key, f'{name}: expected a text, got {shown(value)}; write {key} = "{example}"')
    try:
        return parse(value, f"{name} {shown(value)}", wildcards)
    except BoardError as error:
        raise fail(key, str(error)) from None


def check_digits(board: Board, radices: Iterable[int], name: str, *, wildcards: bool) -> str | None:
    """Why a stored board is not one digit below each radix, or None when it is."""
    limits = tuple(radices)
    least = -1 if wildcards else 0
    if len(board) != len(limits) or any(
        not least <= digit < limit for digit, limit in zip(board, limits, strict=True)
    ):
        return f"{name} is not {len(limits)} numbers in their ranges"
    return None
