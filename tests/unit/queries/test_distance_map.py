"""Distances that a stored map gives, compared with the naive model, and what it says of itself."""

import random

import numpy
import pytest

import naive
from farthest.errors import BoardError, JobError, UnreachableError
from farthest.families.sliding.definition import sliding
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.puzzles.puzzle import Origin
from farthest.queries.distance_map import DistanceMap, open_map
from unit.queries.conftest import MapOf

CASES = [
    ("3-puzzle", None),
    ("lozenge", None),
    ("red-and-white", None),
    ("roundabout", None),
    ("roundabout", Origin("from", "goal")),
    ("wilson-theta", None),
    ("sliding-2x3-slide", None),
]
FARTHEST = "┘│└/─□─/┐│┌"


def all_boards(distance_map: DistanceMap) -> list[naive.Board]:
    return list(naive.arrangements(sliding(distance_map.puzzle).counts))


@pytest.mark.parametrize(("name", "origin"), CASES)
def test_every_distance_is_that_of_the_naive_model(map_of: MapOf, name: str, origin: Origin | None) -> None:
    distance_map = map_of(name, origin)
    expected = naive.distances(distance_map.puzzle, origin)
    boards = all_boards(distance_map)
    wanted = [expected.get(board, -1) for board in boards]
    texts = [sliding(distance_map.puzzle).format_board(board) for board in boards]
    assert distance_map.distances(texts).tolist() == wanted
    assert distance_map.distances(numpy.array(boards)).tolist() == wanted
    assert list(distance_map.layers) == naive.layers(expected)
    assert distance_map.states == len(expected)
    assert distance_map.eccentricity == distance_map.depth == max(expected.values())
    for board in random.Random(1).sample(boards, 10):
        if board in expected:
            assert distance_map.distance(board) == expected[board]
        else:
            with pytest.raises(UnreachableError, match="unreachable"):
                distance_map.distance(board)


@pytest.mark.parametrize(("name", "origin"), CASES)
def test_states_of_each_depth_are_those_of_the_naive_model(
    map_of: MapOf, name: str, origin: Origin | None
) -> None:
    distance_map = map_of(name, origin)
    expected = naive.distances(distance_map.puzzle, origin)
    for depth in range(distance_map.depth + 1):
        boards = list(distance_map.states_at(depth))
        assert sorted(boards) == sorted(
            sliding(distance_map.puzzle).format_board(board) for board, at in expected.items() if at == depth
        )
        labels = [distance_map.labels(board) for board in boards]
        keys = distance_map.space.encode(numpy.array(labels, dtype=numpy.uint8)).tolist()
        assert keys == sorted(keys)
    assert distance_map.farthest() == list(distance_map.states_at(distance_map.depth))
    assert distance_map.farthest(limit=1) == distance_map.farthest()[:1]


def test_the_seed_puzzle(map_of: MapOf) -> None:
    distance_map = map_of("eight-kinds")
    assert (distance_map.states, distance_map.eccentricity, distance_map.layers[-1]) == (90720, 30, 6)
    assert sorted(distance_map.farthest()) == sorted(distance_map.puzzle.known[0].farthest or ())
    drawing = sliding(distance_map.puzzle).draw_board(distance_map.labels(FARTHEST))
    for form in (FARTHEST, "┘ │ └ / ─ □ ─ / ┐ │ ┌", "┘│└─□─┐│┌", "\n".join(drawing)):
        assert distance_map.distance(form) == 30
    assert repr(distance_map) == "<DistanceMap of job 1: eight-kinds, 90720 states, depth 30>"


def test_the_array_holds_every_key(map_of: MapOf) -> None:
    distance_map = map_of("lozenge")
    array = distance_map.array()
    assert array.shape == (distance_map.space.keys,)
    assert array.dtype == numpy.uint8
    counts = numpy.bincount(array, minlength=256)
    assert tuple(counts[: distance_map.depth + 1].tolist()) == distance_map.layers
    assert counts[255] == len(array) - distance_map.states
    farthest = distance_map.labels(distance_map.farthest()[0])
    keys = distance_map.space.encode(numpy.array([farthest], dtype=numpy.uint8))
    assert array[keys[0]] == distance_map.depth


