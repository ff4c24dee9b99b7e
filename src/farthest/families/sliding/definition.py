"""The definition of a sliding puzzle: its cells, passages, pieces and goals, checked, and its boards as text.

Cells are numbered from 0 in reading order, walls skipped. A board is a label for each cell: 0 is the blank, equal
pieces have equal labels.

The canonical text of a board is one line. Where every token is one character, rows are joined by ``/``
(``645/202/341``); otherwise tokens are separated by a space and rows by `` / `` (``1 2 / 10 0``). Walls are ``#``; the
board of a graph is one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import permutations
from math import factorial, prod
from typing import TYPE_CHECKING, Any

from farthest.arrays import np
from farthest.errors import BoardError
from farthest.puzzles.definition import WILDCARD, Board, GoalPuzzle, board_place, check_cells
from farthest.puzzles.grid import (
    MAX_CELLS,
    ROW_TOKEN,
    WALL,
    WALL_TOKEN,
    WILDCARD_TOKEN,
    board_rows,
    disconnection,
    grid_edges,
    grid_problem,
    grid_size,
    token_problem,
)
from farthest.wording import columns, counted, shown, times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.puzzles.puzzle import Puzzle

MAX_KINDS = 64
"""Kinds of content, the blank among them; each cell holds one, so ``MAX_CELLS`` implies it."""

# Bytes beside the labels 0..63 in the byte form of a line.
END_BYTE = 252
WALL_BYTE = 253
ROW_BYTE = 254
WILDCARD_BYTE = 255
_MARKS = bytes([WALL_BYTE, ROW_BYTE])
_TO_SHAPE = bytes(byte if byte in _MARKS else 0 for byte in range(256))

_BLANKS = "0_."
_LISTED = 6


@dataclass(frozen=True, slots=True)
class Sliding(GoalPuzzle):
    """The board, pieces and goals of a sliding puzzle.

    ``rows``: a grid's cell number at each place in reading order, -1 a wall; empty for a puzzle on a graph.
    ``edges``: two-way passages (a, b), a < b, sorted; of a grid, its orthogonal neighbours.
    ``arcs``: one-way passages, sorted: a piece may move from the first cell to the second (the blank from the
    second to the first).
    ``tokens``, ``counts``: for each label, how it is written and how many cells hold it.
    ``goals``: boards, perhaps with ``WILDCARD``; ``start``: a board or None.
    ``blanks``: not empty only of an additive pattern (puzzles/patterns.py), where label 0 is every cell without a piece
    of the pattern: the blank's cell in each goal.
    Raises PuzzleError when these do not fit together.
    """

    rows: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, int], ...]
    arcs: tuple[tuple[int, int], ...]
    tokens: tuple[str, ...]
    counts: tuple[int, ...]
    goals: tuple[Board, ...]
    start: Board | None
    blanks: tuple[int, ...] = ()

    called = "sliding"

    def problem(self) -> str | None:
        return _shape_problem(self) or _pieces_problem(self) or _boards_problem(self)

    @property
    def cells(self) -> int:
        """The number of cells, walls not counted."""
        return sum(self.counts)

    @property
    def ways(self) -> list[tuple[int, int]]:
        """The cells (from, to) that a piece may move between, sorted."""
        return sorted({*self.edges, *((b, a) for a, b in self.edges), *self.arcs})

    @property
    def contents(self) -> int:
        return len(self.tokens)

    @property
    def has_moves(self) -> bool:
        return not self.blanks

    def metric_problem(self, metric: str) -> str | None:
        """Slides need the straight rows of a grid."""
        if metric == "slide" and not self.rows:
            return 'the slide metric needs the rows of a grid; use metric = "step" on a graph'
        if metric != "step" and self.blanks:
            return f"an additive pattern counts steps, not {metric}s"
        return None

    def fields(self) -> dict[str, Any]:
        """``blanks`` is left out where it says nothing."""
        fields = asdict(self)
        if not self.blanks:
            del fields["blanks"]
        return fields

    def arrangements(self) -> int:
        """A multinomial coefficient."""
        return factorial(self.cells) // prod(factorial(count) for count in self.counts)

    def size(self) -> str:
        return grid_size(self.rows, self.cells)

    def facts(self) -> list[tuple[str, str]]:
        kinds = list(zip(self.tokens, self.counts, strict=True))[1:]
        listed = " ".join(f"{token}×{count}" for token, count in kinds)
        passages = [f"{a}-{b}" for a, b in self.edges] + [f"{a}→{b}" for a, b in self.arcs]
        return [
            *([] if self.rows else [("passages", " ".join(passages))]),
            ("pieces", f"{self.cells - self.counts[0]} of {counted(len(kinds), 'kind')}: {listed}"),
            ("other cells", f"{self.counts[0]}, written {self.tokens[0]}, their moves cost nothing")
            if self.blanks
            else ("blanks", f"{self.counts[0]}, written {self.tokens[0]}"),
        ]

    def palette(self) -> Mapping[str, int]:
        """As many colours as kinds of piece."""
        return {token: number for number, token in enumerate(self.tokens[1:])}

    # Boards

    def parse_board(self, text: str, *, name: str = "") -> Board:
        """Rows end at ``/``, ``;``, a new line, or ``|`` where no piece is written so; the marks may be left out, as
        may all walls. Tokens are separated by spaces or commas, which one-character tokens do not need. ``0``, ``_``
        and ``.`` are the blank where no piece is written so."""
        return self._parsed(text, board_place(text, self, name))

    def _parsed(self, text: str, place: str) -> Board:
        table = _notation(self)
        rows = board_rows(
            text,
            table.places,
            single=table.single,
            barred=table.barred,
            accepted=table.labels,
            expected=self.tokens,
            fail=lambda problem: BoardError(
                f"{place}: {problem}; a board is written like {self.example()!r}"
            ),
        )
        board = tuple(table.labels[token] for row in rows for token in row if token != WALL_TOKEN)
        self._check_pieces(board, place)
        return board

    def parse_boards(self, lines: Iterable[str], *, name: str = "") -> bytes:
        table = _notation(self)
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
                    f"line {number}: expected a text such as {self.example()!r}, got {type(line).__name__}"
                )
            text = line.rstrip("\r\n")
            place = f"line {number}: board {shown(text)}{f' for {name}' if name else ''}"
            boards += bytes(self._parsed(text, place))
        return bytes(boards)

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        labels = check_cells(board, self.cells, len(self.tokens), "label", name)
        self._check_pieces(labels, f"board{f' for {name}' if name else ''} {self.format_board(labels)!r}")
        return labels

    def _check_pieces(self, labels: Sequence[int], place: str) -> None:
        held = Counter(labels)
        wrong, missing = [], []
        for label, (token, expected) in enumerate(zip(self.tokens, self.counts, strict=True)):
            found = held[label]
            what = f"{'piece' if label else 'blank'} {token}"
            if found and found != expected:
                wrong.append(f"{what} appears {times(found)}, expected {times(expected)}")
            elif not found:
                missing.append(
                    f"{what} is missing" + (f", expected {times(expected)}" if expected > 1 else "")
                )
        problems = wrong + missing
        if problems:
            more = f"; and {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
            tokens = " ".join(
                token for token, count in zip(self.tokens, self.counts, strict=True) for _ in range(count)
            )
            holding = tokens if len(tokens) <= 160 else tokens[:157] + "..."
            raise BoardError(f"{place}: {'; '.join(problems[:_LISTED])}{more}; a board holds {holding}")

    def first_wrong(self, boards: NDArray[np.integer]) -> int | None:
        pieces = np.repeat(np.arange(len(self.tokens)), self.counts)
        wrong = np.flatnonzero((np.sort(boards, axis=1) != pieces).any(axis=1))
        return int(wrong[0]) if wrong.size else None

    def format_board(self, board: Sequence[int]) -> str:
        table = _notation(self)
        if table.single:
            return ROW_TOKEN.join("".join(row) for row in table.rows_of(board))
        return f" {ROW_TOKEN} ".join(" ".join(row) for row in table.rows_of(board))

    def draw_board(self, board: Sequence[int]) -> list[str]:
        """Columns aligned; of a graph, the cells' numbers above the pieces."""
        rows = _notation(self).rows_of(board)
        if not self.rows:
            rows.insert(0, [str(cell) for cell in range(self.cells)])
        # One-character signs, such as lines and boxes, make a picture when nothing stands between them.
        picture = bool(self.rows) and all(
            len(token) == 1 and not token.isalnum() for token in self.tokens[1:]
        )
        width = max(columns(token) for row in rows for token in row)
        between = "" if picture else " "
        lines = [between.join(" " * (width - columns(token)) + token for token in row) for row in rows]
        return lines if self.rows else [f"cell   {lines[0]}", f"piece  {lines[1]}"]

    def line_template(self) -> tuple[bytes, tuple[int, ...], str] | None:
        """None where a token is longer than one character."""
        table = _notation(self)
        if not table.single:
            return None
        template = bytearray()
        positions = [0] * self.cells
        for i, row in enumerate(table.places):
            if i:
                template.append(ROW_BYTE)
            for cell in row:
                if cell != WALL:
                    positions[cell] = len(template)
                template.append(WALL_BYTE if cell == WALL else 0)
        template.append(END_BYTE)
        decoding = ["\ufffe"] * 256  # what charmap_decode takes for undefined
        decoding[: len(self.tokens)] = self.tokens
        decoding[WALL_BYTE], decoding[ROW_BYTE], decoding[WILDCARD_BYTE] = (
            WALL_TOKEN,
            ROW_TOKEN,
            WILDCARD_TOKEN,
        )
        decoding[END_BYTE] = "\n"
        return bytes(template), tuple(positions), "".join(decoding)

    def texts(self, boards: NDArray[np.uint8]) -> list[str]:
        """Each cell has a field as wide as the widest of its tokens in UTF-8, the separators and walls after it
        included. Fields are filled up with zero bytes, which are taken out at the end: no token holds one."""
        before, fields = _line_fields(self)
        width = len(before) + sum(field.shape[1] for _, field in fields)
        rows = np.empty((len(boards), width), dtype=np.uint8)
        at = len(before)
        rows[:, :at] = np.frombuffer(before, dtype=np.uint8)
        for cell, field in fields:
            rows[:, at : at + field.shape[1]] = field[boards[:, cell]]
            at += field.shape[1]
        return rows.tobytes().translate(None, b"\0").decode().split("\n")[:-1]


