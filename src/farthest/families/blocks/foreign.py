"""Sliding block puzzles as other programs write them: Klotski codes, and the files of JimSlide and js2.

A Klotski code, of dnomd343/klotski, has nine hexadecimal digits; zeros at its end may be left out. The first digit is
the place of the piece of four cells: that of its first cell, on 5 rows of 4. The others are pairs of bits, one for each
other piece and each empty cell, in reading order of first cells: 00 empty, 01 two cells in a row, 10 in a column, 11
one cell.

JimSlide, by Jim Leonard; pairs are (column, row) from 0, and the first pair of a piece is (0, 0):

    xsize: 4                          ! columns; ysize: rows
    wall: (0, 1)                      ! hwall: 1 (3, 5) are the columns 3 to 5 of row 1, vwall: 1 (3, 5) those rows
    piece: 7 (0,0) (1,0) (0,1)        ! cells of the type 7
    lockx: 7                          ! never goes left or right; locky: up or down
    put: 7 (2, 0) 'T'                 ! a piece of the type, perhaps called T; pieces of a type are interchangeable
    win: 7 (2, 3)                     ! some piece of the type must be there; all of these together are the goal
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.families.blocks.definition import ANY_WAY, COLUMNS, EMPTY_TOKENS, ROWS, Blocks, Kind
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.grid import MAX_CELLS, number_cells, token_problem
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.safe_text import safe
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KLOTSKI = re.compile(r"[0-9A-Fa-f]{1,9}")
_ROWS, _COLUMNS = 5, 4
_SHAPES = {"01": (0, 1), "10": (0, _COLUMNS), "11": (0,)}
_SQUARE = (0, 1, _COLUMNS, _COLUMNS + 1)
_EXAMPLE = "1A9BF0C"


def klotski_rows(code: str, fail: Callable[[str], PuzzleError]) -> list[str]:
    """The rows of the board that a Klotski code is; each piece has a letter, that of four cells is A. Raises what
    ``fail`` makes of what is wrong with it."""
    bits = f"{int(code.ljust(9, '0'), 16):036b}"
    board = ["."] * (_ROWS * _COLUMNS)

    def put(letter: str, first: int, shape: tuple[int, ...]) -> None:
        cells = [first + each for each in shape]
        right = first % _COLUMNS == _COLUMNS - 1 and 1 in shape
        if right or cells[-1] >= len(board) or any(board[cell] != "." for cell in cells):
            where = f"row {first // _COLUMNS + 1}, column {first % _COLUMNS + 1}"
            raise fail(
                f"there is no room for piece {letter} of {len(shape)} cells in {where}; write it like {_EXAMPLE}"
            )
        for cell in cells:
            board[cell] = letter

    put("A", int(bits[:4], 2), _SQUARE)
    pairs = [bits[i : i + 2] for i in range(4, 36, 2)]
    at, letters = 0, iter(ascii_letters[27:])
    for cell in range(len(board)):
        if board[cell] == "." and at < len(pairs):
            if pairs[at] in _SHAPES:
                put(next(letters), cell, _SHAPES[pairs[at]])
            at += 1
    if "1" in "".join(pairs[at:]):
        raise fail(f"it has more pieces than the board of {len(board)} cells; write it like {_EXAMPLE}")
    return ["".join(board[i : i + _COLUMNS]) for i in range(0, len(board), _COLUMNS)]


# JimSlide

_COMMAND = re.compile(r"\s*([A-Za-z]+)\s*:(.*)")
_PAIR = re.compile(r"\(\s*(-?\d{1,3})\s*,\s*(-?\d{1,3})\s*\)")
_SIGN = re.compile(r"'(.)'")
_COMMENT = re.compile(r"('.')|[!#].*")
_FORMS = {
    "xsize": "xsize: 4",
    "ysize": "ysize: 5",
    "wall": "wall: (0, 1)",
    "hwall": "hwall: 1 (3, 5)",
    "vwall": "vwall: 1 (3, 5)",
    "piece": "piece: 7 (0,0) (1,0)",
    "lockx": "lockx: 7",
    "locky": "locky: 7",
    "put": "put: 7 (2, 0)",
    "win": "win: 7 (2, 3)",
}
_PAIRS = {"wall": 1, "hwall": 1, "vwall": 1, "put": 1, "win": 1}
_SKIPPED = (
    *("useletters", "hexprint", "nograph", "winonly", "bigmem", "smallmem", "numthreads", "diskthreads"),
    *("cachepercent", "noconcurrent", "cutoff", "directed", "checkfulltree"),
)
_STEPS = ("xstep", "ystep")


def parse_jimslide(data: bytes, place: str) -> Puzzle:
    """The puzzle of a text file: of JimSlide, where a line sets ``xsize``, else as a TOML file. Raises PuzzleError with
    file, line, what was expected and a mend."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if not re.search(r"^[ \t]*xsize[ \t]*:", text, re.IGNORECASE | re.MULTILINE):
        return parse_puzzle(text, place)
    stem = os.path.splitext(os.path.basename(place))[0]
    name = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-")[:48].strip("-")
    return Puzzle(
        name=name if name and not name.isdigit() else f"puzzle-{name}".strip("-"),
        title=safe(stem),
        source=f"read from {safe(os.path.basename(place))}",
        family="blocks",
        metric="move",
        origin=Origin("from", "start"),
        known=(),
        definition=_JimSlide(text, place).read(),
    )


