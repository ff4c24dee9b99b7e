"""Reading the jobs of a database: all of them, one by its id, one by a puzzle's name."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from operator import index
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Row, Select, func, literal, select

from farthest.errors import JobError, StorageError, UnavailableError
from farthest.models.database import Database
from farthest.models.records import (
    ENUMERATION,
    FINISHED,
    INTERRUPTED,
    KINDS,
    RUNNING,
    STATUSES,
    JobRecord,
    LayerRecord,
    Proved,
    PuzzleRecord,
    Verification,
    fields_of,
)
from farthest.models.sealing import (
    canonical,
    check_values,
    covered,
    damaged,
    json_object,
    read_rows,
    record_digest,
)
from farthest.models.tables import job, puzzle, verification
from farthest.untrusted_json import read_json_object
from farthest.wording import shown

Numbers = list[int]
Records = list[JobRecord]
Layers = list[LayerRecord]
Damages = list[StorageError]

_AT_ONCE = 100
_LONGEST_ID = 18
"""Most digits of a job's id; a longer number may be too large for a database."""


class JobReader:
    """The queries for jobs; ``Jobs`` adds the changes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, job_id: int) -> JobRecord:
        """The job with this id. Raises JobError if there is none, StorageError where it is not what was stored."""
        with self._database.read() as connection:
            row = connection.execute(_select_jobs().where(is_job(job_id))).one_or_none()
        if row is None:
            raise self._no_such_id(job_id)
        return _job_record(row)

    def find(
        self, text: str, *, has_map: bool = False, complete: bool = False, told_of: str | None = None
    ) -> JobRecord:
        """The job that ``text`` names: an id, or a puzzle's name for its newest finished enumeration. Where no job has
        that name, it may be another name of the puzzle, ``M11`` or ``pancake-4<3,4,2>``.

        ``complete``: a name means the newest that no depth limit has cut off, or the newest where all are cut off.
        ``has_map``: the same, but a name never means a job without a finished map, and the id of such a job raises
        JobError. ``told_of``: a board: a name means rather a complete map that is not counted from it. Raises
        StorageError where that job, or a newer one that may be meant, is not what was stored.
        """
        wanted = text.strip()
        if _is_number(wanted):
            if len(wanted) > _LONGEST_ID:
                raise self._no_such_id(wanted)
            found = self.get(int(wanted))
            lacks_map = not (found.status == FINISHED and found.has_map)
        else:
            found = self._named(wanted, has_map, complete, told_of)
            lacks_map = not found.has_map
        if has_map and lacks_map:
            from farthest.models.naming import no_map

            raise no_map(found)
        return found

    def _named(self, name: str, has_map: bool, complete: bool, told_of: str | None) -> JobRecord:
        found = self._newest(lambda record: record.name == name, has_map, complete, told_of)
        if found is None:
            from farthest.models.naming import digest_of, no_such_name

            if (digest := digest_of(name)) is not None:
                found = self._newest(
                    lambda record: record.puzzle_digest == digest, has_map, complete, told_of
                )
            if found is None:
                raise no_such_name(self._database.place, name, self.list())
        return found

    def _newest(
        self, fits: Callable[[JobRecord], bool], has_map: bool, complete: bool, told_of: str | None
    ) -> JobRecord | None:
        """The newest finished enumeration that ``fits``, as ``find`` has it; one without a map where none has one."""
        without_map = cut_off = counted_from_it = None
        with self._database.read() as connection:
            check_table(connection, "job")
            for row in connection.execute(_select_jobs().order_by(job.c.id.desc())):
                record = _job_record(row)
                if (record.kind, record.status) != (ENUMERATION, FINISHED) or not fits(record):
                    continue
                if has_map and not record.has_map:
                    without_map = without_map or record
                elif told_of is not None and record.complete and record.parameters.get("where") == told_of:
                    counted_from_it = counted_from_it or record
                elif record.complete or not (has_map or complete):
                    return record
                else:
                    cut_off = cut_off or record
        return counted_from_it or cut_off or without_map

    def _no_such_id(self, wanted: object) -> JobError:
        from farthest.models.naming import no_such_id

        return no_such_id(self._database.place, wanted, self.list())

    def find_to_delete(self, text: str) -> tuple[int, str | None]:
        """The id of the job that ``text`` means, as in ``find``, and its puzzle's name. An id may also mean a job that
        is not what was stored; its name is then unknown (None). Raises as ``find`` does."""
        wanted = text.strip()
        try:
            found = self.find(wanted)
        except UnavailableError:
            raise
        except StorageError:
            if _is_number(wanted):
                return int(wanted), None
            raise
        return found.id, found.name

    def between(self, first: int, last: int) -> Numbers:
        """The ids of the jobs from one number to another, ascending, also those of jobs that are not what was
        stored."""
        lowest, highest = (literal(min(number, 10**_LONGEST_ID), BigInteger) for number in (first, last))
        numbers = select(job.c.id).where(job.c.id.between(lowest, highest)).order_by(job.c.id)
        with self._database.read() as connection:
            return [*connection.execute(numbers).scalars()]

    def find_interrupted(self, puzzle_digest: str, parameters: Mapping[str, Any]) -> JobRecord | None:
        """The newest of ``interrupted`` with the same parameters."""
        return next(self.interrupted(puzzle_digest, job.c.parameters == canonical(parameters)), None)

    def interrupted(self, puzzle_digest: str, *conditions: ColumnElement[bool]) -> Iterator[JobRecord]:
        """The unfinished jobs of a puzzle that no live process runs, newest first. Jobs that were submitted or
        cancelled are left out."""
        records = self._newest_first(
            puzzle.c.digest == puzzle_digest,
            job.c.status.in_([RUNNING, INTERRUPTED]),
            ~job.c.submitted,
            *conditions,
        )
        return (one for one in records if one.status == INTERRUPTED or one.abandoned)

    def finished_maps(self, puzzle_digest: str) -> Records:
        """The finished enumerations with a map of the puzzle with this digest, newest first."""
        return self._newest_first(puzzle.c.digest == puzzle_digest, job.c.status == FINISHED, job.c.has_map)

    def finished_before(self, puzzle_digest: str, asked: Sequence[Mapping[str, Any]]) -> Records:
        """The finished enumerations of the puzzle with one of these parameters, newest first, without those that are
        not what was stored."""
        wanted = (
            _select_jobs()
            .where(puzzle.c.digest == puzzle_digest, job.c.status == FINISHED, job.c.kind == ENUMERATION)
            .where(job.c.parameters.in_([canonical(each) for each in asked]))
            .order_by(job.c.id.desc())
        )
        with self._database.read() as connection:
            return [*_readable(connection, wanted, Damages())]

    def _newest_first(self, *conditions: ColumnElement[bool]) -> Records:
        with self._database.read() as connection:
            rows = connection.execute(_select_jobs().where(*conditions).order_by(job.c.id.desc()))
            return [_job_record(row) for row in rows]

    def layers(self, job_id: int) -> Layers:
        """The known layers of a job, by depth. Raises StorageError where they are not what was stored."""
        with self._database.read() as connection:
            return read_rows(connection, job_id, LayerRecord)

    def list(self) -> Records:
        """All jobs, oldest first, without those that are not what was stored."""
        return self.survey()[0]

    def survey(self) -> tuple[Records, Damages]:
        """All jobs, oldest first, and what is wrong with those that are not what was stored."""
        damages = Damages()
        with self._database.read() as connection:
            records = [*_readable(connection, _select_jobs().order_by(job.c.id), damages)]
        return records, damages

    def running(self, limit: int) -> Records:
        """The newest jobs that are marked as running, at most ``limit``, without those that are not what was stored."""
        wanted = _select_jobs().where(job.c.status == RUNNING).order_by(job.c.id.desc()).limit(limit)
        with self._database.read() as connection:
            return [*_readable(connection, wanted, Damages())]

    def statuses(self) -> dict[tuple[str, str], int]:
        """How many jobs have a kind and a status, as they are marked."""
        counted = select(job.c.kind, job.c.status, func.count()).group_by(job.c.kind, job.c.status)
        with self._database.read() as connection:
            return {(kind, status): number for kind, status, number in connection.execute(counted)}

    def page(
        self,
        limit: int,
        before: int | None = None,
        fits: Callable[[JobRecord], bool] = lambda record: True,
    ) -> JobPage:
        """The newest jobs that fit, at most ``limit``; ``before``: only jobs with smaller ids. It reads no more of them
        than it needs."""
        records, damages = Records(), Damages()
        most = literal(10**_LONGEST_ID if before is None else before, BigInteger)
        wanted = _select_jobs().where(job.c.id < most).order_by(job.c.id.desc())
        with (
            self._database.read() as connection,
            closing(_readable(connection, wanted, damages)) as readable,
        ):
            for record in readable:
                if not fits(record):
                    continue
                if len(records) == limit:
                    return JobPage(records, damages, records[-1].id)
                records.append(record)
        return JobPage(records, damages, None)


@dataclass(frozen=True, slots=True)
class JobPage:
    """Some jobs, newest first. ``damages``: what is wrong with those between them that are not what was stored.
    ``older``: the id before which the next page begins; None: there are no more."""

    records: Records
    damages: Damages
    older: int | None


def job_text(job: object) -> str:
    """A job's number or name as people write it. Raises TypeError for anything else."""
    if isinstance(job, str):
        return job
    if isinstance(job, JobRecord):
        return str(job.id)
    if hasattr(job, "__index__") and not isinstance(job, bool):
        return str(index(job))
    raise TypeError(f"job: expected a number, a puzzle's name or a JobRecord, got {type(job).__name__}")


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii()


