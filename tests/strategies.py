"""Random small puzzles for property tests: every kind of definition, small enough to enumerate in Python."""

from collections.abc import Sequence
from itertools import combinations
from math import factorial, prod
from typing import Any

from hypothesis import strategies as st

from farthest.families.sliding.definition import Sliding, sliding
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.grid import Passages, disconnection, grid_edges, number_cells
from farthest.puzzles.puzzle import Origin, Puzzle
from naive import origin_boards

MOST_ARRANGEMENTS = 20_000

_TOKENS = "□123456789ABCDEFGHIJ"


def make_puzzle(
    *,
    goals: Sequence[Sequence[int]],
    rows: Sequence[Sequence[int]] = (),
    edges: Passages = (),
    arcs: Passages = (),
    counts: Sequence[int] | None = None,
    start: Sequence[int] | None = None,
    tokens: Sequence[str] = _TOKENS,
    metric: str = "step",
    origin: Origin | None = None,
) -> Puzzle:
    """A puzzle from labels: on ``rows``, a grid of cell numbers, -1 a wall, or on ``edges`` and ``arcs``.

    ``counts`` is needed where wildcards hide pieces.
    """
    if counts is None:
        counts = [goals[0].count(label) for label in range(max(goals[0]) + 1)]
    grid = tuple(tuple(row) for row in rows)
    return Puzzle(
        name="made-up",
        title="",
        source="",
        family="sliding",
        metric=metric,
        origin=origin or Origin(),
        known=(),
        definition=Sliding(
            rows=grid,
            edges=grid_edges(grid) if grid else tuple(sorted(edges)),
            arcs=tuple(sorted(arcs)),
            tokens=tuple(tokens[: len(counts)]),
            counts=tuple(counts),
            goals=tuple(tuple(goal) for goal in goals),
            start=None if start is None else tuple(start),
        ),
    )


def grid_rows(height: int, width: int) -> list[list[int]]:
    """The cell numbers of a grid without walls."""
    return [list(range(y * width, (y + 1) * width)) for y in range(height)]


