"""Residue maps of enumerations whose layers are files: the same map, however often the run was stopped."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.enumeration.layers_in_files import BitmapsInFiles
from farthest.coordinator.enumeration.machine import Machine
from farthest.coordinator.enumeration.plan import plan
from farthest.coordinator.enumeration.resources import PROCESS_BYTES
from farthest.coordinator.settings import Outcome, Settings
from farthest.errors import ResourceError, StorageError
from farthest.locations import Bucket
from farthest.map_files.objects import ObjectMaps
from farthest.models.database import open_database
from farthest.models.maps import MapFiles
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.spaces.contract import gather
from farthest.stores.folder.layer_files import LayerFiles
from farthest.stores.residues import residue_form

TIGHT = {
    "pancake-9": PROCESS_BYTES + 105_000,
    "sliding-2x5": PROCESS_BYTES + 240_000,
    "cube-3x3x3-urf-edges": PROCESS_BYTES + 5_000_000,
}
"""Bytes of memory that the layers' bitmaps do not fit: two bits a state, one, and two for representatives."""

LAYERS = load("sliding-2x5").known[0].layers or ()


def run(folder: Path, puzzle: str, *, memory: int | None = None, **more: Any) -> tuple[Outcome, bytes]:
    """A run in a folder, from files unless memory is given, and its map file."""
    folder.mkdir(exist_ok=True)
    with open_database(str(folder / "jobs.db"), create=True) as database:
        settings = Settings(residues=True, memory=memory or TIGHT[puzzle], threads=2, **more)
        outcome = enumerate_puzzle(load(puzzle), database, settings)
        files = MapFiles(database)
        assert outcome.job is not None
        return outcome, Path(files.place.where, files.get(outcome.job).name).read_bytes()


def layers_left(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir() and path.name.startswith("farthest-")]


@pytest.mark.parametrize(
    ("puzzle", "more"),
    [
        ("pancake-9", {"max_depth": 6}),
        pytest.param("pancake-9", {}, marks=pytest.mark.night),
        pytest.param("cube-3x3x3-urf-edges", {"symmetry": 6}, marks=pytest.mark.slow),
        pytest.param("sliding-2x5", {}, marks=pytest.mark.slow),
        pytest.param("sliding-2x5", {"max_depth": 33}, marks=pytest.mark.slow),
        pytest.param("sliding-2x5", {"max_depth": 34}, marks=pytest.mark.night),
    ],
)
def test_files_give_the_map_that_memory_gives(tmp_path: Path, puzzle: str, more: dict[str, Any]) -> None:
    outcome, found = run(tmp_path / "files", puzzle, **more)
    assert outcome.figures
    expected, right = run(tmp_path / "memory", puzzle, memory=2**30, **more)
    assert not expected.figures
    assert (outcome.digest, outcome.layers, outcome.farthest) == (
        expected.digest,
        expected.layers,
        expected.farthest,
    )
    assert found == right
    assert layers_left(tmp_path / "files") == []


STOPPED = """
import os, signal, sys
from pathlib import Path
from farthest.map_files.places import MapFileWriter
from farthest.stores.folder.layer_files import LayerFiles
sys.path[:0] = sys.argv[4:]
from integration.test_residues_from_files import run

puzzle, depth, signal_number = sys.argv[2], int(sys.argv[3]), signal.SIGKILL
write, put, written = LayerFiles.write, MapFileWriter.write, []

def stop_in_layer(files, at, unit, *written_with):
    write(files, at, unit, *written_with)
    written.append(at)
    if written.count(depth) == 2:
        os.kill(os.getpid(), signal_number)

def stop_in_map(writer, first, words):
    put(writer, first, words)
    written.append(first)
    if len(written) == 3:
        os.kill(os.getpid(), signal_number)

if depth < 0:
    MapFileWriter.write = stop_in_map
else:
    LayerFiles.write = stop_in_layer
run(Path(sys.argv[1]), puzzle)
"""


def killed(folder: Path, puzzle: str, depth: int) -> None:
    """A run that is killed when two units of a layer are written, or some words of the map (-1)."""
    tests = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", STOPPED, str(folder), puzzle, str(depth), tests]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize(
    ("puzzle", "depths"),
    [
        ("pancake-9", (7, -1)),
        pytest.param("pancake-9", (3, 7, -1, -1), marks=pytest.mark.night),
        pytest.param("sliding-2x5", (3, 7, -1, -1), marks=pytest.mark.night),
    ],
)
def test_killed_in_layers_and_in_the_map(tmp_path: Path, puzzle: str, depths: tuple[int, ...]) -> None:
    for depth in depths:
        killed(tmp_path / "files", puzzle, depth)
    outcome, found = run(tmp_path / "files", puzzle)
    assert (outcome.job, outcome.resumed_from) == (1, len(outcome.layers) - 1)
    assert found == run(tmp_path / "memory", puzzle, memory=2**30)[1]
    assert layers_left(tmp_path / "files") == []
    assert len(list((tmp_path / "files" / "jobs.db.maps").iterdir())) == 1


