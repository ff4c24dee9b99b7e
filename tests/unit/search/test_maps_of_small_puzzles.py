"""Searches by maps whose inverses are looked up, and whose ties are told, in small puzzles of many kinds."""

from dataclasses import replace

import pytest

import farthest
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.moves import inverse
from farthest.heuristics.registry import open_heuristic
from farthest.models.database import open_database
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import Puzzle
from farthest.queries.pattern_maps import PatternMaps
from farthest.search.arrangement_engine import arrangement_engine
from farthest.search.contract import Problem
from farthest.search.deepening import deepen
from permutations import moved, pieces, puzzle_of, turned_first, unmoved
from random_permutations import distances, solutions

WHEEL = [([1, 2, 0, 3], [1, 2, 0, 0]), ([0, 2, 3, 1], [0, 0, 1, 2])]
SWAPS = [
    ([1, 0, 2, 3], [1, 2, 0, 0]),
    ([0, 1, 3, 2], [0, 0, 1, 2]),
    ([0, 2, 1, 3], [0, 2, 1, 0]),
    ([0, 1, 2, 3], [1, 2, 0, 0]),
]
PATTERNS = ("places:all", "places:a", "places:d", "places:a.b")


INVERTED = ("unturned", "turned in the goal")
"""Those whose inverses are looked up; the patterns of the first and the last piece are tied."""
OTHERS = {"ignored": (0, 2), "by piece": (2, 2)}


def sample(name: str) -> Puzzle:
    ignored = "d" if name == "ignored" else ""
    turned = name in ("turned in the goal", "two goals")
    moves = SWAPS if name == "swaps" else WHEEL
    made = puzzle_of([turned_first("abcd", 3) if turned else pieces("abcd", 3, ignore=ignored)], moves)
    definition = permutation(made)
    generators = definition.generators
    if name not in ("one way", "swaps"):
        back = [replace(inverse(move, definition.slot_moduli), name=f"{move.name}'") for move in generators]
        generators = (*generators, *back)
    goals = definition.goals
    if name == "two goals":
        goals = (*goals, moved(definition, generators[0], moved(definition, generators[1], goals[0])))
    return replace(made, definition=replace(definition, generators=generators, goals=goals))


@pytest.mark.parametrize(
    "name", ["turned in the goal", "two goals", "one way", "ignored", "swaps", "by piece"]
)
def test_lengths_and_solutions(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    puzzle = sample(name)
    database = tmp_path_factory.mktemp("maps") / "maps.db"
    goals = permutation(puzzle).goals
    found = distances(puzzle, goals, unmoved)
    assert found is not None
    patterns: tuple[str, ...] = PATTERNS if name == "ignored" else ("turns:all", *PATTERNS)
    if name == "by piece":  # a tied map that cannot be looked up by inverses
        patterns = ("places:all", "places:d", "a")
    for pattern in patterns:
        farthest.enumerate(pattern_of(puzzle, pattern).puzzle, database=database).close()
    text = ",".join(f"@{pattern}" for pattern in patterns)
    with open_database(database, create=False) as opened:
        heuristic = open_heuristic(text, puzzle, goals, PatternMaps(opened))
    used = set()
    for number, board in enumerate(list(found)[:: len(found) // 8 + 1]):
        engine = arrangement_engine(Problem(puzzle, board, "goal", text), heuristic)
        assert engine is not None
        used.add((engine.walk.kernel.inverses, engine.walk.kernel.tied))
        engine.budget = (engine.budget, 1, 20)[number % 3]
        told = deepen(engine, board, first=False, limit=1)
        assert (told.length, told.solutions) == (found[board], solutions(puzzle, found, board))
        assert all(each.bound <= found[board] for each in told.iterations)
    assert used == {(5, 2) if name in INVERTED else OTHERS.get(name, (0, 0))}
