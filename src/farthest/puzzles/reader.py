"""Reading a puzzle's TOML file: every key checked, every error with file, line, what was expected and a mend.

name   = "eight-kinds"              # letters, digits, and - _ . between them
title  = "8-puzzle with six kinds of piece"
also   = "hiroi's puzzle, eight kinds"  # other names by which it is found in the catalogue; optional
source = "M. Hiroi"                 # where the puzzle comes from
family = "sliding"
metric = "step"                     # or "slide"
origin = "to goal"                  # or "from start", "from 1 2 3 / ...", "from moves: R U"
[sliding]                           # the table of the family: its class ``table`` (farthest/families)
[[known]]                           # any number of published results: source, and some of states, eccentricity,
                                    # layers, first_layers, farthest, goal, oeis (see KnownAnswer)
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

from farthest.errors import PuzzleError
from farthest.puzzles.definition import PuzzleDefinition
from farthest.puzzles.family import board_given, families
from farthest.puzzles.origin import WORDS, is_moves
from farthest.puzzles.puzzle import (
    FAMILIES,
    MAX_NAME,
    MAX_TEXT,
    NAME,
    OEIS,
    Direction,
    KnownAnswer,
    Origin,
    Puzzle,
    rules,
)
from farthest.puzzles.tables import Given, Source, Table, Text, Word
from farthest.wording import near_match, shown

MOST_BYTES = 2**20
"""Of a file: the largest of the catalogue has some kilobytes."""

PIPE_SECONDS = 10.0
"""How long a pipe's writer is waited for."""

MOST_PARTS = 16
"""Of a key with dots. What tomllib keeps of one grows with the square of them: of 200 KB tens of gigabytes."""

_STRING_OR_COMMENT = re.compile(r"""\"{3}|'{3}|["'#]""")
# The end of what begins so; escapes before the end match too. The quotes at the end of a string in three quotes may be
# five: the first two are its own. No group is repeated possessively, which Python 3.11.2 matches wrongly.
_ENDS = {
    '"""': re.compile(r'\\.|"{3,5}', re.DOTALL),
    "'''": re.compile(r"'{3,5}"),
    '"': re.compile(r'\\.|["\n]', re.DOTALL),
    "'": re.compile(r"['\n]"),
    "#": re.compile(r"(?=\n)"),
}
_LONG_KEY = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MOST_PARTS}}}")


