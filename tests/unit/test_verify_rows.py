"""The verifier finds whatever is wrong in the readable rows of a map and in the facts of its job."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from farthest.families.sliding.definition import sliding
from farthest.puzzles.puzzle import Puzzle
from farthest.verify import rows as rows_module
from farthest.verify.report import Check, Report
from farthest.verify.rows import Facts
from strategies import grid_rows, layouts, make_puzzle, puzzles
from unit.test_verify import Layout, Map, count_layers, failed, make_map, plain_layout, verify_map

Row = tuple[Any, Any, Any]
Rows = list[Row]

UNREACHABLE = 255


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "_BLOCK_ROWS", 50)
    monkeypatch.setattr(rows_module, "_SEGMENT_KEYS", 70)


def make_rows(puzzle: Puzzle, layout: Layout, distances: Map) -> Rows:
    """The right rows: all reached states in key order."""
    none = np.iinfo(distances.dtype).max
    return [
        (key, distance, sliding(puzzle).format_board(board))
        for key, (board, distance) in enumerate(
            zip(naive.boards_in_key_order(layout), distances.tolist(), strict=True)
        )
        if distance != none
    ]


def facts_of(distances: Map, complete: bool = True) -> Facts:
    layers = count_layers(distances)
    last = len(layers) - 1
    return Facts(sum(layers), last if complete else None, last, distances.dtype.name)


class Example:
    """2x3 with six kinds of piece: 360 of 720 keys are reached, so that rows leave keys out."""

    def __init__(self) -> None:
        self.puzzle = make_puzzle(rows=grid_rows(2, 3), goals=[[1, 2, 3, 4, 5, 0]])
        self.layout = plain_layout(self.puzzle)
        self.distances = make_map(self.puzzle, self.layout)
        self.rows = make_rows(self.puzzle, self.layout, self.distances)
        self.depth = max(distance for _, distance, _ in self.rows)
        boards = naive.boards_in_key_order(self.layout)
        self.texts = [sliding(self.puzzle).format_board(board) for board in boards]

    def layer(self, depth: int) -> Rows:
        return [row for row in self.rows if row[1] == depth]

    def verify(self, rows: Rows, facts: Facts | None = None) -> Report:
        report = verify_map(
            self.puzzle, self.layout, self.puzzle.origin, self.distances, rows=iter(rows), facts=facts
        )
        assert failed(report) <= {"rows", "job"}
        return report

    def check(self, rows: Rows) -> Check:
        return next(check for check in self.verify(rows).checks if check.name == "rows")


@pytest.fixture(scope="module")
def example() -> Example:
    return Example()


def test_all_rows_are_right(example: Example) -> None:
    report = example.verify(example.rows, facts_of(example.distances))
    assert report.ok
    assert [check.name for check in report.checks][-2:] == ["job", "rows"]
    check = example.check(example.rows)
    assert (check.checked, check.failed, check.first) == (360, 0, None)
    assert check.detail == "all 360 reached states"


@pytest.mark.slow
@given(st.data(), puzzles(most=1_000))
def test_rows_of_all_kinds_of_puzzle_pass_until_one_is_altered(data: st.DataObject, puzzle: Puzzle) -> None:
    if puzzle.origin.where in ("goal", "start") and data.draw(st.booleans(), "long tokens"):
        tokens = ("_", *(f"t{label}" for label in range(1, len(sliding(puzzle).counts))))
        puzzle = replace(puzzle, definition=replace(sliding(puzzle), tokens=tokens))
    layout = data.draw(layouts(puzzle))
    last = max(naive.distances(puzzle).values())
    depth = data.draw(st.none() | st.integers(0, last))
    distances = make_map(puzzle, layout, depth, unit=data.draw(st.sampled_from(["uint8", "uint16"])))
    rows = make_rows(puzzle, layout, distances)
    facts = facts_of(distances, complete=depth is None)

    def check(rows: Rows) -> Report:
        return verify_map(puzzle, layout, puzzle.origin, distances, depth=depth, rows=rows, facts=facts)

    assert check(rows).ok
    layer = [row for row in rows if row[1] == facts.depth]
    assert check(layer[: data.draw(st.integers(1, len(layer)))]).ok
    i = data.draw(st.integers(0, len(rows) - 1))
    key, distance, board = rows[i]
    wrong = (key, distance + 1, board) if data.draw(st.booleans()) else (key, distance, board + "x")
    report = check([*rows[:i], wrong, *rows[i + 1 :]])
    assert failed(report) == {"rows"}
    (found,) = report.failures
    assert found.failed == 1
    assert found.first is not None
    assert (found.first.key, found.first.distance, found.first.board) == rows[i]


def test_tokens_of_two_digits() -> None:
    puzzle = make_puzzle(
        rows=grid_rows(3, 4),
        goals=[[0, *[1] * 8, 2, 3, 3]],
        tokens=["0", "9", "10", "11"],
    )
    layout = plain_layout(puzzle)
    distances = make_map(puzzle, layout)
    rows = make_rows(puzzle, layout, distances)
    assert rows[0][2] == "0 9 9 9 / 9 9 9 9 / 9 10 11 11"

    def check(rows: Rows) -> set[str]:
        return failed(verify_map(puzzle, layout, puzzle.origin, distances, rows=rows))

    assert check(rows) == set()
    key, distance, board = rows[7]
    for other in (board.replace("10", "11", 1), board.replace(" / ", " "), board.replace(" ", "  ", 1)):
        assert check([*rows[:7], (key, distance, other), *rows[8:]]) == {"rows"}


def test_the_beginning_of_the_last_layer_is_enough(example: Example) -> None:
    for layer in (example.layer(example.depth), example.layer(example.depth - 1)):
        assert example.check(layer).ok == (layer[0][1] == example.depth)
    limited = make_map(example.puzzle, example.layout, 12)
    layer = [row for row in example.rows if row[1] == 12]
    assert len(layer) > 3

    def check(rows: Rows) -> Check:
        report = verify_map(
            example.puzzle, example.layout, example.puzzle.origin, limited, depth=12, rows=rows
        )
        return report.checks[-1]

    for count in range(1, len(layer)):
        assert check(layer[:count]).detail == f"{count} of the {len(layer)} states of the last layer"
        assert check(layer[:count]).ok
    gap = check(layer[1:])
    assert (gap.failed, gap.first and gap.first.key) == (1, layer[0][0])
    assert gap.detail == f"there is no row of key {layer[0][0]}, board {layer[0][2]} at distance 12"
    other = next(row for row in example.rows if row[1] == 11 and row[0] > layer[2][0])
    mixed = check(sorted([*layer, other]))
    assert (mixed.failed, mixed.first and mixed.first.key) == (1, other[0])
    assert (
        mixed.detail
        == f"the row of key {other[0]} is of layer 11; expected rows of all states, or of the last layer, 12, alone"
    )


# What is done to the rows of the example, and what the check says; {key} is that of the row numbered 100.
Damage = Callable[[Example, Rows], Rows]
AT = 100


def put(**values: Any) -> Damage:
    """Other values in one row."""

    def damage(example: Example, rows: Rows) -> Rows:
        given_row = dict(zip(("key", "distance", "board"), rows[AT], strict=True))
        return [*rows[:AT], tuple((given_row | values).values()), *rows[AT + 1 :]]

    return damage


def unreached(example: Example) -> Row:
    key = int(np.argmax(example.distances == UNREACHABLE))
    return key, 3, example.texts[key]


DAMAGES: dict[str, tuple[Damage, str]] = {
    "wrong distance": (put(distance=1), "the row of key {key}: distance 1; the map has {distance}"),
    "distance without a value": (put(distance=None), "distance None; the map has {distance}"),
    "distance not a number": (put(distance="seven"), "distance 'seven'"),
    "distance a fraction": (put(distance=7.5), "distance 7.5"),
    "board no board": (put(board="mend me"), "board 'mend me'; the board of that key is '{board}'"),
    "board not a text": (put(board=b"123/450"), "board a bytes; the board"),
    "board empty": (put(board=""), "board ''; the board"),
    "board of another key": (put(board="123/450"), "board '123/450'; the board"),
    "board with other pieces": (put(board="113/450"), "board '113/450'; the board"),
    "board in another form": (
        lambda example, rows: put(board=rows[AT][2].replace("/", " / "))(example, rows),
        "the board of that key is '{board}'",
    ),
    "board of the other parity": (
        lambda example, rows: [*rows[:AT], (*rows[AT][:2], unreached(example)[2]), *rows[AT + 1 :]],
        "the board of that key is '{board}'",
    ),
    "key of another board": (
        lambda example, rows: sorted([*rows[:AT], (unreached(example)[0], *rows[AT][1:]), *rows[AT + 1 :]]),
        "board '{board}'; the board of that key is",
    ),
    "key below all": (put(key=-1), "the row of key -1: keys are 0 to 719"),
    "key above all": (put(key=720), "the row of key 720: keys are 0 to 719"),
    "key huge": (put(key=2**70), "keys are 0 to 719"),
    "key not a number": (put(key="a"), "the row of key 'a': keys are 0 to 719"),
    "key without a value": (put(key=None), "keys are 0 to 719"),
    "a row missing": (
        lambda example, rows: rows[:AT] + rows[AT + 1 :],
        "there is no row of key {key}, board {board} at distance {distance}",
    ),
    "the first row missing": (lambda example, rows: rows[1:], "there is no row of key 0"),
    "the last row missing": (lambda example, rows: rows[:-1], "there is no row of key 7"),
    "a block of rows missing": (
        lambda example, rows: rows[:AT] + rows[AT + 120 :],
        "there is no row of key {key}",
    ),
    "a layer missing": (lambda example, rows: [row for row in rows if row[1] != 5], "there is no row of key"),
    "no rows": (lambda example, rows: [], "there is no row of key 0"),
    "a row twice": (lambda example, rows: [*rows[: AT + 1], *rows[AT:]], "a second row of key {key}"),
    "a row twice, far apart": (lambda example, rows: [*rows, rows[AT]], "a second row of key {key}"),
    "rows out of order": (
        lambda example, rows: [*rows[: AT - 1], rows[AT], rows[AT - 1], *rows[AT + 1 :]],
        "one out of order",
    ),
    "a row of an unreached state": (
        lambda example, rows: sorted([*rows, unreached(example)]),
        "distance 3; the map does not reach that state",
    ),
    "a row of an unreached state at the distance that stands for none": (
        lambda example, rows: sorted([*rows, (unreached(example)[0], UNREACHABLE, unreached(example)[2])]),
        "distance 255; the map does not reach that state",
    ),
    "a row of a layer beside the last": (
        lambda example, rows: sorted([*example.layer(example.depth), rows[0]]),
        "is of layer",
    ),
    "rows of another layer": (lambda example, rows: example.layer(7), "is of layer 7; expected"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_found(example: Example, kind: str) -> None:
    damage, said = DAMAGES[kind]
    key, distance, board = example.rows[AT]
    report = example.verify(damage(example, list(example.rows)), facts_of(example.distances))
    assert failed(report) == {"rows"}
    (check,) = report.failures
    assert said.format(key=key, distance=distance, board=board) in check.detail
    if "keys are" in said:
        assert check.first is None
    else:
        assert check.first is not None
        assert check.first.board == example.texts[check.first.key]
        assert f"key {check.first.key}" in check.detail
        assert check.first.distance == (
            None if example.distances[check.first.key] == UNREACHABLE else example.distances[check.first.key]
        )


def test_wrong_and_missing_rows_are_counted(example: Example) -> None:
    rows = list(example.rows)
    for i in (10, 200, 300):
        rows[i] = (rows[i][0], 99, rows[i][2])
    del rows[250], rows[20]
    check = example.check(rows)
    assert (check.checked, check.failed) == (358, 5)
    assert check.first is not None
    assert check.first.key == example.rows[10][0]


def test_every_board_of_the_other_parity_is_told_apart() -> None:
    """Of two boards that share all but the dropped digit of a key, one has the key."""
    puzzle = make_puzzle(rows=grid_rows(2, 3), goals=[[0, 1, 2, 3, 4, 5]])
    layout = plain_layout(puzzle, parity=True)
    distances = make_map(puzzle, layout)
    rows = make_rows(puzzle, layout, distances)
    assert verify_map(puzzle, layout, puzzle.origin, distances, rows=rows).ok
    key, distance, board = rows[33]
    twin = board.translate(str.maketrans("45", "54"))
    report = verify_map(
        puzzle, layout, puzzle.origin, distances, rows=[*rows[:33], (key, distance, twin), *rows[34:]]
    )
    assert failed(report) == {"rows"}


def test_rows_of_a_map_without_states(example: Example) -> None:
    empty = np.full_like(example.distances, UNREACHABLE)
    report = verify_map(example.puzzle, example.layout, example.puzzle.origin, empty, rows=example.rows[:3])
    assert {"origin", "rows"} <= failed(report)


def test_rows_are_not_read_where_the_map_is_not_whole(example: Example) -> None:
    read: Rows = []

    def rows() -> Iterator[Row]:
        read.extend(example.rows)
        yield from read

    report = verify_map(
        example.puzzle, example.layout, example.puzzle.origin, example.distances[1:], rows=rows()
    )
    assert failed(report) == {"length"}
    assert not read


WRONG_FACTS: dict[str, tuple[dict[str, Any], str]] = {
    "states": ({"states": 361}, "states: stored 361, found 360"),
    "no states": ({"states": None}, "states: stored none, found 360"),
    "eccentricity": ({"eccentricity": 22}, "eccentricity: stored 22, found 21"),
    "no eccentricity": ({"eccentricity": None}, "eccentricity: stored none, found 21"),
    "depth": ({"depth": 20}, "depth: stored 20, found 21"),
    "unit": ({"unit": "uint16"}, "unit: stored uint16, found uint8"),
    "two": ({"unit": None, "depth": "x"}, "depth: stored x, found 21; unit: stored none, found uint8"),
}


@pytest.mark.parametrize("kind", WRONG_FACTS)
def test_wrong_facts_are_found(example: Example, kind: str) -> None:
    values, said = WRONG_FACTS[kind]
    report = example.verify(example.rows, replace(facts_of(example.distances), **values))
    (check,) = report.failures
    assert (check.name, check.detail, check.checked, check.failed) == ("job", said, 4, len(values))


def test_a_map_of_limited_depth_has_no_eccentricity(example: Example) -> None:
    limited = make_map(example.puzzle, example.layout, 5)
    for complete in (False, True):
        report = verify_map(
            example.puzzle,
            example.layout,
            example.puzzle.origin,
            limited,
            depth=5,
            facts=facts_of(limited, complete),
        )
        assert failed(report) == ({"job"} if complete else set())
