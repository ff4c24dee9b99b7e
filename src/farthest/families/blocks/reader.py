"""The table of a sliding block puzzle in a puzzle's file; and boards that are one text: Klotski codes (foreign.py), and
Rush Hour in 36 characters, as in M. Fogleman's database of all interesting ones, or 9, 16 or 25.

A Rush Hour board has as many rows as columns, without marks between them: ``o`` or ``.`` an empty cell, ``x`` or ``#``
a wall, each letter one car of two cells or more in a line, ``A`` the car that must get to the right end of its row.
Cars go along their length only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from farthest.errors import PuzzleError
from farthest.families.blocks.definition import ANY_WAY, COLUMNS, EMPTY_TOKENS, ROWS, Blocks, Kind
from farthest.families.blocks.foreign import KLOTSKI, klotski_rows
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.grid import (
    MAX_CELLS,
    WALL_TOKEN,
    WILDCARD_TOKEN,
    number_cells,
    place_of,
    token_problem,
)
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.tables import Drawn, DrawnTable, Given, Source
from farthest.wording import shown

Shape = tuple[tuple[int, int], ...]
"""The cells of a piece as (row, column) from its first in reading order, in reading order."""


class BlocksTable(DrawnTable):
    """The ``[blocks]`` table of a definition: the board, its pieces, exits and goals.

    start    = ["2113", "2113", "4665", "4775", "7007"]   # 0 . _ are empty cells, # walls, all else pieces
    goal     = ["....", "....", "....", ".11.", ".11."]   # optional, or goals = [...]: any of several boards;
                                                          # 0 . _ * are cells where anything may be
    shapes   = { 7 = "7" }        # cells with one sign that touch are one piece, unless a shape is given: here one cell
    distinct = ["1"]              # pieces of one shape are interchangeable, except these; or true: none is
    along    = true               # pieces go only along their length; or a list of those that do
    exits    = { "+" = ["1"] }    # cells drawn + are for piece 1 only
    tray     = ["....", ...]      # the board without pieces; needed where a piece of the start stands on an exit
    board    = "BBoKMxDDDKMo..."  # instead of all of these: Rush Hour in 36 characters, or a Klotski code
    """

    header = "blocks"
    shapes = Given()
    distinct = Given()
    along = Given()
    exits = Given()
    tray = Given()
    board = Given()

    def read(self) -> Blocks:
        if "board" in self:
            others = [key for key in self.fields if key != "board"]
            if others:
                raise self.fail(
                    others[0],
                    f"both board and {others[0]} are given, and board is a whole board; leave one out",
                )
            return _read_board(self.board, lambda problem: self.fail("board", problem))
        goals = self.drawn_goals("A./..")
        start = self.drawn("start") if "start" in self else None
        tray = self.drawn("tray") if "tray" in self else None
        if not start and not goals:
            raise self.fail(
                "", 'no start; write start = ["AAB", "..B"]: letters are pieces, . is an empty cell'
            )
        self.check_shapes([board for board in (start, tray, *goals) if board], False)
        drawn = self._first = start or goals[0]
        self._rows = number_cells([[token == WALL_TOKEN for token in row] for row in drawn.rows])
        exits = self._users_of_exits()
        self._signs = self._exit_cells(tray or drawn, exits)
        self._check_exits([board for board in (start, *goals) if board], exits)
        self._empties = {*EMPTY_TOKENS, *exits}
        kinds = self._kinds(self._pieces(drawn), exits)
        labels = {token: label for label, kind in enumerate(kinds, 1) for token in kind.tokens}
        empty = next((token for token in drawn.tokens if token in EMPTY_TOKENS), EMPTY_TOKENS[1])
        try:
            whole = Blocks(self._rows, self._signs, empty, kinds, (), self._labelled(drawn, labels))
        except PuzzleError as error:
            problem = str(error).removeprefix("block puzzle: start: ")
            raise self.fail(
                drawn.key, f"{drawn.name}: {problem}; move the piece, or let it into the exit"
            ) from None
        return replace(
            whole, goals=self._patterns(goals, labels, whole), start=whole.start if start else None
        )

    def _place(self, drawn: Drawn, cell: int) -> str:
        row, column = place_of(self._rows, cell)
        return f"{drawn.name}, row {row + 1}, column {column + 1}"

    # Exits

    def _users_of_exits(self) -> dict[str, list[str]]:
        """For each sign the tokens of the pieces that may enter."""
        exits = self.fields.get("exits", {})
        if not isinstance(exits, dict):
            raise self.fail("exits", f'expected a table, got {shown(exits)}; write exits = {{ "+" = ["A"] }}')
        for sign in exits:
            problem = token_problem(sign)
            if sign in EMPTY_TOKENS:
                problem = "is an empty cell"
            if problem:
                raise self.fail("exits", f'the sign {shown(sign)} {problem}; write another, such as "+"')
        return {sign: self._named("exits", f"exit {sign}", value) for sign, value in exits.items()}

    def _exit_cells(self, tray: Drawn, exits: Mapping[str, object]) -> tuple[str, ...]:
        for cell, token in enumerate(tray.tokens):
            if tray.key == "tray" and token not in exits and token not in EMPTY_TOKENS:
                raise self.fail(
                    "tray",
                    f"{self._place(tray, cell)} holds {shown(token)}; expected the board without pieces, "
                    "write . for a cell, and list the sign of an exit in exits",
                )
        for sign in exits:
            if sign not in tray.tokens:
                raise self.fail(
                    "exits",
                    f"no cell of {tray.name} is drawn {sign}; draw the exit there, "
                    "or in tray where a piece stands on it",
                )
        return tuple(token if token in exits else "" for token in tray.tokens)

    def _check_exits(self, boards: list[Drawn], exits: Mapping[str, object]) -> None:
        for board in boards:
            for cell, token in enumerate(board.tokens):
                if token in exits and self._signs[cell] != token:
                    raise self.fail(
                        board.key,
                        f"{self._place(board, cell)} is drawn as exit {token}, but not in the tray; "
                        "expected exits in the same places, correct one of them",
                    )

    # Pieces

    def _named(self, key: str, what: str, value: object) -> list[str]:
        """The pieces that a list names, or a text with spaces between them."""
        named = value.split() if isinstance(value, str) else value
        if not isinstance(named, list) or not named or not all(isinstance(token, str) for token in named):
            raise self.fail(key, f'{what}: expected a list of pieces, got {shown(value)}; write ["A"]')
        empties = {*EMPTY_TOKENS, *self.fields.get("exits", {})}
        for token in named:
            if token not in self._first.tokens or token in empties:
                raise self.fail(
                    key, f"{what}: no piece of {self._first.name} is written {shown(token)}; name one that is"
                )
        return named

    def _pieces(self, drawn: Drawn) -> list[tuple[str, int, Shape]]:
        """The pieces in reading order: token, first cell, shape."""
        shapes = self._given_shapes()
        cells_of: dict[str, list[tuple[int, int]]] = {}
        for r, row in enumerate(drawn.rows):
            for c, token in enumerate(row):
                if token != WALL_TOKEN and token not in self._empties:
                    cells_of.setdefault(token, []).append((r, c))
        if WILDCARD_TOKEN in cells_of:
            raise self.fail(
                "", "no start, and the first goal holds *; add start, so that all pieces are known"
            )
        if not cells_of:
            raise self.fail(
                drawn.key, f"{drawn.name} holds no piece, expected at least one; write letters for pieces"
            )
        found = []
        for token, cells in cells_of.items():
            if token not in shapes:
                shapes[token] = self._connected(drawn, token, cells)
            for first in self._divided(drawn, token, cells, shapes[token]):
                found.append((token, self._rows[first[0]][first[1]], shapes[token]))
        for token in shapes:
            if token not in cells_of:
                raise self.fail("shapes", f"no piece of {drawn.name} is written {shown(token)}; leave it out")
        return sorted(found, key=lambda piece: piece[1])

    def _given_shapes(self) -> dict[str, Shape]:
        given = self.fields.get("shapes", {})
        if not isinstance(given, dict):
            raise self.fail(
                "shapes", f'expected a table, got {shown(given)}; write shapes = {{ A = "AA/A." }}'
            )
        shapes: dict[str, Shape] = {}
        for token, value in given.items():
            rows = self.drawn("shapes", f"shape of {token}", value).rows
            cells = [(r, c) for r, row in enumerate(rows) for c, sign in enumerate(row) if sign == token]
            wrong = {sign for row in rows for sign in row} - {token, *EMPTY_TOKENS}
            if wrong or not cells:
                found = f"it holds {shown(min(wrong))}" if wrong else f"it holds no {token}"
                raise self.fail(
                    "shapes", f"shape of {token}: {found}; draw the piece with {token} and . beside it"
                )
            shapes[token] = _shape(cells)
        return shapes

    def _connected(self, drawn: Drawn, token: str, cells: list[tuple[int, int]]) -> Shape:
        """The one shape of the groups of touching cells."""
        left, shapes = set(cells), []
        while left:
            group = [min(left)]
            left.discard(group[0])
            for r, c in group:  # grows while it is read
                for near in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                    if near in left:
                        left.discard(near)
                        group.append(near)
            shapes.append((min(group), _shape(group)))
        for (row, column), shape in shapes:
            if shape != shapes[0][1]:
                raise self.fail(
                    drawn.key,
                    f"{drawn.name}, row {row + 1}, column {column + 1}: touching cells written {token} are one piece, "
                    f"and this one has another shape than that in row {shapes[0][0][0] + 1}, column "
                    f"{shapes[0][0][1] + 1}; write it with another letter, or give the shape: "
                    f'shapes = {{ {token} = "{token}" }}',
                )
        return shapes[0][1]

    def _divided(
        self, drawn: Drawn, token: str, cells: list[tuple[int, int]], shape: Shape
    ) -> list[tuple[int, int]]:
        """The first cells of the pieces that the cells are divided among."""
        left, firsts = set(cells), []
        for first in cells:
            if first not in left:
                continue
            piece = {(first[0] + r, first[1] + c) for r, c in shape}
            if not piece <= left:
                raise self.fail(
                    drawn.key,
                    f"{drawn.name}, row {first[0] + 1}, column {first[1] + 1}: no whole piece {token} of the shape "
                    "that shapes tells; draw it there, or correct the shape",
                )
            left -= piece
            firsts.append(first)
        return firsts

    def _kinds(
        self, pieces: list[tuple[str, int, Shape]], exits: Mapping[str, list[str]]
    ) -> tuple[Kind, ...]:
        distinct, along = self._chosen("distinct", pieces), self._chosen("along", pieces)
        groups: dict[tuple[Shape, int, int, tuple[str, ...], str], list[str]] = {}
        for token, first, shape in pieces:
            if token in distinct and sum(other == token for other, _, _ in pieces) > 1:
                raise self.fail("distinct", f"several pieces are written {token}; write them differently")
            ways = self._way(token, shape) if token in along else ANY_WAY
            open_to = tuple(sign for sign, users in exits.items() if token in users)
            row, column = place_of(self._rows, first)
            line = {ANY_WAY: -1, ROWS: row, COLUMNS: column}[ways]
            key = (shape, ways, line, open_to, token if token in distinct else "")
            groups.setdefault(key, []).append(token)
        kinds = [
            Kind(shape, tuple(tokens), ways, line, open_to)
            for (shape, ways, line, open_to, _), tokens in groups.items()
        ]
        if len(kinds) > MAX_CELLS:
            raise self.fail("", f"{len(kinds)} kinds of piece; expected at most {MAX_CELLS}")
        return tuple(kinds)

    def _chosen(self, key: str, pieces: list[tuple[str, int, Shape]]) -> set[str]:
        """The tokens that ``distinct`` or ``along`` names; true: all."""
        value = self.fields.get(key, False)
        if isinstance(value, bool):
            return {token for token, _, _ in pieces} if value else set()
        return set(self._named(key, key, value))

    def _way(self, token: str, shape: Shape) -> int:
        if len(shape) > 1 and all(r == 0 for r, _ in shape):
            return ROWS
        if len(shape) > 1 and all(c == 0 for _, c in shape):
            return COLUMNS
        raise self.fail(
            "along",
            f"piece {token} is not a straight line of two cells or more, so it has no length to go along; "
            "leave it out of the list",
        )

    # Boards

    def _labelled(self, drawn: Drawn, labels: Mapping[str, int]) -> Board:
        return tuple(labels.get(token, 0) for token in drawn.tokens)

    def _patterns(self, goals: list[Drawn], labels: Mapping[str, int], whole: Blocks) -> tuple[Board, ...]:
        """The goals, with ``WILDCARD`` where anything may be unless they place all pieces."""
        found: list[tuple[Drawn, Board]] = []
        for goal in goals:
            for cell, token in enumerate(goal.tokens):
                if token not in labels and token not in self._empties and token != WILDCARD_TOKEN:
                    expected = " ".join(labels)
                    raise self.fail(
                        goal.key,
                        f"{self._place(goal, cell)} holds {shown(token)}; expected a piece of the "
                        f"{self._first.name} ({expected}) or . where anything may be",
                    )
            board = self._labelled(goal, labels)
            held = sum(label > 0 for label in board)
            if not held:
                raise self.fail(goal.key, f"{goal.name} names no piece; draw at least one where it must be")
            if held < sum(len(kind.shape) * len(kind.tokens) for kind in whole.kinds):
                board = tuple(label or WILDCARD for label in board)
            self._check_goal(goal, board, whole)
            found.append((goal, board))
        return self.each_once(found)

    def _check_goal(self, goal: Drawn, board: Board, whole: Blocks) -> None:
        try:
            replace(whole, goals=(board,), start=None)
        except PuzzleError as error:
            problem = str(error).removeprefix("block puzzle: goal 1: ")
            raise self.fail(
                goal.key, f"{goal.name}: {problem}; draw the whole pieces that must be there, . elsewhere"
            ) from None


def _shape(cells: list[tuple[int, int]]) -> Shape:
    row, column = min(cells)
    return tuple(sorted((r - row, c - column) for r, c in cells))


# Boards that are one text

_SIDES = {side * side: side for side in (3, 4, 5, 6)}
_NAME = re.compile(r"(?P<kind>rush|klotski)-(?P<board>[^-]+)")
_BARE = re.compile(r"[A-Zox.#]{36}")
_EXAMPLE = "BBoKMxDDDKMoIAALooIoJLEEooJFFNoGGoxN"


def board_puzzle(name: str) -> Puzzle | None:
    """The puzzle called ``rush-`` or ``klotski-`` and a board, else None. Raises PuzzleError for a wrong board."""
    match = _NAME.fullmatch(name)
    if not match:
        return None

    def fail(problem: str) -> PuzzleError:
        return PuzzleError(f"{shown(name)}: {problem}")

    rush = match["kind"] == "rush"
    return Puzzle(
        name=name,
        title="Rush Hour" if rush else "Klotski",
        source="the board of this name",
        family="blocks",
        metric="slide" if rush else "move",
        origin=Origin("from", "start"),
        known=(),
        definition=read_rush_hour(match["board"], fail) if rush else _read_klotski(match["board"], fail),
    )


def written_puzzle(text: str) -> Puzzle | None:
    """The puzzle of a Rush Hour board without a name before it; None: the text is none. Raises PuzzleError."""
    return board_puzzle(f"rush-{text.replace('#', 'x')}") if _BARE.fullmatch(text) else None


def _read_board(text: object, fail: Callable[[str], PuzzleError]) -> Blocks:
    """The board of a text. Raises what ``fail`` makes of what is wrong with it."""
    if isinstance(text, str) and KLOTSKI.fullmatch(text):
        return _read_klotski(text, fail)
    return read_rush_hour(text, fail)


def _read_klotski(code: str, fail: Callable[[str], PuzzleError]) -> Blocks:
    """The piece of four cells must get to the middle of the bottom. Raises what ``fail`` makes of a problem."""
    if not KLOTSKI.fullmatch(code):
        raise fail("expected a Klotski code, nine hexadecimal digits at most; write it like 1A9BF0C")
    goal = ["....", "....", "....", ".AA.", ".AA."]
    return BlocksTable({"start": klotski_rows(code, fail), "goal": goal}, Source("", ""), "move").read()


def read_rush_hour(text: object, fail: Callable[[str], PuzzleError]) -> Blocks:
    """The board of 36 characters, or 9, 16 or 25. Raises what ``fail`` makes of what is wrong with it."""
    if not isinstance(text, str):
        raise fail(f'expected a text, got {shown(text)}; write board = "{_EXAMPLE}"')
    side = _SIDES.get(len(text))
    if side is None:
        raise fail(
            f"{len(text)} characters, expected 36, six rows of six without marks between, or 9, 16 or 25; "
            f"write it like {_EXAMPLE}"
        )
    rows = [text[i : i + side] for i in range(0, len(text), side)]
    cars: dict[str, list[tuple[int, int]]] = {}
    for r, row in enumerate(rows):
        for c, sign in enumerate(row):
            if sign in "o.x#":
                continue
            if not (sign.isascii() and sign.isalpha() and sign.isupper()):
                where = f"character {r * side + c + 1} (row {r + 1}, column {c + 1})"
                raise fail(
                    f"{where} is {shown(sign)}, expected a letter A to Z, o or . (empty), x or # (wall); correct it"
                )
            cars.setdefault(sign, []).append((r, c))
    for letter, cells in cars.items():
        _check_car(letter, cells, fail)
    if "A" not in cars:
        raise fail("no car A, which is the one to get out; call that car A")
    level, length = cars["A"][0][0], len(cars["A"])
    if cars["A"][-1][0] != level:
        raise fail("car A stands in a column, expected a row: it leaves to the right; turn the board")
    if set("x#") & set(rows[level][-length:]):
        raise fail(
            f"a wall stands at the right end of row {level + 1}, where car A must get to; correct one of them"
        )
    drawn = [re.sub("[o.]", ".", re.sub("[x#]", WALL_TOKEN, row)) for row in rows]
    goal = [re.sub("[A-Z]", ".", row) for row in drawn]
    goal[level] = goal[level][:-length] + "A" * length
    table = {"start": drawn, "goal": goal, "along": True, "distinct": True}
    made = BlocksTable(table, Source("", ""), "slide").read()
    return replace(made, empty="o" if "o" in text or "." not in text else ".")


def _check_car(letter: str, cells: list[tuple[int, int]], fail: Callable[[str], PuzzleError]) -> None:
    (row, column), last = cells[0], cells[-1]
    line = [(row, column + i) for i in range(len(cells))]
    if last[0] != row:
        line = [(row + i, column) for i in range(len(cells))]
    if len(cells) < 2:
        raise fail(
            f"car {letter} (row {row + 1}, column {column + 1}) has one cell, expected two or more in a line; "
            "o is an empty cell, x a wall"
        )
    if cells != line:
        raise fail(
            f"the cells of car {letter} (first in row {row + 1}, column {column + 1}) are not one straight line; "
            "give each car a letter of its own"
        )
