"""Submitted jobs: their queue, who gets one, and how they are cancelled and queued again."""

from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import select, update

from farthest.errors import JobError
from farthest.models.chunks import Chunk
from farthest.models.database import Database
from farthest.models.jobs import FIRST_SETBACK, LONGEST_SETBACK, Jobs
from farthest.models.leases import Silence, owner_token
from farthest.models.maps import Maps
from farthest.models.records import JobRecord, LayerRecord, Setbacks, now
from farthest.models.tables import job as table

HERE = owner_token()
ELSEWHERE = "elsewhere/1/0"
DEAD = f"{HERE.rsplit('/', 2)[0]}/{HERE.rsplit('/', 2)[1]}/1.{HERE.rpartition('/')[2].partition('.')[2]}"
PARAMETERS = {"origin": "goal"}


def submit(jobs: Jobs, name: str = "tiny") -> int:
    return jobs.add("{}", "d" * 64, name, PARAMETERS, {"version": 1})


def add(jobs: Jobs, owner: str = ELSEWHERE) -> int:
    return jobs.add("{}", "d" * 64, "tiny", PARAMETERS, {"version": 1}, owner)


def finish(jobs: Jobs, job_id: int) -> None:
    result: dict[str, Any] = {"states": 1, "eccentricity": 0, "depth": 0, "complete": True, "has_map": False}
    jobs.finish(job_id, **result, digest="e" * 64, seconds=0.5)


def status(jobs: Jobs, job_id: int) -> str:
    return jobs.get(job_id).status


def test_a_submitted_job_waits_without_an_owner(jobs: Jobs) -> None:
    job = jobs.get(submit(jobs))
    assert (job.status, job.state_now, job.submitted, job.owner, job.lease_until) == (
        "queued",
        "queued",
        True,
        None,
        None,
    )
    assert (job.started, job.progress, job.parameters) == (None, None, PARAMETERS)
    assert not jobs.get(add(jobs)).submitted


def test_the_oldest_is_claimed_first_and_others_jobs_never(jobs: Jobs) -> None:
    add(jobs, owner=DEAD)
    first, second = submit(jobs), submit(jobs)
    for job_id in (first, second):
        claimed = jobs.claim_next(HERE, 60)
        assert claimed is not None
        assert (claimed.id, claimed.status, claimed.owner) == (job_id, "running", HERE)
        assert claimed.started is not None
    assert jobs.claim_next(HERE, 60) is None
    finish(jobs, first)
    assert jobs.claim_next(HERE, 60) is None


def test_the_job_of_a_dead_coordinator_is_claimed_by_another(jobs: Jobs) -> None:
    job_id = submit(jobs)
    assert jobs.claim_next(DEAD, 60) is not None
    assert (status(jobs, job_id), jobs.get(job_id).state_now) == ("running", "queued")
    claimed = jobs.claim_next(ELSEWHERE, 0)
    assert claimed is not None
    claimed = jobs.claim_next(HERE, 60)  # the lease of the one elsewhere ran out at once
    assert claimed is not None
    assert (claimed.id, claimed.owner) == (job_id, HERE)


