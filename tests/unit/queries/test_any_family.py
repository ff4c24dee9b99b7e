"""Questions of maps of every kind of space: dense and sparse, with and without predecessors, to and from the origin."""

import csv
import random
from collections.abc import Iterator
from pathlib import Path

import numpy
import pyarrow.parquet
import pytest

import toy
from farthest.errors import BoardError, JobError, StorageError, UnreachableError
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.records import FirstGoals
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.puzzle import Origin
from farthest.queries.distance_map import DistanceMap
from farthest.queries.paths import nearer_moves, walk

CASES = [
    (codes, both_ways, direction)
    for codes in ("dense", "numbers", "strings")
    for both_ways, direction in ((True, "from" if codes == "numbers" else "to"), (False, "from"))
]


@pytest.fixture(scope="session")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the databases of the maps of CASES."""
    return tmp_path_factory.mktemp("any-family")


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{'both' if case[1] else 'forward'}-{case[2]}")
def case(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, databases: Path
) -> Iterator[tuple[DistanceMap, dict[int, int]]]:
    """A map, and the naive model's distances. The map is stored once."""
    toy.install(monkeypatch)
    codes, both_ways, direction = request.param
    puzzle, origin = toy.toy(codes, both_ways, size=32), Origin(direction, "5")
    file = databases / f"{codes}-{both_ways}-{direction}.db"
    known = file.exists()
    with open_database(str(file), create=not known) as database:
        if not known:
            toy.store_map(database, puzzle, origin)
        (record,) = Jobs(database).list()
        yield DistanceMap(database, record), toy.distances(puzzle, origin)


def test_every_distance(case: tuple[DistanceMap, dict[int, int]]) -> None:
    opened, expected = case
    texts = [str(state) for state in range(32)]
    assert opened.distances(texts).tolist() == [expected.get(state, -1) for state in range(32)]
    assert opened.distance("29") == expected[29]
    assert (opened.states, opened.depth) == (len(expected), max(expected.values()))
    array, codes = opened.array(), opened.codes()
    assert opened.lookup(codes).tolist() == [-1 if at == 255 else at for at in array.tolist()]
    assert opened.lookup(codes[:0]).tolist() == []


def test_layers_and_texts(case: tuple[DistanceMap, dict[int, int]]) -> None:
    opened, expected = case
    for depth in range(opened.depth + 1):
        boards = list(opened.states_at(depth))
        assert sorted(map(int, boards)) == sorted(s for s, at in expected.items() if at == depth)
        codes = opened.space.encode(
            numpy.array([opened.labels(board) for board in boards], dtype=numpy.uint8)
        )
        assert codes.tolist() == sorted(codes.tolist())
    with pytest.raises(JobError, match="has no layer"):
        opened.states_at(99)


def test_solutions_are_those_of_the_naive_model_by_their_moves(
    case: tuple[DistanceMap, dict[int, int]],
) -> None:
    opened, expected = case
    direction = opened.origin.direction
    farthest = int(opened.farthest(1)[0])
    for state in [5, farthest, *random.Random(3).sample(sorted(expected), 2)]:
        ways = toy.solutions(opened.puzzle, expected, state, direction)
        graph = opened.solution_graph(str(state))
        assert opened.count_solutions(str(state)) == graph.count() == len(ways)
        found = list(opened.solutions_of(graph))
        assert sorted(tuple(way.moves) for way in found) == sorted(ways)
        for way in found:
            states = toy.numbers(way.boards).tolist()
            assert (states[0], states[-1]) == ((state, 5) if direction == "to" else (5, state))
            for here, move, there in zip(states, way.moves, states[1:], strict=False):
                assert (move, there) in opened.puzzle.definition.next(here)  # type: ignore[attr-defined]
        assert opened.path(str(state)) == next(opened.solutions(str(state)))
        assert len(list(opened.solutions_of(graph, 2))) == min(2, len(ways))