def read_bytes(path: Path | str) -> bytes:
    """The bytes of a file, of a larger one than MOST_BYTES one byte more. A pipe is read to its end, which is where its
    writers close it.

    Raises OSError, a TimeoutError where nobody opens a pipe to write for PIPE_SECONDS; ValueError (of names that no
    file can have).
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            # Until there is something to read, or a writer has come and gone: before that a pipe seems empty.
            poll = select.poll()
            poll.register(file.fileno(), select.POLLIN)
            if not poll.poll(PIPE_SECONDS * 1000):
                raise TimeoutError(f"nothing was written to this pipe for {PIPE_SECONDS:g} s")
        os.set_blocking(file.fileno(), True)
        return file.read(MOST_BYTES + 1)


def _without_strings(text: str) -> str:
    """The text without comments, with ``s`` for each string. One without an end ends with the text, or the line."""
    parts, at = [], 0
    while begin := _STRING_OR_COMMENT.search(text, at):
        parts += [text[at : begin.start()], "" if begin[0] == "#" else "s"]
        ends = _ENDS[begin[0]].finditer(text, begin.end())
        at = next((end.end() for end in ends if not end[0].startswith("\\")), len(text))
    return "".join([*parts, text[at:]])


_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class _Line(Text):
    """A text of one line."""

    def __init__(self, default: str = "") -> None:
        super().__init__(write="...", default=default)

    def problem(self, value: object) -> str | None:
        if isinstance(value, str) and len(value) > MAX_TEXT:
            return f"{len(value):,} characters, expected at most {MAX_TEXT}; write a shorter text"
        if isinstance(value, str) and not value.isprintable():
            return f"expected a text of one line, got {shown(value)}; leave out control characters"
        return super().problem(value)


class _Name(_Line):
    """What a puzzle is called on command lines."""

    def __init__(self) -> None:
        Text.__init__(self, write="eight-kinds", what="at most 64 letters and digits, - _ or . between")

    def problem(self, value: object) -> str | None:
        if not isinstance(value, str):
            return super().problem(value)
        if len(value) > MAX_NAME or not NAME.fullmatch(value):
            return f"name {shown(value)}: expected {self.expected}; put other words into title"
        if value.isdigit():
            return f"name {shown(value)}: digits alone are the number of a job; add a word to it"
        return None


class _PuzzleTable(Table):
    """The top of the file, and the tables in it."""

    name = _Name()
    title = _Line()
    also = _Line()
    source_ = _Line()
    family = Word(FAMILIES)
    metric = _Line()
    origin = _Line()
    known = Given()
    more_keys = FAMILIES

    def read(self) -> Puzzle:
        """The puzzle. Raises PuzzleError."""
        name, family, _ = self.name, self.family, self.also
        expected = rules(family)
        metric = self.metric or expected.metrics[0]
        if metric not in expected.metrics:
            listed = " or ".join(f'"{each}"' for each in expected.metrics)
            mend = near_match(metric, expected.metrics) or "write one of them"
            raise self.fail("metric", f"metric {shown(metric)} is not known, expected {listed}; {mend}")
        table = self.fields.get(family)
        if not isinstance(table, dict):
            found = f"expected a table, got {shown(table)}" if family in self else f"no table [{family}]"
            raise self.fail(family, f"{found}; write [{family}] and below it {expected.example}")
        definition = expected.read(table, self.source, metric)
        if problem := definition.metric_problem(metric):
            raise self.fail("metric", problem)
        answers = self.inners("known", _KnownTable) if "known" in self else []
        puzzle = Puzzle(
            name=name,
            title=self.title or name,
            source=self.source_,
            family=family,
            metric=metric,
            origin=self._origin(definition, name, expected.default_origin),
            known=tuple(each.answer(definition, name) for each in answers),
            definition=definition,
        )
        if is_moves(puzzle.origin.where):
            return self._moves_made(puzzle, expected.default_origin)
        return puzzle

    def _origin(self, definition: PuzzleDefinition, name: str, default: str) -> Origin:
        text = self.origin or default
        direction, _, where = text.strip().partition(" ")
        where = where.strip()
        if direction not in ("to", "from") or not where:
            raise self.fail(
                "origin",
                f'origin {shown(text)}: expected "to goal", "from start", or such a word and a board; '
                "write one of these",
            )
        if where in WORDS and not definition.has_origin(where):
            mend = (
                f'write origin = "{direction} start"'
                if where == "goal"
                else "add start to the puzzle's table"
            )
            raise self.fail("origin", f"the origin is the {where}, but there is none; {mend}")
        if where not in WORDS and not is_moves(where):
            where = self.board_text("origin", where, definition, name)
        return Origin(cast(Direction, direction), where)

    def _moves_made(self, puzzle: Puzzle, default: str) -> Puzzle:
        """The puzzle whose origin is the board that the moves in its place lead to, from the goal or the start."""
        words = [default.partition(" ")[2], *WORDS]
        begin = next((word for word in words if puzzle.definition.has_origin(word)), puzzle.origin.where)
        with self.at("origin"):
            board = board_given(replace(puzzle, origin=Origin("to", begin)), puzzle.origin.where)
        return replace(puzzle, origin=replace(puzzle.origin, where=puzzle.definition.format_board(board)))


class _Sequence(_Line):
    """The number of a sequence of the OEIS."""

    def problem(self, value: object) -> str | None:
        if isinstance(value, str) and OEIS.fullmatch(value):
            return None
        return f'expected A and six digits or more, got {shown(value)}; write it as OEIS does, like "A080601"'


class _KnownTable(Table):
    """A published result."""

    header = "known"
    states = Given()
    eccentricity = Given()
    layers = Given()
    first_layers = Given()
    farthest = Given()
    goal = Given()
    oeis = _Sequence()
    source_ = _Line()

    def answer(self, definition: PuzzleDefinition, name: str) -> KnownAnswer:
        """The result. Raises PuzzleError."""
        source = self.source_.strip()
        if not source:
            raise self.fail(
                "source" if "source" in self else "", 'no source; expected who found it: source = "..."'
            )
        if not self.fields.keys() - {"source", "oeis"}:
            expected = ", ".join(key for key in self.keys if key not in ("source", "oeis"))
            raise self.fail("", f"no answer; expected some of {expected}")
        states, eccentricity = self._count("states", 1), self._count("eccentricity", 0)
        layers = self._numbers("layers")
        if layers is not None:
            for key, value, summed in (
                ("states", states, sum(layers)),
                ("eccentricity", eccentricity, len(layers) - 1),
            ):
                if value not in (None, summed):
                    raise self.fail(
                        key, f"{key} is {value}, but the layers give {summed}; correct one of them"
                    )
            states, eccentricity = sum(layers), len(layers) - 1
        return KnownAnswer(
            states=states,
            eccentricity=eccentricity,
            layers=layers,
            farthest=self._boards(definition, name, layers) if "farthest" in self else None,
            source=source,
            goal=self._count("goal", 0),
            first_layers=self._numbers("first_layers"),
            oeis=self.oeis or None,
        )

    def _count(self, key: str, least: int) -> int | None:
        value: int | None = self.fields.get(key)
        if value is not None and (type(value) is not int or value < least):
            raise self.fail(
                key, f"expected a whole number of at least {least}, got {shown(value)}; correct it"
            )
        return value

    def _numbers(self, key: str) -> tuple[int, ...] | None:
        value = self.fields.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not value or any(type(n) is not int or n < 1 for n in value):
            raise self.fail(
                key, f"expected whole numbers of at least 1, one for each depth from 0; write {key} = [1, 2]"
            )
        return tuple(value)

    def _boards(
        self, definition: PuzzleDefinition, name: str, layers: tuple[int, ...] | None
    ) -> tuple[str, ...]:
        texts = self.farthest
        if not isinstance(texts, list) or not texts or any(not isinstance(board, str) for board in texts):
            raise self.fail(
                "farthest", f"expected an array of boards, got {shown(texts)}; write each board as a text"
            )
        boards = tuple(self.board_text("farthest", board, definition, name) for board in texts)
        if len(set(boards)) != len(boards):
            raise self.fail("farthest", "a board is listed twice; expected each once, leave one out")
        if layers is not None and len(boards) > layers[-1]:
            raise self.fail(
                "farthest", f"{len(boards)} boards, but the last layer has {layers[-1]}; correct one of them"
            )
        return boards


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
    return _PuzzleTable(_load(text, place), Source(text, place)).read()


def _load(text: str, place: str) -> dict[str, Any]:
    try:
        if _LONG_KEY.search(_without_strings(text)):
            raise RecursionError
        return tomllib.loads(text)
    except RecursionError:
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
