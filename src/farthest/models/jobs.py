"""What changes jobs: who runs them, what is stored of them, their proofs, their end. What searches store in addition is
in ``searches``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Connection, delete, func, insert, select, update

from farthest.errors import JobError, StorageError, UnavailableError
from farthest.heuristics.table_files import TableFiles
from farthest.models.job_reader import JobReader, is_job
from farthest.models.leases import LEASE_SECONDS, Lease, Silence
from farthest.models.maps import remove_map_files
from farthest.models.records import (
    CANCELLED,
    ENUMERATION,
    FAILED,
    INTERRUPTED,
    QUEUED,
    RUNNING,
    SEARCH,
    Answers,
    JobRecord,
    LayerRecord,
    Setbacks,
    Takeovers,
    Verification,
    may_be_taken,
    now,
)
from farthest.models.sealing import (
    NOBODYS,
    PARTS,
    canonical,
    change_job,
    finished,
    put_rows,
    record_digest,
    seal,
)
from farthest.models.structure import check_next_number, check_owners
from farthest.models.tables import chunk, job, layer, map_file, puzzle, solution, state, verification
from farthest.untrusted_json import read_json_object

FIRST_SETBACK = 5.0
LONGEST_SETBACK = 600.0
"""The pause in seconds before a job that there was no room for is tried again."""


class Jobs(JobReader):
    """The jobs of a database: enumerations and searches, their parameters, progress, results and owners. A job has an
    owner exactly while it is running. Methods that change a job take part in ``Database.write`` blocks around them.

    Where ``owner`` is given to a method, the job must still be that owner's (JobError if another took it over), so that
    a process that was stopped for longer than its lease cannot overwrite what its successor stores.
    """

    def add(
        self,
        puzzle_json: str,
        digest: str,
        name: str,
        parameters: Mapping[str, Any],
        layout: Mapping[str, Any],
        owner: str | None = None,
        *,
        kind: str = ENUMERATION,
        lease_seconds: float = LEASE_SECONDS,
    ) -> int:
        """Stores a job that ``owner`` runs from now on (None: it is submitted, for coordinators to claim), and its
        puzzle; gives the job's id."""
        moment = now()
        running: dict[str, Any] = {
            "status": RUNNING,
            "owner": owner,
            "lease_until": moment + timedelta(seconds=lease_seconds),
            "started": moment,
        }
        with self._database.write() as connection:
            row = {
                "puzzle_id": _puzzle_row(connection, puzzle_json, digest, name, moment),
                "name": name,
                "kind": kind,
                "parameters": canonical(parameters),
                "layout": canonical(layout),
                "created": moment,
                "complete": False,
                "has_map": False,
                "submitted": owner is None,
                **({"status": QUEUED} if owner is None else running),
            }
            check_next_number(connection)
            key = connection.execute(insert(job).values(row)).inserted_primary_key
            assert key is not None
            seal(connection, int(key[0]), dict.fromkeys(PARTS))
            return int(key[0])

    def claim(
        self,
        job_id: int,
        owner: str,
        lease_seconds: float = LEASE_SECONDS,
        *,
        among: tuple[str, ...] = (QUEUED, RUNNING, INTERRUPTED, CANCELLED, FAILED),
        at_once: bool = False,
        silent: Lease | None = None,
    ) -> bool:
        """Takes an unfinished job over, if nobody runs it: of several concurrent claims exactly one is True.

        A job may be taken when it has no owner, its lease ran out, or its owner is a dead process of this host; and
        when its status is one of ``among``. Its progress counts how often in a row it was taken from an owner that had
        not given it back (``Takeovers``). ``at_once``: False at once where another process is changing or deleting the
        job, instead of waiting for that process, which may be stopped. ``silent``: a lease that counts as run out,
        whatever it says.
        """
        moment = now()
        with self._database.write() as connection:
            columns = ("status", "owner", "lease_until", "started", "progress", "depth")
            wanted = select(*(job.c[name] for name in columns)).where(job.c.id == job_id)
            if at_once:  # SQLite, which has one writer at a time, ignores it
                wanted = wanted.with_for_update(skip_locked=True)
            seen = connection.execute(wanted).one_or_none()
            if seen is None and at_once:
                return False
            if seen is None:
                raise self._no_such_id(job_id)
            if seen.status not in among:
                return False
            held = seen.status == RUNNING and silent != (seen.owner, seen.lease_until)
            if held and not may_be_taken(seen.owner, seen.lease_until, moment):
                return False
            unchanged = (
                job.c.status == seen.status,
                job.c.owner.is_not_distinct_from(seen.owner),
                job.c.lease_until.is_not_distinct_from(seen.lease_until),
            )
            values = {
                **NOBODYS,
                "status": RUNNING,
                "owner": owner,
                "lease_until": moment + timedelta(seconds=lease_seconds),
                "started": seen.started or moment,
                "progress": _kept_progress(seen.progress, seen.status, seen.depth),
            }
            taken = update(job).where(job.c.id == job_id, *unchanged).values(values)
            return connection.execute(taken).rowcount == 1

    def claim_next(
        self, owner: str, lease_seconds: float = LEASE_SECONDS, silence: Silence | None = None
    ) -> JobRecord | None:
        """Takes the oldest submitted job that waits and may be tried now, or whose owner is dead or silent; None if
        there is none.

        Of several concurrent claims exactly one gets it; the others get the next. ``silence``: the leases that this
        process has seen before.
        """
        silence = silence or Silence()
        waiting = (
            select(job.c.id, job.c.status, job.c.owner, job.c.lease_until)
            .where(job.c.submitted, job.c.status.in_([QUEUED, RUNNING]))
            .order_by(job.c.id)
        )
        with self._database.read() as connection:
            rows = connection.execute(waiting).all()
        silence.forget_others({row.id for row in rows})
        for row in rows:
            lease = (row.owner, row.lease_until)
            silent = lease if silence.of(row.id, lease) else None
            if row.status == QUEUED:
                free = _may_be_tried(row.lease_until)
            else:
                free = silent is not None or may_be_taken(*lease, now())
            among = (QUEUED, RUNNING)
            if free and self.claim(row.id, owner, lease_seconds, among=among, at_once=True, silent=silent):
                try:
                    return self.get(row.id)
                except UnavailableError:
                    raise
                except StorageError as damage:  # else it would be claimed again and again
                    self.fail(row.id, str(damage), owner=owner)
        return None

    def renew(
        self,
        job_id: int,
        owner: str,
        lease_seconds: float = LEASE_SECONDS,
        progress: Mapping[str, Any] | None = None,
    ) -> bool:
        """Extends the owner's lease from now; False if the job is no longer the owner's.

        ``progress`` is for people who follow the job; without it the stored one stays.
        """
        mine = (job.c.id == job_id, job.c.owner == owner, job.c.status == RUNNING)
        values: dict[str, Any] = {"lease_until": now() + timedelta(seconds=lease_seconds)}
        if progress is not None:
            values["progress"] = json.dumps(dict(progress))
        with self._database.write() as connection:
            return connection.execute(update(job).where(*mine).values(values)).rowcount == 1

    def release(self, job_id: int, owner: str, reason: str | None = None) -> bool:
        """Puts a submitted job that this owner runs back into the queue; False if it is no longer the owner's."""
        with self._database.write() as connection:
            return _release(connection, job_id, owner, {"error": reason})

    def set_back(self, job_id: int, owner: str, reason: str) -> datetime | None:
        """``release`` because there is no room: nobody takes the job before the time that is returned; None if it is no
        longer the owner's. The pause doubles each time, unless the job has a deeper checkpoint than the last time."""
        with self._database.write() as connection:
            asked = select(job.c.progress, job.c.depth).where(job.c.id == job_id)
            row = connection.execute(asked).one_or_none()
            if row is None:
                return None
            setbacks = Setbacks.of(_parsed(row.progress)).one_more(row.depth)
            pause = min(LONGEST_SETBACK, FIRST_SETBACK * 2.0 ** min(setbacks.times - 1, 20))
            until = now() + timedelta(seconds=pause)
            values = {"error": reason, "lease_until": until, "progress": json.dumps(setbacks.progress())}
            return until if _release(connection, job_id, owner, values) else None

    def cancel(self, job_id: int) -> JobRecord:
        """Takes a job from its owner, and out of the queue; its last checkpoint is kept.

        JobError where it has ended already.
        """
        return self._move(job_id, CANCELLED, {}, from_states=(QUEUED, RUNNING, INTERRUPTED), verb="cancelled")

    def requeue(self, job_id: int) -> JobRecord:
        """Queues an unfinished job that nobody runs; coordinators continue it from its last checkpoint.

        JobError where it runs, waits already or is finished, or is a search.
        """
        record = self.get(job_id)
        if record.kind == SEARCH:
            from farthest.models.naming import a_search

            raise a_search(record, "queued")
        return self._move(
            job_id,
            QUEUED,
            {"submitted": True},
            from_states=(INTERRUPTED, CANCELLED, FAILED),
            verb="queued",
            abandoned=True,
        )

    def _move(
        self,
        job_id: int,
        status: str,
        values: Mapping[str, Any],
        *,
        from_states: tuple[str, ...],
        verb: str,
        abandoned: bool = False,
    ) -> JobRecord:
        with self._database.write() as connection:
            seen = connection.execute(
                select(job.c.status, job.c.owner, job.c.lease_until)
                .where(job.c.id == job_id)
                .with_for_update()  # ignored by SQLite, which has one writer at a time
            ).one_or_none()
            if seen is None:
                raise self._no_such_id(job_id)
            free = seen.status == RUNNING and may_be_taken(seen.owner, seen.lease_until, now())
            if seen.status not in from_states and not (abandoned and free):
                from farthest.models.naming import wrong_state

                raise wrong_state(job_id, seen.status, seen.owner, verb)
            change = {**NOBODYS, **values, "status": status}
            connection.execute(update(job).where(job.c.id == job_id).values(change))
            return self.get(job_id)

    def delete(self, job_id: int) -> int:
        """Removes a job with all that is stored of it, and its puzzle unless another job uses it. Gives the bytes of
        distances, boards, solutions and map files removed; the database keeps its room for later jobs (on SQLite,
        VACUUM gives it back to the disk). A job that a live process runs is a JobError, a file whose indexes are
        damaged a StorageError, an unknown folder of map files a SettingError.
        """
        with self._database.write() as connection:
            # Nothing else of it is read: a damaged job must be removable.
            asked = select(job.c.puzzle_id, job.c.status, job.c.owner, job.c.lease_until)
            record = connection.execute(asked.where(is_job(job_id))).one_or_none()
            if record is None:
                raise self._no_such_id(job_id)
            if record.status == RUNNING and not may_be_taken(record.owner, record.lease_until, now()):
                raise JobError(
                    f"job {job_id} is being run by {record.owner}; stop that process, then delete the job"
                )
            check_owners(connection)
            size = _stored_bytes(connection, job_id)
            remove_map_files(connection, self._database, job_id)
            size += TableFiles(self._database.path, self._database.place).remove(f"{job_id}-*")
            # Locked before its jobs are counted: a job that another process adds now is counted, or waits.
            connection.execute(select(puzzle.c.id).where(puzzle.c.id == record.puzzle_id).with_for_update())
            connection.execute(delete(job).where(job.c.id == job_id))
            # PostgreSQL does not remove these with the job.
            connection.execute(delete(state).where(state.c.job_id == job_id))
            unused = ~select(job.c.id).where(job.c.puzzle_id == record.puzzle_id).exists()
            connection.execute(delete(puzzle).where(puzzle.c.id == record.puzzle_id, unused))
            return size

    def record_layers(self, job_id: int, layers: Sequence[LayerRecord], *, owner: str | None = None) -> None:
        """Stores complete layers and replaces those of the same depth; the deepest is the job's ``depth``."""
        with self._database.write() as connection:
            put_rows(connection, job_id, layers)
            if layers:
                deepest = select(func.max(layer.c.depth)).where(layer.c.job_id == job_id).scalar_subquery()
                change_job(connection, job_id, owner, {"depth": deepest})
                seal(connection, job_id, {}, stored=["layer"])

    def finish(
        self,
        job_id: int,
        *,
        states: int,
        eccentricity: int | None,
        depth: int,
        complete: bool,
        has_map: bool,
        digest: str,
        seconds: float,
        unit: str | None = None,
        result: Mapping[str, Any] | None = None,
        owner: str | None = None,
    ) -> None:
        """Marks a job as finished, with its result; it has no owner any more.

        Without ``unit`` the one of the last checkpoint stays. ``result``: its machine, what its layers took.
        """
        values: dict[str, Any] = {
            "states": states,
            "eccentricity": eccentricity,
            "depth": depth,
            "complete": complete,
            "has_map": has_map,
            "digest": digest,
            "seconds": seconds,
        }
        if unit is not None:
            values["unit"] = unit
        if result is not None:
            values["result"] = canonical(result)
        with self._database.write() as connection:
            change_job(connection, job_id, owner, finished(values))
            seal(connection, job_id, {})

    def add_answers(self, job_id: int, answers: Answers) -> None:
        """Adds to the result of a finished enumeration."""
        with self._database.write() as connection:
            held = self.get(job_id).result or {}
            told = {name: one and asdict(cast("Any", one)) for name, one in answers.items()}
            before = self._proved_as(connection, job_id)
            change_job(connection, job_id, None, {"result": canonical({**held, **told})})
            seal(connection, job_id, {})
            # A proof stays valid: it is of what these answers were read from.
            mine = (verification.c.job_id == job_id, verification.c.job_record == before)
            proof = connection.execute(select(verification).where(*mine)).one_or_none()
            if proof is not None:
                values = {**proof._asdict(), "job_record": self._proved_as(connection, job_id)}
                del values["record_digest"]
                values["record_digest"] = record_digest("verification", values)
                connection.execute(update(verification).where(*mine).values(values))

    def _proved_as(self, connection: Connection, job_id: int) -> str | None:
        """``JobRecord.proved_as`` as it is stored now; None where there is no such job."""
        asked = select(job.c.record_digest, job.c.digest).where(job.c.id == job_id).with_for_update()
        row = connection.execute(asked).one_or_none()
        return None if row is None else row.record_digest or row.digest

    def interrupt(
        self,
        job_id: int,
        error: str | None = None,
        *,
        owner: str | None = None,
        progress: Mapping[str, Any] | None = None,
    ) -> None:
        """Marks a job as stopped where it may be resumed (Ctrl-C, a full disk); it has no owner any more. ``progress``:
        what is known of what it goes on from."""
        self._stop(job_id, INTERRUPTED, error, owner, progress)

    def fail(self, job_id: int, error: str, *, owner: str | None = None) -> None:
        """Marks a job as failed: it need not be resumed, and ``find_interrupted`` leaves it out."""
        self._stop(job_id, FAILED, error, owner)

    def _stop(
        self,
        job_id: int,
        status: str,
        error: str | None,
        owner: str | None,
        progress: Mapping[str, Any] | None = None,
    ) -> None:
        values = {**NOBODYS, "status": status, "error": error}
        if progress:
            values["progress"] = json.dumps(dict(progress))
        with self._database.write() as connection:
            change_job(connection, job_id, owner, values)

    # Proofs

    def mark(self, job_id: int, job_record: str, found: Verification) -> bool:
        """Stores the proof of a job in place of the last one. ``job_record``: ``JobRecord.proved_as`` of the job that
        was proved; if it is another by now, nothing is stored. Returns whether it was stored."""
        checks = [astuple(one) for one in found.checks]
        values = {"job_id": job_id, "job_record": job_record, **asdict(found)}
        values["checks"] = canonical({"checks": checks})
        values["record_digest"] = record_digest("verification", values)
        with self._database.write() as connection:
            if self._proved_as(connection, job_id) != job_record:
                return False
            connection.execute(delete(verification).where(verification.c.job_id == job_id))
            connection.execute(insert(verification).values(values))
        return True

    def remove_mark(self, job_id: int) -> None:
        """Removes the proof of a job, if it has one."""
        mine = verification.c.job_id == job_id
        with self._database.read() as connection:
            if connection.execute(select(verification.c.job_id).where(mine)).first() is None:
                return
        with self._database.write() as connection:
            connection.execute(delete(verification).where(mine))


