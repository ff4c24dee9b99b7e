"""`import farthest`: names that come when they are used, and the verbs as functions."""

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import numpy
import numpy.typing
import pytest

import farthest
from cases import for_each


def test_importing_costs_nothing() -> None:
    code = "import sys; before = set(sys.modules); import farthest; print(*set(sys.modules) - before)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(result.stdout.split())
    assert {name for name in imported if name.startswith("farthest")} == {"farthest"}
    assert imported.isdisjoint({"click", "importlib.metadata", "json", "numpy", "sqlalchemy"})


def test_every_name_can_be_used() -> None:
    for name in farthest.__all__:
        assert getattr(farthest, name) is not None
        assert name in dir(farthest)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        farthest.nothing  # noqa: B018  # the access is what is tested


def test_version() -> None:
    assert farthest.__version__.count(".") == 2


def test_the_verbs(tmp_path: Path) -> None:
    file = str(tmp_path / "maps.db")
    with farthest.enumerate("3-puzzle", database=file) as enumerated:
        assert enumerated.layers == (1, 2, 2, 2, 2, 2, 1)
    (record,) = farthest.jobs(file)
    assert (record.name, record.states, record.status) == ("3-puzzle", 12, "finished")
    with farthest.open_map("3-puzzle", file) as opened:
        assert opened.digest == enumerated.digest
        assert opened.path("0 3 / 1 2")[0] == "03/12"
    assert farthest.delete_job(1, file) == record
    assert farthest.jobs(file) == []
    with pytest.raises(farthest.JobError):
        farthest.open_map("3-puzzle", file)


@pytest.mark.slow
def test_by_representatives(tmp_path: Path) -> None:
    file, name = str(tmp_path / "maps.db"), "pyraminx@edges"
    plain = farthest.histogram(name)
    assert farthest.histogram(name, symmetry=24).layers == plain.layers
    with farthest.enumerate(name, database=file, symmetry=8) as opened:
        assert (opened.layers, opened.record.keys, plain.states) == (plain.layers, 3264, 11520)
        assert sorted(opened.farthest()) == sorted(plain.farthest)
    assert farthest.submit(name, database=file, symmetry=24).parameters["symmetry"] == 24
    with pytest.raises(farthest.PuzzleError, match="no space of representatives of 7 symmetries"):
        farthest.histogram(name, symmetry=7)


def test_the_queue(tmp_path: Path) -> None:
    file = str(tmp_path / "maps.db")
    origin = farthest.Origin("from", "start")
    record = farthest.submit("8-puzzle", database=file, origin=origin, max_depth=3, histogram_only=True)
    assert (record.id, record.name, record.status) == (1, "8-puzzle", "queued")
    assert record.parameters == {
        "direction": "from",
        "where": "start",
        "max_depth": 3,
        "histogram_only": True,
    }
    assert farthest.cancel_job("8-puzzle", file).status == "cancelled"
    assert farthest.resume_job(1, file).status == "queued"
    with pytest.raises(farthest.JobError, match="is already queued"):
        farthest.resume_job(1, file)
    with pytest.raises(farthest.PuzzleError):
        farthest.submit("8-puzle", database=file)


def test_enumerating_with_settings(tmp_path: Path) -> None:
    origin = farthest.Origin("to", "start")
    file = str(tmp_path / "maps.db")
    with farthest.enumerate("8-puzzle", database=file, origin=origin, max_depth=3, threads=1) as opened:
        assert opened.distance("8 6 7 / 2 5 4 / 3 0 1") == 0
        assert len(opened.layers) == 4
    with pytest.raises(farthest.ResourceError):
        farthest.enumerate("8-puzzle", database=file, memory=1000)


def test_a_histogram_is_kept_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = farthest.histogram(farthest.load_puzzle("eight-kinds"))
    assert (outcome.states, outcome.eccentricity, outcome.job) == (90720, 30, None)
    assert len(outcome.farthest) == 6
    assert list(tmp_path.iterdir()) == []


def test_puzzles() -> None:
    assert "eight-kinds" in farthest.puzzle_names()
    assert farthest.load_puzzle("sliding-2x3").definition.cells == 6
    with pytest.raises(farthest.PuzzleError):
        farthest.load_puzzle("eight-kind")


