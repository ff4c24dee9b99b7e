"""A naive model of sliding puzzles, as plain as can be: what the fast code is compared with.

A board is a tuple of labels, one for each cell; label 0 is the blank. Everything is a loop over boards in
dictionaries.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise
from typing import Any

from farthest.families.sliding.definition import sliding
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.puzzle import Origin, Puzzle

Board = tuple[int, ...]
Move = tuple[int, int]

BLANK = 0


def moves(puzzle: Puzzle, board: Board, backward: bool = False) -> list[tuple[Board, Move]]:
    """The boards one move away, each with its move: the cell that becomes blank, the blank that is filled.

    ``backward``: the boards from which one move leads to this one, each with the move that undoes it.
    """
    if puzzle.metric == "slide":
        return _slide_moves(puzzle, board)  # a slide is taken back by a slide
    passages = list(sliding(puzzle).arcs)
    if backward:
        passages = [(b, a) for a, b in passages]
    for a, b in sliding(puzzle).edges:
        passages += [(a, b), (b, a)]
    return [(_shift(board, [b, a]), (a, b)) for a, b in passages if board[a] != BLANK and board[b] == BLANK]


def _slide_moves(puzzle: Puzzle, board: Board) -> list[tuple[Board, Move]]:
    """From each blank, look along the four directions: any number of adjacent pieces may follow into it."""
    rows = sliding(puzzle).rows
    place_of_cell = {cell: (y, x) for y, row in enumerate(rows) for x, cell in enumerate(row)}
    found = []
    for blank, content in enumerate(board):
        if content != BLANK:
            continue
        for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            line = [blank]
            y, x = place_of_cell[blank]
            while True:
                y, x = y + dy, x + dx
                if not (0 <= y < len(rows) and 0 <= x < len(rows[0])):
                    break  # off the board
                cell = rows[y][x]
                if cell < 0 or board[cell] == BLANK:
                    break  # a wall, or another blank
                line.append(cell)
                found.append((_shift(board, line), (cell, blank)))
    return found


def _shift(board: Board, line: Sequence[int]) -> Board:
    """The first cell of the line is blank: each piece goes to the cell before it, the last becomes blank."""
    after = list(board)
    for here, there in pairwise(line):
        after[here] = board[there]
    after[line[-1]] = BLANK
    return tuple(after)


def origin_boards(puzzle: Puzzle, origin: Origin) -> set[Board]:
    """The boards at distance 0: a goal set with its wildcards filled in every way, or one board."""
    if origin.where == "goal":
        templates = list(sliding(puzzle).goals)
    elif origin.where == "start":
        start = sliding(puzzle).start
        assert start is not None
        templates = [start]
    else:
        templates = [sliding(puzzle).parse_board(origin.where)]
    found = set()
    for template in templates:
        missing = Counter(dict(enumerate(sliding(puzzle).counts)))
        missing.subtract(label for label in template if label != WILDCARD)
        for filling in arrangements([missing[label] for label in range(len(sliding(puzzle).counts))]):
            pieces = iter(filling)
            found.add(tuple(next(pieces) if label == WILDCARD else label for label in template))
    return found


def distances(puzzle: Puzzle, origin: Origin | None = None, max_depth: int | None = None) -> dict[Board, int]:
    """The distance of every board that has one: least number of moves to the origin, or from it."""
    origin = origin or puzzle.origin
    found = dict.fromkeys(origin_boards(puzzle, origin), 0)
    layer, depth = list(found), 0
    while layer and depth != max_depth:
        depth += 1
        fresh = []
        for board in layer:
            for other, _ in moves(puzzle, board, backward=origin.direction == "to"):
                if other not in found:
                    found[other] = depth
                    fresh.append(other)
        layer = fresh
    return found


def layers(found: dict[Board, int]) -> list[int]:
    """How many boards there are at each distance."""
    counts = Counter(found.values())
    return [counts[depth] for depth in range(max(counts) + 1)]


def solutions(
    puzzle: Puzzle, found: dict[Board, int], board: Board, origin: Origin | None = None
) -> list[list[Board]]:
    """All shortest ways from the board to the origin, or from the origin to the board, as lists of boards."""
    to = (origin or puzzle.origin).direction == "to"
    if found[board] == 0:
        return [[board]]
    ways = []
    for other in nearer(puzzle, found, board, backward=not to):
        for way in solutions(puzzle, found, other, origin):
            ways.append([board, *way] if to else [*way, board])
    return ways


def count_solutions(
    puzzle: Puzzle, found: dict[Board, int], board: Board, origin: Origin | None = None
) -> int:
    """How many shortest ways there are, without listing them."""
    backward = (origin or puzzle.origin).direction == "from"

    @cache
    def count(board: Board) -> int:
        if found[board] == 0:
            return 1
        return sum(count(other) for other in nearer(puzzle, found, board, backward))

    return count(board)


def nearer(puzzle: Puzzle, found: dict[Board, int], board: Board, backward: bool) -> list[Board]:
    """The boards one move away that are one nearer to the origin."""
    others = [other for other, _ in moves(puzzle, board, backward)]
    return [other for other in others if found.get(other) == found[board] - 1]


def arrangements(counts: Sequence[int]) -> Iterator[Board]:
    """All boards with ``counts[label]`` pieces of each label."""
    if not any(counts):
        yield ()
    for label, count in enumerate(counts):
        if count:
            for rest in arrangements([*counts[:label], count - 1, *counts[label + 1 :]]):
                yield (label, *rest)


def boards_in_key_order(layout: dict[str, Any]) -> list[Board]:
    """The boards that have keys, where the board with key k is number k.

    The classes are put into the free slots one after another. Places p1 < p2 < ... of a class are ranked by
    the sum of C(p_i, i), which orders them by the last place, then the last but one, and so on.
    """
    cells = len(layout["slots"])

    def put(j: int, in_slots: dict[int, int]) -> Iterator[dict[int, int]]:
        if j == len(layout["classes"]):
            yield in_slots
            return
        free = [slot for slot in range(cells) if slot not in in_slots]
        for places in sorted(combinations(free, layout["counts"][j]), key=lambda places: places[::-1]):
            yield from put(j + 1, {**in_slots, **dict.fromkeys(places, j)})

    found = []
    for in_slots in put(0, {}):
        order = [in_slots[slot] for slot in range(cells)]
        if layout["parity"] is not None:
            inversions = sum(a > b for a, b in combinations(order, 2))
            if inversions % 2 != layout["parity"][order.index(0)]:
                continue
        board = [0] * cells
        for slot, j in enumerate(order):
            board[layout["slots"][slot]] = layout["classes"][j]
        found.append(tuple(board))
    return found
