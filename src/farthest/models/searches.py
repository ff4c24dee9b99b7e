"""Searches in the database: iterations, the pieces of the iteration under way, solutions, results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from farthest.models.database import Database
from farthest.models.records import (
    IterationRecord,
    SolutionRecord,
    SubtreeRecord,
    fields_of,
)
from farthest.models.sealing import (
    canonical,
    chain,
    change_job,
    damaged,
    finished,
    put_rows,
    read_record,
    read_rows,
    rows_digest,
    seal,
    stored_parts,
)
from farthest.models.tables import solution, subtree
from farthest.untrusted_json import read_json


class Searches:
    """The rows of searches; methods that change them take part in ``Database.write`` blocks around them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def commit(
        self,
        job_id: int,
        iterations: Sequence[IterationRecord],
        pieces: Sequence[SubtreeRecord],
        gone: Collection[str],
        solutions: Iterable[tuple[int, str]],
        *,
        owner: str,
    ) -> None:
        """Stores, in one transaction, iterations (one or more) in place of those of the same bounds, pieces in place of
        those of the same places, and solutions (number, moves as JSON); removes the pieces in ``gone``. Raises JobError
        if the job is gone or is not ``owner``'s any more.
        """
        with self._database.write() as connection:
            change_job(connection, job_id, owner, {"depth": max(one.bound for one in iterations)})
            put_rows(connection, job_id, iterations)
            places = [{"job": job_id, "at": place} for place in {*gone, *(one.place for one in pieces)}]
            for statement, rows in (
                (_PIECE_DELETION, places),
                (insert(subtree), [{"job_id": job_id, **asdict(one)} for one in pieces]),
            ):
                if rows:
                    connection.execute(statement, rows)
            parts = {"solution": self._add(connection, job_id, solutions)}
            seal(connection, job_id, parts, stored=["iteration"])

    @staticmethod
    def _add(connection: Connection, job_id: int, solutions: Iterable[tuple[int, str]]) -> str | None:
        """Stores solutions. Gives the digest of those listed before, continued with these: there may be a million."""
        added = list(solutions)
        if added:
            rows = [{"job_id": job_id, "number": number, "moves": moves} for number, moves in added]
            connection.execute(insert(solution), rows)
        before = (stored_parts(connection, job_id) or {}).get("solution")
        if before is None:
            return rows_digest(connection, job_id, "solution")
        return chain("solution", added, before)

    def finish(
        self,
        job_id: int,
        result: Mapping[str, Any],
        solutions: Iterable[tuple[int, str]] = (),
        *,
        depth: int | None,
        seconds: float,
        digest: str,
        owner: str,
    ) -> None:
        """Marks a search as finished, with its result, and stores solutions as ``commit`` does; it has no owner any
        more. ``depth``: the solutions' length."""
        values = {
            "depth": depth,
            "complete": True,
            "seconds": seconds,
            "digest": digest,
            "result": canonical(result),
        }
        with self._database.write() as connection:
            connection.execute(delete(subtree).where(subtree.c.job_id == job_id))
            change_job(connection, job_id, owner, finished(values))
            seal(connection, job_id, {"solution": self._add(connection, job_id, solutions)})

    def iterations(self, job_id: int) -> list[IterationRecord]:
        """The iterations of a search, by bound. Raises StorageError where they are not what was stored."""
        with self._database.read() as connection:
            return read_rows(connection, job_id, IterationRecord)

    def pieces(self, job_id: int) -> list[SubtreeRecord]:
        """The pieces that the totals of the iteration under way do not include, in no particular order.

        No digest covers them: their texts have checksums, and the iteration says how many they are."""
        columns = select(*(subtree.c[one.name] for one in fields_of(SubtreeRecord)))
        with self._database.read() as connection:
            rows = connection.execute(columns.where(subtree.c.job_id == job_id)).all()
        return [read_record(SubtreeRecord, "subtree", row, f"of job {job_id}", job_id) for row in rows]

    def solutions(self, job_id: int, limit: int | None = None, after: int = 0) -> list[list[Any]]:
        """The moves of the listed solutions of a search, in order, as they come through JSON: at most ``limit``,
        without the first ``after``. Raises StorageError where they are not what was stored."""
        with self._database.read() as connection:
            rows = read_rows(connection, job_id, SolutionRecord)
        end = None if limit is None else after + limit
        return [_moves(job_id, row.number, row.moves) for row in rows[after:end]]

    def listed(self, job_id: int) -> int:
        """How many solutions are listed."""
        count = select(func.count()).select_from(solution).where(solution.c.job_id == job_id)
        with self._database.read() as connection:
            return int(connection.execute(count).scalar_one())


def _moves(job_id: int, number: int, text: str) -> list[Any]:
    try:
        found = read_json(text)
        if not isinstance(found, list):
            raise ValueError("it is not a JSON array")
    except ValueError as error:
        raise damaged("solution", f"{number} of job {job_id}", f"column moves: {error}", job_id) from None
    return found


_PIECE_DELETION = delete(subtree).where(
    subtree.c.job_id == bindparam("job"), subtree.c.place == bindparam("at")
)
