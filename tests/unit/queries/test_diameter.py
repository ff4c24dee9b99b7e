"""Diameters of components, compared with a search from each board by the moves that people make."""

from collections import Counter
from pathlib import Path

import pytest

import farthest
from families import PUZZLES
from farthest.errors import JobError, ResourceError, UnreachableError
from farthest.puzzles.puzzle import Origin
from farthest.queries.distance_map import DistanceMap
from unit.queries.conftest import MapOf

CASES = [
    ("sliding, one-way", "to goal"),
    ("sliding, one-way", "from goal"),
    ("permutation", "from goal"),
    ("permutation, one-way", "to goal"),
    ("hanoi", "to goal"),
    ("hanoi, one-way", "from start"),
    ("blocks, step", "from start"),
    ("blocks, move", "from start"),
    ("jugs", "from start"),
    ("pegs, jump", "from start"),
    ("python, dense", "from start"),
    ("python, strings", "from start"),
]


def searched(opened: DistanceMap, boards: set[str]) -> dict[tuple[str, str], int]:
    """The distance of each ordered pair that moves join."""
    after = {board: [each.board for each in opened.neighbours(board)] for board in boards}
    found = {}
    for one in boards:
        distances, layer = {one: 0}, [one]
        for board in layer:
            for other in after[board]:
                if other in boards and other not in distances:
                    distances[other] = distances[board] + 1
                    layer.append(other)
        found.update({(one, other): distance for other, distance in distances.items()})
    return found


def check(opened: DistanceMap, boards: set[str]) -> None:
    """The component of the map is these boards, and all that is told of it is right."""
    told = opened.diameter(limit=10_000)
    expected = searched(opened, boards)
    assert told.states == len(boards)
    assert told.ordered != opened.space.undirected
    counts = Counter(expected.values())
    of_each = Counter(max(at for (one, _), at in expected.items() if one == board) for board in boards)
    assert told.eccentricities == tuple(of_each[depth] for depth in range(max(of_each) + 1))
    share = 1 if told.ordered else 2
    assert told.distances == (len(boards), *(counts[at] // share for at in range(1, max(counts) + 1)))
    assert told.unjoined == len(boards) ** 2 - len(expected)
    assert (told.diameter, told.radius, told.pairs) == (max(counts), min(of_each), told.distances[-1])
    apart = [at for at in expected.values() if at]
    assert told.mean == pytest.approx(sum(apart) / max(len(apart), 1))
    farthest_pairs = [pair for pair, at in expected.items() if at == told.diameter]
    assert set(told.ends) <= set(farthest_pairs)
    assert (
        len(set(told.ends)) == len(told.ends) == told.pairs == len(farthest_pairs) // share
        or not told.diameter
    )


@pytest.mark.parametrize(("name", "origin"), CASES)
def test_as_one_by_one(name: str, origin: str, tmp_path: Path) -> None:
    with farthest.enumerate(PUZZLES[name](), origin=origin, database=tmp_path / "f.db") as opened:
        check(opened, {board for depth in range(opened.depth + 1) for board in opened.states_at(depth)})


@pytest.mark.slow
def test_all_states_of_a_map_of_representatives(tmp_path: Path) -> None:
    with farthest.enumerate("cuboid-1x3x3", symmetry=8, database=tmp_path / "f.db") as opened:
        assert opened.reduced is not None
        check(opened, {board for depth in range(opened.depth + 1) for board in opened.states_at(depth)})


def test_the_component_of_a_board(map_of: MapOf) -> None:
    """Goals are all boards with the two pieces there: the map has several components. A depth limit cuts none off."""
    opened = map_of("pennant", Origin("to", "goal"))
    of_start = opened.diameter()
    assert of_start.states == 1398 < opened.states
    assert map_of("pennant", Origin("from", "start"), 5).diameter() == of_start
    other = next(
        board for board in opened.states_at(0) if opened.diameter(board, limit=0).states != of_start.states
    )
    assert opened.diameter(other, limit=0).ends == ()
    with pytest.raises(UnreachableError):
        map_of("8-puzzle").diameter("213456780")


def test_what_has_none(map_of: MapOf, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ResourceError, match=r"more than 100,000 states .* `farthest enumerate 8-puzzle`"):
        map_of("8-puzzle").diameter()
    with pytest.raises(JobError, match="without --max-depth"):
        map_of("hanoi-cyclic-3-3", None, 3).diameter()
    with pytest.raises(JobError, match="leave the board out"):
        map_of("hanoi-cyclic-3-3").diameter("goal")
    monkeypatch.setattr("farthest.queries.diameter.MOST_STATES", 20)
    with pytest.raises(ResourceError, match="27 states"):
        map_of("hanoi-cyclic-3-3").diameter()
    with pytest.raises(JobError, match="additive pattern"):
        map_of("sliding-2x3@1-2").diameter()


def test_a_start_beyond_the_depth_limit(map_of: MapOf) -> None:
    """A component is found by moves; only a board that is given has to be in the map."""
    cut = map_of("pennant", Origin("to", "goal"), 2)
    assert cut.diameter().states == 1398
    with pytest.raises(UnreachableError):
        cut.diameter("start")


@pytest.mark.night
def test_klotski(map_of: MapOf) -> None:
    """The hardest pair of the classic box: 190 unit moves, from one start to two targets; and their mirror images
    (T. Mütze, Sliding block puzzles)."""
    found = map_of("hakoiri-musume-step").diameter(limit=10)
    assert (found.states, found.diameter) == (25_955, 190)
    assert len(found.ends) == found.pairs == 4
    times = Counter(board for pair in found.ends for board in pair)
    assert sorted(times.values()) == [1, 1, 1, 1, 2, 2]