def sliding(puzzle: Puzzle) -> Sliding:
    """The definition of a sliding puzzle."""
    return puzzle.defined_as(Sliding)


class Notation:
    """How the boards of one puzzle are written: what each token means, which shapes of text hold all cells.

    ``single``: every token is one character, so tokens need no spaces between them.
    ``labels``: token -> label; holds other ways to write the blank where they mean nothing else.
    ``places``: for each row, cell number or ``WALL``; a graph puzzle has one row.
    ``barred``: a token holds ``|``, which then ends no row.
    ``byte_of``: token, wall or row mark -> byte, for reading lines fast.
    ``shapes``: labels replaced by 0, the byte forms that hold every cell in order, and walls where they belong.
    ``pieces``: the labels of a complete board, sorted.
    """

    __slots__ = ("barred", "byte_of", "labels", "pieces", "places", "shapes", "single", "tokens")

    def __init__(self, definition: Sliding) -> None:
        self.tokens = definition.tokens
        self.single = all(len(token) == 1 for token in definition.tokens)
        self.labels = dict.fromkeys(_BLANKS, 0)
        self.labels.update((token, label) for label, token in enumerate(definition.tokens))
        self.places: Sequence[Sequence[int]] = definition.rows or (range(definition.cells),)
        self.barred = any("|" in token for token in definition.tokens)
        self.byte_of = {**self.labels, WALL_TOKEN: WALL_BYTE, ROW_TOKEN: ROW_BYTE}
        self.pieces = bytes(label for label, count in enumerate(definition.counts) for _ in range(count))
        walled = [bytes(WALL_BYTE if cell == WALL else 0 for cell in row) for row in self.places]
        open_ = [row for row in (row.replace(bytes([WALL_BYTE]), b"") for row in walled) if row]
        self.shapes = frozenset(
            mark.join(rows) for rows in (walled, open_) for mark in (b"", bytes([ROW_BYTE]))
        )

    def rows_of(self, labels: Sequence[int]) -> list[list[str]]:
        """The tokens of a board, row by row, walls and wildcards included."""
        tokens = [WILDCARD_TOKEN if label == WILDCARD else self.tokens[label] for label in labels]
        return [[WALL_TOKEN if cell == WALL else tokens[cell] for cell in row] for row in self.places]


