"""A problem whose boards are arrangements (sliding and permutation puzzles), in the kernel's terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from farthest import _kernel
from farthest.families.permutation.based_space import BasedSpace
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.fields import MAX_SLOTS
from farthest.families.permutation.gather_space import PermutationSpace
from farthest.families.permutation.neighbours import PermutationBoards
from farthest.families.permutation.scatter_space import SlotwiseSpace
from farthest.families.sliding.definition import Sliding
from farthest.heuristics.contract import Contents, Gaps, MapTable, Table
from farthest.heuristics.half_bytes import HalfBytes
from farthest.heuristics.reduced_map import ReducedMap
from farthest.puzzles.definition import WILDCARD
from farthest.search.expansion import forward_space
from farthest.spaces.arrangement import ArrangementSpace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.heuristics.contract import Component, Heuristic
    from farthest.puzzles.definition import Board, MoveName
    from farthest.search.expansion import MoveSource
    from farthest.search.problem import Problem

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
    """The problem compiled, without a heuristic for ``None``; None where the family's boards are not arrangements, or
    the kernel cannot update a component of the heuristic move by move. Raises PuzzleError, BoardError."""
    definition = problem.puzzle.definition
    many = isinstance(definition, Permutation) and definition.slots > MAX_SLOTS
    if problem.puzzle.family not in FAMILIES or many:
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
    if isinstance(space, PermutationBoards):
        deltas = space.definition.oriented
        return [(move.name, (move.to, 0, 0, move.delta if deltas else ())) for move in space.moves_away]
    assert isinstance(space, ArrangementSpace)
    return [(move.name, (move.to, move.require, move.forbid, ())) for move in space.moves_away]


def _pattern(goal: Board) -> list[int]:
    return [ANYTHING if content == WILDCARD else content for content in goal]


def _board_map(component: MapTable, slots: int, labels: int) -> _kernel.BoardMap:
    """The map as read from boards of the puzzle itself."""
    space, cell_of = component.space, component.cell_of
    pattern = component.label_of[:labels]
    if isinstance(space, BasedSpace):
        pattern, space = bytes(space.relabel[label] for label in pattern), space.pattern
    ranks: _kernel.ArrangementSpace | None
    turns: list[int] = []
    digits: list[tuple[int, int, int]] = []
    ignored = [False] * labels
    if isinstance(space, ArrangementSpace):
        classes, ranks, places = space.layout.classes, space.kernel, space.layout.slots
    else:
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
    found = component.distances
    distances = found.entries if isinstance(found, ReducedMap) else found
    return _kernel.BoardMap(
        space=ranks,
        class_of=bytes(classes.index(label) for label in pattern),
        places=[cell_of[place] for place in places] if ranks is not None else [],
        turn_places=turns,
        digits=digits,
        ignored=ignored,
        distances=distances.packed
        if isinstance(distances, HalfBytes)
        else numpy.ascontiguousarray(distances),
        halves=isinstance(distances, HalfBytes),
        turns=component.turns,
        turn_image=component.turned,
        representatives=found.representatives.kernel if isinstance(found, ReducedMap) else None,
    )
