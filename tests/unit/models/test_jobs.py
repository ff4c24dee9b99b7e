"""Jobs: their life, their owners, and finding them."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import func, select, update

from farthest.errors import JobError
from farthest.models import jobs as job_queue
from farthest.models import jobs as jobs_module
from farthest.models import records
from farthest.models.chunks import Chunk
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.models.leases import owner_token
from farthest.models.maps import Maps
from farthest.models.records import JobRecord, LayerRecord, Proved, Verification, now
from farthest.models.tables import job, metadata

ELSEWHERE = "elsewhere/1/0"
HERE = owner_token()
DEAD = f"{HERE.rsplit('/', 2)[0]}/{HERE.rsplit('/', 2)[1]}/1.{HERE.rpartition('/')[2].partition('.')[2]}"


def add(jobs: Jobs, name: str = "tiny", owner: str = ELSEWHERE, digest: str = "d", **extra: Any) -> int:
    parameters = extra.pop("parameters", {"origin": "goal"})
    return jobs.add(f'{{"name":"{name}"}}', digest * 64, name, parameters, {"version": 1}, owner, **extra)


def finish(jobs: Jobs, job_id: int, has_map: bool = True, owner: str | None = None) -> None:
    jobs.finish(
        job_id,
        states=90720,
        eccentricity=30,
        depth=30,
        complete=True,
        has_map=has_map,
        digest="e" * 64,
        seconds=0.5,
        unit="uint8",
        owner=owner,
    )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """A clock that stands still until its only element is changed."""
    time = [datetime(2026, 11, 21, 12, tzinfo=UTC)]
    for module in (records, jobs_module, job_queue):
        monkeypatch.setattr(module, "now", lambda: time[0])
    return time


def test_a_new_job_is_running(jobs: Jobs) -> None:
    before = datetime.now(UTC)
    job = jobs.get(add(jobs, parameters={"b": [1, "─"], "a": None}))
    assert isinstance(job, JobRecord)
    assert (job.id, job.name, job.kind, job.status, job.owner) == (
        1,
        "tiny",
        "enumeration",
        "running",
        ELSEWHERE,
    )
    assert (job.parameters, job.layout) == ({"a": None, "b": [1, "─"]}, {"version": 1})
    assert (job.puzzle_digest, job.puzzle_json) == ("d" * 64, '{"name":"tiny"}')
    assert before <= job.created <= datetime.now(UTC)
    assert job.lease_until is not None
    assert job.lease_until > job.created
    assert (job.complete, job.has_map, job.depth, job.states) == (False, False, None, None)
    with pytest.raises(FrozenInstanceError):
        job.name = "other"  # type: ignore[misc]


def test_a_finished_job_has_its_result_and_no_owner(jobs: Jobs) -> None:
    job_id = add(jobs)
    finish(jobs, job_id, owner=ELSEWHERE)
    job = jobs.get(job_id)
    assert (job.status, job.owner, job.lease_until, job.error) == ("finished", None, None, None)
    assert (job.states, job.eccentricity, job.depth, job.complete) == (90720, 30, 30, True)
    assert (job.has_map, job.unit, job.digest, job.seconds) == (True, "uint8", "e" * 64, 0.5)
    assert job.finished is not None
    assert job.finished >= job.created
    assert not jobs.claim(job_id, HERE)


def test_jobs_of_one_puzzle_share_it_and_keep_the_text_they_were_submitted_with(jobs: Jobs) -> None:
    first, second, third = (add(jobs, name) for name in ("old-name", "new-name", "old-name"))
    assert jobs.get(first).puzzle_id == jobs.get(third).puzzle_id != jobs.get(second).puzzle_id
    assert jobs.get(first).puzzle_json == '{"name":"old-name"}'
    assert jobs.get(second).puzzle_json == '{"name":"new-name"}'
    assert [job.id for job in jobs.finished_maps("d" * 64)] == []
    finish(jobs, first)
    finish(jobs, second)
    assert [job.id for job in jobs.finished_maps("d" * 64)] == [second, first]


def test_layers_are_recorded_and_replaced(jobs: Jobs) -> None:
    job_id = add(jobs)
    jobs.record_layers(job_id, [LayerRecord(0, 1), LayerRecord(1, 2, 0.5)])
    jobs.record_layers(job_id, [LayerRecord(1, 3, 0.25), LayerRecord(2, 2**40)], owner=ELSEWHERE)
    jobs.record_layers(job_id, [])
    assert jobs.layers(job_id) == [LayerRecord(0, 1), LayerRecord(1, 3, 0.25), LayerRecord(2, 2**40)]
    assert jobs.get(job_id).depth == 2
    with pytest.raises(JobError, match="taken over"):
        jobs.record_layers(job_id, [LayerRecord(3, 1)], owner=HERE)
    assert len(jobs.layers(job_id)) == 3


def test_find_by_id_and_by_name(jobs: Jobs) -> None:
    first, second, running = add(jobs), add(jobs), add(jobs)
    finish(jobs, first)
    finish(jobs, second, has_map=False)
    assert jobs.find("tiny").id == second
    assert jobs.find(" tiny ", has_map=True).id == first
    assert jobs.find(str(running)).status == "running"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "9",
            "there is no job 9; jobs: 3 (half, interrupted), 2 (eight-kinds, running), 1 (eight-kinds, finished)",
        ),
        ("99999999999999999999", "there is no job 99999999999999999999"),
        ("eight-kind", "no finished job of a puzzle named 'eight-kind'; did you mean 'eight-kinds'? jobs: 3"),
        ("zzz", "no finished job of a puzzle named 'zzz'; jobs: 3"),
        ("", "no finished job of a puzzle named ''"),
        (
            "15puzzle",
            "puzzle named '15puzzle'; `farthest enumerate 15-puzzle` makes a map, `farthest solve 15-puzzle B",
        ),
        (
            "half",
            "no job of 'half' is finished; job 3 is interrupted: run `farthest enumerate half` to finish it",
        ),
    ],
)
def test_what_cannot_be_found_is_told_with_what_exists(jobs: Jobs, text: str, told: str) -> None:
    finish(jobs, add(jobs, "eight-kinds"))
    add(jobs, "eight-kinds")
    jobs.interrupt(add(jobs, "half"))
    with pytest.raises(JobError) as caught:
        jobs.find(text)
    assert told in str(caught.value)


def test_a_database_without_jobs_says_how_to_make_one(jobs: Jobs) -> None:
    with pytest.raises(JobError, match="no jobs yet: make one with `farthest enumerate PUZZLE`"):
        jobs.find("eight-kinds")


def test_many_jobs_are_told_in_short(jobs: Jobs) -> None:
    for _ in range(20):
        add(jobs)
    with pytest.raises(JobError, match=r"13 \(tiny, running\) and 12 older$"):
        jobs.get(99)


def test_running_and_abandoned_jobs_are_told_apart(jobs: Jobs) -> None:
    add(jobs)
    with pytest.raises(JobError, match="job 1 is running: wait for it"):
        jobs.find("tiny")
    add(jobs, owner=DEAD)
    with pytest.raises(JobError, match="job 2 is interrupted: run"):
        jobs.find("tiny")


@pytest.mark.parametrize(
    ("finished", "told"),
    [(True, "kept only the number of states at each depth"), (False, "is running, expected a finished one")],
)
def test_a_job_that_keeps_no_map(jobs: Jobs, finished: bool, told: str) -> None:
    job_id = add(jobs)
    if finished:
        finish(jobs, job_id, has_map=False)
        with pytest.raises(JobError, match=told):
            jobs.find("tiny", has_map=True)
    with pytest.raises(JobError, match=told):
        jobs.find(str(job_id), has_map=True)


def test_delete_removes_everything(database: Database, jobs: Jobs, maps: Maps) -> None:
    kept = add(jobs, "kept", digest="k")
    shared, job_id = add(jobs), add(jobs)
    for one in (kept, job_id):
        maps.checkpoint(one, 1, [Chunk(0, 99, "uint8", bytes(100))], [LayerRecord(0, 1)], 1)
        maps.add_states(one, [(0, 0, "┘│└")])
        finish(jobs, one)
        proof = Verification(now(), "0.1", 0.5, (Proved("layers", "their counts", 1),))
        Jobs(database).mark(one, jobs.get(one).proved_as, proof)
    freed = jobs.delete(job_id)
    assert freed > 3
    with database.read() as connection:
        counts = {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        }
    searches = {"iteration": 0, "subtree": 0, "solution": 0, "map_file": 0}
    left = {"puzzle": 2, "job": 2, "layer": 1, "chunk": 1, "state": 1, "verification": 1}
    surveys = {"survey": 0, "survey_part": 0, "component": 0}
    assert counts == {**left, **searches, **surveys}
    jobs.interrupt(shared)
    jobs.delete(shared)
    assert {job.name for job in jobs.list()} == {"kept"}
    assert add(jobs) == job_id + 1  # an id is never given twice
    with pytest.raises(JobError, match=f"there is no job {job_id}"):
        jobs.delete(job_id)


def test_a_job_that_runs_is_not_deleted(jobs: Jobs) -> None:
    job_id = add(jobs)
    with pytest.raises(JobError, match=f"job {job_id} is being run by {ELSEWHERE}; stop that process"):
        jobs.delete(job_id)
    jobs.delete(add(jobs, owner=DEAD))


def test_the_job_of_a_dead_process_is_taken_at_once(jobs: Jobs) -> None:
    job_id = add(jobs, owner=DEAD)
    assert jobs.get(job_id).abandoned
    assert jobs.claim(job_id, HERE)
    assert (jobs.get(job_id).owner, jobs.get(job_id).abandoned) == (HERE, False)
    assert not jobs.claim(job_id, ELSEWHERE)
    assert not jobs.claim(job_id, HERE)  # another run of the same process


def test_the_job_of_a_silent_host_is_taken_when_its_lease_ran_out(jobs: Jobs, clock: list[datetime]) -> None:
    job_id = add(jobs, lease_seconds=60)
    clock[0] += timedelta(seconds=50)
    assert not jobs.claim(job_id, HERE)
    assert jobs.renew(job_id, ELSEWHERE, 60)
    clock[0] += timedelta(seconds=50)
    assert not jobs.claim(job_id, HERE)
    clock[0] += timedelta(seconds=10)
    assert jobs.get(job_id).abandoned
    assert jobs.claim(job_id, HERE)
    assert not jobs.renew(job_id, ELSEWHERE)
    with pytest.raises(JobError, match=f"job {job_id} was taken over"):
        finish(jobs, job_id, owner=ELSEWHERE)
    finish(jobs, job_id, owner=HERE)


def test_of_many_claims_at_once_one_succeeds(jobs: Jobs) -> None:
    job_id = add(jobs, owner=DEAD)
    won: list[str] = []

    def claim(owner: str) -> None:
        if jobs.claim(job_id, owner):
            won.append(owner)

    threads = [Thread(target=claim, args=(f"elsewhere/{number}/0",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert jobs.get(job_id).owner == won[0]


def test_find_interrupted(jobs: Jobs) -> None:
    running, other = add(jobs), add(jobs, parameters={"origin": "start"}, owner=DEAD)
    digest = "d" * 64
    assert jobs.find_interrupted(digest, {"origin": "goal"}) is None
    jobs.interrupt(running, "stopped by Ctrl-C", owner=ELSEWHERE)
    found = jobs.find_interrupted(digest, {"origin": "goal"})
    assert found is not None
    assert (found.id, found.status, found.owner, found.error) == (
        running,
        "interrupted",
        None,
        "stopped by Ctrl-C",
    )
    dead = add(jobs, owner=DEAD)
    assert getattr(jobs.find_interrupted(digest, {"origin": "goal"}), "id", None) == dead
    assert getattr(jobs.find_interrupted(digest, {"origin": "start"}), "id", None) == other
    assert jobs.find_interrupted("x" * 64, {"origin": "goal"}) is None
    jobs.fail(dead, "no memory")
    finish(jobs, running)
    assert jobs.find_interrupted(digest, {"origin": "goal"}) is None


def test_a_claim_of_an_interrupted_job_clears_its_error(jobs: Jobs) -> None:
    job_id = add(jobs)
    jobs.interrupt(job_id, "stopped")
    assert jobs.claim(job_id, HERE)
    job = jobs.get(job_id)
    assert (job.status, job.owner, job.error) == ("running", HERE, None)
    with pytest.raises(JobError, match="there is no job 99"):
        jobs.claim(99, HERE)


def test_a_puzzle_whose_last_job_is_deleted_while_another_is_added(database: Database, jobs: Jobs) -> None:
    """Neither loses anything, whoever is first (PostgreSQL; on SQLite one waits for the other)."""
    failures: list[BaseException] = []
    kept: list[int] = []

    def work(number: int) -> None:
        try:
            for turn in range(12):
                job_id = add(jobs, owner=f"elsewhere/{number}/0")
                if turn == 11:
                    kept.append(job_id)
                else:
                    jobs.interrupt(job_id)
                    jobs.delete(job_id)
        except BaseException as error:
            failures.append(error)

    threads = [Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(kept) == [job.id for job in jobs.list()]


def test_a_name_means_the_newest_complete_map(jobs: Jobs) -> None:
    """One that a depth limit has cut off is meant only where there is no other, or no other with a map."""

    def finished(*, complete: bool, has_map: bool = True) -> int:
        number = add(jobs)
        found: dict[str, Any] = {
            "states": 1,
            "eccentricity": 0 if complete else None,
            "depth": 0,
            "digest": "d",
            "seconds": 0.0,
        }
        jobs.finish(number, complete=complete, has_map=has_map, **found)
        return number

    cut_off = [finished(complete=False), finished(complete=False)]
    assert jobs.find("tiny", has_map=True).id == cut_off[1]
    layers = finished(complete=True, has_map=False)
    assert jobs.find("tiny", has_map=True).id == cut_off[1]
    assert jobs.find("tiny", complete=True).id == layers
    whole = finished(complete=True)
    newest = finished(complete=False)
    assert jobs.find("tiny", has_map=True).id == jobs.find("tiny", complete=True).id == whole
    assert jobs.find("tiny").id == newest
    assert jobs.find(str(newest), has_map=True).id == newest


def test_jobs_come_page_by_page_newest_first(database: Database, jobs: Jobs) -> None:
    ids = [add(jobs, name, digest=name) for name in ("a", "b", "a", "a", "b")]
    first = jobs.page(2)
    assert [one.id for one in first.records] == ids[:2:-1]
    assert first.older == ids[3]
    second = jobs.page(2, first.older)
    assert [one.id for one in second.records] == ids[2:0:-1]
    last = jobs.page(2, second.older)
    assert ([one.id for one in last.records], last.older) == (ids[:1], None)
    some = jobs.page(2, fits=lambda record: record.name == "a")
    assert [one.id for one in some.records] == [ids[3], ids[2]]
    assert jobs.page(2, some.older, lambda record: record.name == "a").records == last.records
    assert jobs.page(5, 10**18 - 1).older is None
    with database.write() as connection:
        connection.execute(update(job).where(job.c.id == ids[3]).values(parameters="["))
    damaged = jobs.page(2)
    assert [one.id for one in damaged.records] == [ids[4], ids[2]]
    assert f"job {ids[3]}" in str(damaged.damages[0])
