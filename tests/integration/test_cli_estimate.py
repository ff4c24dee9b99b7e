"""`farthest estimate`: what a run will need, against formulas, what the run itself says, and the run."""

import json
from collections.abc import Callable
from math import factorial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cases import for_each
from farthest.cli.app import cli
from farthest.coordinator.enumeration import guess
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.enumeration.layers_in_files import BitmapsInFiles, coded_bytes, times_loaded
from farthest.coordinator.enumeration.resources import PROCESS_BYTES, expected_layers
from farthest.coordinator.enumeration.workers_model import worker_needs
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Estimate, Settings
from farthest.errors import ResourceError
from farthest.models.database import open_database
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.spaces.contract import gather
from farthest.stores.folder import journal

TIGHT = PROCESS_BYTES + 105_000
"""Bytes of memory that the layers of pancake-9 do not fit."""

Estimated = Callable[..., dict[str, Any]]


@pytest.fixture
def estimated(tmp_path: Path) -> Estimated:
    """The JSON object of the command, with a database that is not there."""

    def ask(*words: str) -> dict[str, Any]:
        database = str(tmp_path / "jobs.db")
        result = CliRunner().invoke(cli, ["estimate", *words, "--database", database, "--json"])
        assert result.exit_code == 0, result.output
        assert list(tmp_path.iterdir()) == []
        found: dict[str, Any] = json.loads(result.stdout)
        return found

    return ask


class Told(Reporter):
    """Keeps what a run says before it starts."""

    def __init__(self) -> None:
        self.estimates: list[Estimate] = []

    def estimate(self, estimate: Estimate) -> None:
        self.estimates.append(estimate)


def test_a_small_space(estimated: Estimated) -> None:
    found = estimated(
        "sliding-3x3", "--processes", "8", "--processes", "2", "--memory", "1GiB", "--threads", "1"
    )
    assert found["puzzle"] == "sliding-3x3"
    assert found["states_at_most"] == found["states"] == found["keys"] == factorial(9) // 2
    assert (found["engine"], found["both_ways"], found["two_colours"]) == ("gather", True, True)
    assert (found["layers_in"], found["map"], found["fits"], found["problem"]) == (
        "memory",
        "full",
        True,
        None,
    )
    assert found["depths"] == 32
    assert found["layers_from"].startswith("published: lightln2")
    assert PROCESS_BYTES < found["memory"] < found["memory_limit"] == 2**30
    assert found["layers_disk"] == found["written"] == found["read"] == 0
    assert 0 < found["seconds"] == found["processor_seconds"] < 0.1
    assert [workers["processes"] for workers in found["workers"]] == [2, 8]
    workers = found["workers"][0]
    assert workers.keys() == {
        *("processes", "seconds", "redis", "blobs", "memory", "coordinator_memory", "messages", "waits_for")
    }


