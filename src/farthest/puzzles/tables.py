"""The tables of a puzzle's TOML file: their keys, each with a type, a range and a mend, and errors that name the place.

A table is a class derived from ``Table``, and its keys are attributes of the class::

    class HanoiTable(BoardsTable):
        header = "hanoi"
        pegs = Number(2, MAX_PEGS, write=3)
        variant = Word(VARIANTS, default="standard")
        edges = Given()

On an object of the class each attribute is the value of its key, or the default. A value of another type or out of its
range is refused when it is asked for, a key that the class does not have when the object is made.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, cast, overload

from farthest.errors import FarthestError, PuzzleError
from farthest.puzzles.definition import Board, DigitPuzzle, PuzzleDefinition
from farthest.puzzles.grid import (
    MAX_CELLS,
    WALL_TOKEN,
    WILDCARD_TOKEN,
    Passages,
    disconnection,
    read_passages,
    token_problem,
)
from farthest.wording import counted, near_match, shown

Value = TypeVar("Value")
Inner = TypeVar("Inner", bound="Table")
Digits = TypeVar("Digits", bound=DigitPuzzle)

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


class Table:
    """One table of a source. ``index``: its number, from 0, where several have the same header."""

    header: ClassVar[str] = ""
    """As it is written in brackets; empty: the top of the file."""
    keys: ClassVar[tuple[str, ...]] = ()
    """The declared keys, in the order of their declaration."""
    more_keys: ClassVar[tuple[str, ...]] = ()
    """Keys that are no attributes."""
    any_key: ClassVar[bool] = False
    """Whether all other keys are allowed too."""

    def __init_subclass__(cls) -> None:
        declared = (each for base in reversed(cls.__mro__) for each in vars(base).values())
        names = (each.name for each in declared if isinstance(each, Key))
        cls.keys = (*dict.fromkeys(names), *cls.more_keys)

    def __init__(self, fields: Mapping[str, Any], source: Source, index: int = 0) -> None:
        self.fields = fields
        self.source = source
        self.index = index
        for key in () if self.any_key else fields:
            if key not in self.keys:
                mend = near_match(key, self.keys) or f"the keys are {', '.join(self.keys)}"
                raise self.fail(key, f"key {shown(key)} is not known; {mend}")

    def __contains__(self, key: str) -> bool:
        return key in self.fields

    def fail(self, key: str, problem: str, *, row: int = 0) -> PuzzleError:
        """The error at a key; an empty key: at the table."""
        return self.source.error(self.header, key, problem, self.index, row=row)

    @contextmanager
    def at(self, key: str, mend: str = "") -> Iterator[None]:
        """What is wrong with a text that is read within becomes the error at a key, with a mend."""
        try:
            yield
        except FarthestError as error:
            raise self.fail(key, f"{error}{mend}") from None

    def only_one(self, key: str, others: Iterable[str], mend: str = "leave one out") -> None:
        """Raises the error of a key that is given together with one of the others."""
        for other in others:
            if key in self and other in self:
                raise self.fail(key, f"both {other} and {key} are given; expected one of them, {mend}")

    def board_text(self, key: str, text: str, definition: PuzzleDefinition, name: str) -> str:
        """The canonical text of a board at a key, of the puzzle with this name."""
        with self.at(key):
            return definition.format_board(definition.parse_board(text, name=name))

    def inner(self, key: str, kind: type[Inner]) -> Inner:
        """The table that is the value of a key."""
        value = self.fields[key]
        if not isinstance(value, dict):
            raise self.fail(
                key, f"expected a table, got {shown(value)}; write [{kind.header}] and its keys below"
            )
        return kind(value, self.source)

    def inners(self, key: str, kind: type[Inner]) -> list[Inner]:
        """The tables that are the value of a key."""
        values = self.fields[key]
        if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
            raise self.fail(
                key, f"expected tables, got {shown(values)}; write [[{kind.header}]] and its keys below"
            )
        return [kind(each, self.source, index) for index, each in enumerate(values)]


class Key(Generic[Value]):
    """A key of a table. ``write``: an example of a value. ``default``: where it is missing; None: it may not be.
    ``expected``: what its value must be, for messages; ``fits``: whether it is that."""

    def __init__(
        self, write: str, default: Value | None, expected: str = "", fits: Callable[[Any], bool] | None = None
    ) -> None:
        self.name = ""
        self.write = write
        self.default = default
        self.expected = expected
        self.fits = fits

    def __set_name__(self, owner: type[Table], name: str) -> None:
        self.name = name.rstrip("_")  # ``self_`` is the key ``self``

    @overload
    def __get__(self, table: None, owner: type[Table]) -> Self: ...

    @overload
    def __get__(self, table: Table, owner: type[Table]) -> Value: ...

    def __get__(self, table: Table | None, owner: type[Table]) -> Self | Value:
        if table is None:
            return self
        if self.name not in table:
            return self.missing(table)
        value = table.fields[self.name]
        if problem := self.problem(value):
            raise table.fail(self.name, problem)
        return cast(Value, value)

    def missing(self, table: Table) -> Value:
        """What the key is where the table does not have it."""
        if self.default is None:
            problem = f"no {self.name}; expected {self.expected}, write {self.name} = {self.write}"
            raise table.fail("" if table.header else self.name, problem)
        return self.default

    def problem(self, value: object) -> str | None:
        """Why the key cannot have the value, and what helps; None: it can."""
        if self.fits is None or self.fits(value):
            return None
        return f"expected {self.expected}, got {shown(value)}; write {self.name} = {self.write}"


class Number(Key[int]):
    """A whole number from ``least`` to ``most``. ``what``: what it is the number of, for messages."""

    def __init__(
        self, least: int, most: int, *, write: int, default: int | None = None, what: str = ""
    ) -> None:
        expected = f"a whole number from {least} to {most}{f' ({what})' if what else ''}"
        super().__init__(
            str(write), default, expected, lambda value: type(value) is int and least <= value <= most
        )


class Flag(Key[bool]):
    """``true`` or ``false``."""

    def __init__(self, *, default: bool) -> None:
        super().__init__("true", default, "true or false", lambda value: isinstance(value, bool))


class Text(Key[str]):
    """A text. ``what``: what it is, for messages."""

    def __init__(self, *, write: str, default: str | None = None, what: str = "a text") -> None:
        super().__init__(f'"{write}"', default, what, lambda value: isinstance(value, str))


class Word(Key[str]):
    """One of some words. ``instead``: what may be written in its place."""

    def __init__(self, words: Iterable[str], *, default: str | None = None, instead: str = "") -> None:
        self.words = tuple(words)
        super().__init__(f'"{default or self.words[0]}"', default, ", ".join(self.words))
        self.mend = f"write one of them{f', or {instead}' if instead else ''}"

    def problem(self, value: object) -> str | None:
        """Why it is none of the words."""
        if isinstance(value, str) and value in self.words:
            return None
        mend = (isinstance(value, str) and near_match(value, self.words)) or self.mend
        return f"{self.name} {shown(value)} is not known, expected {self.expected}; {mend}"


class Given(Key[Any]):
    """A value of any type, which the table checks by itself; None where the key is missing."""

    def __init__(self) -> None:
        super().__init__("", None)

    def missing(self, table: Table) -> None:
        """Nothing."""


class FamilyTable(Table, ABC):
    """The table of a family in a puzzle's file. ``metric``: of the puzzle."""

    def __init__(self, fields: Mapping[str, Any], source: Source, metric: str) -> None:
        super().__init__(fields, source)
        self.metric = metric

    @abstractmethod
    def read(self) -> PuzzleDefinition:
        """The definition. Raises PuzzleError naming key, line, what was expected and a mend."""


