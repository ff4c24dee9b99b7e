"""Reading a puzzle's TOML file: every key checked, every error with file, line, what was expected and a mend.

name   = "eight-kinds"              # letters, digits, and - _ . between them
title  = "8-puzzle with six kinds of piece"
also   = "hiroi's puzzle, eight kinds"  # other names by which it is found in the catalogue; optional
source = "M. Hiroi"                 # where the puzzle comes from
family = "sliding"
metric = "step"                     # or "slide"
origin = "to goal"                  # or "from start", "from 1 2 3 / ...", "from moves: R U"
[sliding]                           # the table of the family: farthest/families/FAMILY/reader.py
[[known]]                           # any number of published results: source, and some of
                                    # states, eccentricity, layers, first_layers, farthest, goal (see
                                    # KnownAnswer)
"""

from __future__ import annotations

import os
import re
import select
import stat
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from farthest.errors import BoardError, PuzzleError, ResourceError
from farthest.puzzles.definition import PuzzleDefinition
from farthest.puzzles.family import board_given, families
from farthest.puzzles.move_text import is_moves
from farthest.puzzles.origin import WORDS
from farthest.puzzles.puzzle import (
    FAMILIES,
    MAX_NAME,
    MAX_TEXT,
    NAME,
    Direction,
    KnownAnswer,
    Origin,
    Puzzle,
    rules,
)
from farthest.puzzles.tables import Source
from farthest.wording import near_match, shown

# --- The bytes of a puzzle's file, and its TOML as tables; both are bounded, whatever was named or written.

MOST_BYTES = 2**20
"""Of a file: the largest of the catalogue has some kilobytes."""

PIPE_SECONDS = 10.0
"""How long a pipe's writer is waited for."""

MOST_PARTS = 16
"""Of a key with dots. What tomllib keeps of one grows with the square of them: of 200 KB tens of gigabytes."""

# One that does not end goes on to the end of the text, or of the line: what is read once need not be read again. The
# quotes at the end of one in three quotes may be five: the first two are its own.
_STRINGS = (
    r'"""(?:[^"\\]|\\.|""?(?!"))*+(?:"{3,5}|\Z)',
    r"'''.*?(?:'{3,5}|\Z)",
    r'"(?:[^"\\\n]|\\.)*+(?:"|\n|\Z)',
    r"'[^'\n]*'",
)
_STRING_OR_COMMENT = re.compile(rf"(?P<string>{'|'.join(_STRINGS)})|#[^\n]*", re.DOTALL)
_LONG_KEY = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MOST_PARTS}}}")


class NestedTooDeepError(ValueError):
    """The TOML is nested deeper than any definition."""


