"""The digests of a job's record: their form, and what is said of jobs that are not what was stored."""

import hashlib
import json
import struct
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import update

from farthest.documents.jobs import result_rows
from farthest.errors import JobError, StorageError
from farthest.models.chunks import Chunk
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.models.records import FAILED, SEARCH, IterationRecord, JobRecord, LayerRecord
from farthest.models.sealing import StatesDigest
from farthest.models.searches import Searches
from farthest.models.stored_job import (
    enumeration_parameters,
    origin_of,
    search_parameters,
    search_result,
)
from farthest.models.tables import chunk, iteration, job, layer, puzzle, solution, state

OWNER = "elsewhere/1/0"
STATES = [(0, 0, "ab"), (1, 1, "┘└"), (3, 2, "b a")]


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def plain_chain(table: str, rows: list[list[Any]]) -> str:
    """As docs/chunk-format.md says."""
    digest = sha(f"farthest {table} rows 1\n")
    for row in rows:
        digest = sha(f"{digest}\n{json.dumps(row, separators=(',', ':'), ensure_ascii=False)}\n")
    return digest


def plain_record(table: str, row: dict[str, Any]) -> str:
    held = {name: value for name, value in row.items() if value is not None}
    text = json.dumps(held, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha(f"farthest {table} record 1\n{text}\n")


def finish(jobs: Jobs, job_id: int) -> None:
    jobs.finish(
        job_id, states=3, eccentricity=2, depth=2, complete=True, has_map=True, digest="ab", seconds=0.25
    )


@pytest.fixture
def stored(jobs: Jobs, maps: Maps, job_id: int) -> int:
    layers = [LayerRecord(0, 1, 0.5), LayerRecord(1, 1), LayerRecord(2, 1, 1.25)]
    maps.checkpoint(job_id, 2, [Chunk(0, 3, "uint8", b"\0\1\xff\2")], layers, 0.25)
    maps.add_states(job_id, STATES)
    finish(jobs, job_id)
    return job_id


def test_the_digests_are_those_of_the_documented_form(database: Database, stored: int) -> None:
    with database.read() as connection:
        rows = {
            table.name: [one._asdict() for one in connection.execute(table.select()).all()]
            for table in (job, puzzle, chunk)
        }
    [row], [of_puzzle], [of_chunk] = rows["job"], rows["puzzle"], rows["chunk"]
    of_chunk.pop("payload")
    digest = of_chunk.pop("record_digest")
    assert digest == plain_record("chunk", of_chunk)
    columns = [b"".join(struct.pack("<q", one[i]) for one in STATES) for i in (0, 1)]
    columns.append("".join(f"{one[2]}\n" for one in STATES).encode())
    hashed = "\n".join(hashlib.sha256(column).hexdigest() for column in columns)
    assert json.loads(row["parts"]) == {
        "layer": plain_chain("layer", [[0, 1, 0.5], [1, 1, None], [2, 1, 1.25]]),
        "chunk": plain_chain("chunk", [[digest]]),
        "state": sha(f"farthest state rows 1\n{hashed}\n"),
    }
    for table, found in (("puzzle", of_puzzle), ("job", row)):
        digest = found.pop("record_digest")
        found.pop("id" if table == "puzzle" else "record_digest", None)
        for name in ("created", "started", "finished"):
            if found.get(name):
                found[name] = found[name].isoformat(timespec="microseconds")
        extra = {"puzzle_digest": of_puzzle["digest"]} if table == "job" else {}
        assert digest == plain_record(table, found | extra)


def test_rows_that_come_in_another_order_have_the_same_digest(
    jobs: Jobs, maps: Maps, database: Database, job_id: int, stored: int
) -> None:
    other = jobs.add("{}", "e", "other", {}, {}, OWNER)
    maps.add_states(other, STATES[1:])
    maps.add_states(other, STATES[:1])
    with database.read() as connection:
        parts = [
            json.loads(one)["state"]
            for one in connection.execute(job.select().with_only_columns(job.c.parts)).scalars()
        ]
    assert parts[0] == parts[1]
    assert [one.key for one in maps.states(other)] == [0, 1, 3]


def test_a_digest_of_no_states() -> None:
    assert StatesDigest().hexdigest() is None


def change(database: Database, table: Any, **values: Any) -> None:
    with database.write() as connection:
        connection.execute(update(table).values(values))


def test_who_runs_a_job_is_not_in_its_digest_until_it_is_finished(
    database: Database, jobs: Jobs, job_id: int
) -> None:
    jobs.renew(job_id, OWNER, progress={"depth": 3})
    jobs.interrupt(job_id, "full", owner=OWNER)
    assert jobs.get(job_id).sealed
    assert jobs.claim(job_id, OWNER)
    finish(jobs, job_id)
    change(database, job, error="full")
    with pytest.raises(StorageError, match="table job, row 1: it is not what was stored"):
        jobs.get(job_id)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("layout", '{"version":', "column layout: it is not JSON"),
        ("layout", "[1]", "column layout: it is not a JSON object"),
        ("parameters", "[" * 5000, "column parameters: its arrays and objects are nested"),
        ("progress", '{"depth":"far"}', "column progress: expected numbers"),
        ("status", "done", "of kind 'enumeration', 'done'"),
        ("parts", "{}", "it has one of its two digests"),
    ],
)
def test_a_job_of_an_older_version_is_told_by_table_row_and_column(
    database: Database, jobs: Jobs, stored: int, column: str, value: str, said: str
) -> None:
    change(database, job, **({"parts": None, "record_digest": None} | {column: value}))
    with pytest.raises(StorageError, match=f"table job, row 1: {said}.*farthest delete 1"):
        jobs.get(stored)


