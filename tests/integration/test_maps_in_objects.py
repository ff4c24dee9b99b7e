"""Residue maps in an object store: all questions, and what goes wrong with the store or with who writes a map."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from blob_places import Contents
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.models.database import open_database
from farthest.models.maps import MapFiles
from farthest.puzzles.catalogue import load
from integration.conftest import Run, RunJson
from integration.test_residues_from_files import TIGHT
from server_process import free_port

pytestmark = pytest.mark.slow

BOARD = "5 4 3 / 2 1 0"


@pytest.fixture
def maps_url(objects_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("FARTHEST_MAPS", objects_url)
    return objects_url


@pytest.fixture
def kept(maps_url: str) -> Contents:
    return Contents(maps_url)


def test_commands_answer_as_for_a_full_map(
    run: Run, run_json: RunJson, folder: Path, kept: Contents, maps_url: str
) -> None:
    full, residues = (run_json("enumerate", "sliding-2x3", "--map", kind) for kind in ("full", "residues"))
    assert residues["layers"] == full["layers"]
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
    assert run_json("enumerate", "8-puzzle", "--map", "residues")["job"] == 3
    of_third = [name for name in kept.names() if name.startswith("3-")]
    run("delete", "1")
    run("delete", "2")
    assert kept.names() == of_third != []
    assert not (folder / "farthest.db.maps").exists()


def test_layers_in_files_give_the_same_map(
    kept: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(residues=True, max_depth=6, threads=2)
    with open_database(tmp_path / "files.db", create=True) as database:
        found = enumerate_puzzle(load("pancake-9"), database, replace(settings, memory=TIGHT["pancake-9"]))
    assert found.figures
    objects = b"".join(kept.read(name) for name in kept.names())
    monkeypatch.delenv("FARTHEST_MAPS")
    with open_database(tmp_path / "memory.db", create=True) as database:
        expected = enumerate_puzzle(load("pancake-9"), database, settings)
    (file,) = (tmp_path / "memory.db.maps").iterdir()
    assert (found.digest, objects) == (expected.digest, file.read_bytes())


def test_a_map_that_is_not_whole(run: Run, run_json: RunJson, kept: Contents, maps_url: str) -> None:
    run_json("enumerate", "sliding-2x3", "--map", "residues")
    header, data, sums = kept.names()
    whole = kept.read(data)
    changed = bytes([whole[0] ^ 1]) + whole[1:]
    for name, blob, said in (
        (data, None, "its object 00000001 is missing"),
        (data, whole[:-8], "bytes, expected"),
        (data, changed, "page 0 of its data, 4096 bytes, is not what was stored"),
        (header, b"", "bytes, expected"),
        (sums, b"\0\0\0\0", "header and checksums are not those that were stored"),
    ):
        before = kept.read(name)
        kept.write(name, blob)
        for words in (("distance", "1", BOARD), ("verify", "1")):
            error = run(*words, status=2).stderr
            assert said in error
            assert maps_url in error
        kept.write(name, before)
    run("distance", "1", BOARD)
    for name in kept.names():
        kept.write(name, None)
    assert "cannot be opened (there are no such objects)" in run("distance", "1", BOARD, status=2).stderr
    run("delete", "1")


def test_a_store_that_is_away(
    run: Run, run_json: RunJson, kept: Contents, maps_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_json("enumerate", "3-puzzle", "--map", "full")
    run_json("enumerate", "sliding-2x3", "--map", "residues")
    before = kept.names()
    with monkeypatch.context() as away:
        away.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
        for words in (
            ("distance", "2", BOARD),
            ("verify", "2"),
            ("delete", "2"),
            ("enumerate", "8-puzzle", "--map", "residues"),
        ):
            error = run(*words, status=2).stderr
            assert f"FARTHEST_MAPS is {maps_url} at http://127.0.0.1:" in error
            assert "the object store cannot be reached" in error
        run("delete", "1")
    assert kept.names() == before
    run("distance", "2", BOARD)
    monkeypatch.setenv("FARTHEST_MAPS", "s3://no-such-bucket")
    assert "there is no such bucket" in run("enumerate", "8-puzzle", "--map", "residues", status=2).stderr
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    assert "refuses the credentials" in run("distance", "2", BOARD, status=2).stderr


KILLED = """
import os, signal, sys
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.map_files import objects
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load

def killed(*arguments, **named):
    os.kill(os.getpid(), signal.SIGKILL)

def killed_after(function):
    def call(*arguments, **named):
        function(*arguments, **named)
        killed()
    return call

point = sys.argv[2]
if point == "data":
    objects.ObjectWriter._store = killed_after(objects.ObjectWriter._store)
elif point == "published":
    objects.ObjectWriter.publish = killed_after(objects.ObjectWriter.publish)
with open_database(sys.argv[1], create=True) as database:
    enumerate_puzzle(load("8-puzzle"), database, Settings(residues=True))
"""


@pytest.mark.parametrize("point", ["data", "published"])
def test_what_a_killed_process_leaves_is_removed(
    kept: Contents, tmp_path: Path, point: str, run: Run
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "farthest.db"), point], capture_output=True, check=False
    )
    assert ended.returncode == -9
    left = kept.names()
    assert len(left) == (1 if point == "data" else 3)
    assert (
        "is interrupted, expected a finished one"
        in run("distance", "1", "1 2 3 / 4 5 6 / 7 8 0", status=2).stderr
    )
    with open_database(tmp_path / "farthest.db", create=False) as database:
        enumerate_puzzle(load("8-puzzle"), database, Settings(residues=True))
        name = MapFiles(database).get(1).name
    assert kept.names() == [f"{name}/{number:08}" for number in range(3)]
    assert not set(left) & set(kept.names())
    assert run("distance", "1", "647/850/321").stdout.startswith("31")
