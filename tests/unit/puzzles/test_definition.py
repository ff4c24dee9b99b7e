"""The definition itself: digest, JSON, and the invariants that keep a wrong body from coming to be."""

import json
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given

from cases import for_each
from farthest.errors import PuzzleError
from farthest.families.sliding.definition import Sliding, sliding
from farthest.puzzles.catalogue import load, names
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from strategies import make_puzzle, puzzles

SQUARE: dict[str, Any] = {
    "rows": ((0, 1), (2, 3)),
    "edges": ((0, 1), (0, 2), (1, 3), (2, 3)),
    "arcs": (),
    "tokens": ("0", "a", "b"),
    "counts": (1, 2, 1),
    "goals": ((1, 2, 1, 0),),
    "start": (0, 1, 1, 2),
}


@given(puzzles())
def test_json_round_trip(puzzle: Puzzle) -> None:
    again = Puzzle.from_json(puzzle.to_json())
    assert again == puzzle
    assert again.digest == puzzle.digest


@for_each("name", [*names(), "sliding-2x3", "sliding-4x4-slide"])
def test_json_round_trip_of_the_catalogue(name: str) -> None:
    puzzle = load(name)
    text = puzzle.to_json()
    assert "\n" not in text
    assert Puzzle.from_json(text) == puzzle


def test_digest_is_of_what_decides_the_result() -> None:
    puzzle = load("eight-kinds")
    assert puzzle.digest == "ec019756f09d837826674def056eb05f21493061da6833f74d78d12e489eed9a"
    known = KnownAnswer(1, 0, (1,), None, "x")
    renamed = replace(puzzle, name="a", title="b", source="c", known=(known,), origin=Origin("from", "start"))
    assert renamed.digest == puzzle.digest
    assert replace(puzzle, metric="slide").digest != puzzle.digest
    assert replace(puzzle, definition=replace(sliding(puzzle), start=None)).digest != puzzle.digest


def test_definitions_do_not_change() -> None:
    puzzle = load("8-puzzle")
    with pytest.raises(FrozenInstanceError):
        puzzle.name = "x"  # type: ignore[misc]
    assert puzzle.definition.cells == 9
    assert isinstance(hash(puzzle), int)


def test_good_square() -> None:
    assert Sliding(**SQUARE).cells == 4