@pytest.mark.parametrize("lead", [None, b"\0\0"])
def test_all_that_an_older_version_stored_is_sealed_with_the_first_write(
    database: Database, jobs: Jobs, maps: Maps, job_id: int, lead: bytes | None
) -> None:
    maps.checkpoint(
        job_id, 2, [Chunk(0, 3, "uint8", b"\0\1\xff\2")], [LayerRecord(0, 1), LayerRecord(1, 2)], 0.25
    )
    maps.add_states(job_id, STATES)
    change(database, puzzle, record_digest=None)
    change(database, job, parts=None, record_digest=None)
    change(database, chunk, record_digest=None, lead=lead)
    finish(jobs, job_id)
    assert jobs.get(job_id).sealed
    assert len(jobs.layers(job_id)) == 2
    assert len(list(maps.chunks(job_id))) == 1
    assert len(maps.leads(job_id)) == (lead is not None)
    assert list(maps.states(job_id))
    change(database, puzzle, name="other")
    with pytest.raises(StorageError, match="table puzzle, row 1: it is not what was stored"):
        jobs.get(job_id)


def test_a_search_of_an_older_version_is_sealed_with_the_first_write(database: Database, jobs: Jobs) -> None:
    searches = Searches(database)
    search = jobs.add('{"p": 1}', "d", "fifteen", {"board": "b"}, {}, OWNER, kind=SEARCH)
    searches.commit(
        search, [IterationRecord(3, 10, 1, 1, 0.5, 5, complete=True)], [], [], [(0, "[]")], owner=OWNER
    )
    change(database, puzzle, record_digest=None)
    change(database, job, parts=None, record_digest=None)
    searches.finish(search, {"length": 3}, [(1, "[]")], depth=3, seconds=1.5, digest="ab", owner=OWNER)
    assert jobs.get(search).sealed
    assert len(searches.iterations(search)) == 1
    assert len(searches.solutions(search)) == 2


def test_damaged_jobs_are_told_beside_the_others_and_can_be_removed(
    database: Database, jobs: Jobs, stored: int
) -> None:
    newer = jobs.add("{}", "e", "other", {}, {}, OWNER)
    with database.write() as connection:
        connection.execute(update(job).where(job.c.id == newer).values(name="tiny"))
    records, damages = jobs.survey()
    assert [record.id for record in records] == [stored]
    assert [str(damage)[:6] for damage in damages] == ["job 2:"]
    with pytest.raises(StorageError, match="job 2: what is stored is damaged"):
        jobs.find("tiny")  # it may be the one that is meant
    assert jobs.find(str(stored)).id == stored
    with pytest.raises(StorageError, match="job 2: what is stored is damaged"):
        jobs.find_to_delete("tiny")
    assert jobs.find_to_delete("2") == (newer, None)
    assert jobs.find_to_delete("1") == (stored, "tiny")
    jobs.interrupt(newer)
    jobs.delete(newer)
    assert jobs.find("tiny").id == stored


@pytest.mark.parametrize("number", ["99999999999", "9" * 400])
def test_a_number_that_no_job_has(jobs: Jobs, number: str) -> None:
    with pytest.raises(JobError, match=f"there is no job {number}"):
        jobs.find_to_delete(number)


def test_a_damaged_job_is_set_aside_by_coordinators(database: Database, jobs: Jobs) -> None:
    first = jobs.add("{}", "d", "tiny", {}, {})
    second = jobs.add("{}", "d", "tiny", {}, {})
    with database.write() as connection:
        connection.execute(update(job).where(job.c.id == first).values(parameters='{"a":1}'))
    claimed = jobs.claim_next(OWNER)
    assert claimed is not None
    assert claimed.id == second
    with database.read() as connection:
        row = connection.execute(job.select().where(job.c.id == first)).one()
    assert (row.status, row.owner) == (FAILED, None)
    assert "table job, row 1: it is not what was stored" in row.error