class GivenBoard(NamedTuple):
    """A board in a table: its key, what messages call it, and its value."""

    key: str
    name: str
    value: object


class BoardsTable(FamilyTable):
    """The table of a family whose puzzles have goals and a start."""

    goal = Given()
    goals = Given()
    start = Given()

    def given_goals(self, example: str) -> list[GivenBoard]:
        """The boards of ``goal`` or ``goals``; none where there is neither. ``example``: a board, for messages."""
        self.only_one("goals", ["goal"], "put all boards into goals")
        if "goal" in self:
            return [GivenBoard("goal", "goal", self.goal)]
        if "goals" not in self:
            return []
        if not isinstance(self.goals, list) or not self.goals:
            found = "an empty array" if self.goals == [] else shown(self.goals)
            raise self.fail(
                "goals", f'expected an array of boards, got {found}; write goals = ["{example}", ...]'
            )
        return [GivenBoard("goals", f"goal {number}", value) for number, value in enumerate(self.goals, 1)]

    def each_once(self, goals: Iterable[tuple[GivenBoard | Drawn, Board]]) -> tuple[Board, ...]:
        """The boards of goals. Raises the error of one that appears twice."""
        names: dict[Board, str] = {}
        for given, board in goals:
            if board in names:
                raise self.fail(given.key, f"{given.name} is the same board as {names[board]}; leave one out")
            names[board] = given.name
        return tuple(names)

    def with_boards(self, plain: Digits) -> Digits:
        """The definition with the goals and the start of the table, boards as texts, where it has them."""
        example = plain.format_board((*plain.goals, plain.start or ())[0])
        made: Any = plain
        goals = self.given_goals(example)
        if goals:
            made = replace(
                made, goals=self.each_once((each, self._parsed(each, plain, example)) for each in goals)
            )
        if "start" in self:
            start = GivenBoard("start", "start", self.start)
            made = replace(made, start=self._parsed(start, plain, example))
        return cast(Digits, made)

    def _parsed(self, given: GivenBoard, plain: DigitPuzzle, example: str) -> Board:
        """The board of a text, or of its rows as an array of texts."""
        key, name, value = given
        if isinstance(value, list) and value and all(isinstance(row, str) for row in value):
            value = "/".join(value)
        if not isinstance(value, str):
            raise self.fail(key, f'{name}: expected a text, got {shown(value)}; write {key} = "{example}"')
        with self.at(key):
            return plain.parsed(value, f"{name} {shown(value)}", wildcards=key != "start")

    def passages(self, cells: int, *, joined: str = "") -> tuple[Passages, Passages]:
        """The passages of the keys ``edges`` and ``arcs``. ``joined``: what messages call the cells, all of which must
        be joined; else they need not be."""
        edges = read_passages("edges", self.fields.get("edges", []), cells, (), self.fail)
        arcs = read_passages("arcs", self.fields.get("arcs", []), cells, edges, self.fail)
        apart = disconnection(cells, edges + arcs) if joined else None
        if apart:
            key = "edges" if "edges" in self else "arcs"
            mend = "expected one part, add edges between them"
            raise self.fail(key, f"{apart.replace('cells', joined)}; {mend}")
        return edges, arcs


