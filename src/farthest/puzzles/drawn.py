"""Boards as drawn in a definition, before it is known what the tokens stand for."""

from collections.abc import Mapping
from typing import NamedTuple

from farthest.puzzles.grid import MAX_CELLS
from farthest.puzzles.notation import WALL_TOKEN, WILDCARD_TOKEN
from farthest.puzzles.passages import Fail
from farthest.puzzles.tokens import token_problem
from farthest.wording import counted, shown

_GOALS = ("goal", "goals")


class Drawn(NamedTuple):
    """A board in a definition: its key, what messages call it, and its tokens in rows, walls included."""

    key: str
    name: str
    rows: list[list[str]]

    @property
    def tokens(self) -> list[str]:
        """The tokens in cell order, walls left out."""
        return [token for row in self.rows for token in row if token != WALL_TOKEN]


def read_drawn(key: str, name: str, value: object, fail: Fail) -> Drawn:
    """The board drawn by an array of rows, or by a text whose rows end at new lines or ``/``.

    Where any row holds a space, spaces separate the tokens of all rows; otherwise each character is a
    token. A row may also be an array of tokens. Raises what ``fail`` makes for other values and for signs
    that are no tokens.
    """
    example = f'{key} = ["1 2", "3 0"]'
    lines: list[object]
    if isinstance(value, str):
        lines = list(value.strip().replace("/", "\n").splitlines())
    elif isinstance(value, list):
        lines = value
    else:
        raise fail(key, f"{name}: expected an array of rows or a text, got {shown(value)}; write {example}")
    spaced = any(isinstance(line, str) and len(line.replace(",", " ").split()) > 1 for line in lines)
    rows = [_row(key, f"{name}, row {i}", line, spaced, fail) for i, line in enumerate(lines, 1)]
    if not any(rows):
        raise fail(key, f"{name} is empty; expected rows of pieces such as {example}")
    drawn = Drawn(key, name, rows)
    _check_tokens(drawn, fail)
    return drawn


def read_goals(
    table: Mapping[str, object], fail: Fail, *, example: str, one_row: bool = False
) -> list[Drawn]:
    """The boards of the keys ``goal`` or ``goals``; none where there is neither. ``example``: a board, for messages;
    ``one_row``: boards have one row only."""
    goal, goals = table.get("goal"), table.get("goals")
    if goal is not None and goals is not None:
        raise fail("goals", "both goal and goals are given; expected one of them, put all boards into goals")
    if goal is not None:
        return [read_drawn("goal", "goal", goal, fail)]
    if goals is None:
        return []
    if not isinstance(goals, list) or not goals:
        found = "an empty array" if goals == [] else shown(goals)
        raise fail("goals", f'expected an array of boards, got {found}; write goals = ["{example}", ...]')
    rows = all(isinstance(board, str) and not {"/", "\n"} & set(board) for board in goals)
    if rows and len(goals) > 1 and not one_row:
        raise fail("goals", "each text is a board, here of one row only; write goal = [...] for one board")
    return [read_drawn("goals", f"goal {i}", board, fail) for i, board in enumerate(goals, 1)]


def _row(key: str, where: str, line: object, spaced: bool, fail: Fail) -> list[str]:
    if isinstance(line, str):
        text = line.replace(",", " ").strip()
        return text.split() if spaced else list(text)
    if isinstance(line, list):
        for token in line:
            if not isinstance(token, str) and type(token) is not int:
                raise fail(
                    key,
                    f"{where}: expected texts or whole numbers, got {shown(token)}; write rows like [1, 2]",
                )
        return [token if isinstance(token, str) else shown(token) for token in line]
    raise fail(key, f'{where}: expected a text or an array, got {shown(line)}; write rows like "1 2 3"')


def _check_tokens(board: Drawn, fail: Fail) -> None:
    for i, row in enumerate(board.rows, 1):
        for j, token in enumerate(row, 1):
            if token == WALL_TOKEN and board.key != "pieces":
                continue
            problem = token_problem(token)
            if token == WILDCARD_TOKEN:
                problem = None if board.key in _GOALS else "stands for any piece, expected in goals only"
            if problem:
                where = f"{board.name}, row {i}, column {j}"
                raise fail(board.key, f"{where}: {shown(token)} {problem}; write another sign there")


def check_shapes(boards: list[Drawn], graph: bool, fail: Fail) -> None:
    """Refuses ragged rows, boards that differ in shape or walls, and impossible numbers of cells."""
    first = boards[0]
    width = len(first.rows[0])
    for board in boards:
        for i, row in enumerate(board.rows, 1):
            if len(row) != width:
                than = "row 1" if board is first else f"a row of {first.name}"
                raise fail(
                    board.key,
                    f"{board.name}, row {i} has {counted(len(row), 'place')}, {than} has {width}; "
                    "expected rows of one length, write # where there is no cell, "
                    "and spaces between pieces of several characters",
                )
        if len(board.rows) != len(first.rows):
            counts = f"{counted(len(board.rows), 'row')}, {first.name} has {len(first.rows)}"
            raise fail(board.key, f"{board.name} has {counts}; expected boards of one shape, draw all rows")
        if graph and (len(board.rows) > 1 or WALL_TOKEN in board.rows[0]):
            found = "a wall (#)" if len(board.rows) == 1 else f"{len(board.rows)} rows"
            raise fail(
                board.key,
                f"{board.name} has {found}; with edges or arcs, expected one row: the pieces in cell order",
            )
        _check_walls(board, first, fail)
    cells = len(first.tokens)
    if not 2 <= cells <= MAX_CELLS:
        mend = "make it smaller" if cells > MAX_CELLS else "a puzzle needs a blank and a piece beside it"
        raise fail(first.key, f"{first.name} has {counted(cells, 'cell')}, expected 2 to {MAX_CELLS}; {mend}")


def _check_walls(board: Drawn, first: Drawn, fail: Fail) -> None:
    for i, (row, pattern) in enumerate(zip(board.rows, first.rows, strict=True), 1):
        for j, (token, place) in enumerate(zip(row, pattern, strict=True), 1):
            if (token == WALL_TOKEN) != (place == WALL_TOKEN):
                found, instead = ("wall", "cell") if token == WALL_TOKEN else ("cell", "wall")
                where = f"{board.name}, row {i}, column {j} is a {found}, but a {instead} in {first.name}"
                raise fail(board.key, f"{where}; expected walls in the same places, write # for each")
