"""Solutions of permutation puzzles by two stages: the words that turn no piece, and all others.

The words of at most two moves that leave all orientations as they are make a subgroup; it takes the slots of some
pieces to slots of the same set only. The first stage turns all pieces right and brings each to its set, the second
solves the rest by these words alone. Of the 3x3x3 that is H. Kociemba's method, whose second stage has U, D and half
turns. It is done in all directions that the puzzle's symmetries give, for the board and for its inverse.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product as pairs
from math import factorial
from typing import TYPE_CHECKING

import numpy

from farthest import _kernel
from farthest.errors import ResourceError
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.gather_space import PermutationBoards
from farthest.families.permutation.groups import orbits
from farthest.families.permutation.moves import Move, identity, inverse, product
from farthest.families.permutation.symmetries import symmetries
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.puzzle import Origin, Puzzle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from farthest.search.contract import Problem, Way
    from farthest.spaces.contract import Boards

    Word = list[int]
    View = tuple[list[int], bytes]

MOST_SEEN = 1 << 17
"""Different arrangements that a stage sees of a set of pieces: more take longer than a moment."""
UNBOUNDED = 1 << 20

SAME = bytes(range(256))


class Stages:
    """Searches by stages for one board of a puzzle."""

    def __init__(self, problem: Problem, solver: _Solver) -> None:
        board = numpy.array([problem.board], dtype=numpy.uint8)
        self._solver = solver
        self._boards = [solver.own(each.images(board)) for each in solver.directions]

    def search(self, nodes: int, below: int | None, stopped: Callable[[], bool]) -> tuple[Way | None, int]:
        """A way of fewer than ``below`` moves, or None, and the nodes that were generated, about ``nodes`` at most."""
        best: Way | None = None
        generated = 0
        least = UNBOUNDED if below is None else below
        for direction, board in zip(self._solver.directions, self._boards, strict=True):
            if stopped():
                break
            count, found = self._solver.kernel.search(board, least, nodes // len(self._boards))
            generated += count
            if found is not None:
                best, least = direction.way(found), len(found)
        return best, generated


@dataclass(frozen=True, slots=True)
class _Direction:
    """``images``: gives those of boards; ``names``: by number of a move made on an image, the move that does this on
    the board; ``backward``: the image is the inverse of the board's, so that its moves are made in the other order."""

    images: Callable[[Boards], Boards]
    names: tuple[str, ...]
    backward: bool

    def way(self, moves: Sequence[int]) -> Way:
        """The moves of the board, from those of its image."""
        return tuple(self.names[move] for move in (reversed(moves) if self.backward else moves))


class _Solver:
    """The tables of a puzzle and a target. Raises ValueError where a view sees too much."""

    def __init__(self, puzzle: Puzzle, target: Board, stages: list[tuple[list[Word], list[View]]]) -> None:
        definition = permutation(puzzle)
        moves = definition.generators
        goal = bytes([*range(definition.slots), *bytes(definition.slots)])
        self._target = target
        self._slots = definition.slots
        self._moduli = numpy.array(definition.slot_moduli)
        self.kernel = _kernel.StagedSearch(
            definition.slot_moduli, [(move.to, 0, 0, move.delta) for move in moves], goal, stages
        )
        self.directions = _directions(puzzle, target, stages[1][0])

    def own(self, boards: Boards) -> bytes:
        """The first board in the kernel's form: of each slot where its piece belongs, and how it is turned."""
        slots, board, target = self._slots, boards[0].tolist(), self._target
        home = [target.index(label) for label in board[:slots]]
        turns = [board[slots + slot] - target[slots + there] for slot, there in enumerate(home)]
        return bytes(
            [*home, *(turn % modulus for turn, modulus in zip(turns, self._moduli.tolist(), strict=True))]
        )


def stages_of(problem: Problem) -> Stages | None:
    """The stages for a board; None where the puzzle has none, or they are too large."""
    if problem.puzzle.family != "permutation":
        return None
    targets = problem.targets()
    if len(targets) != 1 or WILDCARD in targets[0]:
        return None
    solver = _solver(problem.puzzle, targets[0])
    return None if solver is None else Stages(problem, solver)


