"""Maps of patterns as searches have them: whole, once a process; and what stands in the way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from sqlalchemy import text

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.errors import JobError, PuzzleError, ResourceError, StorageError
from farthest.heuristics.candidates import WITH_CORNERS
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.puzzles.catalogue import load
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import Origin
from farthest.queries.distance_map import DistanceMap
from farthest.queries.pattern_maps import PatternMaps
from farthest.verify import sliding as proof
from farthest.verify.local import Means
from farthest.verify.maps import verify_map
from farthest.verify.report import Stored

NAME = "8-puzzle@1-4"


@pytest.fixture
def database(tmp_path: Path) -> Database:
    opened = open_database(str(tmp_path / "maps.db"), create=True)
    return opened


def stored(database: Database, name: str, **settings: object) -> DistanceMap:
    outcome = enumerate_puzzle(load(name), database, Settings(**settings))  # type: ignore[arg-type]
    assert outcome.job is not None
    return DistanceMap(database, Jobs(database).get(outcome.job))


@pytest.mark.parametrize("name", [NAME, "8-puzzle@plain:1-3", "pancake-6@1-3"])
def test_the_whole_map_in_key_order(database: Database, name: str) -> None:
    of_job = stored(database, name)
    found = PatternMaps(database).whole(load(name))
    assert found.distances.dtype == numpy.uint8
    assert found.distances.tolist() == of_job.array().tolist()
    assert found.space.keys == len(found.distances)
    assert found.job == of_job.job
    with pytest.raises(ValueError, match="read-only"):
        found.distances[0] = 1


def test_a_map_is_read_once_whoever_asks(database: Database) -> None:
    stored(database, NAME)
    maps = [PatternMaps(database), PatternMaps(database)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: maps[i % 2](load("8-puzzle@4.3.1.2")), range(8)))
    assert all(one is found[0] for one in found)
    newer = stored(database, NAME)
    assert maps[0](load(NAME)).job == newer.job


def test_what_is_missing_is_named_with_the_command_that_makes_it(database: Database) -> None:
    with pytest.raises(
        JobError, match="no finished map of 8-puzzle@1-4; run `farthest enumerate 8-puzzle@1-4` first"
    ):
        PatternMaps(database)(load(NAME))
    for name in ("nine", "15-puzzle"):  # of a file, whose names may be those of others
        of_file = pattern_of(replace(load("8-puzzle"), name=name), "1-4").puzzle
        wanted = f"no finished map of {name}@1-4; run `farthest enumerate FILE@1-4` first, where FILE is the file of"
        with pytest.raises(JobError, match=f"{wanted} {name}$"):
            PatternMaps(database)(of_file)
    large = {
        "corners.UR.UF": "enumerate cube-3x3x3@corners.UR.UF --map full",
        WITH_CORNERS: "solve cube-3x3x3 BOARD",
    }
    for tokens, command in large.items():  # by default it would have residues; of bounds there is no map
        with pytest.raises(JobError, match=f"run `farthest {command}"):
            PatternMaps(database)(load(f"cube-3x3x3@{tokens}"))
    stored(database, NAME, max_depth=5)
    with pytest.raises(JobError, match="except job 1, which is cut off by --max-depth"):
        PatternMaps(database)(load(NAME))
    stored(database, NAME, origin=Origin("from"))
    with pytest.raises(
        JobError, match="except job 2, which is from goal; expected a complete one, to the goal"
    ):
        PatternMaps(database)(load(NAME))
    stored(database, NAME, histogram_only=True)
    with pytest.raises(JobError, match="except job 2"):
        PatternMaps(database)(load(NAME))


def test_a_damaged_map_is_refused(database: Database) -> None:
    stored(database, NAME)
    with database.write() as connection:
        connection.execute(text("UPDATE chunk SET payload = X'00'"))
    with pytest.raises(StorageError, match="damaged"):
        PatternMaps(database)(load(NAME))


def test_questions_to_the_map_of_a_pattern(database: Database) -> None:
    of_job = stored(database, NAME)
    assert of_job.layers == (1, 4, 10, 18, 43, 91, 181, 281, 460, 546, 608, 415, 256, 83, 25, 2)
    assert of_job.farthest() == ["···/3·4/·21", "··4/···/321"]
    assert of_job.distance("1 2 3 / 4 . . / . . .") == 0
    assert of_job.distances(["···/3·4/·21", "123/4··/···"]).tolist() == [15, 0]
    with pytest.raises(PuzzleError, match="8-puzzle@1-4: an additive pattern has distances but no moves"):
        of_job.path("···/3·4/·21")


@pytest.mark.slow
def test_the_proof_works_the_map_out_again(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    of_job = stored(database, NAME)
    report = of_job.verify()
    assert report.ok
    assert {check.name for check in report.checks} >= {"recount", "digest", "layers", "job", "rows"}
    changed = bytearray(of_job.array().tobytes())
    changed[100] += 1
    job = Stored(of_job.puzzle, of_job.record.layout, of_job.origin)
    wrong = verify_map(job, [(None, changed)], Means(2**30, Path(), 2), unit="uint8", length=0)
    assert [check.name for check in wrong.failures] == ["recount"]
    first = wrong.failures[0].first
    assert first is not None
    assert first.key == 100
    assert "worked out again" in str(first)
    job = replace(job, layout={"version": 2})
    assert not verify_map(job, [(None, changed)], Means(2**30, Path(), 2), unit="uint8", length=0).ok
    monkeypatch.setattr(proof, "MOST_KEYS", 1000)
    with pytest.raises(ResourceError, match=r"3,024 placements would take hours .* at most 1,000 are proved"):
        of_job.verify()


@pytest.mark.parametrize(
    ("name", "settings"),
    [("sliding-2x3@1-3", {}), (NAME, {"max_depth": 7}), (NAME, {"origin": Origin("to", "··1/23·/4··")})],
)
def test_proofs(database: Database, name: str, settings: dict[str, object]) -> None:
    assert stored(database, name, **settings).verify().ok
