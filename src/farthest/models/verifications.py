"""The last proof of a job: when `farthest verify` has proved it, which version, and what was proved.

A mark is of one result. It names the digest of the job's row, which covers the digests of all that is stored of the
job; where the row is another by now, the mark does not count. Like those digests it is no signature: who can write to
the database can write a mark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select

from farthest.models.record_digest import record_digest
from farthest.models.stored_values import canonical
from farthest.models.tables import job, verification
from farthest.models.transactions import Database
from farthest.untrusted_json import read_json_object

COLUMNS = ("job_record", "made", "version", "seconds", "checks", "record_digest")


@dataclass(frozen=True, slots=True)
class Proved:
    """One property that was proved: how many states or values were checked."""

    name: str
    proves: str
    checked: int


@dataclass(frozen=True, slots=True)
class Verification:
    """The last proof of a job as it is stored now. ``made``: when, in UTC. ``seconds``: how long it took."""

    made: datetime
    version: str
    seconds: float
    checks: tuple[Proved, ...]


class Verifications:
    """The marks of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def mark(self, job_id: int, row_digest: str, found: Verification) -> None:
        """Stores a proof in place of the last one. ``row_digest``: ``JobRecord.row_digest`` of the job that was proved;
        if it is another job by now, nothing is stored."""
        checks = [[one.name, one.proves, one.checked] for one in found.checks]
        values = {
            "job_id": job_id,
            "job_record": row_digest,
            "made": found.made,
            "version": found.version,
            "seconds": found.seconds,
            "checks": canonical({"checks": checks}),
        }
        digest = record_digest("verification", values)
        with self._database.write() as connection:
            now = connection.execute(_NOW.where(job.c.id == job_id).with_for_update()).one_or_none()
            if now is None or (now.record_digest or now.digest) != row_digest:
                return
            connection.execute(delete(verification).where(verification.c.job_id == job_id))
            connection.execute(insert(verification).values(**values, record_digest=digest))

    def remove(self, job_id: int) -> None:
        """Removes the mark of a job, if it has one."""
        mine = verification.c.job_id == job_id
        with self._database.read() as connection:
            if connection.execute(select(verification.c.job_id).where(mine)).first() is None:
                return
        with self._database.write() as connection:
            connection.execute(delete(verification).where(mine))


def verification_of(job_id: int, row_digest: str | None, values: Mapping[str, Any]) -> Verification | None:
    """The mark in a row of ``verification``; None where there is none, where it is of another result, and where it is
    not what was stored. ``values``: ``COLUMNS``, all None where there is no row."""
    if row_digest is None or values["job_record"] != row_digest:
        return None
    held = {"job_id": job_id, **{name: values[name] for name in COLUMNS[:-1]}}
    try:
        if record_digest("verification", held) != values["record_digest"]:
            return None
        checks = tuple(_proved(one) for one in read_json_object(values["checks"])["checks"])
    except (KeyError, TypeError, ValueError):
        return None
    return Verification(values["made"], values["version"], values["seconds"], checks)


def _proved(one: Sequence[Any]) -> Proved:
    name, proves, checked = one
    return Proved(name, proves, checked)


_NOW = select(job.c.record_digest, job.c.digest)