_notation = lru_cache(maxsize=16)(Notation)


@lru_cache(maxsize=16)
def _line_fields(definition: Sliding) -> tuple[bytes, list[tuple[int, NDArray[np.uint8]]]]:
    """What stands before the first cell of a line, and for each cell in reading order its number and how each label is
    written there: uint8, shape (labels, bytes)."""
    gap, row_gap = ("", "/") if _notation(definition).single else (" ", " / ")
    text = row_gap.join(
        gap.join("#" if cell < 0 else f"\0{cell}\0" for cell in row) for row in _notation(definition).places
    )
    before, *parts = text.split("\0")
    # Now cell numbers in reading order, each followed by what stands between it and the next.
    fields = []
    for cell, after in zip(parts[::2], parts[1::2], strict=True):
        end = "\n" if cell == str(definition.cells - 1) else ""
        texts = [(token + after + end).encode() for token in definition.tokens]
        width = max(map(len, texts))
        padded = b"".join(text.ljust(width, b"\0") for text in texts)
        fields.append((int(cell), np.frombuffer(padded, dtype=np.uint8).reshape(-1, width)))
    return before.encode(), fields


def _shape_problem(definition: Sliding) -> str | None:
    cells = definition.cells
    if not 2 <= cells <= MAX_CELLS:
        return f"{cells} cells; expected 2 to {MAX_CELLS}"
    if definition.rows:
        if problem := grid_problem(definition.rows, cells):
            return problem
        if definition.edges != grid_edges(definition.rows) or definition.arcs:
            return "the passages of a grid are not those between neighbours"
    for kind, passages in (("edges", definition.edges), ("arcs", definition.arcs)):
        if list(passages) != sorted(set(passages)):
            return f"the {kind} are not sorted, or one appears twice"
        for a, b in passages:
            if not (0 <= a < cells and 0 <= b < cells) or a == b:
                return f"{kind} hold {[a, b]}; expected two different cells from 0 to {cells - 1}"
            if kind == "edges" and a > b:
                return f"edges hold {[a, b]}; expected the smaller cell first"
            if kind == "arcs" and ((min(a, b), max(a, b)) in definition.edges or (b, a) in passages):
                return f"arcs hold {[a, b]}, but the cells are joined both ways; expected one edge"
    return disconnection(cells, definition.edges + definition.arcs)


