"""Enumerations that do not fit the memory: layers in files, stopped, killed, damaged, and gone on with."""

import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from farthest.cli.app import cli
from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.enumeration.resources import PROCESS_BYTES
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Outcome, Settings
from farthest.errors import NoRoomError, ResourceError, SettingError, StorageError
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.puzzles.catalogue import load
from farthest.stores.folder import journal
from farthest.stores.folder.layer_files import LayerFiles
from stopping import StoppedAt

TIGHT = {"pancake-9": PROCESS_BYTES + 105_000, "sliding-2x5": PROCESS_BYTES + 240_000}
"""Bytes of memory that the layers' bitmaps do not fit: 10 layers of 9 units; 56 of 5, searched in place."""
PUZZLE = "pancake-9"


def counted(puzzle: str) -> Outcome:
    return enumerate_puzzle(load(puzzle), None, Settings(histogram_only=True))


@pytest.fixture(scope="module")
def in_memory() -> Outcome:
    return counted(PUZZLE)


def run(
    folder: Path, reporter: Reporter | None = None, *, puzzle: str = PUZZLE, scratch: Path | None = None
) -> Outcome:
    """An enumeration from files in a folder, where its database is too."""
    with open_database(str(folder / "jobs.db"), create=True) as database:
        settings = Settings(histogram_only=True, memory=TIGHT[puzzle], threads=2, scratch=scratch)
        return enumerate_puzzle(load(puzzle), database, settings, reporter)


def stopped(
    folder: Path, depth: int, units: int, monkeypatch: pytest.MonkeyPatch, puzzle: str = PUZZLE
) -> Path:
    """The folder of the layers of a run that was stopped after so many units of a layer were written."""
    written = [0]
    write = LayerFiles.write

    def noted(files: LayerFiles, at: int, *of_unit: Any) -> None:
        write(files, at, *of_unit)
        written[0] += at == depth
        if written[0] == units:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(LayerFiles, "write", noted)
        with pytest.raises(Interrupted) as caught:
            run(folder, puzzle=puzzle)
    assert caught.value.folder is not None
    return caught.value.folder


def same(outcome: Outcome, other: Outcome) -> bool:
    return (outcome.digest, outcome.layers, outcome.farthest) == (other.digest, other.layers, other.farthest)


@pytest.mark.parametrize("puzzle", ["pancake-9", pytest.param("sliding-2x5", marks=pytest.mark.slow)])
def test_files_give_what_memory_gives_and_leave_nothing(tmp_path: Path, puzzle: str) -> None:
    outcome = run(tmp_path, puzzle=puzzle)
    assert same(outcome, counted(puzzle))
    assert [layer.states for layer in outcome.figures] == list(outcome.layers)
    assert all(layer.written > 0 for layer in outcome.figures[1:])
    with open_database(str(tmp_path / "jobs.db"), create=False) as database:
        result = Jobs(database).get(1).result
        assert result is not None
        assert result["figures"] == [layer.document() for layer in outcome.figures]
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize(
    ("puzzle", "depth", "units"),
    [
        ("pancake-9", 1, 1),
        ("pancake-9", 7, 5),
        pytest.param("sliding-2x5", 33, 4, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_was_stopped_goes_on_from_its_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, puzzle: str, depth: int, units: int
) -> None:
    folder = stopped(tmp_path, depth, units, monkeypatch, puzzle)
    kept = len(list(folder.glob(f"L{depth}.*")))
    assert units <= kept <= units + 2  # what was being written was written to its end
    outcome = run(tmp_path, puzzle=puzzle)
    assert outcome.resumed_from in ((depth - 1) or None, depth)
    assert same(outcome, counted(puzzle))
    assert not folder.exists()


def flipped(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data))
    data[at] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut_off(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def removed(path: Path, chance: random.Random) -> None:
    path.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("damage", [flipped, cut_off, removed])
def test_damaged_files_are_never_read_as_right(
    tmp_path: Path,
    in_memory: Outcome,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path, random.Random], None],
) -> None:
    chance = random.Random(7)
    made = tmp_path / "made"
    made.mkdir()
    name = stopped(made, 6, 3, monkeypatch).name
    begun_anew = 0
    for number in range(5):
        copy = tmp_path / str(number)
        shutil.copytree(made, copy)
        files = sorted(path for path in (copy / name).iterdir() if path.name not in ("lock", "header"))
        damage(chance.choice(files), chance)
        outcome = run(copy)
        assert same(outcome, in_memory)
        begun_anew += outcome.resumed_from is None
    assert begun_anew > 0