@lru_cache(maxsize=4)
def _solver(puzzle: Puzzle, target: Board) -> _Solver | None:
    definition = permutation(puzzle)
    if (
        max(definition.counts) > 1
        or any(definition.ignore)
        or definition.guards
        or not (definition.symmetric and definition.oriented)
    ):
        return None
    stages = _stages(definition)
    return None if stages is None else _Solver(puzzle, target, stages)


def _stages(definition: Permutation) -> list[tuple[list[Word], list[View]]] | None:
    """For each stage its words and its views, as the kernel has them."""
    moves, moduli, slots = definition.generators, definition.slot_moduli, definition.slots
    words = _words(moves, moduli)
    kept = [_effect(moves, moduli, word).to for word in words]
    sets = orbits(slots, kept)
    number = {slot: place for place, among in enumerate(sets) for slot in among}
    first: list[View] = []
    for orbit in definition.orbits:
        modulus = moduli[orbit[0]]
        if modulus > 1:
            first.append(([slots + slot for slot in orbit], SAME))
        among = {number[slot] for slot in orbit}
        if len(among) > 1:
            first.append((list(orbit), bytes(number.get(label, 0) for label in range(256))))
        seen = factorial(len(orbit))
        for each in among:
            seen //= factorial(len(sets[each]))
        if modulus ** (len(orbit) - 1) > MOST_SEEN or seen > MOST_SEEN:
            return None
    second = [(list(among), SAME) for among in sets if len(among) > 1]
    if not first or not second or any(factorial(len(cells)) > MOST_SEEN for cells, _ in second):
        return None
    return [([[move] for move in range(len(moves))], first), (words, second)]


def _words(moves: Sequence[Move], moduli: Sequence[int]) -> list[Word]:
    """The words of one or two moves that turn no piece; of those with one effect the first."""
    found = {identity(len(moduli)).effect: list[int]()}
    turning = [number for number, move in enumerate(moves) if any(move.delta)]
    alone = [[number] for number, move in enumerate(moves) if not any(move.delta)]
    for word in [*alone, *(list(pair) for pair in pairs(turning, turning))]:
        effect = _effect(moves, moduli, word).effect
        if not any(effect[1]):
            found.setdefault(effect, word)
    return [word for word in found.values() if word]


def _effect(moves: Sequence[Move], moduli: Sequence[int], word: Word) -> Move:
    made = identity(len(moduli))
    for move in word:
        made = product(made, moves[move], moduli)
    return made


def _directions(puzzle: Puzzle, target: Board, words: list[Word]) -> list[_Direction]:
    """One for each set of moves that the words have seen from there, and for boards and their inverses."""
    definition = permutation(puzzle)
    moves, moduli = definition.generators, definition.slot_moduli
    by_effect = {move.effect: number for number, move in enumerate(moves)}
    back = [by_effect[inverse(move, moduli).effect] for move in moves]
    space = PermutationBoards(puzzle, Origin(), [target])
    fixed = numpy.array([target], dtype=numpy.uint8)
    made = {space.moved(fixed, move).tobytes(): number for number, move in reversed([*enumerate(moves)])}
    after = numpy.concatenate([space.moved(fixed, move) for move in moves])
    found: list[_Direction] = []
    seen = set[frozenset[int]]()
    try:
        known = None if definition.turns is not None else symmetries(definition, target)
    except ResourceError:  # they are too many to be found
        known = None
    if known is None:
        return [_Direction(lambda boards: boards, tuple(move.name for move in moves), backward=False)]
    for each in known.maps:
        own = [made[row.tobytes()] for row in each.images(after)]
        stage = frozenset(own[word[0]] for word in words if len(word) == 1)
        if stage in seen:
            continue
        seen.add(stage)
        source = [own.index(number) for number in range(len(moves))]
        found.append(_Direction(each.images, tuple(moves[move].name for move in source), backward=False))
        if known.inversion is not None:
            turned = known.inversion.images
            names = tuple(moves[back[move]].name for move in source)
            found.append(_Direction(_then(turned, each.images), names, backward=True))
    return found


def _then(
    first: Callable[[Boards], Boards], second: Callable[[Boards], Boards]
) -> Callable[[Boards], Boards]:
    return lambda boards: second(first(boards))
