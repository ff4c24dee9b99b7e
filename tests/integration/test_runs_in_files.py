"""Spaces given by their successors, and one-way ones, that do not fit the memory: layers in files, stopped, killed,
damaged, and gone on with."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from farthest.cli.app import cli
from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.enumeration.resources import PROCESS_BYTES
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Outcome, Settings
from farthest.errors import ResourceError
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import scatter
from farthest.stores import scattering
from farthest.stores.contract import step
from farthest.stores.folder import scatter_store
from farthest.stores.folder.journal import EnumerationFolder, UnitFiles, UnitPlace, UnitTable
from farthest.stores.folder.run_files import RunFiles
from farthest.stores.folder.scatter_store import Expansion, ScatterFolderStore, StepLoad, step_loads
from farthest.stores.memory.scatter_store import ScatterMemoryStore
from strategies import make_puzzle

MEMORY = {"hanoi-4-8": 2**20, "hanoi-cyclic-4-6": 2**20, "lights-4x4": 2**20, "one way": 160_000}
"""Bytes beside the process's: too little for the bitmaps of the last, which is gathered, and for the successors of the
largest layers of the first."""


def unknown(name: str) -> Puzzle:
    """A puzzle of which nothing is known before."""
    if name == "one way":
        lines = [(3 * a + b, 3 * a + b + 1) for a in range(3) for b in range(2)]
        columns = [(3 * a + b, 3 * a + b + 3) for a in range(2) for b in range(3)]
        return make_puzzle(edges=(*lines, *columns), arcs=((0, 4),), goals=[tuple(range(9))])
    return replace(load(name), known=())


def in_memory(name: str) -> Outcome:
    return enumerate_puzzle(unknown(name), None, Settings(histogram_only=True))


def run(folder: Path, name: str, reporter: Reporter | None = None, **wanted: Any) -> Outcome:
    """An enumeration from files in a folder, where its database is too; ``wanted``: only layers, or what else."""
    with open_database(str(folder / "jobs.db"), create=True) as database:
        memory = PROCESS_BYTES + MEMORY.get(name, 2**20)
        options = Settings(**(wanted or {"histogram_only": True}), memory=memory, threads=2, scratch=folder)
        return enumerate_puzzle(unknown(name), database, options, reporter)


def same(outcome: Outcome, other: Outcome) -> bool:
    return (outcome.digest, outcome.layers, outcome.farthest) == (other.digest, other.layers, other.farthest)


def folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()]


def stopped(
    folder: Path, name: str, kind: str, files: int, monkeypatch: pytest.MonkeyPatch, **wanted: Any
) -> Path:
    """The folder of the layers of a run that was stopped after so many files of a kind were written."""
    if kind == "O":
        monkeypatch.setattr(scatter_store, "TURNS", 1)
    written = [0]
    write = UnitFiles.write_file

    def noted(self: UnitFiles, place: UnitPlace, *of_unit: Any) -> UnitTable:
        table = write(self, place, *of_unit)
        written[0] += place.kind == kind
        if written[0] == files:
            os.kill(os.getpid(), signal.SIGINT)
        return table

    with monkeypatch.context() as patch:
        patch.setattr(UnitFiles, "write_file", noted)
        with pytest.raises(Interrupted) as caught:
            run(folder, name, **wanted)
    assert caught.value.folder is not None
    return caught.value.folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "hanoi-4-8",
        pytest.param("lights-4x4", marks=pytest.mark.night),
        "one way",
        pytest.param("hanoi-cyclic-4-6", marks=pytest.mark.night),
    ],
)
def test_files_give_what_memory_gives_and_leave_nothing(tmp_path: Path, name: str) -> None:
    outcome = run(tmp_path, name)
    assert same(outcome, in_memory(name))
    assert [layer.states for layer in outcome.figures] == list(outcome.layers)
    assert folders(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "kind", "files"),
    [
        ("lights-4x4", "L", 5),
        pytest.param("hanoi-4-8", "O", 3, marks=pytest.mark.slow),
        pytest.param("hanoi-cyclic-4-6", "V", 7, marks=pytest.mark.night),
        pytest.param("one way", "V", 12, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_was_stopped_goes_on_from_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str, files: int
) -> None:
    folder = stopped(tmp_path, name, kind, files, monkeypatch)
    outcome = run(tmp_path, name)
    assert outcome.resumed_from is not None
    assert same(outcome, in_memory(name))
    assert not folder.exists()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        pytest.param("lights-4x4", {"residues": False}, marks=pytest.mark.slow),
        pytest.param("lights-4x4", {"residues": True}, marks=pytest.mark.slow),
        pytest.param("hanoi-cyclic-4-5", {"residues": False}, marks=pytest.mark.night),
        ("cube-3x3x3", {"max_depth": 3}),
        pytest.param("pegs-french", {"max_depth": 6}, marks=pytest.mark.night),
    ],
)
def test_a_map_is_made_of_layers_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, wanted: dict[str, Any]
) -> None:
    """Stopped, and gone on with; the same as one made in memory."""
    folder = stopped(tmp_path, name, "L", 3, monkeypatch, **wanted)
    outcome = run(tmp_path, name, **wanted)
    assert outcome.resumed_from is not None
    assert outcome.figures
    with open_database(str(tmp_path / "others.db"), create=True) as database:
        other = enumerate_puzzle(unknown(name), database, Settings(**wanted))
    assert same(outcome, other)
    assert not other.figures
    assert not folder.exists()
    result = CliRunner().invoke(cli, ["verify", "1", "--database", str(tmp_path / "jobs.db")])
    assert result.exit_code == 0, result.output


@pytest.mark.slow
@pytest.mark.parametrize("thought", ["right", "too few"])
def test_a_layer_is_expanded_in_turns_before_successors_go_to_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thought: str
) -> None:
    """Stopped between two turns, too. Where there are more successors than was thought, turns are halved, and where
    that is not enough all go to files."""
    put, write = Expansion._put_all, RunFiles.write_outbox
    turns, sent = set[tuple[int, int]](), list[int]()

    def noted(self: Expansion, depth: int, turn: range, *of_layer: Any) -> bool:
        turns.add((depth, len(turn)))
        return put(self, depth, turn, *of_layer)

    def written(self: RunFiles, depth: int, *runs: Any) -> None:
        sent.append(depth)
        write(self, depth, *runs)

    monkeypatch.setattr(Expansion, "_put_all", noted)
    monkeypatch.setattr(RunFiles, "write_outbox", written)
    monkeypatch.setattr(scatter_store, "BOX_PIECES", 2)  # more shards
    if thought == "right":
        monkeypatch.setattr(scatter_store, "TURNS", 64)
    else:
        monkeypatch.setattr(scatter_store, "BOXES_FULL", 0.3)
        monkeypatch.setattr(Expansion, "_turns_for", lambda self, states: 0)
    stopped(tmp_path, "hanoi-4-8", "L", 25, monkeypatch)
    outcome = run(tmp_path, "hanoi-4-8")
    assert outcome.resumed_from is not None
    assert same(outcome, in_memory("hanoi-4-8"))
    most = max(shards for _, shards in turns)
    assert any(shards < most for _, shards in turns)
    assert bool(sent) == (thought == "too few")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "files"),
    [
        pytest.param("hanoi-cyclic-4-6", "V", 7, marks=pytest.mark.night),
        ("hanoi-4-8", "O", 3),
        pytest.param("one way", "V", 12, marks=pytest.mark.night),
    ],
)
def test_damaged_files_are_never_read_as_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str, files: int
) -> None:
    chance = random.Random(7)
    made = tmp_path / "made"
    made.mkdir()
    folder = stopped(made, name, kind, files, monkeypatch).name
    right, begun_anew = in_memory(name), 0
    for number in range(4):
        copy = tmp_path / str(number)
        shutil.copytree(made, copy)
        path = chance.choice(sorted((copy / folder).glob("[LVOj]*")))
        data = bytearray(path.read_bytes())
        if number % 3 == 0:
            path.unlink()
        elif number % 3 == 1:
            path.write_bytes(data[: chance.randrange(len(data))])
        else:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            path.write_bytes(data)
        outcome = run(copy, name)
        assert same(outcome, right)
        begun_anew += outcome.resumed_from is None
    assert begun_anew > 0, "nothing that was damaged was needed"


def test_what_does_not_fit_the_memory_goes_over_to_files(tmp_path: Path) -> None:
    told: list[str] = []

    class Notices(Reporter):
        def notice(self, text: str) -> None:
            told.append(text)

    with open_database(str(tmp_path / "jobs.db"), create=True) as database:
        options = Settings(histogram_only=True, memory=PROCESS_BYTES + 2**20, threads=2)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ScatterMemoryStore, "held_bytes", 2**40)
            outcome = enumerate_puzzle(unknown("hanoi-4-4"), database, options, Notices())
    assert same(outcome, in_memory("hanoi-4-4"))
    assert outcome.figures
    assert len(told) == 1
    assert f"starting over with layers in files in {tmp_path}" in told[0]
    assert folders(tmp_path) == []


def test_a_shard_that_does_not_fit_the_memory_is_refused(tmp_path: Path) -> None:
    options = Settings(histogram_only=True, memory=PROCESS_BYTES + 2**20, threads=2, scratch=tmp_path)
    with pytest.raises(ResourceError, match=r"a part of layer \d+ needs .* allow \d+ MiB more with --memory"):
        enumerate_puzzle(unknown("hanoi-4-9"), None, options)
    assert folders(tmp_path) == []


def test_what_a_step_needs_counts_what_is_sorted_four_times() -> None:
    """Codes that are sent to a shard are decoded, divided and sorted; those before it are read one by one."""
    sizes = {"O": [(900, 100)], "V": [(500, 50)], "L": [(80, 10)]}
    files: Any = SimpleNamespace(
        shards=1,
        outboxes=[None, None],
        sizes=lambda kind, number: sizes[kind],
        left_out=lambda depth: [("V", 1), ("L", 2)],
        renews=lambda depth: False,
    )
    space = scatter(compile_space(unknown("hanoi-4-9")))
    assert space.code_bytes == 8
    need = 8 * 4 * 200
    assert step_loads(space, files, 3, 2 * need) == [StepLoad(2 * 900 + 500 + 80, need)]
    with pytest.raises(ResourceError, match=r"a part of layer 3 needs 6\.2 KiB of memory at once"):
        step_loads(space, files, 3, 2 * need - 1)


def test_deleting_a_job_removes_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(tmp_path, "lights-4x4", "L", 5, monkeypatch)
    result = CliRunner().invoke(cli, ["delete", "1", "--database", str(tmp_path / "jobs.db")])
    assert result.exit_code == 0, result.output
    assert folders(tmp_path) == []


class Links:
    """A graph of so few states that a plain search knows all: ``links[s]`` are the states that s leads to."""

    engine, code_bytes, keys, graded, undirected = "scatter", 3, None, False, False

    def __init__(self, links: list[list[int]]) -> None:
        self.links = links
        self.puzzle = load("hanoi-3-4")

    def origin_codes(self) -> bytes:
        return bytes(3)

    def successors(self, codes: bytes, threads: int) -> bytes:
        states = [int.from_bytes(bytes(codes[at : at + 3]), "big") for at in range(0, len(codes), 3)]
        return b"".join(to.to_bytes(3, "big") for state in states for to in self.links[state])


@settings(max_examples=12)
@given(
    st.lists(st.lists(st.integers(0, 19), max_size=3), min_size=20, max_size=20),
    st.sampled_from([2**20, 9000]),
    st.sampled_from([None, 2, 5]),
)
def test_layers_are_those_of_a_plain_search(
    tmp_path_factory: pytest.TempPathFactory, links: list[list[int]], memory: int, last: int | None
) -> None:
    """Of the ``last`` one the least states are kept, here one a shard."""
    layers, seen = [{0}], {0}
    while layers[-1]:
        layers.append({to for state in layers[-1] for to in links[state]} - seen)
        seen |= layers[-1]
    path = tmp_path_factory.mktemp("runs") / "layers"

    def opened() -> ScatterFolderStore:
        return ScatterFolderStore(Links(links), EnumerationFolder(path, {}, 3), memory, last=last)  # type: ignore[arg-type]

    store = opened()
    with pytest.MonkeyPatch.context() as patch:
        for module in (scattering, scatter_store):
            patch.setattr(module, "LEAST_KEPT", 1)
        for depth in range(1, len(layers) if last is None else min(last + 1, len(layers))):
            for unit in store.units(depth, store.begin(depth, store.reachable(depth))):
                step(store, depth, unit)
            counts = store.counts(depth)
            assert sum(counts.values()) == len(layers[depth])
            if depth % 3 == 2 and layers[depth]:  # as after a kill
                store.leave()
                store = opened()
            kept = [int.from_bytes(key, "big") for key in store.keys(depth, 99)]  # type: ignore[arg-type]
            assert kept[:1] == sorted(layers[depth])[:1]
            assert len(kept) == (len(counts) if depth == last else len(layers[depth]))
    store.drop()


@pytest.mark.slow
def test_killed_again_and_again(tmp_path: Path) -> None:
    often = "from farthest.stores.folder import journal; journal.HELD_SECONDS = 0.02"
    code = f"import sys; sys.path[:0] = {sys.path!r}; {often}; from farthest.cli.entry import main; main()"
    command = [sys.executable, "-c", code, "enumerate", "hanoi-4-10", "--histogram-only", "--memory", "90MiB"]
    command += [
        "--database",
        str(tmp_path / "jobs.db"),
        "--threads",
        "2",
        "--json",
        "--scratch",
        str(tmp_path),
    ]
    environment = {**os.environ, "FARTHEST_LEASE_SECONDS": "0.3"}
    for layers in (20, 33, 41):
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
    assert outcome["states"] == 4**10
    assert outcome["layers"] == list(in_memory("hanoi-4-10").layers)
    assert outcome["resumed_from"] >= 40
    assert folders(tmp_path) == []
