"""The engine for boards that are arrangements: permutation puzzles, and sliding puzzles with any number of blanks in
any metric; and their problems in the kernel's terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from farthest import _kernel
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.fields import MAX_SLOTS
from farthest.families.sliding.definition import Sliding
from farthest.heuristics.contract import Component, Contents, Gaps, Heuristic, MapTable, Table
from farthest.puzzles.definition import WILDCARD, Board, MoveName
from farthest.search.contract import Node, PieceResult, Problem, Split
from farthest.search.expansion import MoveSource, forward_space
from farthest.search.levels import Splitter
from farthest.spaces.arrangement import ArrangementSpace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.spaces.contract import Boards


ANYTHING = 255
"""``WILDCARD`` in the kernel's goals."""

FAMILIES = ("sliding", "permutation")


@dataclass(frozen=True, slots=True)
class WalkProblem:
    """``kernel``: the problem; ``names``: of its moves, by number, in the order of ``space.neighbours``."""

    kernel: _kernel.WalkProblem
    names: tuple[MoveName, ...]
    space: MoveSource

    def way(self, moves: Sequence[int]) -> tuple[MoveName, ...]:
        """The names of moves given by number."""
        return tuple(self.names[move] for move in moves)


def walk_problem(problem: Problem, heuristic: Heuristic | None) -> WalkProblem | None:
    """The problem compiled, without a heuristic for ``None``; None where the family's boards are not arrangements,
    moves have guards, or the kernel cannot update a component of the heuristic move by move. Raises PuzzleError,
    BoardError."""
    definition = problem.puzzle.definition
    if problem.puzzle.family not in FAMILIES:
        return None
    if isinstance(definition, Permutation) and (definition.slots > MAX_SLOTS or definition.guards):
        return None
    terms = [] if heuristic is None else heuristic.terms()
    if terms is None:
        return None
    terms = [[component for component in term if not _is_nothing(component)] for term in terms]
    found = [component for term in terms for component in term]
    tables = [component for component in found if isinstance(component, Table | Contents)]
    gaps = [component for component in found if isinstance(component, Gaps)]
    maps = [component for component in found if isinstance(component, MapTable)]
    if len(tables) + len(gaps) + len(maps) != len(found):
        return None
    number = {id(component): i for i, component in enumerate([*tables, *gaps, *maps])}
    space = forward_space(problem.puzzle, problem.board)
    slots, labels, moduli, ignored = _board_form(problem)
    moves = _moves(space)
    kernel = _kernel.WalkProblem(
        slots=slots,
        labels=labels,
        moduli=moduli,
        ignored=ignored,
        moves=[move for _, move in moves],
        goals=[_pattern(goal) for goal in problem.targets()],
        tables=[_slot_table(component) for component in tables],
        gaps=[(component.turns, component.pairs, component.last) for component in gaps],
        maps=[_board_map(component, slots, labels) for component in maps],
        terms=[[number[id(component)] for component in term] for term in terms],
        shortest=heuristic is not None and heuristic.admissible,
    )
    return WalkProblem(kernel, tuple(name for name, _ in moves), space)


def _slot_table(component: Table | Contents) -> tuple[int, bytes, int]:
    if isinstance(component, Table):
        return 1, component.table, 1
    return component.turns, component.table, component.divisor


def _is_nothing(component: Component) -> bool:
    return isinstance(component, Table | Contents) and not any(component.table)


def _board_form(problem: Problem) -> tuple[int, int, Sequence[int], Sequence[int]]:
    """Slots, labels, moduli of the slots and ignored labels, in the kernel's form."""
    definition = problem.puzzle.definition
    if isinstance(definition, Permutation):
        return (
            definition.slots,
            len(definition.tokens),
            definition.slot_moduli if definition.oriented else (),
            definition.ignore,
        )
    assert isinstance(definition, Sliding)
    return definition.cells, len(definition.tokens), (), ()


KernelMove = tuple["Sequence[int]", int, int, "Sequence[int]"]


def _moves(space: MoveSource) -> list[tuple[MoveName, KernelMove]]:
    """The player's moves, named."""
    if isinstance(space, ArrangementSpace):
        return [(move.name, (move.to, move.require, move.forbid, ())) for move in space.moves_away]
    from farthest.families.permutation.gather_space import PermutationBoards

    assert isinstance(space, PermutationBoards)
    deltas = space.definition.oriented
    return [(move.name, (move.to, 0, 0, move.delta if deltas else ())) for move in space.moves_away]


def _pattern(goal: Board) -> list[int]:
    return [ANYTHING if content == WILDCARD else content for content in goal]


