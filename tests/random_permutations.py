"""Small permutation puzzles and patterns at random, with a plain model of what their maps hold.

Sets of alike and of ignored pieces, turned in the goal or not; moves with and without inverses, of order two, that move
several sets as one; one goal or several; counted to the goals or from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random

from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import PieceSet, assemble
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.moves import Move, inverse, product
from farthest.puzzles.puzzle import Origin, Puzzle
from permutations import Board, moved, unmoved

MOST = 1500
"""Boards of a puzzle."""


def random_puzzle(seed: int) -> Puzzle | None:
    """The same for the same seed; None where it has no moves."""
    rng = Random(seed)
    sets = [_pieces(rng, number) for number in range(rng.choice([1, 1, 2, 2, 3]))]
    moduli = [each.modulus for each in sets for _ in each.pieces]
    moves = [_move(rng, sets) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.7:
        moves += [inverse(move, moduli) for move in moves]
    if rng.random() < 0.2:
        moves += [product(move, move, moduli) for move in moves]
    try:
        definition = assemble(sets, [replace(move, name=f"m{i}") for i, move in enumerate(moves)])
    except PuzzleError:
        return None
    if rng.random() < 0.2:
        boards = [definition.goals[0]]
        for _ in range(4):
            boards.append(moved(definition, rng.choice(definition.generators), boards[-1]))
        definition = replace(definition, goals=tuple(dict.fromkeys(boards[::2])))
    origin = Origin(rng.choice(["to", "to", "from"]), "goal")
    return Puzzle("sample", "", "", "permutation", "generator", origin, (), definition)


def _pieces(rng: Random, number: int) -> PieceSet:
    size, modulus = rng.randint(2, 4), rng.choice([1, 1, 2, 3, 4])
    kinds = size if rng.random() < 0.6 else rng.randint(1, size)
    tokens = [chr(97 + 8 * number + (i if kinds == size else rng.randrange(kinds))) for i in range(size)]
    turned = rng.random() < 0.3
    ignored = {token for token in tokens if modulus > 1 and rng.random() < 0.15}
    pieces = tuple((token, rng.randrange(modulus) if turned else 0) for token in tokens)
    return PieceSet(f"s{number}", modulus, pieces, frozenset(ignored))


def _move(rng: Random, sets: list[PieceSet]) -> Move:
    to: list[int] = []
    delta: list[int] = []
    alone = rng.choice([None, None, rng.randrange(len(sets))])
    for number, each in enumerate(sets):
        first, size = len(to), len(each.pieces)
        slots, turns = list(range(size)), [0] * size
        if alone in (None, number):
            kind = rng.choice(["any", "round", "pair", "turn"])
            if kind == "any":
                rng.shuffle(slots)
            elif kind == "round":
                slots = [*slots[1:], 0]
            elif kind == "pair":
                slots[:2] = 1, 0
            if rng.random() < 0.6:
                turns = [rng.randrange(each.modulus) for _ in slots]
                if rng.random() < 0.5:
                    turns[-1] = -sum(turns[:-1]) % each.modulus
        to += [first + slot for slot in slots]
        delta += turns
    return Move("", tuple(to), tuple(delta))


def distances(
    puzzle: Puzzle, goals: Iterable[Board], step: Callable[[Permutation, Move, Board], Board]
) -> dict[Board, int] | None:
    """Of all boards that steps lead to from the goals; None where there are more than ``MOST``."""
    definition = permutation(puzzle)
    found = dict.fromkeys(goals, 0)
    queue = list(found)
    for board in queue:
        for move in definition.generators:
            after = step(definition, move, board)
            if after not in found:
                found[after] = found[board] + 1
                queue.append(after)
        if len(queue) > MOST:
            return None
    return found


def solutions(puzzle: Puzzle, found: dict[Board, int], board: Board) -> int:
    """How many shortest ways there are to the goals, from which the distances are."""
    definition = permutation(puzzle)
    ways = {board: 1}
    for depth in range(found[board], 0, -1):
        nearer: dict[Board, int] = {}
        for here, number in ways.items():
            for move in definition.generators:
                after = moved(definition, move, here)
                if found[after] == depth - 1:
                    nearer[after] = nearer.get(after, 0) + number
        ways = nearer
    return sum(ways.values())


@dataclass(frozen=True)
class RandomPattern:
    """``text``: after ``@``. ``kind``: of each label what it is told as; ``turned``: whether its orientation is."""

    text: str
    kind: tuple[int, ...]
    turned: tuple[bool, ...]

    def of(self, definition: Permutation, board: Board) -> tuple[int, ...]:
        """What the pattern tells of a board."""
        slots = definition.slots
        turns = [
            turn if self.turned[label] else 0
            for label, turn in zip(board[:slots], board[slots:] or (0,) * slots, strict=True)
        ]
        return (*(self.kind[label] for label in board[:slots]), *turns)

    def distances(self, puzzle: Puzzle, boards: Iterable[Board]) -> dict[Board, int]:
        """Of the boards: moves to one that the pattern does not tell from a goal."""
        definition = permutation(puzzle)
        goals = {self.of(definition, goal) for goal in definition.goals}
        found = distances(puzzle, [board for board in boards if self.of(definition, board) in goals], unmoved)
        assert found is not None
        return found


def random_pattern(puzzle: Puzzle, rng: Random) -> RandomPattern:
    """Pieces, classes of them, ``places:`` and ``turns:``."""
    definition = permutation(puzzle)
    left = rng.sample(range(len(definition.tokens)), len(definition.tokens))
    kind = [-1 - orbit for orbit in definition.label_orbit]
    turned = [False] * len(kind)
    parts: list[str] = []
    places: list[str] = []
    for number in range(rng.randint(1, len(left))):
        if not left:
            break
        group = [left.pop()]
        if rng.random() < 0.3:
            alike = [label for label in left if kind[label] == kind[group[0]]]
            group += alike[: rng.randint(0, 2)]
        unturned = rng.random() < 0.3
        for label in group:
            kind[label], turned[label] = number, not unturned and not definition.ignore[label]
        left = [label for label in left if label not in group]
        (places if unturned else parts).append("=".join(definition.tokens[label] for label in group))
    if places:
        parts += [f"places:{places[0]}", *places[1:]]
    sets = {
        name: [label for label, of in enumerate(definition.label_orbit) if definition.orbit_names[of] == name]
        for name in definition.orbit_names
    }
    for name, labels in sets.items():
        turning = [
            label
            for label in labels
            if definition.moduli[definition.label_orbit[label]] > 1 and not definition.ignore[label]
        ]
        if turning and rng.random() < 0.3:
            parts.append(f"turns:{name}")
            for label in turning:
                turned[label] = True
    return RandomPattern(".".join(parts), tuple(kind), tuple(turned))