@for_each(
    ("change", "problem"),
    [
        ({"counts": (1,), "tokens": ("0",)}, "1 cells; expected 2 to 64"),
        ({"counts": (1, 64), "tokens": ("0", "1")}, "65 cells; expected 2 to 64"),
        ({"rows": ((0, 1), (2,))}, "rows of the grid differ in length"),
        ({"rows": ((0, 1), (3, 2))}, "not numbered 0 to 3 in reading order"),
        ({"edges": ((0, 1), (0, 2), (1, 3))}, "not those between neighbours"),
        ({"arcs": ((0, 3),)}, "not those between neighbours"),
        ({"rows": (), "edges": ((0, 2), (0, 1))}, "edges are not sorted"),
        ({"rows": (), "edges": ((0, 1), (0, 1))}, "one appears twice"),
        ({"rows": (), "edges": ((0, 4),)}, "edges hold [0, 4]; expected two different cells from 0 to 3"),
        ({"rows": (), "edges": ((-1, 0),)}, "edges hold [-1, 0]"),
        ({"rows": (), "edges": ((2, 2),)}, "edges hold [2, 2]"),
        ({"rows": (), "edges": ((2, 1),)}, "expected the smaller cell first"),
        ({"rows": (), "arcs": ((1, 0),)}, "joined both ways; expected one edge"),
        ({"rows": (), "edges": (), "arcs": ((0, 1), (1, 0))}, "joined both ways; expected one edge"),
        (
            {"rows": (), "edges": ((0, 1), (2, 3))},
            "fall into 2 parts with no passage between them: {0 1}, {2 3}",
        ),
        ({"tokens": ("0",), "counts": (4,)}, "1 kinds of content; expected the blank and 1 to 63 kinds"),
        ({"tokens": ("0", "a", "a")}, "two labels have the same token"),
        ({"tokens": ("0", "a", "#")}, "token '#' holds '#'"),
        ({"tokens": ("0", "a")}, "expected a count of at least 1 for each token"),
        ({"counts": (0, 3, 1)}, "expected a count of at least 1 for each token"),
        ({"goals": ()}, "expected at least one goal, and none twice"),
        ({"goals": ((1, 2, 1, 0), (1, 2, 1, 0))}, "expected at least one goal, and none twice"),
        ({"goals": ((1, 2, 0),)}, "goal 1 is not 4 labels from 0 to 2"),
        ({"goals": ((1, 2, 3, 0),)}, "goal 1 is not 4 labels from 0 to 2"),
        ({"goals": ((1, 2, 2, 0),)}, "goal 1 does not hold the pieces that the counts say"),
        ({"goals": ((1, -1, -1, -1),)}, "goal 1 does not hold the pieces that the counts say"),
        ({"goals": ((2, 2, -1, 0),)}, "goal 1 does not hold the pieces that the counts say"),
        ({"start": (1, 1, 1, 0)}, "start does not hold the pieces that the counts say"),
        ({"start": (1, -1, 1, 0)}, "start is not 4 labels from 0 to 2"),
    ],
)
def test_wrong_bodies(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(PuzzleError) as raised:
        Sliding(**(SQUARE | change))
    assert problem in str(raised.value)


@for_each(
    ("change", "problem"),
    [
        ({"family": "chess"}, "family 'chess' is not known; expected one of sliding"),
        ({"metric": "jump"}, "metric 'jump' is not known; expected step or slide"),
        ({"origin": Origin("by", "goal")}, "origin 'by'; expected to or from"),  # type: ignore[arg-type]
        ({"origin": Origin("from", "start")}, "the origin is the start, but there is none; add one"),
    ],
)
def test_wrong_puzzles(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(PuzzleError) as raised:
        replace(load("15-puzzle"), **change)
    assert problem in str(raised.value)


def test_slide_needs_a_grid() -> None:
    with pytest.raises(PuzzleError, match="the slide metric needs the rows of a grid"):
        make_puzzle(goals=[[1, 2, 0]], edges=((0, 1), (1, 2)), metric="slide")


GOOD = json.loads(load("8-puzzle").to_json())


@for_each(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        "[" * 100_000,
        json.dumps({key: value for key, value in GOOD.items() if key != "sliding"}),
        json.dumps(GOOD | {"name": 8}),
        json.dumps(GOOD | {"origin": "goal"}),
        json.dumps(GOOD | {"known": [3]}),
        json.dumps(GOOD | {"sliding": GOOD["sliding"] | {"counts": [1, True, 1, 1, 1, 1, 1, 1, 1]}}),
        json.dumps(GOOD | {"sliding": GOOD["sliding"] | {"edges": [[0, 1, 2]]}}),
        json.dumps(GOOD | {"sliding": GOOD["sliding"] | {"rows": "012345678"}}),
    ],
)
def test_damaged_json(text: str) -> None:
    with pytest.raises(
        PuzzleError, match=r"stored puzzle: not a definition .* it is damaged, store the puzzle"
    ):
        Puzzle.from_json(text)


def test_json_of_another_version_or_family() -> None:
    with pytest.raises(PuzzleError, match=r"stored puzzle: version 2, expected 1; .* use that one"):
        Puzzle.from_json(json.dumps(GOOD | {"version": 2}))
    with pytest.raises(
        PuzzleError, match="stored puzzle: family 'chess' is not known; expected one of sliding"
    ):
        Puzzle.from_json(json.dumps(GOOD | {"family": "chess"}))
    with pytest.raises(PuzzleError, match="goal 1 does not hold the pieces"):
        Puzzle.from_json(json.dumps(GOOD | {"sliding": GOOD["sliding"] | {"goals": [[1] * 9]}}))
