"""The mark of a job that was proved: it counts as long as the job is what it was then."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import update

from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.models.records import Proved, Verification
from farthest.models.tables import job, verification

PROOF = Verification(
    datetime(2026, 11, 22, 12, 0, 0, 250, tzinfo=UTC), "1.2", 0.5, (Proved("layers", "their counts", 7),)
)


@pytest.fixture
def marked(database: Database, jobs: Jobs, job_id: int) -> int:
    jobs.finish(
        job_id, states=3, eccentricity=2, depth=2, complete=True, has_map=False, digest="ab", seconds=0.25
    )
    Jobs(database).mark(job_id, jobs.get(job_id).proved_as, PROOF)
    return job_id


def test_a_proof_is_kept_with_its_job(database: Database, jobs: Jobs, marked: int) -> None:
    assert jobs.get(marked).verified == PROOF
    assert jobs.list()[0].verified == PROOF
    later = Verification(PROOF.made.replace(year=2027), "1.3", 0.25, ())
    Jobs(database).mark(marked, jobs.get(marked).proved_as, later)
    assert jobs.get(marked).verified == later
    Jobs(database).remove_mark(marked)
    assert jobs.get(marked).verified is None


def test_a_job_that_is_another_by_now_gets_no_mark(database: Database, jobs: Jobs, marked: int) -> None:
    Jobs(database).remove_mark(marked)
    Jobs(database).mark(marked, "the digest of another row", PROOF)
    assert jobs.get(marked).verified is None


def test_a_result_that_is_written_again_has_no_mark(jobs: Jobs, marked: int) -> None:
    jobs.finish(
        marked, states=4, eccentricity=2, depth=2, complete=True, has_map=False, digest="cd", seconds=0.25
    )
    assert jobs.get(marked).verified is None


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("version", "9.9"),
        ("made", datetime(2030, 1, 1, tzinfo=UTC)),
        ("seconds", 1.5),
        ("checks", "{}"),
        ("checks", "["),
        ("job_record", "ab"),
        ("record_digest", "ab"),
    ],
)
def test_a_mark_that_was_changed_does_not_count(
    database: Database, jobs: Jobs, marked: int, column: str, value: Any
) -> None:
    with database.write() as connection:
        connection.execute(update(verification).values({column: value}))
    assert jobs.get(marked).verified is None


def test_a_job_of_an_older_version_can_have_a_mark(database: Database, jobs: Jobs, marked: int) -> None:
    with database.write() as connection:
        connection.execute(update(job).values(parts=None, record_digest=None))
    assert jobs.get(marked).verified is None
    Jobs(database).mark(marked, "ab", PROOF)
    assert jobs.get(marked).verified == PROOF
