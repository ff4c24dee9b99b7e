"""What a sliding puzzle is made of: its cells, passages, pieces and goals, checked.

Cells are numbered from 0 in reading order, walls skipped. A board is a label for each cell: 0 is the blank, equal
pieces have equal labels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from math import factorial, prod
from typing import Any

from farthest.errors import PuzzleError
from farthest.puzzles.definition import WILDCARD, Board, PuzzleDefinition
from farthest.puzzles.grid import MAX_CELLS, disconnection, grid_edges, token_problem
from farthest.wording import counted

MAX_KINDS = 64
"""Kinds of content, the blank among them; each cell holds one, so ``MAX_CELLS`` implies it."""


@dataclass(frozen=True, slots=True)
class SlidingFields(PuzzleDefinition):
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

    def __post_init__(self) -> None:
        problem = _shape_problem(self) or _pieces_problem(self)
        if problem:
            raise PuzzleError(f"sliding puzzle: {problem}")

    @property
    def cells(self) -> int:
        """The number of cells, walls not counted."""
        return sum(self.counts)

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        return self.goals, self.start

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
        if not self.rows:
            return f"{self.cells} (graph)"
        size = f"{len(self.rows)}×{len(self.rows[0])}"
        walls = len(self.rows) * len(self.rows[0]) - self.cells
        return f"{size}, {walls} of them walls" if walls else size

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


def _shape_problem(definition: SlidingFields) -> str | None:
    cells = definition.cells
    if not 2 <= cells <= MAX_CELLS:
        return f"{cells} cells; expected 2 to {MAX_CELLS}"
    if definition.rows:
        if len({len(row) for row in definition.rows}) != 1:
            return "the rows of the grid differ in length"
        if [cell for row in definition.rows for cell in row if cell != -1] != list(range(cells)):
            return f"the cells of the grid are not numbered 0 to {cells - 1} in reading order"
        if definition.edges != grid_edges(definition.rows) or definition.arcs:
            return "the passages of a grid are not those between neighbours"
    for kind, passages in (("edges", definition.edges), ("arcs", definition.arcs)):
        if list(passages) != sorted(set(passages)):
            return f"the {kind} are not sorted, or one is there twice"
        for a, b in passages:
            if not (0 <= a < cells and 0 <= b < cells) or a == b:
                return f"{kind} hold {[a, b]}; expected two different cells from 0 to {cells - 1}"
            if kind == "edges" and a > b:
                return f"edges hold {[a, b]}; expected the smaller cell first"
            if kind == "arcs" and ((min(a, b), max(a, b)) in definition.edges or (b, a) in passages):
                return f"arcs hold {[a, b]}, but the cells are joined both ways; expected one edge"
    return disconnection(cells, definition.edges + definition.arcs)


def _pieces_problem(definition: SlidingFields) -> str | None:
    if not 2 <= len(definition.tokens) <= MAX_KINDS:
        return f"{len(definition.tokens)} kinds of content; expected the blank and 1 to {MAX_KINDS - 1} kinds of piece"
    if len(set(definition.tokens)) != len(definition.tokens):
        return "two labels have the same token"
    for token in definition.tokens:
        problem = token_problem(token)
        if problem:
            return f"token {token!r} {problem}"
    if len(definition.counts) != len(definition.tokens) or min(definition.counts) < 1:
        return "expected a count of at least 1 for each token"
    if definition.blanks:
        return _pattern_problem(definition) or _boards_problem(definition)
    if not definition.goals or len(set(definition.goals)) != len(definition.goals):
        return "expected at least one goal, and none twice"
    return _boards_problem(definition)


def _pattern_problem(definition: SlidingFields) -> str | None:
    goals = list(zip(definition.goals, definition.blanks, strict=False))
    if len(definition.blanks) != len(definition.goals) or len(set(goals)) != len(goals):
        return "expected a blank's cell for each goal of a pattern, and no two alike"
    if set(definition.counts[1:]) != {1} or definition.start is not None:
        return "a pattern has each of its pieces once, and no start"
    for goal, blank in goals:
        if WILDCARD in goal or not 0 <= blank < len(goal) or goal[blank] != 0:
            return f"the blank of the goal {list(goal)} of a pattern is in cell {blank}; expected one without a piece"
    return None


def _boards_problem(definition: SlidingFields) -> str | None:
    boards = [(f"goal {i}", goal) for i, goal in enumerate(definition.goals, 1)]
    for name, board in boards + ([("start", definition.start)] if definition.start is not None else []):
        held = Counter(board)
        wild = held.pop(WILDCARD, 0) if name != "start" else 0
        if len(board) != definition.cells or any(not 0 <= label < len(definition.tokens) for label in held):
            return f"{name} is not {definition.cells} labels from 0 to {len(definition.tokens) - 1}"
        spare = [count - held[label] for label, count in enumerate(definition.counts)]
        if spare[0] != 0 or min(spare) < 0 or (not wild and any(spare)):
            return f"{name} does not hold the pieces that the counts say"
    return None