def test_each_of_many_coordinators_gets_another_job(jobs: Jobs) -> None:
    submitted = [submit(jobs) for _ in range(6)]
    got: list[int] = []

    def claim(owner: str) -> None:
        record = jobs.claim_next(owner)
        if record is not None:
            assert record.owner == owner
            got.append(record.id)

    threads = [Thread(target=claim, args=(f"elsewhere/{number}/0",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # One that is late may find that all it saw were taken: it looks again in a moment.
    while (record := jobs.claim_next("elsewhere/99/0")) is not None:
        got.append(record.id)
    assert sorted(got) == submitted


def test_progress_is_kept_while_the_job_runs(jobs: Jobs) -> None:
    job_id = submit(jobs)
    jobs.claim_next(HERE, 60)
    assert jobs.renew(job_id, HERE, 60, {"depth": 3, "states": 2**40, "workers": 2})
    assert jobs.renew(job_id, HERE, 60)
    assert jobs.get(job_id).progress == {"depth": 3, "states": 2**40, "workers": 2}
    assert not jobs.renew(job_id, ELSEWHERE, 60, {"depth": 9})
    finish(jobs, job_id)
    assert jobs.get(job_id).progress is None


def test_a_released_job_is_queued_again(jobs: Jobs) -> None:
    job_id = submit(jobs)
    jobs.claim_next(HERE, 60)
    assert not jobs.release(job_id, ELSEWHERE)
    assert jobs.release(job_id, HERE)
    assert (status(jobs, job_id), jobs.get(job_id).owner) == ("queued", None)
    assert not jobs.release(job_id, HERE)
    assert not jobs.release(add(jobs, owner=HERE), HERE)
    claimed = jobs.claim_next(ELSEWHERE, 60)
    assert claimed is not None
    assert claimed.id == job_id


def test_a_lease_that_nobody_renews_is_not_believed_where_clocks_differ(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as that of a dead owner, after this host's clock was set back by an hour."""
    moment = [1000.0]
    monkeypatch.setattr("farthest.models.leases.monotonic", lambda: moment[0])
    job_id, silence = submit(jobs), Silence()
    assert jobs.claim_next(ELSEWHERE, 3600) is not None
    for seconds, renewed in ((0, False), (59, False), (59, True), (59, False), (1, False)):
        moment[0] += seconds
        if renewed:
            assert jobs.renew(job_id, ELSEWHERE, 3600)
        assert jobs.claim_next(HERE, 60, silence) is None
    moment[0] += 1
    assert not jobs.claim(job_id, HERE, silent=(ELSEWHERE, None))  # renewed since it was looked at
    taken = jobs.claim_next(HERE, 60, silence)
    assert taken is not None
    assert taken.owner == HERE


def test_a_job_that_there_was_no_room_for_waits(jobs: Jobs, maps: Maps) -> None:
    job_id, other = submit(jobs), submit(jobs)
    assert claim(jobs).id == job_id
    assert jobs.set_back(job_id, ELSEWHERE, "full") is None
    until = jobs.set_back(job_id, HERE, "Redis is full")
    queued = jobs.get(job_id)
    assert (queued.status, queued.state_now, queued.owner) == ("queued", "queued", None)
    assert (queued.error, queued.not_before) == ("Redis is full", until)
    assert until is not None
    assert 4 < (until - now()).total_seconds() <= FIRST_SETBACK
    assert claim(jobs).id == other, "the one behind it need not wait"
    assert jobs.claim_next(HERE, 60) is None
    pauses = [again(jobs, job_id) for _ in range(9)]
    assert pauses == [10, 20, 40, 80, 160, 320, 600, 600, 600]
    assert jobs.claim(job_id, HERE)
    maps.checkpoint(job_id, 1, [Chunk(0, 2, "uint8", b"abc")], [LayerRecord(0, 1)], 1.0, owner=HERE)
    assert jobs.set_back(job_id, HERE, "full") is not None
    assert Setbacks.of(jobs.get(job_id).progress) == Setbacks(1, 1), "it has come further"
    assert again(jobs, job_id) == 10
    assert jobs.cancel(job_id).not_before is None
    assert jobs.requeue(job_id).error is None
    assert claim(jobs).progress is None


def test_a_job_may_be_set_back_for_weeks(jobs: Jobs) -> None:
    job_id = submit(jobs)
    claim(jobs)
    jobs.renew(job_id, HERE, 60, Setbacks(5000).progress())
    until = jobs.set_back(job_id, HERE, "full")
    assert until is not None
    assert round((until - now()).total_seconds()) == LONGEST_SETBACK


def test_a_pause_that_a_wrong_clock_has_written_holds_no_job_up(jobs: Jobs, database: Database) -> None:
    job_id = submit(jobs)
    with database.write() as connection:
        connection.execute(update(table).values(lease_until=now() + timedelta(seconds=2 * LONGEST_SETBACK)))
    assert claim(jobs).id == job_id


@pytest.mark.parametrize(
    "progress", ["[", "[" * 10**5, "7", '{"set_back": "7", "set_back_depth": 1}', '{"set_back": 1e9}']
)
def test_damaged_progress_holds_no_job_up(jobs: Jobs, database: Database, progress: str) -> None:
    job_id = submit(jobs)
    with database.write() as connection:
        connection.execute(update(table).values(progress=progress))
    assert claim(jobs).progress is None
    with database.write() as connection:
        connection.execute(update(table).values(progress=progress))
    assert jobs.set_back(job_id, HERE, "full") is not None
    assert Setbacks.of(jobs.get(job_id).progress) == Setbacks(1)


NO_TIMES = ["'x'", "-1", "1e999", "x'ff'", "'2026-13-01'"]


@pytest.mark.parametrize("status", ["queued", "running"])
@pytest.mark.parametrize("value", NO_TIMES)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # a server's columns hold only times
def test_what_is_no_time_holds_no_job_up(jobs: Jobs, database: Database, status: str, value: str) -> None:
    damaged, other = submit(jobs), submit(jobs)
    with database.write() as connection:
        connection.exec_driver_sql(f"UPDATE job SET started = {value} WHERE id = {damaged}")
        connection.exec_driver_sql(f"UPDATE job SET lease_until = {value}, owner = 'x', status = '{status}'")
    assert claim(jobs).id == other
    with database.read() as connection:
        (found,) = connection.execute(select(table.c.status, table.c.error).where(table.c.id == damaged))
    assert found.status == "failed"
    assert "column started" in found.error


def claim(jobs: Jobs) -> JobRecord:
    record = jobs.claim_next(HERE, 60)
    assert record is not None
    return record


def again(jobs: Jobs, job_id: int) -> int:
    """The job is taken when it is due, and set back; the pause, in seconds."""
    assert jobs.claim(job_id, HERE)
    record = jobs.get(job_id)
    assert (record.error, record.not_before) == (None, None)
    jobs.renew(job_id, HERE, 60, {**(record.progress or {}), "depth": 3})
    until = jobs.set_back(job_id, HERE, "full")
    assert until is not None
    return round((until - now()).total_seconds())


def test_a_job_is_handed_back_with_a_reason(jobs: Jobs) -> None:
    job_id = submit(jobs)
    claim(jobs)
    assert jobs.release(job_id, HERE, "Redis is away")
    assert (jobs.get(job_id).error, jobs.get(job_id).not_before) == ("Redis is away", None)
    assert (claim(jobs).id, jobs.get(job_id).error) == (job_id, None)


def test_a_cancelled_job_is_nobodys_and_keeps_its_checkpoint(jobs: Jobs, maps: Maps) -> None:
    job_id = submit(jobs)
    jobs.claim_next(HERE, 60)
    maps.checkpoint(job_id, 1, [Chunk(0, 2, "uint8", b"abc")], [LayerRecord(0, 1)], 1.0, owner=HERE)
    cancelled = jobs.cancel(job_id)
    assert (cancelled.status, cancelled.state_now, cancelled.owner) == ("cancelled", "cancelled", None)
    assert not jobs.renew(job_id, HERE)
    with pytest.raises(JobError, match=f"^job {job_id} was cancelled; nothing of this change was stored$"):
        maps.checkpoint(job_id, 2, [Chunk(0, 2, "uint8", b"xyz")], [], 2.0, owner=HERE)
    with pytest.raises(JobError, match=f"job {job_id} was cancelled"):
        jobs.interrupt(job_id, "stopped", owner=HERE)
    assert maps.depth(job_id) == 1
    assert jobs.claim_next(HERE, 60) is None
    assert jobs.claim(job_id, HERE)


@pytest.mark.parametrize("state", ["queued", "running", "interrupted", "abandoned"])
def test_what_has_not_ended_can_be_cancelled(jobs: Jobs, state: str) -> None:
    job_id = {"queued": submit, "abandoned": lambda jobs: add(jobs, DEAD)}.get(state, add)(jobs)
    if state == "interrupted":
        jobs.interrupt(job_id, "stopped")
    assert jobs.cancel(job_id).status == "cancelled"
    assert jobs.find_interrupted("d" * 64, PARAMETERS) is None
    with pytest.raises(JobError, match=rf"job {job_id} is already cancelled; .*farthest resume {job_id}"):
        jobs.cancel(job_id)


def test_what_has_ended_cannot_be_cancelled(jobs: Jobs) -> None:
    finished, failed = add(jobs), add(jobs)
    finish(jobs, finished)
    jobs.fail(failed, "no memory")
    with pytest.raises(
        JobError, match=f"job {finished} is finished and cannot be cancelled; ask it, or remove it"
    ):
        jobs.cancel(finished)
    with pytest.raises(JobError, match=f"job {failed} is failed and cannot be cancelled; queue it again"):
        jobs.cancel(failed)
    with pytest.raises(JobError, match="there is no job 99"):
        jobs.cancel(99)


@pytest.mark.parametrize("state", ["interrupted", "abandoned", "cancelled", "failed"])
def test_what_nobody_runs_can_be_queued_again(jobs: Jobs, state: str) -> None:
    job_id = add(jobs, DEAD if state == "abandoned" else ELSEWHERE)
    if state == "interrupted":
        jobs.interrupt(job_id, "stopped")
    elif state == "cancelled":
        jobs.cancel(job_id)
    elif state == "failed":
        jobs.fail(job_id, "no memory")
    queued = jobs.requeue(job_id)
    assert (queued.status, queued.submitted, queued.owner, queued.error) == ("queued", True, None, None)
    claimed = jobs.claim_next(HERE, 60)
    assert claimed is not None
    assert claimed.id == job_id


def test_what_runs_waits_or_is_finished_cannot_be_queued(jobs: Jobs) -> None:
    running, queued, finished = add(jobs), submit(jobs), add(jobs)
    finish(jobs, finished)
    with pytest.raises(
        JobError, match=f"job {running} is being run by {ELSEWHERE} and cannot be queued; follow it"
    ):
        jobs.requeue(running)
    with pytest.raises(JobError, match=f"job {queued} is already queued; it starts when a coord"):
        jobs.requeue(queued)
    with pytest.raises(JobError, match=f"job {finished} is finished and cannot be queued"):
        jobs.requeue(finished)


def test_enumerate_passes_over_submitted_jobs(jobs: Jobs) -> None:
    job_id = submit(jobs)
    assert jobs.find_interrupted("d" * 64, PARAMETERS) is None
    jobs.claim_next(HERE, 60)
    jobs.interrupt(job_id, "stopped", owner=HERE)
    assert jobs.find_interrupted("d" * 64, PARAMETERS) is None
    assert jobs.claim(job_id, HERE)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("queued", "is queued: wait until a coordinator has run it"),
        ("cancelled", "is cancelled: run `farthest resume 1` to finish it"),
        ("interrupted", "is interrupted: run `farthest resume 1` to finish it"),
    ],
)
def test_the_name_of_a_job_that_has_no_result_yet(jobs: Jobs, state: str, told: str) -> None:
    job_id = submit(jobs)
    if state == "cancelled":
        jobs.cancel(job_id)
    elif state == "interrupted":
        jobs.claim_next(HERE, 60)
        jobs.interrupt(job_id, "stopped")
    with pytest.raises(JobError, match=told):
        jobs.find("tiny")
    with pytest.raises(JobError, match=f"is {state}, expected a finished one"):
        jobs.find(str(job_id), has_map=True)


def test_a_queued_job_can_be_deleted(database: Database, jobs: Jobs) -> None:
    jobs.delete(submit(jobs))
    assert jobs.list() == []
