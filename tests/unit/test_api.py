"""`import farthest`: names that come when they are used, and the verbs as functions."""

import subprocess
import sys
from pathlib import Path

import pytest

import farthest
from farthest import api


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
    assert farthest.delete_job(1, file).id == 1
    assert farthest.jobs(file) == []
    with pytest.raises(farthest.JobError):
        farthest.open_map("3-puzzle", file)


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
        api.load_puzzle("eight-kind")


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