def test_a_path_is_the_first_solution_whichever_origin_it_ends_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Boards and moves: which a path takes decides how pieces that look alike are named."""
    toy.install(monkeypatch)
    puzzle = toy.toy(size=32, goals=((0, 5), (0, 9), (0, 22)))
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        opened = toy.store_map(database, puzzle, Origin("to", "goal"))
        nearer = nearer_moves(opened.space, opened.lookup, lambda depth: iter(()))
        ends = set()
        for text in (text for depth in range(opened.depth + 1) for text in opened.states_at(depth)):
            graph = opened.solution_graph(text)
            first = graph.way(next(graph.solutions()))
            walked = walk(nearer, numpy.array(opened.labels(text), dtype=numpy.uint8), graph.distance)
            assert (walked.boards.tolist(), walked.moves) == (first.boards.tolist(), first.moves)
            ends.add(walked.boards[-1].tobytes())
        assert len(ends) == 3


def test_exports(case: tuple[DistanceMap, dict[int, int]], tmp_path: Path) -> None:
    opened, expected = case
    sparse = opened.space.keys is None
    names = ["key", "code", "board", "distance"] if sparse else ["key", "board", "distance"]
    for form in ("csv", "npz", "parquet"):
        assert opened.export(tmp_path / f"states.{form}") == len(expected)
    with (tmp_path / "states.csv").open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == names
    assert {int(row[-2]): int(row[-1]) for row in rows} == expected
    if sparse:
        assert [int(row[0]) for row in rows] == list(range(len(expected)))
    table = pyarrow.parquet.read_table(tmp_path / "states.parquet").to_pydict()
    assert list(table) == names
    assert [str(board) for board in table["board"]] == [row[-2] for row in rows]
    with numpy.load(tmp_path / "states.npz") as arrays:
        boards, codes = arrays["labels"], arrays["codes"] if sparse else arrays["keys"]
        assert toy.numbers(boards).tolist() == [int(row[-2]) for row in rows]
        assert arrays["distances"].tolist() == [int(row[-1]) for row in rows]
        assert "tokens" not in arrays
    right = opened.space.encode(boards)
    if opened.space.code_bytes == 3:
        assert codes.shape == (len(expected), 3)
        assert codes.tobytes() == right.tobytes()
        assert [row[1] for row in rows] == [code.tobytes().hex() for code in codes]
        assert table["code"] == [code.tobytes() for code in codes]
    else:
        assert codes.tolist() == right.tolist()
        assert not sparse or [int(row[1]) for row in rows] == table["code"] == codes.tolist()


def test_the_map_verifies_itself(case: tuple[DistanceMap, dict[int, int]]) -> None:
    opened, expected = case
    report = opened.verify()
    assert report.ok, report.failures
    assert (report.states, report.digest) == (len(expected), opened.digest)


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> DistanceMap:
    """A sparse map of two layers of six."""
    toy.install(monkeypatch)
    database = open_database(str(tmp_path / "maps.db"), create=True)
    return toy.store_map(database, toy.toy("numbers"), max_depth=2)


def test_boards_without_a_distance(one: DistanceMap) -> None:
    with pytest.raises(UnreachableError, match="distance >2: it is more than 2 moves away"):
        one.distance("200")
    with pytest.raises(BoardError, match="expected a number below 300"):
        one.distance("300")
    assert one.distances(["0", "200"]).tolist() == [0, -1]


def test_a_map_that_contradicts_itself_is_told(one: DistanceMap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one, "_distance", lambda labels: 2)
    with pytest.raises(StorageError, match="contradicts itself"):
        one.path("0")


@pytest.mark.parametrize("codes", ["dense", "numbers", "strings"])
def test_rows_of_the_last_layer_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, codes: str) -> None:
    toy.install(monkeypatch)
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        opened = toy.store_map(database, toy.toy(codes, size=250), state_rows=3)
        report = opened.verify()
        assert report.ok, report.failures
        rows = next(check for check in report.checks if check.name == "rows")
        assert rows.checked == min(3, opened.layers[-1])


def test_distances_of_two_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    toy.install(monkeypatch)
    puzzle = toy.toy("numbers", size=300, moves=(("inc", 1, 1),))
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        opened = toy.store_map(database, puzzle, unit="uint16", piece=100)
        assert opened.distance("299") == 299
        assert opened.count_solutions("299") == 1
        assert opened.verify().ok


@pytest.mark.parametrize("codes", ["dense", "strings"])
def test_where_goals_are_first_met(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, codes: str) -> None:
    toy.install(monkeypatch)
    goals = ((0, 40), (0, 41), (WILDCARD, 200), (0, 7))
    puzzle = toy.toy(codes, goals=goals, moves=(("double", 2, 0), ("two", 1, 2)), size=250)
    expected = toy.distances(puzzle)
    assert 41 not in expected
    assert 7 not in expected
    with open_database(str(tmp_path / "maps.db"), create=True) as database:
        opened = toy.store_map(database, puzzle, piece=40)
        found = opened.first_goals()
        depth = min(expected[40], expected[200])
        boards = [str(state) for state in (40, 200) if expected[state] == depth]
        assert found == FirstGoals(depth, len(boards), boards)
        unmet = toy.toy(codes, goals=((0, 7),), moves=(("double", 2, 0), ("two", 1, 2)), size=250)
        assert toy.store_map(database, unmet).first_goals() is None