def test_a_folder_of_another_version_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stopped(tmp_path, 5, 1, monkeypatch)
    header = json.loads((folder / "header").read_text())
    (folder / "header").write_text(json.dumps({**header, "format": 0}, sort_keys=True))
    before = sorted(path.name for path in folder.iterdir())
    told = f"{folder} has layers of this enumeration that another version of farthest wrote, in format 0; .* remove"
    with pytest.raises(StorageError, match=told):
        run(tmp_path)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(ResourceError, match=f"--memory; {told}"):  # what it takes is in the way
        run(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_folder_that_another_process_uses_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: Outcome
) -> None:
    folder = stopped(tmp_path, 5, 1, monkeypatch)
    with (folder / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StorageError, match="another process uses this folder"):
            run(tmp_path)
    assert same(run(tmp_path), in_memory)


def test_a_full_disk_ends_the_run_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: Outcome
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        with monkeypatch.context() as patch:
            usage = shutil.disk_usage(disk)
            patch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=10**9))
            patch.setattr(journal, "HELD_SECONDS", 0)
            with pytest.raises(
                NoRoomError, match=r"no room for the layers .*make room and give the same command"
            ):
                run(tmp_path, scratch=disk)
        assert not list(disk.glob("*/*.part"))
        subprocess.run(["mount", "-o", "remount,size=1m", str(disk)], check=True)
        outcome = run(tmp_path, scratch=disk)
        assert outcome.resumed_from is not None
        assert same(outcome, in_memory)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_run_without_a_job_leaves_nothing(tmp_path: Path) -> None:
    settings = Settings(histogram_only=True, memory=TIGHT[PUZZLE], scratch=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        enumerate_puzzle(load(PUZZLE), None, settings, StoppedAt(4))
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_too_small_is_told_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(
        ResourceError, match=r"of disk at the peak, but .* free; name a folder with more room"
    ):
        run(tmp_path)
    assert not list(tmp_path.glob("farthest-*"))


def test_scratch_must_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(
        SettingError, match=r"--scratch is .*, which is not a folder; make it, or name another"
    ):
        run(tmp_path, scratch=tmp_path / "nowhere")


def test_memory_that_holds_no_unit_is_refused(tmp_path: Path) -> None:
    with (
        open_database(str(tmp_path / "jobs.db"), create=True) as database,
        pytest.raises(
            ResourceError, match=r"cannot be stepped within 80\.0 MiB.*allow about 81MiB with --memory"
        ),
    ):
        enumerate_puzzle(load(PUZZLE), database, Settings(histogram_only=True, memory=PROCESS_BYTES))


def test_deleting_a_job_removes_its_layers_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = stopped(tmp_path, 5, 1, monkeypatch)
    (folder / "mine").write_text("not farthest's")
    result = CliRunner().invoke(cli, ["delete", "1", "--database", str(tmp_path / "jobs.db")])
    assert result.exit_code == 0, result.output
    assert [path.name for path in folder.iterdir()] == ["mine"]


def test_stopping_is_told_with_the_folder(tmp_path: Path) -> None:
    with pytest.raises(Interrupted) as caught:
        run(tmp_path, StoppedAt(4))
    assert caught.value.depth == 4
    assert caught.value.folder is not None
    assert caught.value.folder.parent == tmp_path
    # The job says so too, until it goes on.
    shown = CliRunner().invoke(cli, ["show", "1", "--database", str(tmp_path / "jobs.db"), "--json"])
    document = json.loads(shown.stdout)
    assert (document["status"], document["depth"]) == ("interrupted", 4)
    shown = CliRunner().invoke(cli, ["show", "1", "--database", str(tmp_path / "jobs.db")])
    assert "none yet; the layers 0 to 4 are in files" in shown.stdout


@pytest.mark.slow
def test_killed_again_and_again(tmp_path: Path) -> None:
    """pancake-12, which two threads count in some two seconds; each process is killed after a layer more."""
    code = f"import sys; sys.path[:0] = {sys.path!r}; from farthest.cli.entry import main; main()"
    command = [
        sys.executable,
        "-c",
        code,
        "enumerate",
        "pancake-12",
        "--histogram-only",
        "--memory",
        "150MiB",
    ]
    command += ["--database", str(tmp_path / "jobs.db"), "--threads", "2", "--json"]
    environment = {**os.environ, "FARTHEST_LEASE_SECONDS": "0.3"}
    for layers in (9, 12):
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            deadline = time.monotonic() + 60
            while sum(len(path.read_bytes().splitlines()) for path in tmp_path.glob("*/journal")) < layers:
                assert process.poll() is None, process.stderr and process.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.002)
            process.kill()
        time.sleep(0.4)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    outcome = json.loads(done.stdout)
    assert outcome["states"] == 479_001_600
    assert outcome["layers"][-3:] == [111050066, 13032704, 167]
    assert outcome["resumed_from"] >= 11
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
