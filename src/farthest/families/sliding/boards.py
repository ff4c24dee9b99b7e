"""Boards of the sliding family as people write them: reading every reasonable form, writing the canonical one, drawing.

The canonical text is one line. Where every token is one character, rows are joined by ``/``
(``645/202/341``); otherwise tokens are separated by a space and rows by `` / `` (``1 2 / 10 0``). Walls are
``#``; the board of a graph is one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from farthest.errors import BoardError
from farthest.families.sliding.notation import END_BYTE, ROW_BYTE, WALL_BYTE, WILDCARD_BYTE, notation
from farthest.puzzles.definition import WILDCARD, board_place
from farthest.puzzles.grid import ROW_TOKEN, WALL, WALL_TOKEN, WILDCARD_TOKEN, rows_problem, split_rows
from farthest.wording import counted, shown, times

if TYPE_CHECKING:
    from farthest.families.sliding.fields import SlidingFields

_TO_SHAPE = bytes(byte if byte in (WALL_BYTE, ROW_BYTE) else 0 for byte in range(256))
_MARKS = bytes([WALL_BYTE, ROW_BYTE])
_LISTED = 6


def parse_board(
    definition: SlidingFields, text: str, *, name: str = "", wildcards: bool = False
) -> tuple[int, ...]:
    """The label of each cell of a board written in any reasonable form.

    Rows end at ``/``, ``;``, a new line, or ``|`` where no piece is written so; the marks may be left out,
    as may all walls. Tokens are separated by spaces or commas, which one-character tokens do not need.
    ``0``, ``_`` and ``.`` are the blank where no piece is written so. ``name`` is the puzzle's, for
    messages. With ``wildcards``, ``*`` is any piece, and its label ``WILDCARD``. Raises BoardError when the
    text has no such reading or other pieces than the puzzle.
    """
    return _parse(definition, text, board_place(text, definition, name), wildcards)


def parse_boards(definition: SlidingFields, lines: Iterable[str], *, name: str = "") -> bytes:
    """The labels of many boards, one board a line, one byte a cell, without separators; no line may be empty.

    Raises BoardError with the number of the first wrong line, from 1.
    """
    table = notation(definition)
    byte_of, shapes, single = table.byte_of.__getitem__, table.shapes, table.single
    pieces, boards = table.pieces, bytearray()
    for number, line in enumerate(lines, 1):
        try:
            tokens = line.split() if not single or " " in line else line.rstrip("\r\n")
            row = bytes([*map(byte_of, tokens)])
            if row.translate(_TO_SHAPE) in shapes:
                row = row.translate(None, _MARKS)
                if bytes(sorted(row)) == pieces:
                    boards += row
                    continue
        except (KeyError, AttributeError, TypeError):
            pass  # another form, or an error: the careful reader knows
        if not isinstance(line, str):
            raise BoardError(
                f"line {number}: expected a text such as {definition.example()!r}, got {type(line).__name__}"
            )
        text = line.rstrip("\r\n")
        place = f"line {number}: board {shown(text)}{f' for {name}' if name else ''}"
        boards += bytes(_parse(definition, text, place, wildcards=False))
    return bytes(boards)


def check_board(definition: SlidingFields, labels: Sequence[int], *, name: str = "") -> tuple[int, ...]:
    """The labels as a tuple of ints. Raises BoardError unless they are the puzzle's pieces, one a cell."""
    board = []
    place = f"board{f' for {name}' if name else ''}"
    if not hasattr(labels, "__len__"):
        raise BoardError(
            f"{place}: expected the labels of {definition.cells} cells, got {type(labels).__name__}"
        )
    if len(labels) != definition.cells:
        raise BoardError(f"{place}: {counted(len(labels), 'label')}, expected {definition.cells}, one a cell")
    for cell, label in enumerate(labels):
        if not hasattr(label, "__index__") or not 0 <= label < len(definition.tokens):
            raise BoardError(
                f"{place}: cell {cell} holds {label!r}, expected a label from 0 to {len(definition.tokens) - 1}"
            )
        board.append(int(label))
    _check_pieces(definition, board, f"{place} {format_board(definition, board)!r}")
    return tuple(board)


def format_board(definition: SlidingFields, labels: Sequence[int]) -> str:
    """The canonical one-line text of a board: one label for each cell, ``WILDCARD`` allowed."""
    table = notation(definition)
    if table.single:
        return ROW_TOKEN.join("".join(row) for row in table.rows_of(labels))
    return f" {ROW_TOKEN} ".join(" ".join(row) for row in table.rows_of(labels))