def test_unreachable_boards_are_told_why(map_of: MapOf) -> None:
    with pytest.raises(UnreachableError, match=r"unreachable: parity"):
        map_of("8-puzzle").distance("1 2 3 / 4 5 6 / 8 7 0")
    distance_map = map_of("wilson-theta")
    boards = all_boards(distance_map)
    missing = boards[distance_map.distances(numpy.array(boards)).tolist().index(-1)]
    with pytest.raises(UnreachableError, match="unreachable: no moves lead from it to the origin"):
        distance_map.distance(missing)


def test_a_map_with_a_depth_limit(map_of: MapOf) -> None:
    distance_map = map_of("8-puzzle", None, 5)
    assert not distance_map.complete
    assert distance_map.eccentricity is None
    assert (distance_map.depth, distance_map.states) == (5, sum(distance_map.layers))
    assert distance_map.distance("123456708") == 1
    assert distance_map.distances(["867254301", "123456708"]).tolist() == [-1, 1]
    with pytest.raises(UnreachableError, match="more than 5 moves away"):
        distance_map.distance("867254301")
    with pytest.raises(UnreachableError, match="parity"):
        distance_map.distance("123456870")


def test_malformed_boards(map_of: MapOf) -> None:
    distance_map = map_of("8-puzzle")
    with pytest.raises(BoardError, match="8-puzzle"):
        distance_map.distance("1 2 3")
    with pytest.raises(BoardError, match="line 2"):
        distance_map.distances(["123456780", "123456788"])
    with pytest.raises(BoardError, match="missing"):
        distance_map.distance([0] * 9)
    with pytest.raises(BoardError, match=r"expected an array of integers of shape \(boards, 9\)"):
        distance_map.distances(numpy.zeros((2, 8), dtype=int))
    with pytest.raises(BoardError, match="float64"):
        distance_map.distances(numpy.zeros((2, 9)))
    with pytest.raises(BoardError, match="board number 2"):
        distance_map.distances(numpy.array([range(9), [-1, *range(8)]]))
    assert distance_map.distances([]).tolist() == []


def test_depths_that_are_not_there(map_of: MapOf) -> None:
    for depth in (-1, 32):
        with pytest.raises(JobError, match=r"its layers are 0 to 31"):
            map_of("8-puzzle").states_at(depth)


def test_a_small_cache_gives_the_same_answers(map_of: MapOf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Maps of one chunk cannot show it: chunks are 2**19 keys."""
    distance_map = map_of("sliding-2x5")  # 1,814,400 keys, four chunks
    texts = distance_map.puzzle.definition.texts(
        distance_map.space.decode(numpy.arange(0, 1814400, 9973, dtype=numpy.uint64))
    )
    assert len(list(distance_map.chunks())) == 4
    monkeypatch.setattr("farthest.queries.stored_map.CACHE_BYTES", 1)
    small = DistanceMap(distance_map.database, distance_map.record)
    assert small.distances(texts).tolist() == distance_map.distances(texts).tolist()
    array = distance_map.array()
    assert small.distances(texts).tolist() == array[::9973].tolist()
    assert sum(1 for _ in small.states_at(small.depth)) == small.layers[-1]


def test_opening_by_number_and_by_name(map_of: MapOf) -> None:
    place = map_of("3-puzzle").database.place
    for job in (1, "1", "3-puzzle"):
        with open_map(job, place) as opened:
            assert opened.distance("0 3 / 1 2") == 4
            assert opened.digest == map_of("3-puzzle").digest
    with pytest.raises(JobError, match="there is no job 7"):
        open_map(7, place)


def test_the_map_verifies_itself(map_of: MapOf) -> None:
    report = map_of("lozenge").verify()
    assert report.ok
    assert report.digest == map_of("lozenge").digest
    assert map_of("8-puzzle", None, 5).verify().ok


def test_the_record_is_the_job(map_of: MapOf) -> None:
    distance_map = map_of("3-puzzle")
    with open_database(distance_map.database.place, create=False) as database:
        assert Jobs(database).get(distance_map.job) == distance_map.record
    assert distance_map.seconds > 0
