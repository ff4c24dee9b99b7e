"""`farthest enumerate --map residues`, the commands that ask such a map, and what a killed process leaves."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from farthest.coordinator.enumeration.choice import with_kind_of_map
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.enumeration.machine import Machine
from farthest.coordinator.enumeration.plan import plan
from farthest.coordinator.settings import Settings
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.maps import MapFiles
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.spaces.contract import FULL_KEYS
from integration.conftest import Run, RunJson
from kernels import compiled

BOARD = "5 4 3 / 2 1 0"


@pytest.mark.slow
def test_commands_answer_as_for_a_full_map(run: Run, run_json: RunJson, folder: Path) -> None:
    full, residues = (run_json("enumerate", "sliding-2x3", "--map", kind) for kind in ("full", "residues"))
    assert residues["digest"] != full["digest"]
    assert [residues[name] for name in ("layers", "farthest")] == [
        full[name] for name in ("layers", "farthest")
    ]
    for words in (
        ("distance", "{}", BOARD),
        ("path", "{}", BOARD, "--all"),
        ("states", "{}", "--farthest"),
        ("states", "{}", "--depth", "4"),
        ("heuristic", "{}"),
        ("random", "sliding-2x3", "--depth", "7", "--seed", "3", "-n", "4"),
    ):
        answers = [run(*(word.format(job) for word in words)).stdout for job in (1, 2)]
        assert answers[0].replace("job 1", "job") == answers[1].replace("job 2", "job")
    for job in (1, 2):
        run("export", str(job), f"{job}.csv")
    assert (folder / "1.csv").read_bytes() == (folder / "2.csv").read_bytes()
    assert "proved; 360 states" in run("verify", "2").stdout
    assert "360 keys, residues in a file" in run("show", "2").stdout
    assert run_json("show", "2")["parameters"]["map"] == "residues"
    (file,) = (folder / "farthest.db.maps").iterdir()
    size = file.stat().st_size
    assert run_json("delete", "2")["bytes"] > size
    assert not (folder / "farthest.db.maps").exists()


def test_a_word_of_residues_has_the_length_of_the_answer(run_json: RunJson) -> None:
    run_json("enumerate", "8-puzzle", "--map", "residues")
    boards = run_json("states", "8-puzzle", "--farthest")["boards"]
    found = run_json("path", "8-puzzle", boards[0])
    assert (found["distance"], len(found["paths"][0]["moves"])) == (31, 31)


def test_the_kind_of_map(run: Run, run_json: RunJson) -> None:
    none, short = (
        run_json("enumerate", "3-puzzle", *words)["digest"]
        for words in (("--map", "none"), ("--histogram-only",))
    )
    assert none == short
    assert (
        "leave one of them out"
        in run("enumerate", "3-puzzle", "--map", "full", "--histogram-only", status=2).stderr
    )
    assert "use --map full" in run("enumerate", "roundabout", "--map", "residues", status=2).stderr


def test_the_default_is_full_up_to_a_number_of_keys() -> None:
    def chosen(name: str, **more: object) -> bool | None:
        settings = Settings(**more)  # type: ignore[arg-type]
        return with_kind_of_map(compile_space(load(name)), settings, stored=True).residues

    assert compile_space(load("sliding-3x5")).keys or FULL_KEYS < 0
    assert chosen("8-puzzle") is False
    assert chosen("sliding-3x5") is True
    assert chosen("sliding-3x5", workers="celery") is False
    assert chosen("sliding-3x5", histogram_only=True) is False
    assert chosen("sliding-3x5", residues=False) is False
    assert chosen("hanoi-cyclic-3-20") is False
    assert chosen("pegs-french") is False


def test_residues_are_advised_where_they_fit(tmp_path: Path) -> None:
    puzzle = load("sliding-3x4")
    settings = Settings(memory=170 * 2**20, residues=False)
    refused = plan(puzzle, settings, Machine(settings))
    assert "use --map residues, which needs" in str(refused.needs.problem)
    few = replace(settings, residues=True)
    assert plan(puzzle, few, Machine(few, tmp_path / "jobs.db")).needs.layers_in == "memory"


@pytest.mark.parametrize("name", ["eight-kinds", "pancake-6", "hanoi-3-6"])
def test_the_file_does_not_depend_on_how_it_was_found(tmp_path: Path, name: str) -> None:
    found = set()
    for number, (threads, shard_classes) in enumerate(((1, 1), (3, 1), (2, 2))):
        with (
            open_database(tmp_path / f"{number}.db", create=True) as database,
            compiled(shard_classes=shard_classes),
        ):
            outcome = enumerate_puzzle(load(name), database, Settings(threads=threads, residues=True))
            files = MapFiles(database)
            data = Path(files.place.where, files.get(1).name).read_bytes()
        found.add((outcome.digest, data))
    assert len(found) == 1


def test_a_pattern_with_a_residue_map_is_a_heuristic(run: Run, run_json: RunJson) -> None:
    run("enumerate", "pancake-7@1-4", "--map", "residues")
    first = run_json("solve", "pancake-7", "7 5 3 1 2 4 6", "--heuristic", "@1-4")
    run("enumerate", "pancake-7@1-4", "--map", "full")
    second = run_json("solve", "pancake-7", "7 5 3 1 2 4 6", "--heuristic", "@1-4")
    assert (first["length"], first["nodes"]) == (second["length"], second["nodes"])


def test_a_database_on_a_server_needs_a_folder(
    postgres_empty_url: str, run: Run, run_json: RunJson, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARTHEST_DATABASE_URL", postgres_empty_url)
    assert "FARTHEST_MAPS is not set" in run("enumerate", "3-puzzle", "--map", "residues", status=2).stderr
    monkeypatch.setenv("FARTHEST_MAPS", str(folder / "maps"))
    job = str(run_json("enumerate", "3-puzzle", "--map", "residues")["job"])
    assert "proved; 12 states" in run("verify", job).stdout
    assert run("distance", job, "3 2 / 1 0").stdout == run("distance", job, "32/10").stdout
    run("delete", job)
    assert not list((folder / "maps").iterdir())


KILLED = """
import os, signal, sys
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.map_files import places
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.puzzles.catalogue import load

