"""Boards of permutation puzzles as people write them: ``1 2+1 3 / 4 5``.

One row for each set of pieces, rows joined by `` / ``; a row is a token for each slot, and of a piece that is turned
``+`` and its orientation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from farthest.errors import BoardError
from farthest.puzzles.definition import Board, board_place
from farthest.wording import counted, shown, times

if TYPE_CHECKING:
    from farthest.families.permutation.fields import PermutationFields

_LISTED = 6
_PIECE = re.compile(r"(.+?)(?:\+(\d{1,3}))?")
_RUN = re.compile(r"([^+])(?:\+(\d))?")


@dataclass(frozen=True, slots=True)
class Row:
    """The slots of one set of pieces, consecutive, and its name, perhaps empty."""

    name: str
    slots: range


class Layout:
    """Tables for reading and writing the boards of one puzzle.

    ``rows``: the sets in the order of their slots. ``orbit``, ``modulus``: of each slot.
    ``labels``: for each orbit, token -> label. ``single``: every token is one character.
    """

    __slots__ = ("labels", "modulus", "orbit", "row_marks", "rows", "single")

    def __init__(self, definition: PermutationFields) -> None:
        self.orbit = [0] * definition.slots
        for number, orbit in enumerate(definition.orbits):
            for slot in orbit:
                self.orbit[slot] = number
        self.modulus = [definition.moduli[orbit] for orbit in self.orbit]
        names = [definition.orbit_names[orbit] for orbit in self.orbit]
        starts = [slot for slot in range(definition.slots) if slot == 0 or names[slot] != names[slot - 1]]
        ends = [*starts[1:], definition.slots]
        self.rows = [Row(names[start], range(start, end)) for start, end in zip(starts, ends, strict=True)]
        self.labels: list[dict[str, int]] = [{} for _ in definition.orbits]
        for label, (token, of) in enumerate(zip(definition.tokens, definition.label_orbit, strict=True)):
            self.labels[of][token] = label
        self.single = all(len(token) == 1 for token in definition.tokens)
        self.row_marks = ";\n\r" if any("|" in token for token in definition.tokens) else ";\n\r|"


@lru_cache(maxsize=16)
def layout(definition: PermutationFields) -> Layout:
    """The tables of a puzzle; the last few are kept."""
    return Layout(definition)


def format_board(definition: PermutationFields, board: Sequence[int]) -> str:
    """The canonical one-line text."""
    return " / ".join(" ".join(row) for row in _written(definition, board))


def draw_board(definition: PermutationFields, board: Sequence[int]) -> list[str]:
    """A line for each set: its name, if any, and its pieces, columns aligned."""
    rows = _written(definition, board)
    names = [row.name for row in layout(definition).rows]
    width = max(len(piece) for row in rows for piece in row)
    margin = max(map(len, names))
    return [
        f"{name:<{margin}}{'  ' if margin else ''}{' '.join(f'{piece:<{width}}' for piece in row).rstrip()}"
        for name, row in zip(names, rows, strict=True)
    ]


def parse_board(definition: PermutationFields, text: str, name: str) -> Board:
    """The board written in any reasonable form: rows end at ``/``, ``;``, ``|`` or a new line, or are not divided at
    all; pieces are separated by spaces or commas, which pieces of one character do not need. A cube may also be written
    as facelets. Raises BoardError.
    """
    from farthest.families.permutation import facelets

    place = board_place(text, definition, name)
    mend = f"a board is written like {definition.example()!r}"
    found = facelets.pieces_of_facelets(definition, text, place)
    try:
        labels, turns = _pieces(definition, text, place, mend) if found is None else found
        _check_pieces(definition, labels, f"{place}", mend)
    except BoardError as error:
        raise BoardError(f"{error}{facelets.mend(definition)}") from None
    return (*labels, *turns) if definition.oriented else tuple(labels)


def _pieces(definition: PermutationFields, text: str, place: str, mend: str) -> tuple[list[int], list[int]]:
    """The label and the orientation of each slot. Raises BoardError, which begins with ``place`` and ends with
    ``mend``."""
    table = layout(definition)
    for mark in table.row_marks:
        text = text.replace(mark, "/")
    rows = [row.replace(",", " ").split() for row in text.split("/") if row.strip(" ,\t")]
    if table.single:
        rows = [_divided(row) for row in rows]
    sizes = [len(row.slots) for row in table.rows]
    if len(rows) == 1 and len(rows[0]) != definition.slots:
        raise BoardError(f"{place}: {counted(len(rows[0]), 'piece')}, expected {definition.slots}; {mend}")
    if len(rows) > 1 and [len(row) for row in rows] != sizes:
        counts = " and ".join(str(len(row)) for row in rows)
        raise BoardError(
            f"{place}: {counts} pieces in the rows, expected {' and '.join(map(str, sizes))}; {mend}"
        )
    if not rows:
        raise BoardError(f"{place}: no pieces; {mend}")
    labels, turns = [], []
    for slot, piece in enumerate(piece for row in rows for piece in row):
        found = _PIECE.fullmatch(piece)
        known, modulus = table.labels[table.orbit[slot]], table.modulus[slot]
        label = known.get(found[1]) if found else None
        if found is None or label is None:
            expected = " ".join(list(known)[:20]) + (" ..." if len(known) > 20 else "")
            raise BoardError(
                f"{place}: place {slot + 1} holds {shown(piece)}, expected one of {expected}; {mend}"
            )
        turn = int(found[2] or 0)
        if turn >= modulus:
            expected = f"0 to {modulus - 1}" if modulus > 1 else "none: the piece cannot be turned"
            raise BoardError(
                f"{place}: place {slot + 1} has the orientation {turn}, expected {expected}; {mend}"
            )
        labels.append(label)
        turns.append(0 if definition.ignore[label] else turn)
    return labels, turns


def check_board(definition: PermutationFields, board: Sequence[int], name: str) -> Board:
    """The board as a tuple of ints. Raises BoardError unless it is a board of the puzzle."""
    place = f"board{f' for {name}' if name else ''}"
    if not hasattr(board, "__len__"):
        raise BoardError(
            f"{place}: expected {counted(definition.cells, 'number')}, got {type(board).__name__}"
        )
    if len(board) != definition.cells:
        what = "labels and orientations" if definition.oriented else "labels"
        raise BoardError(
            f"{place}: {counted(len(board), 'number')}, expected {definition.cells}: the {what} of the slots"
        )
    numbers = []
    for cell, value in enumerate(board):
        if not hasattr(value, "__index__") or not 0 <= value < 256:
            raise BoardError(f"{place}: cell {cell} holds {value!r}, expected a whole number from 0 to 255")
        numbers.append(int(value))
    problem = board_problem(definition, numbers)
    if problem:
        raise BoardError(f"{place}: {problem}; a board is written like {definition.example()!r}")
    return tuple(numbers)


def board_problem(definition: PermutationFields, board: Sequence[int]) -> str | None:
    """Why the numbers, ``cells`` of them or not, are no board of the puzzle, or None when they are one."""
    if len(board) != definition.cells:
        return f"{counted(len(board), 'number')}, expected {definition.cells}"
    table = layout(definition)
    for slot in range(definition.slots):
        label = board[slot]
        if not 0 <= label < len(definition.tokens):
            return f"slot {slot} holds {label}, expected a label from 0 to {len(definition.tokens) - 1}"
        if definition.label_orbit[label] != table.orbit[slot]:
            return f"slot {slot} holds {definition.tokens[label]}, which no move can bring there"
        if definition.oriented:
            turn, most = (
                board[definition.slots + slot],
                0 if definition.ignore[label] else table.modulus[slot] - 1,
            )
            if not 0 <= turn <= most:
                return f"slot {slot} has the orientation {turn}, expected at most {most}"
    held = Counter(board[: definition.slots])
    for label, count in enumerate(definition.counts):
        if held[label] != count:
            return f"piece {definition.tokens[label]} appears {times(held[label])}, expected {times(count)}"
    return None


def _written(definition: PermutationFields, board: Sequence[int]) -> list[list[str]]:
    turns = board[definition.slots :]
    pieces = [
        f"{definition.tokens[board[slot]]}+{turns[slot]}"
        if turns and turns[slot]
        else definition.tokens[board[slot]]
        for slot in range(definition.slots)
    ]
    return [[pieces[slot] for slot in row.slots] for row in layout(definition).rows]


def _divided(row: list[str]) -> list[str]:
    """The pieces of a row in which no token is longer than a character, run together or not."""
    pieces = []
    for chunk in row:
        found = list(_RUN.finditer(chunk))
        whole = "".join(match[0] for match in found) == chunk and _PIECE.fullmatch(chunk)
        pieces += [match[0] for match in found] if whole and len(found) > 1 else [chunk]
    return pieces


def _check_pieces(definition: PermutationFields, labels: Sequence[int], place: str, mend: str) -> None:
    held = Counter(labels)
    problems = [
        f"piece {definition.tokens[label]} appears {times(held[label])}, expected {times(count)}"
        if held[label]
        else f"piece {definition.tokens[label]} is missing"
        for label, count in enumerate(definition.counts)
        if held[label] != count
    ]
    if problems:
        more = f"; and {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
        raise BoardError(f"{place}: {'; '.join(problems[:_LISTED])}{more}; {mend}")
