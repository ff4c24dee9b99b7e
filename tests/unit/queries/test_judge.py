"""Functions of users judged by a map: what is proved, what is disproved and by which board, errors, what IDA* needs."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from farthest import Permutations
from farthest.errors import JobError, SettingError
from farthest.heuristics.registry import open_heuristic
from farthest.puzzles.puzzle import Origin
from farthest.queries.distance_map import DistanceMap
from unit.queries.conftest import MapOf

Boards = NDArray[np.uint8]


def manhattan(opened: DistanceMap) -> Any:
    return open_heuristic("manhattan", opened.puzzle, opened.puzzle.definition.origin_boards[0]).values


@pytest.mark.slow
def test_a_right_heuristic(map_of: MapOf) -> None:
    opened = map_of("sliding-2x4")
    value, sizes = manhattan(opened), list[int]()

    def called(boards: Boards) -> NDArray[np.float64]:
        sizes.append(len(boards))
        return np.asarray(value(boards) / 1.5)

    found = opened.judge(called, batch=1000)
    assert found.proved
    assert found.consistent
    assert max(sizes) == 1000
    assert sum(sizes) == found.states == opened.states  # each state once, though moves lead to it
    known = opened.heuristics("manhattan")[0]
    assert found.moves == known.moves
    assert found.largest == pytest.approx(known.largest / 1.5)
    array, values = opened.array(), value(opened.space.decode(opened.codes())) / 1.5
    for layer in found.layers:
        here = values[array == layer.depth]
        assert layer.states == opened.layers[layer.depth]
        assert layer.mean == pytest.approx(here.mean())
        assert layer.error == pytest.approx(np.abs(here - layer.depth).mean())
        assert layer.largest == pytest.approx(np.abs(here - layer.depth).max())
    text = str(found)
    assert text.startswith(
        "called at all 20,160 states of job 1 (sliding-2x4, to goal)\nadmissible: proved\n"
    )
    assert len(text.splitlines()) == 7 + len(opened.layers)


def test_one_state_too_high_is_found(map_of: MapOf) -> None:
    opened = map_of("sliding-2x4")
    value, wrong = manhattan(opened), opened.random(distance=20, seed=4)
    board = np.array(opened.labels(wrong), dtype=np.uint8)

    def nearly(boards: Boards) -> NDArray[np.int32]:
        return np.where((boards == board).all(axis=1), 21, value(boards)).astype(np.int32)

    found = opened.judge(nearly)
    assert not found.admissible
    assert found.too_large == 1
    assert found.share == 1 / opened.states
    proof = found.too_large_worst
    assert proof is not None
    assert (proof.board, proof.value, proof.distance) == (opened.text(wrong), 21, 20)
    assert found.too_large_first == [proof]
    document = json.loads(json.dumps(found.to_dict()))
    assert document["worst"] == {"board": opened.text(wrong), "value": 21, "distance": 20}
    assert document["heuristic"] == "nearly"
    assert "not admissible: 1 value (0.00%) more than the distance" in str(found)


def test_an_inconsistent_one(map_of: MapOf) -> None:
    """Nothing at even distances, the distance at odd ones: admissible, and each move from there takes it all away."""
    opened = map_of("pancake-5")

    def odd(boards: Boards) -> NDArray[np.int32]:
        distances = opened.distances(boards)
        return distances * (distances % 2)

    found = opened.judge(odd)
    assert found.proved
    edges = [
        (text, each)
        for depth in range(3, opened.depth + 1, 2)
        for text in opened.states_at(depth)
        for each in opened.neighbours(text)
        if each.distance % 2 == 0 or each.distance < depth - 1
    ]
    assert found.drops == len(edges) > 0
    assert found.drop_worst is not None
    assert found.drop_worst.excess == max(opened.distance(text) for text, _ in edges) - 1
    assert "not consistent" in str(found)


def test_samples_and_shallow_maps_prove_nothing(map_of: MapOf) -> None:
    opened = map_of("sliding-2x4")
    found = opened.judge(manhattan(opened), sample=500, seed=3)
    assert (found.states, found.admissible, found.proved) == (500, True, False)
    assert found.moves == pytest.approx(500 * 2.5, rel=0.1)
    assert "no value of these is more than the distance" in str(found)
    shallow = map_of("sliding-2x3", None, 5)
    assert not shallow.judge(manhattan(shallow)).proved


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda boards: boards, r"expected \d+ numbers, one for each board, got uint8 of shape"),
        (lambda boards: ["far"] * len(boards), "got <U3 of shape"),
        (lambda boards: np.full(len(boards), np.nan), "nan is no value of a board"),
        (lambda boards: np.full(len(boards), np.inf), "inf is no value of a board"),
        (lambda boards: np.full(len(boards), 2**32), "values are expected from -1,073,741,824"),
        (lambda boards: np.full(len(boards), 2**63, dtype=np.uint64), "values are expected"),
    ],
)
def test_what_is_no_heuristic(map_of: MapOf, function: Any, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        map_of("sliding-2x3").judge(function)


def test_what_is_refused(map_of: MapOf) -> None:
    with pytest.raises(SettingError, match="batch 0: expected 1 or more"):
        map_of("sliding-2x3").judge(len, batch=0)
    with pytest.raises(JobError, match="--to goal"):
        map_of("lights-2x3-c3", Origin("from", "goal")).judge(len)


def test_what_a_search_expands(map_of: MapOf) -> None:
    """Of pancakes all but the last flip lead on; after a turn of the ring an exchange, after an exchange four turns.
    Without a heuristic all boards of the tree are expanded."""
    opened = map_of("pancake-5")
    found = opened.judge(lambda boards: np.zeros(len(boards), dtype=np.int32))
    assert found.tree == [1.0, *(4 * 3.0**depth for depth in range(opened.depth))]
    assert found.nodes == pytest.approx(np.cumsum(found.tree).tolist())
    exact = opened.judge(opened.distances)
    at_most = np.cumsum(opened.layers) / opened.states
    expected = [
        sum(exact.tree[i] * at_most[bound - i] for i in range(bound + 1)) for bound in range(opened.depth + 1)
    ]
    assert exact.nodes == pytest.approx(expected)
    assert exact.mean_nodes == pytest.approx(np.average(expected, weights=opened.layers))
    ring = map_of(Permutations({"a": "(1,2,3,4,5)", "b": "(1,2)"}, metric="power"), None, 3)
    assert ring.judge(lambda boards: np.zeros(len(boards))).tree == [1, 5, 8, 20]