def draw_board(definition: SlidingFields, labels: Sequence[int]) -> list[str]:
    """The lines of a drawing for people, columns aligned; of a graph, the cells' numbers above the pieces."""
    rows = notation(definition).rows_of(labels)
    if not definition.rows:
        rows.insert(0, [str(cell) for cell in range(definition.cells)])
    # One-character signs, such as lines and boxes, make a picture when nothing stands between them.
    picture = all(len(token) == 1 and not token.isalnum() for token in definition.tokens[1:]) and bool(
        definition.rows
    )
    width = max(_columns(token) for row in rows for token in row)
    lines = [
        ("" if picture else " ").join(" " * (width - _columns(token)) + token for token in row)
        for row in rows
    ]
    return lines if definition.rows else [f"cell   {lines[0]}", f"piece  {lines[1]}"]


def board_template(definition: SlidingFields) -> tuple[bytes, tuple[int, ...], str] | None:
    """For fast writing of many boards: (template, position of each cell in it, 256-character decoding table).

    Write label bytes at the positions of a copy of the template; then ``codecs.charmap_decode(row,
    "strict", table)[0]`` is what ``format_board`` gives, and the line's end. None where a token is longer than one
    character.
    """
    table = notation(definition)
    if not table.single:
        return None
    template = bytearray()
    positions = [0] * definition.cells
    for i, row in enumerate(table.places):
        if i:
            template.append(ROW_BYTE)
        for cell in row:
            if cell != WALL:
                positions[cell] = len(template)
            template.append(WALL_BYTE if cell == WALL else 0)
    template.append(END_BYTE)
    decoding = ["\ufffe"] * 256  # what charmap_decode takes for undefined
    decoding[: len(table.tokens)] = table.tokens
    decoding[WALL_BYTE], decoding[ROW_BYTE], decoding[WILDCARD_BYTE] = WALL_TOKEN, ROW_TOKEN, WILDCARD_TOKEN
    decoding[END_BYTE] = "\n"
    return bytes(template), tuple(positions), "".join(decoding)


def _parse(definition: SlidingFields, text: str, place: str, wildcards: bool) -> tuple[int, ...]:
    table = notation(definition)
    rows, divided = split_rows(text, table.places, table.row_marks, single=table.single)
    mend = f"a board is written like {definition.example()!r}"
    if not rows:
        raise BoardError(f"{place}: no pieces; {mend}")
    for i, row in enumerate(rows, 1):
        for j, token in enumerate(row, 1):
            if token in table.labels or token == WALL_TOKEN or (wildcards and token == WILDCARD_TOKEN):
                continue
            where = f"row {i}, column {j}" if divided else f"place {j}"
            hint = "; separate the pieces with spaces" if not table.single and token != WILDCARD_TOKEN else ""
            expected = " ".join(table.tokens)
            raise BoardError(
                f"{place}: {where} holds {shown(token)}, expected one of {expected}{hint}; {mend}"
            )
    problem = rows_problem(rows, table.places, divided=divided)
    if problem:
        raise BoardError(f"{place}: {problem}; {mend}")
    tokens = (token for row in rows for token in row if token != WALL_TOKEN)
    labels = [WILDCARD if token == WILDCARD_TOKEN else table.labels[token] for token in tokens]
    _check_pieces(definition, labels, place)
    return tuple(labels)


def _check_pieces(definition: SlidingFields, labels: Sequence[int], place: str) -> None:
    held = Counter(labels)
    wild = held.pop(WILDCARD, 0)
    wrong, missing = [], []
    for label, expected in enumerate(definition.counts):
        found = held[label]
        what = f"{'piece' if label else 'blank'} {definition.tokens[label]}"
        if found == expected or (found < expected and wild and label):
            continue
        if found:
            wrong.append(f"{what} appears {times(found)}, expected {times(expected)}")
        else:
            missing.append(f"{what} is missing" + (f", expected {times(expected)}" if expected > 1 else ""))
    problems = wrong + missing
    if problems:
        more = f"; and {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
        raise BoardError(
            f"{place}: {'; '.join(problems[:_LISTED])}{more}; a board holds {_holding(definition)}"
        )


def _holding(definition: SlidingFields) -> str:
    tokens = " ".join(
        token for token, count in zip(definition.tokens, definition.counts, strict=True) for _ in range(count)
    )
    return tokens if len(tokens) <= 160 else tokens[:157] + "..."


def _columns(token: str) -> int:
    """The width of a token on a terminal."""
    if token.isascii():
        return len(token)
    import unicodedata

    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in token
    )
