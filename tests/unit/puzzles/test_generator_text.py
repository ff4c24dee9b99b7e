"""Generators in one line and in Python: what they mean, and what is said of wrong ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import farthest
from cases import for_each
from farthest.errors import PuzzleError
from farthest.families.permutation.definition import permutation
from farthest.puzzles.catalogue import load
from permutations import distances


@for_each(
    ("text", "moves", "states"),
    [
        ("(1,2,3)(4,5);(1,5)", "g1 g2 g1'", 120),
        ("a=(1,2,3)(4,5); b=(1,5);", "a b a'", 120),
        (" x := ( 10 , 20 ) ( 30 , 40 ) ", "x", 2),
        ("R=(1,2,3,4);R2=(1,2,3,4)^2;S'=R*(1,2)", "R R2 S' R' S''", 24),
        ("R=(1,2,3,4); (5,6)*R^2", "R g2 R'", 8),
        ("(1 2 3)(4 5); b=(1  5)", "g1 b g1'", 120),
        ("a=[2,3,1,5,4]; [ 5,2,3,4,1 ]", "a g2 a'", 120),
        ("Group((1,2,3),(3,4))", "g1 g2 g1'", 24),
        ("SymmetricGroup(5); (6,7)", "g1 g2 g3 g1'", 240),
    ],
)
def test_texts(text: str, moves: str, states: int) -> None:
    puzzle = load(text)
    assert " ".join(move.name for move in permutation(puzzle).generators) == moves
    assert len(distances(puzzle)) == states == puzzle.definition.reachable(permutation(puzzle).goals)
    assert load(text).name == puzzle.name


@for_each(
    ("text", "message"),
    [
        ("(1,2,3)(4,5", "number 1: a cycle has no end"),
        ("(1,2);(1,b)", "number 2: 'b' in a cycle, expected a point"),
        ("(1,2 3)", "number 1: '3' in a cycle, expected ,"),
        ("(1 2,3)", "number 1: ',' in a cycle, expected a point"),
        ("[1,0,2]", "number 1: PermList"),
        ("[1,(1,2)]", "number 1: PermList"),
        ("(1,2,1)", "number 1: the point 1 is twice in a cycle"),
        ("a=(1,2);a=(3,4)", "number 2: the name a is that of two generators"),
        ("a=(1,2);b=(3,4)*c", "number 2: 'c' is not defined"),
        ("(1,2);(2,1)", "number 2: it is the same as number 1; leave it out"),
        ("(1,2);()", "number 2: it is the identity, which moves nothing"),
        ("(1,2);;(3,4)", "number 2: nothing is there, expected cycles"),
        ("(1,2);7", "number 2: it is not a permutation"),
        ("(1,2) (3,4) x", "number 1: the statement has no end, found 'x' instead"),
        ("(0 1 2)", "number 1: the point 0 is out of range; expected 1 to 4999; add 1 to each point"),
        ("(1,5000)", "number 1: the point 5000 is out of range"),
        ("a,b=(1,2)", "no puzzle is called"),
        ("MathieuGroup(25)", "number 1: MathieuGroup: 25 is out of range"),
    ],
)
def test_wrong_texts(text: str, message: str) -> None:
    with pytest.raises(PuzzleError, match=r"generators|no puzzle") as error:
        load(text)
    assert message in str(error.value)


@for_each(
    ("given", "moves", "points"),
    [
        ({"a": [[1, 2, 3], [4, 5]], "b": [[1, 5]]}, "a b a'", "1 2 3 4 5"),
        ({"R": "(1,2,3)", "S": (2, 1)}, "R S R'", "1 2 3"),
        ([[1, 2, 0], range(0, -1, -1)], "g1 g1'", "0 1 2"),
        ("a=(1,2,3); b=(1,2)", "a b a'", "1 2 3"),
        ([[[0, 1]], [[0], [5, 1]]], "g1 g2", "0 1 5"),
        (np.array([[1, 0, 2], [0, 2, 1]]), "g1 g2", "0 1 2"),
        ({"a": np.array([[1, 2], [3, 4]]), "b": (np.int8(2), 3, 1, 4)}, "a b b'", "1 2 3 4"),
    ],
)
def test_python(given: Any, moves: str, points: str) -> None:
    if isinstance(given, list) and isinstance(given[1], range):
        given = given[:1]
    definition = permutation(farthest.Permutations(given))
    assert " ".join(move.name for move in definition.generators) == moves
    assert " ".join(definition.tokens) == points


def test_metrics_in_python() -> None:
    four = [[[1, 2, 3, 4], [5, 6]], [[1, 2]]]
    for options, count in (({}, 3), ({"inverses": False}, 2), ({"metric": "power"}, 4)):
        definition = permutation(farthest.Permutations(four, **options))
        assert len(definition.generators) == count


@for_each(
    ("given", "message"),
    [
        ([], "there are none"),
        ({"a": 3}, "generators, a: got 3; expected cycles"),
        ({"a": [[1, 2, 1]]}, "generators, a: the point 1 is twice"),
        ({"a": [[1, 2.5]]}, "generators, a: a decimal number is not a point"),
        ([[1, 1, 2]], "number 1: the images are not those of a permutation, each point from 1 to 3 once"),
        (["(1,2);(2,3)"], "number 1: 2 permutations in one text"),
        ([[[1, 2]], [[2, 1]]], "number 2: it is the same as number 1"),
        ([2, 3, 1], "generators: got a list of numbers"),
        ({"a": (1, 2, 3)}, "generators, a: each point is its own image"),
        (
            [[1, 0, 2], [[1, 2]], [2, 1]],
            "number 3: its images are those of points from 1, those of number 1 of",
        ),
        ([[True, False]], "number 1: got a truth value"),
        ({"a b": [[1, 2]]}, "the name 'a b'"),
    ],
)
def test_wrong_python(given: Any, message: str) -> None:
    with pytest.raises(PuzzleError) as error:
        farthest.Permutations(given)
    assert message in str(error.value)


@dataclass(frozen=True)
class Graph:
    """Of the shape of a ``CayleyGraphDef`` of cayleypy."""

    generators_permutations: list[list[int]]
    generator_names: list[str]
    central_state: list[int]
    name: str = ""

    def layers(self) -> list[int]:
        """States of its breadth-first search, as cayleypy makes it."""
        found = {tuple(self.central_state): 0}
        for state in (queue := list(found)):
            for each in self.generators_permutations:
                after = tuple(state[i] for i in each)
                if after not in found:
                    found[after] = found[state] + 1
                    queue.append(after)
        return list(Counter(found.values()).values())


LEFT, SHIFT, SWAP = [1, 2, 3, 4, 5, 0], [1, 2, 3, 0, 4, 5], [1, 0, 2, 3, 4, 5]
TWO_SIDES = [[3, 1, 2, 0, 4, 5], [4, 3, 2, 1, 0, 5], [5, 4, 3, 2, 1, 0]]


@for_each(
    ("graph", "moves"),
    [
        (Graph([LEFT, SWAP], ["L", "(0,1)"], [*range(6)], "one way"), "L 0-1"),
        (Graph([LEFT, SHIFT, SWAP], ["T[0..1,2]", "(0 1 2)", "S'"], [0, 0, 1, 1, 1, 2]), "T-0..1-2 0-1-2 S'"),
        (Graph([SWAP, [*range(6)], SWAP, LEFT], ["a", "b", "c", "L" * 65], [5, 4, 3, 2, 1, 0]), "a g2"),
        (Graph(TWO_SIDES, ["R1", "R2", "R3"], [*range(6)]), "R1 R2 R3"),
        (Graph(TWO_SIDES, ["R1", "R2", "R3"], [0, 1, 1, 1, 0, 1]), "R1 R2 R3"),
    ],
)
def test_cayley_graphs(graph: Graph, moves: str) -> None:
    puzzle = farthest.Permutations(graph)
    assert list(farthest.histogram(puzzle).layers) == graph.layers()
    assert " ".join(move.name for move in permutation(puzzle).generators) == moves
    assert puzzle.title == graph.name or not graph.name
    assert puzzle.name == farthest.Permutations(graph).name


@for_each(
    ("graph", "message"),
    [
        (Graph([], [], [1, 0, 0, 1]), "those of this graph are matrices, expected permutations"),
        (Graph([[0, 1]], ["a"], [0, 1]), "there are none"),
        (
            Graph([[0, 2]], ["a"], [0, 1]),
            "number 1: the images are not those of a permutation, each point from 0",
        ),
    ],
)
def test_wrong_cayley_graphs(graph: Graph, message: str) -> None:
    with pytest.raises(PuzzleError) as error:
        farthest.Permutations(graph)
    assert message in str(error.value)