def _board_map(component: MapTable, slots: int, labels: int) -> _kernel.BoardMap:
    """The map as read from boards of the puzzle itself."""
    space, cell_of = component.space, component.cell_of
    pattern = component.label_of[:labels]
    ranks: _kernel.ArrangementSpace | None
    turns: list[int] = []
    digits: list[tuple[int, int, int]] = []
    ignored = [False] * labels
    if isinstance(space, ArrangementSpace):
        classes, ranks, places = space.layout.classes, space.kernel, space.layout.slots
    else:
        from farthest.families.permutation.gather_space import PermutationSpace
        from farthest.families.permutation.group_spaces import BasedSpace
        from farthest.families.permutation.scatter_space import SlotwiseSpace

        if isinstance(space, BasedSpace):
            pattern, space = bytes(space.relabel[label] for label in pattern), space.pattern
        assert isinstance(space, PermutationSpace | SlotwiseSpace), "a map of arrangement boards"
        classes, places = space.layout.classes, tuple(range(slots))
        ignored = [space.definition.ignore[label] for label in pattern]
        if isinstance(space, PermutationSpace):
            ranks = space.kernel
            kept = space.layout.twisted or space.layout.turned
            turns = [cell_of[slots + slot] for slot in range(slots)] if kept else []
        else:
            ranks = space.label_ranks
            digits = [
                (cell_of[slot], cell_of[slots + slot], space.definition.slot_moduli[slot])
                for slot in space.turned
            ]
    distances = component.distances
    if isinstance(distances, numpy.ndarray):
        table = _kernel.DistanceTable(numpy.ascontiguousarray(distances), len(distances))
    else:
        table = distances.kernel
    return _kernel.BoardMap(
        space=ranks,
        class_of=bytes(classes.index(label) for label in pattern),
        places=[cell_of[place] for place in places] if ranks is not None else [],
        turn_places=turns,
        digits=digits,
        ignored=ignored,
        table=table,
        turns=component.turns,
        turn_image=component.turned,
    )


DEEPEST = 1 << 20
"""The kernel's greatest bound: a search with a greater one would never end."""


SAMPLED = 1 << 21
"""Nodes with which the roots of a split are told apart; the next bound would take some ten times as many."""

MOST = 1 << 62
"""A budget that no walk spends."""


class ArrangementEngine:
    """An ``Engine``. ``Node.last``: the number of the move that led to the node; its exact inverse is left out. With
    maps of patterns, left out are also moves that make one move with the last, and all orders but one of moves that
    commute; ``solutions`` counts and ``listed`` has the other orders all the same.

    Solutions with different moves are different solutions, also where several moves have the same effect, two moves are
    made in the other order, or equal pieces are exchanged.
    """

    split_from = 1 << 22
    parts = 1 << 10
    budget = 1 << 24
    in_a_second = 1 << 25
    widest = 1 << 17
    probed = 1 << 15

    def __init__(self, problem: Problem, heuristic: Heuristic, walk: WalkProblem) -> None:
        self.problem = problem
        self.walk = walk
        if walk.kernel.by_coordinates:
            self.widest = 0  # pieces are searched faster than numpy finds equal boards
            self.split_from = 1 << 19  # each node has more of a tree below it
        self._numbers = {name: number for number, name in enumerate(walk.names)}
        self._splitter = Splitter(walk.space, problem, heuristic, self._last_moves)

    def lower_bound(self, board: Board) -> int:
        """0 for a goal, else at least 1."""
        return self.walk.kernel.bound(bytes(board))

    def split(self, board: Board, bound: int) -> Split:
        assert board == self.problem.board, "the problem's board is split"
        found = self._splitter.split(bound, self.parts, widest=self.widest, probed=self.probed)
        if self.walk.kernel.by_coordinates:
            nodes = self._sampled(found.roots, bound)
            found.arrange(sorted(range(len(nodes)), key=lambda root: -nodes[root]))
        return found

    def _sampled(self, roots: Sequence[Node], bound: int) -> list[int]:
        """How many nodes there are below each root with a smaller bound: a solution is most likely where there are
        most. The bounds are so small that all these nodes are few beside the iteration's."""
        nodes = [0] * len(roots)
        for less in (4, 3, 2):
            nodes = [self._below(root, bound - less) for root in roots]
            if sum(nodes) >= SAMPLED:
                break
        return nodes

    def _below(self, root: Node, bound: int) -> int:
        return self.walk.kernel.walk(bytes(root.board), root.depth, root.last, [], bound, MOST, False, 0)[0]

    def run(self, node: Node, bound: int, *, first: bool, limit: int) -> PieceResult:
        nodes, solutions, listed, next_bound, rest = self.walk.kernel.walk(
            bytes(node.board),
            node.depth,
            node.last,
            [self._numbers[move] for move in node.way],
            min(bound, DEEPEST),
            self.budget,
            first,
            1 if first else limit,
        )
        way = self.walk.way
        return PieceResult(
            nodes,
            solutions,
            tuple(way(moves) for moves in listed),
            next_bound,
            tuple(
                Node(tuple(board), node.depth + len(moves) - len(node.way), moves[-1], way(moves))
                for board, moves in rest
            ),
        )

    def _last_moves(self, before: Boards, after: Boards) -> NDArray[numpy.intp]:
        """The first move that leads from each board to the one after it."""
        found = numpy.full(len(before), -1, dtype=numpy.intp)
        for name, rows, boards in self.walk.space.neighbours(before, toward=False):
            led = rows[(boards == after[rows]).all(axis=1)]
            found[led[found[led] < 0]] = self._numbers[name]
        return found


def arrangement_engine(problem: Problem, heuristic: Heuristic) -> ArrangementEngine | None:
    """The engine, or None where it cannot search these boards or use this heuristic. Raises PuzzleError, BoardError."""
    walk = walk_problem(problem, heuristic)
    return None if walk is None else ArrangementEngine(problem, heuristic, walk)