@st.composite
def grids(draw: st.DrawFn) -> list[list[int]]:
    """Grids of up to 12 places with walls here and there; the cells are connected."""
    height = draw(st.integers(1, 4))
    width = draw(st.integers(2 if height == 1 else 1, min(6, 12 // height)))
    walls = [[False] * width for _ in range(height)]
    for place in draw(st.sets(st.integers(0, height * width - 1), max_size=height * width // 3)):
        walls[place // width][place % width] = True
        rows = number_cells(walls)
        cells = sum(cell >= 0 for row in rows for cell in row)
        if cells < 2 or disconnection(cells, grid_edges(rows)):
            walls[place // width][place % width] = False
    return [list(row) for row in number_cells(walls)]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Passages, Passages]:
    """Edges and arcs of a connected graph with up to 9 cells."""
    cells = draw(st.integers(2, 9))
    pairs = {(draw(st.integers(0, cell - 1)), cell) for cell in range(1, cells)}
    pairs |= draw(st.sets(st.sampled_from([(a, b) for b in range(cells) for a in range(b)]), max_size=cells))
    one_way = draw(st.sets(st.sampled_from(sorted(pairs)))) if draw(st.booleans()) else set()
    arcs = {(b, a) if draw(st.booleans()) else (a, b) for a, b in sorted(one_way)}
    return tuple(sorted(pairs - one_way)), tuple(sorted(arcs))


@st.composite
def piece_counts(draw: st.DrawFn, cells: int, most: int) -> list[int]:
    """Pieces of each label, the blank first, with at most ``most`` (220 or more) arrangements."""
    if factorial(cells) <= most and draw(st.booleans()):
        return [1] * cells
    counts = [draw(st.integers(1, min(3, cells - 1)))]
    while sum(counts) < cells:
        counts.append(draw(st.integers(1, min(3, cells - sum(counts)))))
    while factorial(cells) // prod(map(factorial, counts)) > most:
        counts[-2:] = [sum(counts[-2:])]  # make two kinds of piece one
        counts[1:] = counts[-1:] + counts[1:-1]
    return counts


@st.composite
def puzzles(draw: st.DrawFn, most: int = MOST_ARRANGEMENTS) -> Puzzle:
    """Sliding puzzles of every kind, with at most ``most`` arrangements of their pieces.

    Grids with walls in both metrics, graphs with edges and arcs; several blanks; identical pieces; one goal
    or a set, with wildcards or without; distances counted to or from the goals, the start or another board.
    """
    shape: dict[str, Any] = {}
    if draw(st.booleans()):
        shape["rows"] = draw(grids())
        shape["metric"] = draw(st.sampled_from(["step", "slide"]))
        cells = sum(cell >= 0 for row in shape["rows"] for cell in row)
    else:
        shape["edges"], shape["arcs"] = draw(graphs())
        cells = 1 + max(map(max, shape["edges"] + shape["arcs"]))
    counts = draw(piece_counts(cells, most))
    pieces = [label for label, count in enumerate(counts) for _ in range(count)]
    boards = st.permutations(pieces).map(tuple)
    goals = draw(st.lists(boards, min_size=1, max_size=3, unique=True))
    if draw(st.booleans()):
        goals = draw(with_wildcards(goals))
    start = draw(st.none() | boards)
    puzzle = make_puzzle(**shape, goals=goals, counts=counts, start=start)
    where = ["goal", "goal", sliding(puzzle).format_board(draw(boards))] + (["start"] if start else [])
    origin = Origin(draw(st.sampled_from(["to", "from"])), draw(st.sampled_from(where)))
    return make_puzzle(**shape, goals=goals, counts=counts, start=start, origin=origin)


@st.composite
def with_wildcards(draw: st.DrawFn, goals: list[Board]) -> list[Board]:
    """The goals with some of their pieces, never a blank, made wildcards; each once."""
    chosen = draw(st.sets(st.integers(0, len(goals[0]) - 1), max_size=4))
    wild = [
        tuple(WILDCARD if cell in chosen and label else label for cell, label in enumerate(goal))
        for goal in goals
    ]
    return list(dict.fromkeys(wild))


@st.composite
def layouts(draw: st.DrawFn, puzzle: Puzzle) -> dict[str, Any]:
    """Key layouts of the puzzle: slots and classes in any order, with parity bits where they are possible."""
    definition = sliding(puzzle)
    classes = [0, *draw(st.permutations(range(1, len(definition.counts))))]
    layout: dict[str, Any] = {
        "version": 1,
        "slots": list(draw(st.permutations(range(definition.cells)))),
        "classes": classes,
        "counts": [definition.counts[label] for label in classes],
        "parity": None,
    }
    if draw(st.integers(0, 3)):
        layout["parity"] = parity_bits(puzzle, layout)
    return layout


def parity_bits(puzzle: Puzzle, layout: dict[str, Any]) -> list[int] | None:
    """The parity bits of a layout with which all origins have keys, or None where there are none.

    A step is one swap, so where the cells can be coloured like a chess board, the colour of the blank's cell
    tells the parity of the arrangement.
    """
    definition = sliding(puzzle)
    if max(definition.counts) > 1 or definition.cells < 3:
        return None
    colour = {0: 0}
    while len(colour) < definition.cells:
        for a, b in definition.edges + definition.arcs:
            for here, there in ((a, b), (b, a)):
                if here in colour:
                    colour.setdefault(there, 1 - colour[here])
    if any(colour[a] == colour[b] for a, b in definition.edges + definition.arcs):
        return None
    found = set()
    for board in origin_boards(puzzle, puzzle.origin):
        order = [layout["classes"].index(board[cell]) for cell in layout["slots"]]
        inversions = sum(a > b for a, b in combinations(order, 2))
        found.add((inversions + colour[board.index(0)]) % 2)
    if len(found) > 1:
        return None
    return [(colour[cell] + min(found)) % 2 for cell in layout["slots"]]