def killed(*arguments, **named):
    os.kill(os.getpid(), signal.SIGKILL)

def killed_after(function):
    def call(*arguments, **named):
        function(*arguments, **named)
        killed()
    return call

point = sys.argv[2]
if point == "written":
    places.MapFileWriter.finish = killed
elif point == "finished":
    places.MapFileWriter.publish = killed
elif point == "named":
    places.MapFileWriter.publish = killed_after(places.MapFileWriter.publish)
elif point == "interrupted":
    def interrupted(*arguments):
        raise KeyboardInterrupt
    places.MapFileWriter.finish = interrupted
with open_database(sys.argv[1], create=True) as database:
    enumerate_puzzle(load("8-puzzle"), database, Settings(residues=True))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "mended_by"),
    [(point, "running") for point in ("written", "finished", "named", "interrupted")]
    + [("named", "deleting")],
)
def test_what_a_killed_process_leaves_is_removed(
    database: Database, tmp_path: Path, point: str, mended_by: str
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "maps.db"), point], capture_output=True, check=False
    )
    assert ended.returncode != 0
    folder = tmp_path / "maps.db.maps"
    assert len(list(folder.iterdir())) == (0 if point == "interrupted" else 1)
    (record,) = Jobs(database).list()
    assert (record.state_now, record.has_map) == ("interrupted", False)
    if mended_by == "deleting":
        Jobs(database).delete(record.id)
        assert not folder.exists()
        return
    outcome = enumerate_puzzle(load("8-puzzle"), database, Settings(residues=True))
    assert outcome.job == record.id
    files = MapFiles(database)
    assert list(folder.iterdir()) == [Path(files.place.where, files.get(record.id).name)]