class Drawn(NamedTuple):
    """A board as drawn in a table, before it is known what its tokens stand for: its key, what messages call it, and
    its tokens in rows, walls included."""

    key: str
    name: str
    rows: list[list[str]]

    @property
    def tokens(self) -> list[str]:
        """The tokens in cell order, walls left out."""
        return [token for row in self.rows for token in row if token != WALL_TOKEN]


class DrawnTable(BoardsTable):
    """The table of a family whose boards are drawn by tokens in rows."""

    def drawn(self, key: str, name: str = "", value: object = None) -> Drawn:
        """The board at a key, or a ``value`` there that messages call ``name``: an array of rows, or a text whose rows
        end at new lines or ``/``.

        Where any row holds a space, spaces separate the tokens of all rows; otherwise each character is a token. A row
        may also be an array of tokens.
        """
        name, value = name or key, self.fields[key] if value is None else value
        example = f'{key} = ["1 2", "3 0"]'
        lines: list[object]
        if isinstance(value, str):
            lines = list(value.strip().replace("/", "\n").splitlines())
        elif isinstance(value, list):
            lines = value
        else:
            raise self.fail(
                key, f"{name}: expected an array of rows or a text, got {shown(value)}; write {example}"
            )
        spaced = any(isinstance(line, str) and len(line.replace(",", " ").split()) > 1 for line in lines)
        rows = [self._row(key, f"{name}, row {i}", line, spaced) for i, line in enumerate(lines, 1)]
        if not any(rows):
            raise self.fail(key, f"{name} is empty; expected rows of pieces such as {example}")
        drawn = Drawn(key, name, rows)
        self._check_tokens(drawn)
        return drawn

    def drawn_goals(self, example: str, *, one_row: bool = False) -> list[Drawn]:
        """The boards of ``goal`` or ``goals``. ``one_row``: boards have one row only."""
        given = self.given_goals(example)
        rows = all(isinstance(each.value, str) and not {"/", "\n"} & set(each.value) for each in given)
        if rows and len(given) > 1 and not one_row:
            raise self.fail(
                "goals", "each text is a board, here of one row only; write goal = [...] for one board"
            )
        return [self.drawn(*each) for each in given]

    def _row(self, key: str, where: str, line: object, spaced: bool) -> list[str]:
        if isinstance(line, str):
            text = line.replace(",", " ").strip()
            return text.split() if spaced else list(text)
        if isinstance(line, list):
            for token in line:
                if not isinstance(token, str) and type(token) is not int:
                    raise self.fail(
                        key,
                        f"{where}: expected texts or whole numbers, got {shown(token)}; write rows like [1, 2]",
                    )
            return [token if isinstance(token, str) else shown(token) for token in line]
        raise self.fail(
            key, f'{where}: expected a text or an array, got {shown(line)}; write rows like "1 2 3"'
        )

    def _check_tokens(self, board: Drawn) -> None:
        for i, row in enumerate(board.rows, 1):
            for j, token in enumerate(row, 1):
                if token == WALL_TOKEN and board.key != "pieces":
                    continue
                problem = token_problem(token)
                if token == WILDCARD_TOKEN:
                    is_goal = board.key in ("goal", "goals")
                    problem = None if is_goal else "stands for any piece, expected in goals only"
                if problem:
                    where = f"{board.name}, row {i}, column {j}"
                    raise self.fail(board.key, f"{where}: {shown(token)} {problem}; write another sign there")

    def check_shapes(self, boards: list[Drawn], graph: bool) -> None:
        """Refuses ragged rows, boards that differ in shape or walls, and impossible numbers of cells."""
        first = boards[0]
        width = len(first.rows[0])
        for board in boards:
            for i, row in enumerate(board.rows, 1):
                if len(row) != width:
                    than = "row 1" if board is first else f"a row of {first.name}"
                    raise self.fail(
                        board.key,
                        f"{board.name}, row {i} has {counted(len(row), 'place')}, {than} has {width}; "
                        "expected rows of one length, write # where there is no cell, "
                        "and spaces between pieces of several characters",
                    )
            if len(board.rows) != len(first.rows):
                counts = f"{counted(len(board.rows), 'row')}, {first.name} has {len(first.rows)}"
                raise self.fail(
                    board.key, f"{board.name} has {counts}; expected boards of one shape, draw all rows"
                )
            if graph and (len(board.rows) > 1 or WALL_TOKEN in board.rows[0]):
                found = "a wall (#)" if len(board.rows) == 1 else f"{len(board.rows)} rows"
                raise self.fail(
                    board.key,
                    f"{board.name} has {found}; with edges or arcs, expected one row: the pieces in cell order",
                )
            self._check_walls(board, first)
        cells = len(first.tokens)
        if not 2 <= cells <= MAX_CELLS:
            mend = "make it smaller" if cells > MAX_CELLS else "a puzzle needs a blank and a piece beside it"
            raise self.fail(
                first.key, f"{first.name} has {counted(cells, 'cell')}, expected 2 to {MAX_CELLS}; {mend}"
            )

    def _check_walls(self, board: Drawn, first: Drawn) -> None:
        for i, (row, pattern) in enumerate(zip(board.rows, first.rows, strict=True), 1):
            for j, (token, place) in enumerate(zip(row, pattern, strict=True), 1):
                if (token == WALL_TOKEN) != (place == WALL_TOKEN):
                    found, instead = ("wall", "cell") if token == WALL_TOKEN else ("cell", "wall")
                    where = f"{board.name}, row {i}, column {j} is a {found}, but a {instead} in {first.name}"
                    raise self.fail(
                        board.key, f"{where}; expected walls in the same places, write # for each"
                    )