def test_algorithms_compared() -> None:
    boards: list[str | tuple[int, ...]] = ["0 3 / 1 2", (0, 1, 2, 3)]
    runs = farthest.compare("3-puzzle", boards, algorithms=("bfs", "ida"))
    assert [(run.number, run.entrant.name, run.length, run.optimal) for run in runs] == [
        (1, "bfs", 4, True),
        (1, "ida manhattan", 4, True),
        (2, "bfs", 0, True),
        (2, "ida manhattan", 0, True),
    ]
    assert runs[0].moves == runs[1].moves
    with pytest.raises(farthest.SettingError, match="did you mean 'bfs'"):
        farthest.compare("3-puzzle", boards, algorithms=("bsf",))
    with pytest.raises(farthest.BoardError):
        farthest.compare("3-puzzle", ["0 1 / 2 2"])


BOARD = (8, 6, 7, 2, 5, 4, 3, 0, 1)
"""At distance 31 in the 8-puzzle, and its start."""


class Steps(farthest.PuzzleSpace):
    """Numbers from 0 to 5, one up at a time."""

    size = 6
    moves = ("up",)

    def initial(self) -> list[int]:
        return [0]

    def successors(self, keys: numpy.typing.NDArray[numpy.uint64]) -> numpy.typing.NDArray[numpy.int64]:
        return numpy.where(keys < 5, keys.astype(numpy.int64) + 1, -1).reshape(-1, 1)


class Stranger:
    """No PuzzleSpace, though it has what one has."""

    initial = Steps.initial
    successors = Steps.successors


def test_what_a_puzzle_may_be(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\nfamily = "sliding"\n[sliding]\nblank = "."\ngoal = [".a", "bc"]\n')
    database = tmp_path / "maps.db"
    for puzzle, states in (
        ("3-puzzle", 12),
        (file, 12),
        (str(file), 12),
        (farthest.load_puzzle(file), 12),
        (Steps(), 6),
    ):
        assert farthest.histogram(puzzle).states == states
        with farthest.enumerate(puzzle, database=database) as found:
            assert found.states == states
        assert farthest.submit(puzzle, database=database).id == found.job + 1
    wrong: list[Any] = [7, None, Stranger(), b"3-puzzle", ["3-puzzle"]]
    for puzzle in wrong:
        for verb in (
            farthest.load_puzzle,
            farthest.histogram,
            farthest.solve,
            lambda each: farthest.enumerate(each, database=database),
            lambda each: farthest.submit(each, database=database),
            lambda each: farthest.random_boards(each, seed=1),
            lambda each: farthest.compare(each, ["start"]),
            lambda each: farthest.copies(each, "start"),
        ):
            with pytest.raises(TypeError, match=r"puzzle: expected a name .* derived from PuzzleSpace, got"):
                verb(puzzle)
    with pytest.raises(farthest.PuzzleError, match=r"write Stranger\(\)"):
        farthest.solve(Stranger)  # type: ignore[arg-type]  # what is tested


@for_each(
    "board",
    ["867/254/301", "start", " start ", BOARD, list(BOARD), numpy.array(BOARD), numpy.array(BOARD, "u1")],
)
def test_what_a_board_may_be(board: Any) -> None:
    assert farthest.solve("8-puzzle", board).length == 31
    assert farthest.solve("8-puzzle", "goal", to=board).length == 31
    assert farthest.copies("8-puzzle", board) == farthest.copies("8-puzzle", BOARD)
    assert farthest.Walker("8-puzzle", board).board == BOARD
    drawn = farthest.random_boards("8-puzzle", 2, seed=1, to=board)
    assert drawn == farthest.random_boards("8-puzzle", 2, seed=1, to="start")
    (run,) = farthest.compare("8-puzzle", [board], algorithms="ida", heuristics="manhattan")
    assert run.length == 31
    layers = farthest.histogram("8-puzzle", origin=board, max_depth=3).layers
    assert layers == farthest.histogram("8-puzzle", origin=farthest.Origin("to", "start"), max_depth=3).layers


def test_what_the_boards_of_a_map_may_be(tmp_path: Path) -> None:
    with farthest.enumerate("eight-kinds", database=tmp_path / "maps.db") as found:
        start = found.labels("start")
        goal = "goal"
        assert found.distance(goal) == 0
        assert found.path("start") == found.path(numpy.array(start))
        assert found.count_solutions(list(start)) == found.count_solutions("start")
        assert found.distances([goal, "start", start, numpy.array(start)]).tolist() == [0, 30, 30, 30]
        with pytest.raises(TypeError, match="expected a list of boards or an array, got a text"):
            found.distances("goal")
        for wrong in (5, None, [[1, 2], [3, 4]], {"a"}):
            with pytest.raises(TypeError, match="board: expected a text, 'goal', 'start'"):
                found.distance(wrong)  # type: ignore[arg-type]  # what is tested


def test_boards_that_a_puzzle_does_not_have() -> None:
    with pytest.raises(farthest.BoardError, match="sliding-2x2: it has no start; name a board, such as"):
        farthest.solve("sliding-2x2", "start")
    with pytest.raises(farthest.BoardError, match="has no start"):
        farthest.solve("sliding-2x2")
    with pytest.raises(farthest.BoardError, match=r"its goal .* stands for many boards, expected one"):
        farthest.solve("red-donkey", "goal")


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("goal", ("to", "goal")),
        ("start", ("to", "start")),
        ("from start", ("from", "start")),
        ("from  867254301", ("from", "867/254/301")),
        (BOARD, ("to", "867/254/301")),
        (farthest.Origin("from", "867254301"), ("from", "867/254/301")),
    ],
)
def test_what_an_origin_may_be(given: Any, origin: tuple[Literal["to", "from"], str], tmp_path: Path) -> None:
    database = tmp_path / "maps.db"
    with farthest.enumerate("8-puzzle", database=database, origin=given, max_depth=1) as found:
        assert found.origin == farthest.Origin(*origin)
    queued = farthest.submit("8-puzzle", database=database, origin=given).parameters
    assert (queued["direction"], queued["where"]) == origin


