"""Jobs that an older version of the program stored, without digests, and that this one finishes."""

import hashlib

import pytest

import small_pieces
from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import continue_job, enumerate_puzzle
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.search import solve as search_solve
from farthest.coordinator.search.settings import SearchSettings
from farthest.coordinator.search.solve import SearchInterrupted
from farthest.coordinator.settings import Settings
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.leases import owner_token
from farthest.models.maps import Maps
from farthest.puzzles.catalogue import load
from integration.conftest import Run, RunJson, alter
from searching import solve_problem, stored_in
from stopping import StoppedAfter, StoppedAt


def store_as_an_older_version() -> None:
    for table, columns in (("puzzle", ""), ("job", ", parts = NULL"), ("chunk", "")):
        alter(f"UPDATE {table} SET record_digest = NULL{columns}")


def whole(job: int, run: Run, run_json: RunJson) -> bool:
    """Whether the job is listed and shown, and `verify` finds its record sealed and nothing wrong."""
    assert [one["status"] for one in run_json("jobs")["jobs"]] == ["finished"] * job
    assert run_json("show", str(job))["status"] == "finished"
    assert "older version" not in run("verify", str(job)).stdout
    return bool(run_json("verify", str(job))["ok"])


@pytest.mark.parametrize("name", ["sliding-2x3", "hoppers"])
def test_an_interrupted_enumeration(place: str, run: Run, run_json: RunJson, name: str) -> None:
    with open_database(create=True) as database, pytest.raises(Interrupted):
        enumerate_puzzle(load(name), database, Settings(), StoppedAt(5))
    store_as_an_older_version()
    assert run_json("enumerate", name)["job"] == 1
    assert whole(1, run, run_json)
    board = run_json("states", "1", "--depth", "2")["boards"][0]
    assert run_json("distance", name, board)["distances"][0]["distance"] == 2


def test_a_map_with_the_digest_of_older_versions(place: str, run: Run, run_json: RunJson) -> None:
    layers = run_json("enumerate", "3-puzzle")["layers"]
    with open_database(create=False) as database:
        [chunk] = Maps(database).chunks(1)
    head = f"farthest map 1\n{' '.join(map(str, layers))}\nuint8\n"
    digest = hashlib.sha256(head.encode() + chunk.distances).hexdigest()
    alter(f"UPDATE job SET digest = '{digest}'")
    store_as_an_older_version()
    report = run_json("verify", "1")
    assert report["ok"]
    assert report["digest"] == digest
    alter(f"UPDATE job SET digest = '{digest[::-1]}'")
    assert "digest: stored" in run("verify", "1", status=1).stdout


def test_queued_enumerations(place: str, run: Run, run_json: RunJson) -> None:
    run("submit", "3-puzzle")
    run("submit", "3-puzzle", "--from", "start", "--histogram-only")
    store_as_an_older_version()
    owner = owner_token()
    with open_database(create=False) as database:
        for number in (1, 2):
            record = Jobs(database).claim_next(owner)
            assert record is not None
            assert record.id == number
            continue_job(record, database, Settings(), Reporter(), owner)
    assert whole(2, run, run_json)
    assert run_json("verify", "1")["ok"]
    assert run_json("distance", "3-puzzle", "21/30")["distances"]


@pytest.mark.slow
def test_an_interrupted_search(
    place: str, run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_solve, "COMMIT_SECONDS", 0.0)
    problem = small_pieces.problem(monkeypatch.setattr, small_pieces.FEWER)
    settings = SearchSettings(all_solutions=True, threads=1)
    with open_database(create=True) as database:
        with pytest.raises(SearchInterrupted):
            solve_problem(problem, settings, stored_in(database), StoppedAfter())
        store_as_an_older_version()
        solve_problem(problem, settings, stored_in(database))
    assert whole(1, run, run_json)
