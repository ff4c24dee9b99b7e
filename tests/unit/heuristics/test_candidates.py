"""The patterns that ``auto`` may take, and what is expected of them before they are made."""

from itertools import chain

import pytest

from cases import for_each
from farthest.coordinator.enumeration.resources import layers_by_growth
from farthest.coordinator.search.judging import judged
from farthest.families.sliding.definition import sliding
from farthest.heuristics.candidates import candidates, grown_groups, look_ups
from farthest.puzzles.catalogue import load
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import Origin
from farthest.search.solvable import layers_of_boards
from farthest.spaces import compile_space


@for_each(("name", "size"), [("8-puzzle", 4), ("15-puzzle", 7), ("24-puzzle", 6), ("sliding-3x4", 5)])
def test_groups_are_a_partition_into_connected_ones(name: str, size: int) -> None:
    definition = sliding(load(name))
    groups = grown_groups(definition, size)
    assert sorted(chain(*groups)) == list(range(1, len(definition.tokens)))
    assert max(map(len, groups)) == size
    goal = definition.goals[0]
    for group in groups:
        cells = {goal.index(label) for label in group}
        reached = {min(cells)}
        while (
            more := {b for edge in definition.edges for a, b in (edge, edge[::-1]) if a in reached}
            & cells - reached
        ):
            reached |= more
        assert reached == cells


@for_each(
    ("name", "memory", "first"),
    [
        ("24-puzzle", 2**28, "6-6-6-6"),
        ("15-puzzle", 2**28, "sym:@1-3.5-7.10+@8.9.11-15+@4"),
        ("15-puzzle-blank-first", 2**30, "7-8"),
        ("hanoi-4-10", 2**15, "@4-10+@1-3,@1-7+@8-10"),
        ("8-puzzle", 1000, "sym:@1.2+@4.5+@3.6+@7.8"),
    ],
)
def test_the_best_within_the_memory(name: str, memory: int, first: str) -> None:
    found = [judged(each, None) for each in candidates(load(name), memory)]
    fitting = [each for each in found if each is not None and each.bytes <= memory]
    assert max(fitting, key=lambda each: (round(each.mean, 2), -each.bytes)).text == first


@for_each("name", ["pancake-9", "lights-3x3", "hanoi-3-4", "eight-kinds", "8-puzzle@plain:1-4"])
def test_puzzles_without_candidates(name: str) -> None:
    assert candidates(load(name), 2**28) == []


@for_each(
    ("puzzle", "pattern", "expected"),
    [
        ("cube-3x3x3", "FR=FL=BL=BR.turns:corners.edges", 3),
        ("cube-3x3x3", "corners", 1),
        ("cube-3x3x3", "URF", 8),
        ("cube-2x2x2-htm", "turns:all", 1),
    ],
)
def test_look_ups_by_symmetry(puzzle: str, pattern: str, expected: int) -> None:
    loaded = load(puzzle)
    assert look_ups(loaded, pattern_of(loaded, pattern)) == expected


@pytest.mark.parametrize("name", ["cube-2x2x2-htm@places:all", "pyraminx@edges", "cube-2x2x2-htm@turns:all"])
def test_the_expected_mean_is_near_the_true_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.coordinator.enumeration.resources.FEW_STATES", 100)
    space = compile_space(load(name), Origin())
    true = [len(boards) for boards in layers_of_boards(space)]
    assert mean(list(layers_by_growth(space))) == pytest.approx(mean(true), rel=0.1)


def mean(layers: list[int] | list[float]) -> float:
    return sum(depth * states for depth, states in enumerate(layers)) / sum(layers)