def test_what_is_no_origin_number_or_job(tmp_path: Path) -> None:
    database = tmp_path / "maps.db"
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"origin": 5}, TypeError, "board: expected a text"),
        ({"origin": "nowhere"}, farthest.BoardError, "nowhere"),
        ({"origin": farthest.Origin("off", "goal")}, farthest.PuzzleError, "expected 'to' or 'from'"),  # type: ignore[arg-type]
        ({"max_depth": "3"}, TypeError, "max_depth: expected a whole number, got '3'"),
        ({"threads": 1.5}, TypeError, "threads: expected a whole number"),
        ({"memory": "4GiB"}, TypeError, "memory: expected a whole number"),
        ({"database": 5}, TypeError, "database: expected a URL or the name of a file"),
    ]
    for options, kind, message in wrong:
        with pytest.raises(kind, match=message):
            farthest.enumerate("3-puzzle", **{"database": database, **options})
    with farthest.enumerate("3-puzzle", database=database, max_depth=numpy.int64(2)) as found:
        assert found.depth == 2
    for job in (numpy.int64(1), "1", farthest.jobs(database)[0]):
        with farthest.open_map(job, database) as found:
            assert found.job == 1
    for verb in (farthest.open_map, farthest.delete_job, farthest.cancel_job, farthest.resume_job):
        with pytest.raises(
            TypeError, match="job: expected a number, a puzzle's name or a JobRecord, got float"
        ):
            verb(1.0, database)  # type: ignore[arg-type]  # what is tested
    with pytest.raises(ValueError, match="workers is 'me'; expected threads or celery"):
        farthest.solve("3-puzzle", "goal", workers="me")  # type: ignore[arg-type]  # what is tested


def test_a_damaged_job_can_be_deleted(tmp_path: Path) -> None:
    database = tmp_path / "maps.db"
    farthest.enumerate("3-puzzle", database=database).close()
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE job SET parameters = '[]'")
    with pytest.raises(farthest.StorageError):
        farthest.open_map(1, database)
    assert farthest.delete_job(1, database) is None
    assert farthest.jobs(database) == []


def test_heuristics_and_pattern_maps(tmp_path: Path) -> None:
    file = tmp_path / "maps.db"
    boards = ["goal", "moves: 8 7", "start"]
    assert farthest.heuristic_values("8-puzzle", boards, "manhattan").tolist() == [0, 2, 21]
    assert farthest.heuristic_values("8-puzzle", [(1, 2, 3, 4, 5, 6, 7, 0, 8)]).tolist() == [1]
    parity = farthest.heuristic_values("pegs-triangle-15", ["goal", "start"], "pegs", to="start")
    assert parity.tolist() == [-1, 0]
    with pytest.raises(farthest.SettingError, match="manhatten"):
        farthest.heuristic_values("8-puzzle", boards, "manhatten")
    farthest.enumerate("8-puzzle@1-3", database=file).close()
    found = farthest.pattern_map("8-puzzle@1-3", file)
    assert len(found.distances) == 504
    goal = numpy.array([[1, 2, 3, 0, 0, 0, 0, 0, 0]], dtype=numpy.uint8)
    assert found.distances[found.space.encode(goal)].tolist() == [0]
    values = farthest.heuristic_values("8-puzzle", boards, "@1-3", database=file)
    assert values[0] == 0
    assert values.max() <= 31
    with pytest.raises(farthest.JobError):
        farthest.pattern_map("8-puzzle@4-6", file)
