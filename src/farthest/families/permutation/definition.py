"""The definition of a permutation puzzle, and its boards as people write them: ``1 2+1 3 / 4 5``.

One row for each set of pieces, rows joined by `` / ``; a row is a token for each slot, and of a piece that is turned
``+`` and its orientation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.arrays import np
from farthest.errors import BoardError
from farthest.families.permutation.fields import (
    PermutationFields,
    Row,
    board_problem,
    pieces_problems,
    tables,
)
from farthest.puzzles.definition import Board, board_place
from farthest.wording import counted, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.puzzles.picture import Picture
    from farthest.puzzles.puzzle import Puzzle


_LISTED = 6
_PIECE = re.compile(r"(.+?)(?:\+(\d{1,3}))?")
_CYCLE = re.compile(r"\(([0-9,\s]*)\)\s*")
_CYCLES = re.compile(rf"\s*({_CYCLE.pattern})+")
_RUN = re.compile(r"([^+])(?:\+(\d))?")


@dataclass(frozen=True, slots=True)
class Permutation(PermutationFields):
    """A permutation puzzle. Raises PuzzleError when the fields do not fit together."""

    def facts(self) -> list[tuple[str, str]]:
        from farthest.families.permutation.reach import whole_group

        group = whole_group(self)
        names = " ".join(move.name for move in self.generators)
        every = [guard for guards in self.guards for guard in guards]
        blocks = {guard.labels for guard in every if guard.joined}
        illegal = not all(guard.joined for guard in every)
        parts = [counted(len(blocks), "block") if blocks else "", "slots that pieces may not be in" * illegal]
        why = " and ".join(filter(None, parts))
        return [
            ("sets", ", ".join(self._row_text(row) for row in tables(self).rows)),
            ("pieces", f"{self.slots} of {counted(len(self.tokens), 'kind')}"),
            ("moves", f"{len(self.generators)}: {names if len(names) <= 400 else names[:397] + '...'}"),
            *([] if group is None else [("group", f"of order {group.order:,}")]),
            *([("blocked", f"some moves cannot be made on every board: {why}")] if self.guards else []),
            *([] if self.symmetric else [("one-way", "not every move can be taken back by one move")]),
        ]

    def _row_text(self, row: Row) -> str:
        held = Counter(self.slot_moduli[slot] for slot in row.slots)
        kinds = [
            f"{count} of {modulus} orientations" if modulus > 1 else str(count)
            for modulus, count in held.items()
        ]
        return f"{row.name or 'pieces'} {' and '.join(kinds)}"

    def reachable(self, boards: Sequence[Board]) -> int | None:
        """By the order of the group of the moves."""
        from farthest.families.permutation.reach import states_reached

        return states_reached(self, boards[0]) if len(boards) == 1 else None

    def palette(self) -> Mapping[str, int]:
        """As many colours as ways to write a piece."""
        return {token: number for number, token in enumerate(dict.fromkeys(self.tokens))}

    def parse_board(self, text: str, *, name: str = "") -> Board:
        """The board written in any reasonable form: rows end at ``/``, ``;``, ``|`` or a new line, or are not divided
        at all; pieces are separated by spaces or commas, which pieces of one character do not need. Puzzles with a
        net may also be written by the colours of their stickers; an element of a group as cycles of its points.
        """
        from farthest.families.permutation.facelets import facelets_mend
        from farthest.families.permutation.stickers import pieces_of_colours

        place = board_place(text, self, name)
        mend = f"a board is written like {self.example()!r}"
        found = pieces_of_colours(self, text, place) or _pieces_of_cycles(self, text, place)
        try:
            labels, turns = _pieces(self, text, place, mend) if found is None else found
            problems = pieces_problems(self, labels)
            if problems:
                more = f"; and {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
                raise BoardError(f"{place}: {'; '.join(problems[:_LISTED])}{more}; {mend}")
        except BoardError as error:
            raise BoardError(f"{error}{facelets_mend(self)}") from None
        return (*labels, *turns) if self.oriented else tuple(labels)

    def format_board(self, board: Sequence[int]) -> str:
        return " / ".join(" ".join(row) for row in _written(self, board))

    def draw_board(self, board: Sequence[int]) -> list[str]:
        """A line for each set: its name, if any, and its pieces, columns aligned."""
        rows = _written(self, board)
        names = [row.name for row in tables(self).rows]
        width = max(len(piece) for row in rows for piece in row)
        margin = max(map(len, names))
        return [
            f"{name:<{margin}}{'  ' if margin else ''}{' '.join(f'{piece:<{width}}' for piece in row).rstrip()}"
            for name, row in zip(names, rows, strict=True)
        ]

    def net_picture(self, board: Sequence[int]) -> Picture | None:
        from farthest.families.permutation.net import board_colours, net_picture

        if self.net is None:
            return None
        return net_picture(self.net, board_colours(self.net, self.slot_moduli, self.goals[0], board))

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        place = f"board{f' for {name}' if name else ''}"
        if not hasattr(board, "__len__"):
            raise BoardError(f"{place}: expected {counted(self.cells, 'number')}, got {type(board).__name__}")
        for cell, value in enumerate(board):
            if not hasattr(value, "__index__"):
                raise BoardError(f"{place}: cell {cell} holds {value!r}, expected a whole number")
        numbers = tuple(map(int, board))
        if problem := board_problem(self, numbers):
            raise BoardError(f"{place}: {problem}; a board is written like {self.example()!r}")
        return numbers

    def first_wrong(self, boards: NDArray[np.integer]) -> int | None:
        labels = boards[:, : self.slots]
        right = np.ones(len(boards), dtype=bool)
        for orbit, slots in enumerate(self.orbits):
            held = self.labels_of(orbit)
            pieces = np.repeat(held, [self.counts[label] for label in held])
            right &= (np.sort(labels[:, slots], axis=1) == pieces).all(axis=1)
        if self.oriented:
            turns = boards[:, self.slots :]
            ignored = np.array([*self.ignore, *[False] * (256 - len(self.ignore))])
            right &= ((turns >= 0) & (turns < np.array(self.slot_moduli))).all(axis=1)
            right &= ((turns == 0) | ~ignored[labels.astype(np.uint8)]).all(axis=1)
        wrong = np.flatnonzero(~right)
        return int(wrong[0]) if wrong.size else None

    def texts(self, boards: NDArray[np.uint8]) -> list[str]:
        pieces = [
            [f"{token}+{turn}" if turn else token for turn in range(self.moduli[orbit])]
            for token, orbit in zip(self.tokens, self.label_orbit, strict=True)
        ]
        rows = tables(self).rows
        if not self.oriented:
            named = [each[0] for each in pieces].__getitem__
            spans = [slice(row.slots.start, row.slots.stop) for row in rows]
            return [
                " / ".join([" ".join(map(named, row[span])) for span in spans]) for row in boards.tolist()
            ]
        ends = {row.slots[-1] for row in rows[:-1]}
        after = [" / " if slot in ends else " " for slot in range(self.slots)]
        after[-1] = ""
        turns = boards[:, self.slots :]
        return [
            "".join([pieces[label][turn] + end for label, turn, end in zip(row, turned, after, strict=True)])
            for row, turned in zip(boards[:, : self.slots].tolist(), turns.tolist(), strict=True)
        ]


def _pieces(definition: Permutation, text: str, place: str, mend: str) -> tuple[list[int], list[int]]:
    """The label and the orientation of each slot. Raises BoardError, from ``place`` to ``mend``."""

    def fail(problem: str) -> BoardError:
        return BoardError(f"{place}: {problem}; {mend}")

    table = tables(definition)
    for mark in table.row_marks:
        text = text.replace(mark, "/")
    rows = [row.replace(",", " ").split() for row in text.split("/") if row.strip(" ,\t")]
    if table.single:
        rows = [_divided(row) for row in rows]
    sizes = [len(row.slots) for row in table.rows]
    if len(rows) == 1 and len(rows[0]) != definition.slots:
        raise fail(f"{counted(len(rows[0]), 'piece')}, expected {definition.slots}")
    if len(rows) > 1 and [len(row) for row in rows] != sizes:
        counts = " and ".join(str(len(row)) for row in rows)
        raise fail(f"{counts} pieces in the rows, expected {' and '.join(map(str, sizes))}")
    if not rows:
        raise fail("no pieces")
    labels, turns = [], []
    for slot, piece in enumerate(piece for row in rows for piece in row):
        parts = _PIECE.fullmatch(piece)
        label_of, modulus = table.labels[table.orbit[slot]], table.modulus[slot]
        label = label_of.get(parts[1]) if parts else None
        if parts is None or label is None:
            expected = " ".join(list(label_of)[:20]) + (" ..." if len(label_of) > 20 else "")
            raise fail(f"place {slot + 1} holds {shown(piece)}, expected one of {expected}")
        turn = int(parts[2] or 0)
        if turn >= modulus:
            expected = f"0 to {modulus - 1}" if modulus > 1 else "none: the piece cannot be turned"
            raise fail(f"place {slot + 1} has the orientation {turn}, expected {expected}")
        labels.append(label)
        turns.append(0 if definition.ignore[label] else turn)
    return labels, turns


def _pieces_of_cycles(definition: Permutation, text: str, place: str) -> tuple[list[int], list[int]] | None:
    """The goal after a permutation of its points, ``(1,2,3)(4,5)``: each piece goes where the next one of its cycle
    was; of cycles with a point in common the first comes first. None: it is not written so, or the pieces are not
    such points. Raises BoardError."""
    goal = definition.goals[0]
    slot_of = {definition.tokens[label]: slot for slot, label in enumerate(goal)}
    points = all(map(str.isdecimal, definition.tokens)) and len(slot_of) == definition.slots
    if definition.oriented or not points or not _CYCLES.fullmatch(text):
        return None
    labels = list(goal)
    for cycle in (found[1].replace(",", " ").split() for found in _CYCLE.finditer(text)):
        wrong = next((point for point in cycle if point not in slot_of), None)
        if wrong is not None or len(set(cycle)) < len(cycle):
            problem = "a point is twice" if wrong is None else f"{shown(wrong)} is none of its points"
            raise BoardError(
                f"{place}: cycle ({','.join(cycle)}): {problem}; write cycles such as (1,2,3)(4,5)"
            )
        slots = [slot_of[point] for point in cycle]
        held = [labels[slot] for slot in slots]
        for slot, label in zip(slots, held[-1:] + held[:-1], strict=True):
            labels[slot] = label
    return labels, []


def _written(definition: Permutation, board: Sequence[int]) -> list[list[str]]:
    turns = board[definition.slots :]
    pieces = [
        f"{definition.tokens[board[slot]]}+{turns[slot]}"
        if turns and turns[slot]
        else definition.tokens[board[slot]]
        for slot in range(definition.slots)
    ]
    return [[pieces[slot] for slot in row.slots] for row in tables(definition).rows]


def _divided(row: list[str]) -> list[str]:
    """The pieces of a row in which no token is longer than a character, run together or not."""
    pieces = []
    for chunk in row:
        found = list(_RUN.finditer(chunk))
        whole = "".join(match[0] for match in found) == chunk and _PIECE.fullmatch(chunk)
        pieces += [match[0] for match in found] if whole and len(found) > 1 else [chunk]
    return pieces


def permutation(puzzle: Puzzle) -> Permutation:
    """The definition of a permutation puzzle."""
    return puzzle.defined_as(Permutation)