@pytest.mark.parametrize(
    "puzzle",
    [
        pytest.param("sliding-3x5", marks=pytest.mark.slow),
        pytest.param("sliding-4x4", marks=pytest.mark.night),
        pytest.param("pancake-15", marks=pytest.mark.night),
    ],
)
def test_workers_of_the_largest_spaces_need_little(puzzle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the size of blocks that is asked for."""
    monkeypatch.setenv("FARTHEST_BLOBS", "s3://anywhere")
    for size in ("256KiB", "4MiB"):
        monkeypatch.setenv("FARTHEST_BLOCK_SIZE", size)
        (needs,) = worker_needs(compile_space(load(puzzle)), Settings(histogram_only=True), [8])
        assert 1000 < needs.messages <= 4000
        assert needs.memory < 2 * 2**30
        assert needs.coordinator_memory < 2**30
        assert needs.redis < 2**26
        assert needs.blobs > 2**33


def test_spaces_of_the_other_engines(estimated: Estimated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guess, "COUNTED_SECONDS", 60.0)
    monkeypatch.setattr(guess, "MOST_COUNTED", 1000)
    monkeypatch.setattr(guess, "WALK_SECONDS", 0.05)
    sparse = estimated("diabolical-box")
    assert (sparse["engine"], sparse["keys"], sparse["map"]) == ("scatter", None, "sparse")
    assert sparse["states"] is None
    assert 1_000 < sparse["states_at_least"] < sparse["states_at_most"]
    assert sparse["workers"] == []
    one_way = estimated("jugs-8-5-3")
    assert one_way["both_ways"] is False
    whole = ("--histogram-only", "--symmetry", "none")
    unknown = estimated("cube-3x3x3", "--max-depth", "18", *whole)
    assert unknown["memory"] == unknown["memory_limit"]
    known = estimated("cube-3x3x3", "--max-depth", "7", *whole, "--memory", "8GiB")
    assert known["memory"] < 2 * 2**30
    assert known["seconds"] < 1000


def test_the_layers_of_another_origin_are_not_the_published_ones() -> None:
    puzzle = load("sliding-2x4")
    from farthest.puzzles.puzzle import Origin

    space = gather(compile_space(puzzle, Origin("to", "1 0 2 3/4 5 6 7")))
    layers = expected_layers(space, keys=space.keys, in_place=True, max_depth=None)
    assert not layers.published
    assert layers.source.startswith("assumed: no layers are published; the largest has 19%")
    assert abs(sum(layers.states) - space.keys) <= len(layers.states)
    assert max(layers.states) == pytest.approx(0.19 / 2 * space.keys, rel=0.02)
    own = gather(compile_space(puzzle))
    assert expected_layers(own, keys=own.keys, in_place=True, max_depth=3).states == (1, 2, 3, 6)


@pytest.mark.slow
def test_layers_that_do_not_fit_are_told_with_their_disk(estimated: Estimated) -> None:
    found = estimated(
        "pancake-14", "--histogram-only", "--memory", "2GiB", "--scratch", ".", "--processes", "8"
    )
    assert (found["layers_in"], found["map"]) == ("files", "none")
    assert found["why"].startswith("in memory they need 21.")
    assert found["states"] == found["keys"] == factorial(14)
    assert found["shards"] == 14 * 13 * 12 * 11
    assert found["memory"] <= found["memory_limit"] == 2**31
    largest = max(load("pancake-14").known[0].layers or ())
    assert coded_bytes(largest, factorial(14)) < found["layers_disk"] < found["written"] < found["read"]
    assert found["fits"] or "name a folder with more room with --scratch" in found["problem"]
    assert found["seconds"] > 60


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (
            ["sliding-3x5", "--memory", "4GiB", "--map", "full"],
            "use --map residues, a smaller map, or --histogram-only, which keeps none: both keep their layers in files",
        ),
        (
            ["sliding-3x4", "--memory", "120MiB"],
            "use --map residues, a smaller map, or --histogram-only, which keeps none",
        ),
        (
            ["pancake-9", "--histogram-only", "--memory", str(PROCESS_BYTES)],
            "allow about 81MiB with --memory",
        ),
    ],
)
def test_what_does_not_fit(estimated: Estimated, words: list[str], advice: str) -> None:
    found = estimated(*words, "--processes", "1")
    assert not found["fits"]
    assert advice in found["problem"]


def test_memory_that_is_advised_is_enough(estimated: Estimated) -> None:
    assert estimated("pancake-9", "--histogram-only", "--memory", "81MiB", "--processes", "1")["fits"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            Settings(histogram_only=True, memory=TIGHT, threads=2),
            ["--histogram-only", "--memory", str(TIGHT)],
        ),
        (Settings(memory=2**30, threads=2, max_depth=4), ["--memory", "1GiB", "--max-depth", "4"]),
    ],
)
def test_a_run_says_the_same_before_it_starts(
    tmp_path: Path, estimated: Estimated, settings: Settings, words: list[str]
) -> None:
    found = estimated("pancake-9", "--threads", "2", "--processes", "1", *words)
    told = Told()
    with open_database(str(tmp_path / "jobs.db"), create=True) as database:
        enumerate_puzzle(load("pancake-9"), database, settings, told)
    (said,) = told.estimates
    for name in (
        "memory",
        "memory_limit",
        "disk",
        "layers_disk",
        "written",
        "read",
        "shards",
        "units",
        "depths",
    ):
        assert getattr(said, name) == found[name], name
    assert (said.layers_in, said.why, said.processor_seconds) == (
        found["layers_in"],
        found["why"] or "",
        found["processor_seconds"],
    )


@pytest.mark.parametrize(
    ("puzzle", "memory"),
    [
        ("pancake-9", TIGHT),
        pytest.param("sliding-2x5", PROCESS_BYTES + 240_000, marks=pytest.mark.slow),
    ],
)
def test_files_take_what_the_model_says(
    tmp_path: Path, puzzle: str, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "HELD_SECONDS", 0)  # small files that are held are not read from the disk
    told = Told()
    settings = Settings(histogram_only=True, memory=memory, scratch=tmp_path)
    outcome = enumerate_puzzle(load(puzzle), None, settings, told)
    (said,) = told.estimates
    disk, written = (
        max(layer.disk for layer in outcome.figures),
        sum(layer.written for layer in outcome.figures),
    )
    read = sum(layer.read for layer in outcome.figures)
    assert 0.7 * said.layers_disk < disk < 1.25 * said.layers_disk
    assert 0.7 * said.written < written < 1.25 * said.written
    assert 0.6 * said.read < read < 1.25 * said.read


def test_a_plan_with_few_slots_reads_sources_again(tmp_path: Path) -> None:
    space = gather(compile_space(load("sliding-2x6")))
    few, many = (BitmapsInFiles(space, tmp_path, mib * 2**20, 1, (1,)).cut for mib in (102, 110))
    assert few.slots < many.slots
    assert 1 <= times_loaded(many.plans[0]) <= times_loaded(few.plans[0]) < 4


def test_people_read_the_same(tmp_path: Path) -> None:
    words = ["estimate", "pancake-9", "--histogram-only", "--memory", str(TIGHT), "--scratch", str(tmp_path)]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    assert "States:           362,880 by published figures\n" in result.stdout
    assert f"Kept in:          files in {tmp_path}: in memory they need" in result.stdout
    assert "Disk at the peak:" in result.stdout
    assert result.stdout.count("\n") == 18
    assert "messages" in result.stdout


@for_each(
    ("words", "status", "message"),
    [
        (["sliding-5x5"], 2, "more than the 4.6e18 that keys can number"),
        (["nothing-such"], 2, "no puzzle is called 'nothing-such'"),
        (["8-puzzle", "--memory", "much"], 2, "is not a size"),
        (["8-puzzle", "--processes", "0"], 2, "not in the range"),
        (["8-puzzle", "--from", "goal", "--to", "goal"], 2, "exclude each other"),
        (["8-puzzle", "--database", "postgres:nothing@"], 2, "not a database URL"),
        (
            ["pancake-9", "--histogram-only", "--memory", str(TIGHT), "--scratch", "/nowhere"],
            2,
            "which is not a folder",
        ),
    ],
)
def test_wrong_input(words: list[str], status: int, message: str) -> None:
    result = CliRunner().invoke(cli, ["estimate", *words])
    assert result.exit_code == status
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_a_run_that_is_refused_says_what_the_estimate_says(tmp_path: Path, estimated: Estimated) -> None:
    found = estimated("sliding-3x5", "--memory", "4GiB", "--map", "full", "--processes", "1")
    with (
        open_database(str(tmp_path / "jobs.db"), create=True) as database,
        pytest.raises(ResourceError) as caught,
    ):
        enumerate_puzzle(load("sliding-3x5"), database, Settings(memory=2**32, residues=False))
    assert str(caught.value) == found["problem"]