@pytest.mark.parametrize(
    ("table", "values", "said"),
    [
        (layer, {"states": 2}, "table layer"),
        (chunk, {"depth": 1}, "table chunk"),
        (chunk, {"last_key": 2}, "table chunk"),
        (chunk, {"checksum": "ab"}, "table chunk"),
        (state, {"board": "ba"}, "table state"),
        (puzzle, {"definition": "{ }"}, "table puzzle"),
        (job, {"keys": 5}, "table job"),
        (job, {"depth": 1}, "table job"),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_what_was_changed_is_told_where_it_is_read(
    database: Database,
    jobs: Jobs,
    maps: Maps,
    job_id: int,
    table: Any,
    values: dict[str, Any],
    said: str,
    finished: bool,
) -> None:
    layers = [LayerRecord(depth, 1) for depth in range(3)]
    maps.checkpoint(job_id, 2, [Chunk(0, 3, "uint8", b"\0\1\xff\2")], layers, 0.25)
    maps.add_states(job_id, STATES)
    if finished:
        finish(jobs, job_id)

    def read() -> None:
        jobs.get(job_id)
        jobs.layers(job_id)
        list(maps.chunks(job_id))
        list(maps.states(job_id))

    read()
    change(database, table, **values)
    with pytest.raises(StorageError, match=f"^job {job_id}: what is stored is damaged: {said}"):
        read()


@pytest.mark.parametrize("table", [iteration, solution])
@pytest.mark.parametrize("finished", [True, False])
def test_what_was_changed_of_a_search_is_told(
    database: Database, jobs: Jobs, table: Any, finished: bool
) -> None:
    searches = Searches(database)
    search = jobs.add('{"p": 1}', "d", "fifteen", {"board": "b"}, {}, OWNER, kind=SEARCH)
    for first in (0, 2):
        bound = IterationRecord(3 + first, 10, 4, 1, 0.5, 5, complete=True)
        searches.commit(search, [bound], [], [], [(first, '["R"]'), (first + 1, '["L"]')], owner=OWNER)
    if finished:
        searches.finish(search, {"length": 3}, [(4, "[]")], depth=3, seconds=1.5, digest="ab", owner=OWNER)
    assert len(searches.iterations(search)) == 2
    assert len(searches.solutions(search)) == (5 if finished else 4)
    change(database, table, **{"nodes": 11} if table is iteration else {"moves": '["U"]'})
    read: Callable[[int], object] = searches.iterations if table is iteration else searches.solutions
    with pytest.raises(StorageError, match=f"table {table.name}"):
        read(search)


@pytest.mark.parametrize(
    ("read", "changed", "problem"),
    [
        (origin_of, {"where": 3}, r"column parameters\.where: int 3, expected str"),
        (origin_of, {"direction": "up"}, r"column parameters\.direction: 'up', expected to or from"),
        (origin_of, {"histogram_only": 0}, r"column parameters\.histogram_only: int 0, expected bool"),
        (enumeration_parameters, {"max_depth": "9"}, r"column parameters\.max_depth: str '9', expected int"),
        (search_parameters, {}, r"column parameters\.board: nothing, expected str"),
    ],
)
def test_parameters_that_nobody_has_stored(
    jobs: Jobs, read: Callable[[JobRecord], object], changed: dict[str, Any], problem: str
) -> None:
    """Their digests are right: whoever can write to the database can write digests too."""
    right = {"direction": "to", "where": "goal", "max_depth": None, "histogram_only": False}
    number = jobs.add("{}", "d", "tiny", {**right, **changed}, {})
    with pytest.raises(StorageError, match=f"table job, row {number}: {problem}"):
        read(jobs.get(number))


def test_a_search_s_result_that_nobody_has_stored(jobs: Jobs, database: Database) -> None:
    number = jobs.add("{}", "d", "tiny", {}, {}, OWNER, kind=SEARCH)
    assert search_result(jobs.get(number)) is None
    Searches(database).finish(number, {"length": "2"}, depth=2, seconds=0.1, digest="ab", owner=OWNER)
    with pytest.raises(StorageError, match=r"column result\.length: str '2', expected int"):
        search_result(jobs.get(number))


def test_the_figures_of_an_enumeration_are_no_result_of_a_search(jobs: Jobs) -> None:
    number = jobs.add("{}", "d", "tiny", {}, {}, OWNER)
    jobs.finish(
        number,
        states=3,
        eccentricity=2,
        depth=2,
        complete=True,
        has_map=False,
        digest="ab",
        seconds=0.25,
        result={"figures": [{"depth": 0}]},
    )
    record = jobs.get(number)
    assert record.result == {"figures": [{"depth": 0}]}
    assert search_result(record) is None
    assert dict(result_rows(record))["states"] == "3"