def is_job(job_id: int) -> ColumnElement[bool]:
    """A condition for the row of a job, also for a number larger than those of PostgreSQL: a damaged SQLite file may
    have it."""
    return job.c.id == literal(job_id, BigInteger)


def check_table(connection: Connection, table: str) -> None:
    """Raises StorageError unless SQLite finds the pages of a small table intact: otherwise a row may be missing without
    an error."""
    if connection.dialect.name != "sqlite":
        return
    found = connection.exec_driver_sql(f"PRAGMA quick_check({table})").scalars().all()
    if found != ["ok"]:
        raise StorageError(
            f"the database file is damaged: table {table}: {' '.join(found[0].split())}; restore it from a copy, or "
            "rescue what can be read with `sqlite3 FILE .recover`"
        )


# Rows to records

_OF_PUZZLE = tuple(one.name for one in fields_of(PuzzleRecord))
_OF_PROOF = ("job_record", "made", "version", "seconds", "checks", "record_digest")
_DIFFERS = "it is not what was stored: its digest differs"


def _select_jobs() -> Select[Any]:
    """Jobs joined with their puzzles and proofs, as ``_job_record`` reads them."""
    of_puzzle = (puzzle.c[name].label(f"puzzle_{name}") for name in _OF_PUZZLE)
    # Outer joins, so that a job whose puzzle is missing is reported.
    of_proof = (verification.c[name].label(f"verification_{name}") for name in _OF_PROOF)
    return (
        select(job, *of_puzzle, *of_proof)
        .join_from(job, puzzle, isouter=True)
        .outerjoin(verification, verification.c.job_id == job.c.id)
    )