def read_bytes(path: Path | str) -> bytes:
    """The bytes of a file, of a larger one than MOST_BYTES one byte more. A pipe is read to its end, which is where its
    writers close it.

    Raises OSError, a TimeoutError where nobody opens a pipe to write for PIPE_SECONDS; ValueError (of names that no
    file can have).
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            _await_writer(file.fileno())
        os.set_blocking(file.fileno(), True)
        return file.read(MOST_BYTES + 1)


def _await_writer(pipe: int) -> None:
    """Waits until there is something to read, or a writer has come and gone: before that a pipe seems empty."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    if not poll.poll(PIPE_SECONDS * 1000):
        raise TimeoutError(f"nobody wrote to this pipe for {PIPE_SECONDS:g} s")


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a text. Raises NestedTooDeepError, tomllib.TOMLDecodeError, ValueError (of huge numbers)."""
    bare = _STRING_OR_COMMENT.sub(lambda found: "s" if found["string"] else "", text)
    if _LONG_KEY.search(bare):
        raise NestedTooDeepError
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise NestedTooDeepError from None


_KEYS = ("name", "title", "also", "source", "family", "metric", "origin", "known", *FAMILIES)
_KNOWN_KEYS = ("states", "eccentricity", "layers", "first_layers", "farthest", "goal", "source")
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_puzzle(path: Path | str) -> Puzzle:
    """The puzzle defined by a TOML file, or by one in the format of another program (``Family.files``).

    Raises PuzzleError when it cannot be read or is not valid.
    """
    place = os.fspath(path)
    try:
        data = read_bytes(path)
    except IsADirectoryError:
        raise PuzzleError(
            f"{place}: is a directory, expected a puzzle file; name a .toml file in it"
        ) from None
    except FileNotFoundError:
        raise PuzzleError(f"{place}: there is no such file; check the path") from None
    except PermissionError:
        raise PuzzleError(f"{place}: may not be read; check the file's permissions") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise PuzzleError(f"{place!r}: cannot be read ({reason}); expected a puzzle file") from None
    if len(data) > MOST_BYTES:
        raise PuzzleError(
            f"{place}: more than {MOST_BYTES} bytes, expected a puzzle definition; is it the right file?"
        )
    for each in families():
        if place.lower().endswith(each.files):
            return each.read_file(data, place)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PuzzleError(
            f"{place}, line {line}: byte 0x{data[error.start]:02X} is not UTF-8; save the file in UTF-8"
        ) from None
    return parse_puzzle(text, place)


def parse_puzzle(text: str, place: str) -> Puzzle:
    """The puzzle that TOML text defines; messages call it ``place``. Raises PuzzleError when not valid."""
    source = Source(text, place)
    fields = _load(text, place)
    for key in fields:
        if key not in _KEYS:
            mend = near_match(key, _KEYS) or f"the keys are {', '.join(_KEYS)}"
            raise source.error("", key, f"key {shown(key)} is not known; {mend}")
    name = _name(fields, source)
    _text(fields, source, "also")
    family = _text(fields, source, "family")
    if family not in FAMILIES:
        found = f"family {shown(family)} is not known" if family else "no family"
        mend = near_match(family, FAMILIES) or 'write for example family = "sliding"'
        raise source.error("", "family", f"{found}; expected {', '.join(FAMILIES)}; {mend}")
    reader = rules(family)
    metric = _text(fields, source, "metric", reader.metrics[0])
    if metric not in reader.metrics:
        expected = " or ".join(f'"{each}"' for each in reader.metrics)
        mend = near_match(metric, reader.metrics) or "write one of them"
        raise source.error("", "metric", f"metric {shown(metric)} is not known, expected {expected}; {mend}")
    table = fields.get(family)
    if not isinstance(table, dict):
        found = f"expected a table, got {shown(table)}" if family in fields else f"no table [{family}]"
        raise source.error("", family, f"{found}; write [{family}] and below it {reader.example}")
    definition = reader.read(table, source, metric)
    problem = definition.metric_problem(metric)
    if problem:
        raise source.error("", "metric", problem)
    puzzle = Puzzle(
        name=name,
        title=_text(fields, source, "title", name),
        source=_text(fields, source, "source"),
        family=family,
        metric=metric,
        origin=_origin(fields, source, definition, name, reader.default_origin),
        known=_known_answers(fields, source, definition, name),
        definition=definition,
    )
    return _moves_made(puzzle, source, reader.default_origin) if is_moves(puzzle.origin.where) else puzzle


def _load(text: str, place: str) -> dict[str, Any]:
    try:
        return read_toml(text)
    except NestedTooDeepError:
        raise PuzzleError(f"{place}: arrays or tables nested too deeply; expected rows of pieces") from None
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = _TOML_PLACE.search(message)
        if found:
            message = message[: found.start()]
            line = int(found[1]) if found[1] else text.count("\n") + 1
            place += f", line {line}" + (f", column {found[2]}" if found[2] else "")
        again = "overwrite" in message or "twice" in message
        mend = "give each key once" if again else "texts need quotes, arrays brackets and commas"
        raise PuzzleError(f"{place}: not valid TOML: {message}; {mend}") from None
    except ValueError:  # from the reader of numbers, which refuses thousands of digits
        raise PuzzleError(f"{place}: a number has too many digits; write a smaller one") from None


def _text(fields: dict[str, Any], source: Source, key: str, default: str = "") -> str:
    value = fields.get(key, default)
    if not isinstance(value, str):
        raise source.error("", key, f'expected a text, got {shown(value)}; write {key} = "..."')
    if len(value) > MAX_TEXT:
        raise source.error(
            "", key, f"a text of {len(value):,} characters, expected at most {MAX_TEXT}; write a shorter one"
        )
    if not all(character.isprintable() for character in value):
        raise source.error(
            "", key, f"expected a text of one line, got {shown(value)}; leave out control characters"
        )
    return value


def _name(fields: dict[str, Any], source: Source) -> str:
    name = _text(fields, source, "name")
    if not name:
        raise source.error("", "name", 'no name; expected for example name = "eight-kinds"')
    if len(name) > MAX_NAME or not NAME.fullmatch(name):
        raise source.error(
            "",
            "name",
            f"name {shown(name)}: expected at most {MAX_NAME} letters and digits, - _ or . between; "
            "put other words into title",
        )
    if name.isdigit():
        raise source.error(
            "", "name", f"name {shown(name)}: digits alone are the number of a job; add a word to it"
        )
    return name


def _origin(
    fields: dict[str, Any], source: Source, definition: PuzzleDefinition, name: str, default: str
) -> Origin:
    text = _text(fields, source, "origin", default)
    direction, _, where = text.strip().partition(" ")
    where = where.strip()
    if direction not in ("to", "from") or not where:
        raise source.error(
            "",
            "origin",
            f'origin {shown(text)}: expected "to goal", "from start", or such a word and a board; '
            "write one of these",
        )
    if where == "goal" and not definition.has_origin("goal"):
        raise source.error(
            "", "origin", f'the origin is the goal, but there is none; write origin = "{direction} start"'
        )
    if where == "start" and not definition.has_origin("start"):
        raise source.error(
            "", "origin", "the origin is the start, but there is none; add start to the puzzle's table"
        )
    if where not in ("goal", "start"):
        where = where if is_moves(where) else _board(where, source, definition, name, "", "origin")
    return Origin(cast(Direction, direction), where)


def _moves_made(puzzle: Puzzle, source: Source, default: str) -> Puzzle:
    """The puzzle whose origin is the board that the moves in its place lead to, from the goal or the start."""
    words = [default.partition(" ")[2], *WORDS]
    begin = next((word for word in words if puzzle.definition.has_origin(word)), puzzle.origin.where)
    try:
        board = board_given(replace(puzzle, origin=Origin("to", begin)), puzzle.origin.where)
    except (BoardError, ResourceError) as error:
        raise source.error("", "origin", str(error)) from None
    return replace(puzzle, origin=replace(puzzle.origin, where=puzzle.definition.format_board(board)))


def _board(
    text: str,
    source: Source,
    definition: PuzzleDefinition,
    name: str,
    table: str,
    key: str,
    occurrence: int = 0,
) -> str:
    try:
        return definition.format_board(definition.parse_board(text, name=name))
    except BoardError as error:
        raise source.error(table, key, str(error), occurrence) from None


def _known_answers(
    fields: dict[str, Any], source: Source, definition: PuzzleDefinition, name: str
) -> tuple[KnownAnswer, ...]:
    known = fields.get("known", [])
    if not isinstance(known, list) or not all(isinstance(answer, dict) for answer in known):
        raise source.error(
            "", "known", f"expected tables, got {shown(known)}; write [[known]] and its keys below"
        )
    return tuple(_known(answer, i, source, definition, name) for i, answer in enumerate(known))


def _known(
    fields: dict[str, Any], index: int, source: Source, definition: PuzzleDefinition, name: str
) -> KnownAnswer:
    def fail(key: str, problem: str) -> PuzzleError:
        return source.error("known", key, problem, index)

    def numbers(key: str) -> tuple[int, ...] | None:
        value = fields.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not value or any(type(n) is not int or n < 1 for n in value):
            raise fail(
                key, f"expected whole numbers of at least 1, one for each depth from 0; write {key} = [1, 2]"
            )
        return tuple(value)

    def count(key: str, least: int) -> int | None:
        value = fields.get(key)
        if value is not None and (type(value) is not int or value < least):
            raise fail(key, f"expected a whole number of at least {least}, got {shown(value)}; correct it")
        return value

    for key in fields:
        if key not in _KNOWN_KEYS:
            mend = near_match(key, _KNOWN_KEYS) or f"the keys are {', '.join(_KNOWN_KEYS)}"
            raise fail(key, f"key {shown(key)} is not known; {mend}")
    told = fields.get("source")
    if not isinstance(told, str) or not told.strip():
        raise fail("source" if told is not None else "", 'no source; expected who found it: source = "..."')
    if len(told) > MAX_TEXT:
        raise fail("source", f"{len(told):,} characters, expected at most {MAX_TEXT}; write a shorter one")
    if len(fields) == 1:
        raise fail(
            "", "no answer; expected some of states, eccentricity, layers, first_layers, farthest, goal"
        )
    states, eccentricity, layers = count("states", 1), count("eccentricity", 0), numbers("layers")
    if layers is not None:
        for key, told_value, summed in (
            ("states", states, sum(layers)),
            ("eccentricity", eccentricity, len(layers) - 1),
        ):
            if told_value not in (None, summed):
                raise fail(key, f"{key} is {told_value}, but the layers give {summed}; correct one of them")
        states, eccentricity = sum(layers), len(layers) - 1
    farthest = fields.get("farthest")
    if farthest is not None:
        if (
            not isinstance(farthest, list)
            or not farthest
            or any(not isinstance(board, str) for board in farthest)
        ):
            raise fail(
                "farthest", f"expected an array of boards, got {shown(farthest)}; write each board as a text"
            )
        farthest = [_board(board, source, definition, name, "known", "farthest", index) for board in farthest]
        if len(set(farthest)) != len(farthest):
            raise fail("farthest", "a board is listed twice; expected each once, leave one out")
        if layers is not None and len(farthest) > layers[-1]:
            raise fail(
                "farthest",
                f"{len(farthest)} boards, but the last layer has {layers[-1]}; correct one of them",
            )
    return KnownAnswer(
        states=states,
        eccentricity=eccentricity,
        layers=layers,
        farthest=None if farthest is None else tuple(farthest),
        source=told.strip(),
        goal=count("goal", 0),
        first_layers=numbers("first_layers"),
    )
