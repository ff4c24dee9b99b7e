"""The heuristics with a plain name: which puzzles each is for, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.families.hanoi.definition import Hanoi, hanoi
from farthest.families.lights.definition import Lights, lights
from farthest.families.pegs.definition import Pegs
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.sliding.definition import Sliding, sliding
from farthest.heuristics import counts
from farthest.heuristics.cell_sums import CellSums
from farthest.heuristics.gap import GapCounts, is_pancake
from farthest.heuristics.linear_conflict import Conflicts
from farthest.heuristics.matching import LeastMatching
from farthest.heuristics.passages import distinct, nearest_table

if TYPE_CHECKING:
    from farthest.heuristics.contract import Heuristic
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle

    Goals = Sequence[Board]


@dataclass(frozen=True, slots=True)
class Simple:
    """A heuristic by name. ``problem``: why it is not for a puzzle, with a mend, or None; ``make`` then makes it."""

    problem: Callable[[Puzzle], str | None]
    make: Callable[[Puzzle, Goals], Heuristic]


def _no_problem(puzzle: Puzzle) -> str | None:
    del puzzle
    return None


def _of_pieces(puzzle: Puzzle) -> str | None:
    """For heuristics from the distances of single pieces."""
    if not isinstance(puzzle.definition, Sliding):
        return f"it measures ways of pieces on the board of a sliding puzzle, this is of the family {puzzle.family}"
    if puzzle.metric != "step":
        return f"in the metric {puzzle.metric} one move takes several pieces; it needs the metric step"
    return None


def _of_distinct_pieces(puzzle: Puzzle) -> str | None:
    problem = _of_pieces(puzzle)
    if problem:
        return problem
    definition = sliding(puzzle)
    if not distinct(definition):
        label = max(range(1, len(definition.tokens)), key=lambda label: definition.counts[label])
        return (
            f"it needs distinct pieces, there are {definition.counts[label]} {definition.tokens[label]}; "
            "use 'nearest' or 'matching'"
        )
    return None


def _of_grids(puzzle: Puzzle) -> str | None:
    problem = _of_distinct_pieces(puzzle)
    if problem:
        return problem
    return None if sliding(puzzle).rows else "it needs the rows and columns of a grid; use 'manhattan'"


def _of_contents(puzzle: Puzzle) -> str | None:
    if isinstance(puzzle.definition, Sliding | Permutation):
        return None
    return f"it counts pieces of sliding and permutation puzzles, this is of the family {puzzle.family}"


def _of_pancakes(puzzle: Puzzle) -> str | None:
    if isinstance(puzzle.definition, Permutation) and is_pancake(puzzle.definition):
        return None
    return "it needs moves that all turn over the top of a pile, such as those of pancake-7"


def _of_hanoi(puzzle: Puzzle) -> str | None:
    return None if isinstance(puzzle.definition, Hanoi) else "it counts the discs of the family hanoi"


def _of_lights(puzzle: Puzzle) -> str | None:
    return None if isinstance(puzzle.definition, Lights) else "it counts the lamps of the family lights"


def _of_pegs(puzzle: Puzzle) -> str | None:
    if not isinstance(puzzle.definition, Pegs):
        return "it counts the pegs of the family pegs"
    if puzzle.metric != "jump":
        return (
            f"in the metric {puzzle.metric} one move takes away any number of pegs; it needs the metric jump"
        )
    return None


def _zero(puzzle: Puzzle, goals: Goals) -> Heuristic:
    del goals
    return counts.zero(puzzle.definition.contents, puzzle.definition.cells)


def _misplaced(puzzle: Puzzle, goals: Goals) -> Heuristic:
    if isinstance(puzzle.definition, Sliding):
        return counts.misplaced_pieces(puzzle.definition, goals, puzzle.metric)
    return counts.misplaced_contents(permutation(puzzle), goals)


def _distances(name: str) -> Callable[[Puzzle, Goals], Heuristic]:
    return lambda puzzle, goals: CellSums(name, [nearest_table(sliding(puzzle), goal) for goal in goals])


SIMPLE: dict[str, Simple] = {
    "zero": Simple(_no_problem, _zero),
    "misplaced": Simple(_of_contents, _misplaced),
    "nearest": Simple(_of_pieces, _distances("nearest")),
    "manhattan": Simple(_of_distinct_pieces, _distances("manhattan")),
    "matching": Simple(_of_pieces, lambda puzzle, goals: LeastMatching(sliding(puzzle), goals)),
    "linear-conflict": Simple(_of_grids, lambda puzzle, goals: Conflicts(sliding(puzzle), goals)),
    "gap": Simple(_of_pancakes, lambda puzzle, goals: GapCounts(permutation(puzzle), goals)),
    "discs": Simple(_of_hanoi, lambda puzzle, goals: counts.misplaced_discs(hanoi(puzzle), goals)),
    "lamps": Simple(
        _of_lights, lambda puzzle, goals: counts.wrong_lamps(lights(puzzle), goals, puzzle.metric)
    ),
    "pegs": Simple(_of_pegs, lambda puzzle, goals: counts.SparePegs(goals)),
}
"""Of those for one puzzle the weakest comes first."""