def _readable(
    connection: Connection, wanted: Select[Any], damages: Damages
) -> Generator[JobRecord, None, None]:
    """The jobs that are what was stored, some at a time; what is wrong with the others is added to ``damages``."""
    try:
        check_table(connection, "job")
    except StorageError as damage:
        damages.append(damage)
    with connection.execute(wanted, execution_options={"yield_per": _AT_ONCE}) as rows:
        for row in rows:
            try:
                record = _job_record(row)
            except StorageError as damage:
                damages.append(damage)
            else:
                yield record


def _job_record(row: Row[Any]) -> JobRecord:
    """A row of ``_select_jobs`` as a record. Raises StorageError where it is not what was stored."""
    values = row._asdict()
    number = values["id"]
    of_puzzle = {name: values.pop(f"puzzle_{name}") for name in _OF_PUZZLE}
    of_proof = {name: values.pop(f"verification_{name}") for name in _OF_PROOF}
    check_values(JobRecord, "job", values.values(), number, number)
    check_values(PuzzleRecord, "puzzle", of_puzzle.values(), values["puzzle_id"], number)
    _check_digests(values, of_puzzle)
    if values["kind"] not in KINDS or values["status"] not in STATUSES:
        raise damaged("job", number, f"of kind {shown(values['kind'])}, {shown(values['status'])}", number)
    ended = values["finished"] is not None
    if values["record_digest"] is not None and (values["status"] == FINISHED) != ended:
        raise damaged("job", number, f"{values['status']}, but with an end of another status", number)
    for one in fields_of(JobRecord):
        if one.kind is dict and values[one.name] is not None:
            values[one.name] = json_object(values[one.name], "job", number, one.name, number)
    if not _are_numbers(values["progress"] or {}):
        raise damaged("job", number, "column progress: expected numbers", number)
    return JobRecord(
        **values,
        puzzle_digest=of_puzzle["digest"],
        puzzle_json=of_puzzle["definition"],
        verified=_verification(number, values["record_digest"] or values["digest"], of_proof),
    )


def _are_numbers(progress: Mapping[str, Any]) -> bool:
    """All values are numbers, but for ``layers``, the states at each depth until now."""
    layers = progress.get("layers", [])
    numbers = [value for name, value in progress.items() if name != "layers"]
    return isinstance(layers, list) and all(isinstance(one, int | float) for one in [*numbers, *layers])


def _check_digests(values: Mapping[str, Any], of_puzzle: Mapping[str, Any]) -> None:
    """Raises StorageError where a row does not match its digest. Rows that an older version of the program has stored
    have none; a puzzle gets one with the first job that a newer version stores."""
    number, sealed = values["id"], values["record_digest"] is not None
    if sealed != (values["parts"] is not None):
        raise damaged("job", number, "it has one of its two digests", number)
    held = covered({**values, "puzzle_digest": of_puzzle["digest"]})
    if sealed and record_digest("job", held) != values["record_digest"]:
        raise damaged("job", number, _DIFFERS, number)
    digest = of_puzzle["record_digest"]
    held = {**of_puzzle, "record_digest": None}
    if (sealed or digest is not None) and record_digest("puzzle", held) != digest:
        raise damaged("puzzle", values["puzzle_id"], _DIFFERS, number)


def _verification(job_id: int, job_record: str | None, values: Mapping[str, Any]) -> Verification | None:
    """The proof in a row of ``verification``; None where there is none, where it is of another result, and where it is
    not what was stored. ``values``: those of ``_OF_PROOF``, all None where there is no row."""
    if job_record is None or values["job_record"] != job_record:
        return None
    held = {"job_id": job_id, **{name: values[name] for name in _OF_PROOF[:-1]}}
    try:
        if record_digest("verification", held) != values["record_digest"]:
            return None
        checks = tuple(Proved(*one) for one in read_json_object(values["checks"])["checks"])
    except (KeyError, TypeError, ValueError):
        return None
    return Verification(values["made"], values["version"], values["seconds"], checks)