def _release(connection: Connection, job_id: int, owner: str, values: Mapping[str, Any]) -> bool:
    mine = (job.c.id == job_id, job.c.owner == owner, job.c.status == RUNNING, job.c.submitted)
    queued = {**NOBODYS, "status": QUEUED, **values}
    return connection.execute(update(job).where(*mine).values(queued)).rowcount == 1


def _may_be_tried(not_before: datetime | None) -> bool:
    """Whether a queued job may be taken. A time further away than any pause was written by a wrong clock, and is
    ignored, as is a value that is not a time, in a damaged database."""
    wait = not_before - now() if isinstance(not_before, datetime) else timedelta(0)
    return wait <= timedelta(0) or wait > timedelta(seconds=LONGEST_SETBACK)


def _kept_progress(text: str | None, status: str, depth: int | None) -> str | None:
    """The part of a job's progress that the next owner needs: its setbacks and its takeovers; one takeover more where
    the job was still marked as running, as its owner ended without giving it back."""
    known = _parsed(text)
    kept = Setbacks.of(known).progress()
    if status == RUNNING:
        kept |= Takeovers.of(known).one_more(depth).progress()
    return json.dumps(kept) if kept else None


def _parsed(text: str | None) -> dict[str, int]:
    """The whole numbers in a job's progress; none where it is damaged: then the pauses begin again."""
    try:
        known = {} if text is None else read_json_object(text)
    except (ValueError, TypeError):
        return {}
    return {name: one for name, one in known.items() if isinstance(one, int)}


