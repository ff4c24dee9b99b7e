"""Heuristics against stored maps, all states and moves: the report's figures by a plain count, and what maps prove."""

import numpy as np
import pytest

import naive
from farthest.errors import JobError
from farthest.families.sliding.definition import sliding
from farthest.heuristics.registry import applicable, open_heuristic
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin
from farthest.queries.distance_map import DistanceMap
from farthest.queries.heuristic_report import Findings, compare_heuristics, goals_of, open_heuristics
from unit.queries.conftest import MapOf


@pytest.mark.parametrize("name", ["sliding-2x3", "wilson-theta"])
def test_figures(map_of: MapOf, name: str) -> None:
    """Against loops over a dictionary of boards."""
    opened = map_of(name)
    puzzle = opened.puzzle
    truth = naive.distances(puzzle, Origin("to", "goal"))
    found = {
        each.heuristic.name: each for each in compare_heuristics(opened, open_heuristics(opened), limit=2)
    }
    assert list(found) == [*applicable(puzzle), "misplaced+manhattan"]
    for text, findings in found.items():
        heuristic = open_heuristic(text, puzzle, sliding(puzzle).goals)
        values = dict(
            zip(truth, heuristic.values(np.array(list(truth), dtype=np.uint8)).tolist(), strict=True)
        )
        too_large = [board for board in truth if values[board] > truth[board]]
        drops = [
            (board, after)
            for board in truth
            for after, _ in naive.moves(puzzle, board)
            if values[board] > values[after] + 1
        ]
        assert findings.states == len(truth)
        assert findings.moves == sum(len(naive.moves(puzzle, board)) for board in truth)
        assert findings.too_large == len(too_large)
        assert findings.drops == len(drops)
        assert findings.exact == sum(values[board] == truth[board] for board in truth)
        assert findings.largest == max(values.values())
        assert findings.mean == pytest.approx(np.mean(list(values.values())))
        assert findings.ratio == pytest.approx(np.mean([values[b] / truth[b] for b in truth if truth[b]]))
        assert findings.admissible == (not too_large)
        assert findings.consistent == (not drops and not too_large)
        assert not findings.refuted
        check_proofs(opened, findings, values, truth, too_large, drops)


def check_proofs(
    opened: DistanceMap,
    findings: Findings,
    values: dict[Board, int],
    truth: dict[Board, int],
    too_large: list[Board],
    drops: list[tuple[Board, Board]],
) -> None:
    labels = opened.labels
    assert len(findings.too_large_first) == min(2, len(too_large))
    assert len(findings.drops_first) == min(2, len(drops))
    for proof in (*findings.too_large_first, findings.too_large_worst):
        if proof is not None:
            assert (values[labels(proof.board)], truth[labels(proof.board)]) == (proof.value, proof.distance)
            assert labels(proof.board) in too_large
    for drop in (*findings.drops_first, findings.drop_worst):
        if drop is not None:
            board, after = labels(drop.board), labels(drop.next_board)
            assert (values[board], values[after]) == (drop.value, drop.next_value)
            assert (after, drop.move) in naive.moves(opened.puzzle, board)
    if too_large:
        keys = sorted(opened.space.encode(np.array(too_large, dtype=np.uint8)).tolist())
        first = np.array([labels(each.board) for each in findings.too_large_first], dtype=np.uint8)
        assert opened.space.encode(first).tolist() == keys[:2]
        assert findings.too_large_worst is not None
        assert findings.too_large_worst.excess == max(values[board] - truth[board] for board in too_large)
    if drops:
        assert findings.drop_worst is not None
        assert findings.drop_worst.excess == max(values[a] - values[b] - 1 for a, b in drops)


SMALL = [
    "sliding-2x3-slide",
    "pancake-5",
    "burnt-pancake-3",
    "hanoi-3-4",
    "hanoi-cyclic-3-3",
    "lights-2x3-c3",
    "lrx-5",
]


@pytest.mark.parametrize("name", SMALL)
def test_small_maps_prove_what_is_claimed(map_of: MapOf, name: str) -> None:
    opened = map_of(name)
    for findings in compare_heuristics(opened, open_heuristics(opened)):
        assert findings.admissible, findings.heuristic.name
        assert findings.consistent, findings.heuristic.name
        assert findings.states == opened.states


LARGE = ["eight-kinds", "two-blanks", "lights-4x4"]
LARGER = [
    "8-puzzle-slide",
    "topspin-8-4",
    "8-puzzle",
    "8-puzzle-blank-first",
    "first-row",
    "mississippi",
    "red-and-white",
    "lozenge",
    "pancake-8",
    "burnt-pancake-5",
    "hanoi-4-6",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*LARGE, *(pytest.param(name, marks=pytest.mark.night) for name in LARGER)])
def test_maps_prove_what_is_claimed(map_of: MapOf, name: str) -> None:
    opened = map_of(name)
    for findings in compare_heuristics(opened, open_heuristics(opened)):
        expected = findings.heuristic.admissible
        assert (findings.admissible, findings.consistent) == (expected, expected), findings.heuristic.name


@pytest.mark.slow
def test_maps_of_other_origins(map_of: MapOf) -> None:
    """Moves that can be taken back: from and to are the same; the board that they lead to is the goal meant."""
    for origin in (Origin("from", "goal"), Origin("to", "0 1 2 / 3 4 5"), Origin("from", "5 4 3 / 2 1 0")):
        opened = map_of("sliding-2x3", origin)
        for findings in compare_heuristics(opened, open_heuristics(opened, ["linear-conflict", "matching"])):
            assert findings.consistent
            assert findings.exact >= 1
    lamps = map_of("lights-2x3-c3", Origin("from", "goal"))
    with pytest.raises(
        JobError, match=r"not every move can be taken back; .* `farthest enumerate lights-2x3-c3 --to goal`"
    ):
        goals_of(lamps)
    one_way = map_of("roundabout")
    with pytest.raises(JobError, match="counts moves from start, and not every move"):
        goals_of(one_way)
    back = map_of("roundabout", Origin("to", "goal"))
    for findings in compare_heuristics(back, open_heuristics(back, applicable(back.puzzle))):
        assert findings.consistent


def test_depth_limits(map_of: MapOf) -> None:
    opened = map_of("sliding-2x3", None, 5)
    for findings in compare_heuristics(opened, open_heuristics(opened, ["manhattan"])):
        assert findings.states == opened.states < 360
        assert findings.consistent


def test_a_claim_that_a_map_refutes(map_of: MapOf) -> None:
    """A heuristic for another goal claims what is not so of this map's."""
    opened = map_of("sliding-2x3")
    wrong = open_heuristic("manhattan", opened.puzzle, [(1, 2, 3, 4, 5, 0)])
    (findings,) = compare_heuristics(opened, [wrong], limit=0)
    assert findings.refuted
    assert not findings.admissible
    assert findings.too_large_first == []
    assert findings.too_large_worst is not None
    assert findings.drops == 0