def interrupted_in_the_map(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of pancake-9 that is told to stop while its map is made."""
    table = LayerFiles.table
    with monkeypatch.context() as patch:

        def interrupting(files: LayerFiles, depth: int, unit: int) -> Any:
            os.kill(os.getpid(), signal.SIGINT)
            patch.undo()
            return table(files, depth, unit)

        patch.setattr(LayerFiles, "table", interrupting)
        with pytest.raises(Interrupted):
            run(folder, "pancake-9")


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["missing", pytest.param("cut off", marks=pytest.mark.night), "changed"])
def test_a_kept_layer_that_is_damaged_begins_the_run_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    interrupted_in_the_map(tmp_path / "files", monkeypatch)
    (folder,) = layers_left(tmp_path / "files")
    file = folder / "L3.0"
    if damage == "missing":
        file.unlink()
    elif damage == "cut off":
        os.truncate(file, 20)
    else:
        data = bytearray(file.read_bytes())
        data[18] ^= 1
        file.write_bytes(data)
    outcome, found = run(tmp_path / "files", "pancake-9")
    assert outcome.job == 1
    assert found == run(tmp_path / "memory", "pancake-9", memory=2**30)[1]


@pytest.mark.slow
def test_ctrl_c_while_the_map_is_made_keeps_the_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted_in_the_map(tmp_path / "files", monkeypatch)
    assert len(layers_left(tmp_path / "files")) == 1
    assert not list((tmp_path / "files" / "jobs.db.maps").glob("*"))
    outcome, _ = run(tmp_path / "files", "pancake-9")
    assert outcome.resumed_from == len(outcome.layers) - 1


def test_layers_of_a_run_that_keeps_none_for_a_map_are_not_gone_on_with(tmp_path: Path) -> None:
    space = gather(compile_space(load("pancake-9")))
    form = residue_form(space, None)
    BitmapsInFiles(space, tmp_path, TIGHT["pancake-9"], 1, (1,)).store("1").leave()
    with pytest.raises(StorageError, match="another enumeration"):
        BitmapsInFiles(space, tmp_path, TIGHT["pancake-9"], 1, (1,), form).store("1")


def test_what_the_layers_of_the_map_need_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.coordinator.enumeration.resources.STATE_ROWS", 0)
    space = gather(compile_space(load("sliding-2x5")))
    needs = [
        BitmapsInFiles(space, tmp_path, TIGHT["sliding-2x5"], 1, LAYERS, form).needs
        for form in (None, residue_form(space, None))
    ]
    assert needs[0].marks == 0
    assert needs[1].disk > max(needs[0].disk, needs[1].marks) > needs[0].disk
    room = space.kernel.words * 8 + needs[1].marks // 2
    monkeypatch.setattr("farthest.map_files.places.FolderMaps.free", lambda maps: room)
    with pytest.raises(ResourceError, match="free for both; name another disk"):
        run(tmp_path / "files", "sliding-2x5")


def test_a_map_on_its_way_to_an_object_store_needs_room_beside_the_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthest.coordinator.enumeration.resources.STATE_ROWS", 0)
    space = gather(compile_space(load("sliding-2x5")))
    settings = Settings(residues=True, memory=TIGHT["sliding-2x5"], threads=2)
    maps = ObjectMaps(Bucket("bucket", "maps"))
    layers = BitmapsInFiles(space, tmp_path, TIGHT["sliding-2x5"], 2, LAYERS, residue_form(space, None)).needs
    both = layers.marks + space.kernel.words * 8
    assert layers.disk < both
    for free, problem in ((layers.disk, True), (both * 11 // 10, False)):
        monkeypatch.setattr(shutil, "disk_usage", lambda path, free=free: SimpleNamespace(free=free))
        machine = Machine(settings, tmp_path / "jobs.db")
        machine.maps = maps
        found = plan(space.puzzle, settings, machine)
        assert ("free for both; name another disk" in str(found.needs.problem)) == problem