@dataclass(slots=True)
class _Type:
    """``cells`` as (row, column) from the first in reading order; ``offset``: that one's from (0, 0)."""

    cells: tuple[tuple[int, int], ...]
    offset: tuple[int, int]
    line: int
    ways: int = ANY_WAY


Place = tuple[int, int]
"""Row and column."""


class _JimSlide:
    def __init__(self, text: str, place: str) -> None:
        self.text = text
        self.place = place
        self.size = {"xsize": 0, "ysize": 0}
        self.walls: list[tuple[int, Place]] = []
        self.types: dict[int, _Type] = {}
        self.locks: list[tuple[int, int, int]] = []
        self.puts: list[tuple[int, int, Place, str]] = []
        self.wins: list[tuple[int, int, Place]] = []

    def fail(self, line: int, problem: str) -> PuzzleError:
        return PuzzleError(f"{self.place}{f', line {line}' if line else ''}: {problem}")

    def lines(self) -> Iterator[tuple[int, str, str]]:
        """Of each line the number, the command in small letters, and the rest; comments left out."""
        for number, line in enumerate(self.text.splitlines(), 1):
            if found := _COMMAND.match(_COMMENT.sub(lambda part: part[1] or "", line)):
                yield number, found[1].lower(), found[2]

    def read(self) -> Blocks:
        for line, command, rest in self.lines():
            self.command(line, command, rest)
        for axis, size in self.size.items():
            if not size:
                raise self.fail(0, f"there is no {axis}; write {_FORMS[axis]}")
        rows, columns = self.size["ysize"], self.size["xsize"]
        walls = [[False] * columns for _ in range(rows)]
        for line, (row, column) in self.walls:
            self.inside(line, row, column)
            walls[row][column] = True
        numbers = number_cells(walls)
        cells = sum(cell >= 0 for row in numbers for cell in row)
        if not 2 <= cells <= MAX_CELLS:
            raise self.fail(0, f"{cells} cells; expected 2 to {MAX_CELLS}, take a smaller board")
        for line, number, ways in self.locks:
            kind = self.type_of(line, number)
            kind.ways &= ways
            if not kind.ways:
                raise self.fail(
                    line, f"pieces of the type {number} cannot move at all; write wall: for their cells"
                )
        return self.made(numbers, cells)

    def command(self, line: int, command: str, rest: str) -> None:
        if command in _SKIPPED:
            return
        if command in _STEPS:
            raise self.fail(
                line, f"{command} cannot be read here: it leaves out positions; without it all are counted"
            )
        if command not in _FORMS:
            mend = near_match(command, [*_FORMS, *_SKIPPED]) or "begin a comment with !"
            raise self.fail(line, f"{shown(command)} is not a command; {mend}")
        pairs = [(int(y), int(x)) for x, y in _PAIR.findall(rest)]
        numbers = [int(each) for each in re.findall(r"\d{1,6}", _PAIR.sub(" ", _SIGN.sub(" ", rest)))]
        wanted = _PAIRS.get(command, 0)
        if len(numbers) != (command != "wall") or (len(pairs) != wanted if command != "piece" else not pairs):
            raise self.fail(line, f"expected {_FORMS[command]}, got {shown(rest.strip())}; correct it")
        number = numbers[0] if numbers else 0
        if command in self.size:
            self.size[command] = number
            if not 1 <= number <= MAX_CELLS:
                raise self.fail(
                    line, f"{command} is {number}, expected 1 to {MAX_CELLS}; take a smaller board"
                )
        elif command == "wall":
            self.walls.append((line, pairs[0]))
        elif command in ("hwall", "vwall"):
            last, first = pairs[0]
            between = range(min(first, last), max(first, last) + 1)
            self.walls += [
                (line, (number, each) if command == "hwall" else (each, number)) for each in between
            ]
        elif command == "piece":
            if number in self.types or not number:
                what = "0 is an empty cell" if not number else f"the type {number} is there already"
                raise self.fail(line, f"{what}; give the type another number")
            first_cell = min(pairs)
            cells = sorted((row - first_cell[0], column - first_cell[1]) for row, column in set(pairs))
            self.types[number] = _Type(tuple(cells), first_cell, line)
        elif command in ("lockx", "locky"):
            self.locks.append((line, number, COLUMNS if command == "lockx" else ROWS))
        elif command == "put":
            sign = _SIGN.search(rest)
            self.puts.append((line, number, pairs[0], sign[1] if sign else ""))
        else:
            self.wins.append((line, number, pairs[0]))

    def inside(self, line: int, row: int, column: int) -> None:
        if not (0 <= row < self.size["ysize"] and 0 <= column < self.size["xsize"]):
            raise self.fail(
                line, f"column {column}, row {row} is not on the board; both are counted from 0, correct it"
            )

    def type_of(self, line: int, number: int) -> _Type:
        if number not in self.types:
            known = (
                f"the types are {', '.join(map(str, self.types))}" if self.types else "write its shape before"
            )
            raise self.fail(line, f"there is no piece of the type {number}; {known}")
        return self.types[number]

    def covered(self, line: int, kind: _Type, at: Place, rows: tuple[tuple[int, ...], ...]) -> list[int]:
        """The cells of a piece."""
        found = []
        for down, right in kind.cells:
            row, column = at[0] + kind.offset[0] + down, at[1] + kind.offset[1] + right
            self.inside(line, row, column)
            if rows[row][column] < 0:
                raise self.fail(line, f"column {column}, row {row} is a wall; move the piece or the wall")
            found.append(rows[row][column])
        return found

    def made(self, rows: tuple[tuple[int, ...], ...], cells: int) -> Blocks:
        """The puzzle; a kind for each type, or for each row or column where pieces of a type are locked."""
        start, lines = [-1] * cells, [0] * cells
        pieces: dict[tuple[int, int], list[tuple[int, str]]] = {}
        cells_of: dict[tuple[int, int], list[int]] = {}
        for line, number, at, sign in self.puts:
            kind = self.type_of(line, number)
            covered = self.covered(line, kind, at, rows)
            key = number, _line_of(kind, at)
            for cell in covered:
                if lines[cell]:
                    raise self.fail(line, f"the piece stands on that of line {lines[cell]}; move one of them")
                lines[cell] = line
            pieces.setdefault(key, []).append((covered[0], sign))
            cells_of.setdefault(key, []).extend(covered)
        if not pieces:
            raise self.fail(0, f"no piece is put on the board; write {_FORMS['put']}")
        pieces = dict(sorted(pieces.items(), key=lambda item: min(item[1])))
        signs = self.signs(pieces)
        kinds = []
        for label, (key, own) in enumerate(pieces.items(), 1):
            kind = self.types[key[0]]
            tokens = tuple(
                sign for _, sign in sorted(zip([cell for cell, _ in own], signs[key], strict=True))
            )
            kinds.append(Kind(kind.cells, tokens, kind.ways, key[1], ()))
            for cell in cells_of[key]:
                start[cell] = label
        board = tuple(max(label, 0) for label in start)
        empty = next(each for each in (".", "0", "_") if all(each not in kind.tokens for kind in kinds))
        goal = self.goal(rows, list(pieces), sum(label > 0 for label in board), cells)
        try:
            return Blocks(rows, ("",) * cells, empty, tuple(kinds), (goal,) if goal else (), board)
        except PuzzleError as error:
            raise self.fail(0, f"{str(error).removeprefix('block puzzle: ')}; correct put and win") from None

    def goal(
        self, rows: tuple[tuple[int, ...], ...], keys: list[tuple[int, int]], held: int, cells: int
    ) -> tuple[int, ...]:
        """The board that the wins draw, empty without any."""
        found = [WILDCARD] * cells
        for line, number, at in self.wins:
            if not number:
                raise self.fail(
                    line, "win: 0, an empty cell, cannot be read here; name the pieces that must be there"
                )
            kind = self.type_of(line, number)
            key = number, _line_of(kind, at)
            if key not in keys:
                raise self.fail(
                    line, f"no piece of the type {number} is put where it could get there; correct it"
                )
            for cell in self.covered(line, kind, at, rows):
                if found[cell] != WILDCARD:
                    raise self.fail(line, "two pieces must be on one cell; correct one of them")
                found[cell] = keys.index(key) + 1
        if not self.wins:
            return ()
        placed = sum(label != WILDCARD for label in found)
        return tuple(max(label, 0) if placed == held else label for label in found)

    def signs(self, pieces: dict[tuple[int, int], list[tuple[int, str]]]) -> dict[tuple[int, int], list[str]]:
        """How the pieces of each kind are written: as the file says, else by their type, or letters."""
        of_kind: dict[str, tuple[int, int]] = {}
        for key, own in pieces.items():
            for _, sign in own:
                if sign and (
                    token_problem(sign) or sign in EMPTY_TOKENS or of_kind.setdefault(sign, key) != key
                ):
                    raise self.fail(
                        0, f"pieces of two types, or an empty cell, are written {shown(sign)}; change put"
                    )
        free = (each for each in ascii_letters[26:] + ascii_letters[:26] + digits[1:] if each not in of_kind)
        found = {}
        for key, own in pieces.items():
            plain = str(key[0])
            if any(not sign for _, sign in own) and (plain in of_kind or len(plain) > 1):
                plain = next(free)
            of_kind.setdefault(plain, key)
            found[key] = [sign or plain for _, sign in own]
        return found


def _line_of(kind: _Type, at: Place) -> int:
    """The row or column that a piece there never leaves; -1: it goes all ways."""
    row, column = at[0] + kind.offset[0], at[1] + kind.offset[1]
    return {ANY_WAY: -1, ROWS: row, COLUMNS: column}[kind.ways]