def _pieces_problem(definition: Sliding) -> str | None:
    if not 2 <= len(definition.tokens) <= MAX_KINDS:
        return f"{len(definition.tokens)} kinds of content; expected the blank and 1 to {MAX_KINDS - 1} kinds of piece"
    if len(set(definition.tokens)) != len(definition.tokens):
        return "two labels have the same token"
    for token in definition.tokens:
        if problem := token_problem(token):
            return f"token {token!r} {problem}"
    if len(definition.counts) != len(definition.tokens) or min(definition.counts) < 1:
        return "expected a count of at least 1 for each token"
    if definition.blanks:
        return _pattern_problem(definition)
    if not definition.goals or len(set(definition.goals)) != len(definition.goals):
        return "expected at least one goal, and none twice"
    return None


def _pattern_problem(definition: Sliding) -> str | None:
    goals = list(zip(definition.goals, definition.blanks, strict=False))
    if len(definition.blanks) != len(definition.goals) or len(set(goals)) != len(goals):
        return "expected a blank's cell for each goal of a pattern, and no two alike"
    if set(definition.counts[1:]) != {1} or definition.start is not None:
        return "a pattern has each of its pieces once, and no start"
    for goal, blank in goals:
        if WILDCARD in goal or not 0 <= blank < len(goal) or goal[blank] != 0:
            return f"the blank of the goal {list(goal)} of a pattern is in cell {blank}; expected one without a piece"
    return None


def _boards_problem(definition: Sliding) -> str | None:
    for name, board in definition.named_boards:
        held = Counter(board)
        wild = held.pop(WILDCARD, 0) if name != "start" else 0
        if len(board) != definition.cells or any(not 0 <= label < len(definition.tokens) for label in held):
            return f"{name} is not {definition.cells} labels from 0 to {len(definition.tokens) - 1}"
        spare = [count - held[label] for label, count in enumerate(definition.counts)]
        if spare[0] != 0 or min(spare) < 0 or (not wild and any(spare)):
            return f"{name} does not hold the pieces that the counts say"
    return None


def spare_labels(definition: Sliding, pattern: Sequence[int]) -> list[int]:
    """By label: how many pieces a pattern leaves for its wildcards."""
    return [count - pattern.count(label) for label, count in enumerate(definition.counts)]


def filled(definition: Sliding, pattern: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The boards of a pattern, its wildcards filled in."""
    places = [cell for cell, label in enumerate(pattern) if label == WILDCARD]
    for labels in _arrangements(spare_labels(definition, pattern)):
        board = list(pattern)
        for cell, label in zip(places, labels, strict=True):
            board[cell] = label
        yield tuple(board)


def _arrangements(spare: list[int]) -> Iterator[tuple[int, ...]]:
    """All sequences that hold label i spare[i] times."""
    if max(spare) <= 1:
        yield from permutations([label for label, count in enumerate(spare) if count])
        return
    for label, count in enumerate(spare):
        if count == 0:
            continue
        spare[label] -= 1
        if any(spare):
            for rest in _arrangements(spare):
                yield (label, *rest)
        else:
            yield (label,)
        spare[label] += 1
