"""Heuristics as plain as can be, one board at a time: what the fast ones are compared with."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, groupby, pairwise, product
from math import inf

from farthest.families.hanoi.definition import Hanoi
from farthest.families.lights.definition import Lights
from farthest.families.permutation.definition import permutation
from farthest.families.sliding.definition import sliding
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.puzzle import Puzzle

Model = Callable[[Puzzle, Board, Board], float]
"""The value of a board for one goal; infinite without a way."""


def walk(puzzle: Puzzle, start: int) -> dict[int, int]:
    """How far a piece of a sliding puzzle in a cell is from each cell that it can get to."""
    definition = sliding(puzzle)
    found = {start: 0}
    queue = [start]
    for cell in queue:
        ways = [b for a, b in definition.edges + definition.arcs if a == cell] + [
            a for a, b in definition.edges if b == cell
        ]
        for after in ways:
            if after not in found:
                found[after] = found[cell] + 1
                queue.append(after)
    return found


def distance(puzzle: Puzzle, a: int, b: int) -> float:
    return walk(puzzle, a).get(b, inf)


def nearest(puzzle: Puzzle, board: Board, goal: Board) -> float:
    return sum(
        min(distance(puzzle, cell, to) for to in range(len(goal)) if right(board, goal, label, to))
        for cell, label in enumerate(board)
        if label
    )


def right(board: Board, goal: Board, label: int, cell: int) -> bool:
    """Whether a piece may be in the cell when the goal is reached: wildcards take those that are left over."""
    return goal[cell] == label or (goal[cell] == WILDCARD and goal.count(label) < board.count(label))


def matching(puzzle: Puzzle, board: Board, goal: Board) -> float:
    total: float = 0
    for label in sorted(set(board) - {0}):
        pieces = [cell for cell, held in enumerate(board) if held == label]
        must = {cell for cell, wanted in enumerate(goal) if wanted == label}
        may = [cell for cell, wanted in enumerate(goal) if wanted in (label, WILDCARD)]
        total += _least(puzzle, pieces, may, must)
    return total


def _least(puzzle: Puzzle, pieces: list[int], may: list[int], must: set[int]) -> float:
    """The least sum that takes each piece to a cell of its own, all that must be taken among them."""
    walks = [walk(puzzle, piece) for piece in pieces]

    @cache
    def rest(piece: int, taken: frozenset[int]) -> float:
        if piece == len(pieces):
            return 0 if must <= taken else inf
        ways = (
            walks[piece].get(cell, inf) + rest(piece + 1, taken | {cell}) for cell in may if cell not in taken
        )
        return min(ways, default=inf)

    return rest(0, frozenset())


def linear_conflict(puzzle: Puzzle, board: Board, goal: Board) -> float:
    total = nearest(puzzle, board, goal)
    rows = sliding(puzzle).rows
    for line in [*rows, *zip(*rows, strict=True)]:
        for open_, run in groupby(line, key=lambda cell: cell >= 0):
            if open_:
                total += 2 * _leaving(list(run), board, goal)
    return total


def _leaving(line: list[int], board: Board, goal: Board) -> int:
    """The fewest pieces that must be taken out so that no two in their goal line are in the wrong order."""
    wanted = [goal[cell] for cell in line]
    places = [wanted.index(board[cell]) for cell in line if board[cell] and board[cell] in wanted]
    return next(
        out
        for out in range(len(places) + 1)
        if any(list(kept) == sorted(kept) for kept in combinations(places, len(places) - out))
    )


def misplaced(puzzle: Puzzle, board: Board, goal: Board) -> float:
    if puzzle.family == "sliding":
        wrong = sum(label != 0 and not right(board, goal, label, cell) for cell, label in enumerate(board))
        rows = sliding(puzzle).rows
        return -(-wrong // (max(len(rows), len(rows[0])) - 1)) if puzzle.metric == "slide" else wrong
    definition = permutation(puzzle)
    slots = range(definition.slots)
    turned = definition.slots if definition.oriented else 0
    wrong = sum(board[slot] != goal[slot] or board[slot + turned] != goal[slot + turned] for slot in slots)
    most = max(
        sum(move.to[slot] != slot or move.delta[slot] > 0 for slot in slots) for move in definition.generators
    )
    return -(-wrong // most)


def gap(puzzle: Puzzle, board: Board, goal: Board) -> float:
    definition = permutation(puzzle)

    def pairs(stack: Board) -> Iterator[tuple[tuple[int, int], ...]]:
        turns = stack[definition.slots :] if definition.oriented else (0,) * definition.slots
        pancakes = [*zip(stack[: definition.slots], turns, strict=True), (-1, 0)]
        for upper, lower in pairwise(pancakes):
            if lower == (-1, 0):
                yield upper, lower
            else:
                yield min((upper, lower), (over(lower), over(upper)))

    def over(pancake: tuple[int, int]) -> tuple[int, int]:
        label, turn = pancake
        return label, turn if not definition.oriented or definition.ignore[label] else 1 - turn

    return definition.slots - (Counter(pairs(board)) & Counter(pairs(goal))).total()


def discs(puzzle: Puzzle, board: Board, goal: Board) -> float:
    assert len(board) == puzzle.defined_as(Hanoi).discs
    return sum(peg != wanted != WILDCARD for peg, wanted in zip(board, goal, strict=True))


def lamps(puzzle: Puzzle, board: Board, goal: Board) -> float:
    definition = puzzle.defined_as(Lights)
    needs = [
        (wanted - colour) % definition.colours
        for colour, wanted in zip(board, goal, strict=True)
        if wanted != WILDCARD
    ]
    if puzzle.metric == "multi":
        needs = [int(need > 0) for need in needs]
    return -(-sum(needs) // max(map(len, definition.presses)))


@cache
def changes_by_presses(puzzle: Puzzle) -> dict[Board, int]:
    """By what they change, the fewest moves of presses."""
    definition = puzzle.defined_as(Lights)
    found: dict[Board, int] = {}
    for times in product(range(definition.colours), repeat=len(definition.presses)):
        changes = [0] * definition.cells
        for press, often in zip(definition.presses, times, strict=True):
            for lamp in press:
                changes[lamp] = (changes[lamp] + often) % definition.colours
        moves = sum(map(bool, times)) if puzzle.metric == "multi" else sum(times)
        found[tuple(changes)] = min(moves, found.get(tuple(changes), moves))
    return found


def presses(puzzle: Puzzle, board: Board, goal: Board) -> float:
    colours = puzzle.defined_as(Lights).colours
    fillings = product(*(range(colours) if colour == WILDCARD else [colour] for colour in goal))
    found = changes_by_presses(puzzle)
    return min(
        found.get(tuple((b - a) % colours for a, b in zip(board, filling, strict=True)), inf)
        for filling in fillings
    )


def pegs(puzzle: Puzzle, board: Board, goal: Board) -> float:
    del puzzle
    fillings = product(*([0, 1] if hole == WILDCARD else [hole] for hole in goal))
    return min((sum(board) - sum(filling) for filling in fillings if sum(filling) <= sum(board)), default=inf)


MODELS: dict[str, Model] = {
    "zero": lambda puzzle, board, goal: 0,
    "misplaced": misplaced,
    "nearest": nearest,
    "manhattan": nearest,
    "matching": matching,
    "linear-conflict": linear_conflict,
    "gap": gap,
    "discs": discs,
    "lamps": lamps,
    "presses": presses,
    "pegs": pegs,
}


def value(name: str, puzzle: Puzzle, board: Board, goals: tuple[Board, ...]) -> float:
    """The least over the goals."""
    return min(MODELS[name](puzzle, board, goal) for goal in goals)