def _puzzle_row(connection: Connection, definition: str, digest: str, name: str, moment: datetime) -> int:
    """The row of a puzzle, which is made if it is missing. Puzzles that differ only in what the digest leaves out, such
    as the title, have a row each: a job keeps what it was submitted with."""
    # Locked, so that it is not deleted with its last job before this one is stored (PostgreSQL; SQLite has one writer
    # at a time). Two processes may make the same row at once there: that does no harm.
    same = select(puzzle.c.id).where(puzzle.c.digest == digest, puzzle.c.definition == definition)
    locked = same.order_by(puzzle.c.id).limit(1).with_for_update(read=True, key_share=True)
    if (found := connection.execute(locked).scalar()) is not None:
        return int(found)
    values = {"digest": digest, "name": name, "definition": definition, "created": moment}
    values["record_digest"] = record_digest("puzzle", values)
    key = connection.execute(insert(puzzle).values(values)).inserted_primary_key
    assert key is not None
    return int(key[0])


def _stored_bytes(connection: Connection, job_id: int) -> int:
    """The bytes of a job's payloads, boards, solutions and map files."""
    found = 0
    for table, size in (
        (chunk, func.length(chunk.c.payload)),
        (state, func.length(state.c.board)),
        (solution, func.length(solution.c.moves)),
        (map_file, map_file.c.bytes),
    ):
        of_job = select(func.coalesce(func.sum(size), 0)).where(table.c.job_id == job_id)
        found += int(connection.execute(of_job).scalar_one())
    return found
