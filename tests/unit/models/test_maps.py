"""Checkpoints, chunks and states of a map."""

import gc
from array import array
from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, event, func, select, update

from farthest.errors import JobError, StorageError
from farthest.models.chunks import MOST_PAYLOAD, Chunk, Unit
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.map_reader import AHEAD
from farthest.models.maps import Maps
from farthest.models.records import LayerRecord, StateRecord
from farthest.models.tables import chunk


def pieces(distances: bytes, size: int, unit: Unit = "uint8") -> Iterator[Chunk]:
    """A map cut into chunks of `size` keys."""
    width = 2 if unit == "uint16" else 1
    for first in range(0, len(distances) // width, size):
        part = distances[first * width : (first + size) * width]
        yield Chunk(first, first + len(part) // width - 1, unit, part)


def store(maps: Maps, job_id: int, distances: bytes, size: int = 100, depth: int = 3) -> None:
    maps.checkpoint(job_id, depth, pieces(distances, size), [LayerRecord(0, 1, 0.5)], 1.5)


def joined(chunks: Iterator[Chunk]) -> bytes:
    return b"".join(bytes(one.distances) for one in chunks)


DISTANCES = bytes(key % 31 for key in range(950))


def test_a_checkpoint_comes_back(jobs: Jobs, maps: Maps, job_id: int) -> None:
    store(maps, job_id, DISTANCES)
    chunks = list(maps.chunks(job_id))
    assert joined(iter(chunks)) == DISTANCES
    assert [one.first for one in chunks] == list(range(0, 950, 100))
    assert {(one.depth, one.unit) for one in chunks} == {(3, "uint8")}
    assert maps.depth(job_id) == 3
    job = jobs.get(job_id)
    assert (job.depth, job.keys, job.unit, job.seconds) == (3, 950, "uint8", 1.5)
    assert jobs.layers(job_id) == [LayerRecord(0, 1, 0.5)]


def test_distances_of_two_bytes(maps: Maps, job_id: int) -> None:
    distances = b"".join(n.to_bytes(2, "little") for n in (0, 255, 256, 65535, 1000))
    maps.checkpoint(job_id, 300, pieces(distances, 2, "uint16"), [], None)
    assert joined(maps.chunks(job_id)) == distances
    assert maps.chunk_at(job_id, 3).distances == distances[4:8]


def test_buffers_of_any_kind_are_taken(maps: Maps, job_id: int) -> None:
    values = array("H", [1, 2, 3])
    parts = [Chunk(0, 2, "uint16", memoryview(values))]
    maps.checkpoint(job_id, 0, parts, [], None)
    assert joined(maps.chunks(job_id)) == values.tobytes()


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(min_size=1, max_size=400), st.integers(1, 90), st.data())
def test_any_key(maps: Maps, job_id: int, distances: bytes, size: int, data: st.DataObject) -> None:
    store(maps, job_id, distances, size)
    key = data.draw(st.integers(0, len(distances) - 1))
    assert joined(maps.chunks(job_id)) == distances
    at = maps.chunk_at(job_id, key)
    assert at.first <= key <= at.last
    assert bytes(at.distances)[key - at.first] == distances[key]


def test_a_checkpoint_replaces_the_older_one_and_its_states(jobs: Jobs, maps: Maps, job_id: int) -> None:
    store(maps, job_id, DISTANCES, size=10, depth=2)
    maps.add_states(job_id, [(0, 0, "a")])
    store(maps, job_id, DISTANCES[::-1], size=400, depth=5)
    assert joined(maps.chunks(job_id)) == DISTANCES[::-1]
    assert maps.depth(job_id) == 5
    assert list(maps.states(job_id)) == []


def test_a_shorter_map_leaves_nothing_of_the_longer_one(jobs: Jobs, maps: Maps, job_id: int) -> None:
    store(maps, job_id, DISTANCES, depth=2)
    store(maps, job_id, DISTANCES[:250], depth=5)
    assert joined(maps.chunks(job_id)) == DISTANCES[:250]
    assert (maps.depth(job_id), jobs.get(job_id).keys) == (5, 250)


@pytest.mark.slow
def test_ctrl_c_at_any_statement_of_a_checkpoint(
    database: Database, jobs: Jobs, maps: Maps, job_id: int
) -> None:
    """Alone and as a part of a larger transaction it is undone, and the next transaction is stored."""
    store(maps, job_id, DISTANCES)
    left, told = 0, set()

    def execute(_cursor: object, statement: str, *_more: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            told.add(statement.split(maxsplit=1)[0])
            raise KeyboardInterrupt

    event.listen(database.engine, "do_execute", execute)
    try:
        for number in count(1):
            left = number
            try:
                with database.write():
                    store(maps, job_id, DISTANCES[::-1], size=500, depth=4)
            except KeyboardInterrupt:
                left = 0
                assert (maps.depth(job_id), joined(maps.chunks(job_id))) == (3, DISTANCES)
                jobs.interrupt(job_id, f"at statement {number}")
                assert jobs.get(job_id).error == f"at statement {number}"
            else:
                break
    finally:
        event.remove(database.engine, "do_execute", execute)
    assert maps.depth(job_id) == 4
    assert told >= {"SAVEPOINT", "RELEASE", "INSERT", "UPDATE", "DELETE", "SELECT"}


def test_the_old_checkpoint_is_seen_until_the_new_one_is_whole(
    database_url: str, maps: Maps, job_id: int
) -> None:
    store(maps, job_id, DISTANCES)
    seen = []

    def looking() -> Iterator[Chunk]:
        with open_database(database_url, create=False) as other:
            for piece in pieces(DISTANCES[::-1], 100):
                seen.append((Maps(other).depth(job_id), joined(Maps(other).chunks(job_id)) == DISTANCES))
                yield piece

    maps.checkpoint(job_id, 4, looking(), [], None)
    assert seen == [(3, True)] * 10
    assert joined(maps.chunks(job_id)) == DISTANCES[::-1]


def test_a_reader_keeps_its_checkpoint_while_another_is_stored(maps: Maps, job_id: int) -> None:
    store(maps, job_id, DISTANCES, size=10)
    reading = maps.chunks(job_id)
    start = bytes(next(reading).distances)
    store(maps, job_id, DISTANCES[::-1], size=10, depth=4)
    assert start + joined(reading) == DISTANCES


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_checkpoint_that_fails_leaves_the_older_one(
    jobs: Jobs, maps: Maps, job_id: int, error: type[BaseException]
) -> None:
    store(maps, job_id, DISTANCES)

    def failing() -> Iterator[Chunk]:
        for one in pieces(DISTANCES[::-1], 100):
            if one.first == 700:
                raise error
            yield one

    with pytest.raises(error):
        maps.checkpoint(job_id, 9, failing(), [], None)
    assert joined(maps.chunks(job_id)) == DISTANCES
    assert jobs.get(job_id).depth == 3


WRONG_PIECES: dict[str, list[Chunk]] = {
    "none": [],
    "not from key 0": [Chunk(5, 9, "uint8", bytes(5))],
    "gap": [Chunk(0, 4, "uint8", bytes(5)), Chunk(6, 9, "uint8", bytes(4))],
    "overlap": [Chunk(0, 4, "uint8", bytes(5)), Chunk(4, 9, "uint8", bytes(6))],
    "too short": [Chunk(0, 4, "uint8", bytes(4))],
    "wrong width": [Chunk(0, 4, "uint16", bytes(5))],
    "two units": [Chunk(0, 4, "uint8", bytes(5)), Chunk(5, 9, "uint16", bytes(10))],
    "empty": [Chunk(0, -1, "uint8", b"")],
}


@pytest.mark.parametrize("name", WRONG_PIECES)
def test_chunks_that_do_not_fit_together_are_refused(maps: Maps, job_id: int, name: str) -> None:
    store(maps, job_id, DISTANCES)
    with pytest.raises(ValueError, match="chunk"):
        maps.checkpoint(job_id, 4, WRONG_PIECES[name], [], None)
    assert joined(maps.chunks(job_id)) == DISTANCES


def test_a_stream_of_chunks_is_taken_only_a_little_ahead(database: Database, maps: Maps, job_id: int) -> None:
    ahead = []

    def counting() -> Iterator[Chunk]:
        for taken, piece in enumerate(pieces(bytes(1000), 10)):
            with database.read() as connection:  # within the checkpoint's own transaction
                stored = connection.execute(select(func.count()).select_from(chunk)).scalar_one()
            ahead.append(taken - stored)
            yield piece

    maps.checkpoint(job_id, 0, counting(), [], None)
    assert len(ahead) == 100
    assert max(ahead) <= AHEAD + 1


def test_a_stream_may_be_left_early(maps: Maps, job_id: int) -> None:
    store(maps, job_id, DISTANCES, size=10)
    reading = maps.chunks(job_id)
    assert next(reading).first == 0
    reading.close()
    store(maps, job_id, DISTANCES[::-1])


def spoil(database: Database, where: int, **values: object) -> None:
    with database.write() as connection:
        connection.execute(update(chunk).where(chunk.c.first_key == where).values(**values))


@pytest.mark.parametrize("missing", [0, 400, 900])
def test_a_missing_chunk_is_told(database: Database, maps: Maps, job_id: int, missing: int) -> None:
    store(maps, job_id, DISTANCES)
    with database.write() as connection:
        connection.execute(delete(chunk).where(chunk.c.first_key == missing))
    with pytest.raises(StorageError, match=f"begin at key {missing} is missing; .*farthest delete {job_id}"):
        joined(maps.chunks(job_id))
    with pytest.raises(StorageError, match=f"begin at key {missing} is missing"):
        maps.chunk_at(job_id, missing + 49)
    assert maps.chunk_at(job_id, 300).first == 300


def test_chunks_of_different_stamps_are_refused(database: Database, maps: Maps, job_id: int) -> None:
    store(maps, job_id, DISTANCES)
    spoil(database, 500, depth=2, record_digest=None)  # as an older version of the program stored it
    with pytest.raises(StorageError, match=r"different depths \(2 and 3\)"):
        maps.depth(job_id)
    with pytest.raises(StorageError, match=r"different depths \(3 and 2\)"):
        joined(maps.chunks(job_id))


def test_a_damaged_chunk_stops_the_stream(database: Database, maps: Maps, job_id: int) -> None:
    store(maps, job_id, DISTANCES)
    spoil(database, 500, payload=b"x")
    with pytest.raises(StorageError, match="keys 500 to 599 is damaged"):
        joined(maps.chunks(job_id))
    with pytest.raises(StorageError, match="keys 500 to 599 is damaged"):
        maps.chunk_at(job_id, 512)


def test_of_a_payload_that_is_too_large_no_more_is_fetched_than_shows_it(
    database: Database, maps: Maps, job_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(maps, job_id, DISTANCES)
    fetched = []
    monkeypatch.setattr("farthest.models.map_reader.open_chunk", lambda row: fetched.append(len(row.payload)))
    spoil(database, 500, payload=bytes(MOST_PAYLOAD + 1000))
    maps.chunk_at(job_id, 512)
    list(maps.chunks(job_id))
    assert fetched.count(MOST_PAYLOAD + 1) == 2


def test_a_job_without_a_map(maps: Maps, job_id: int) -> None:
    assert maps.depth(job_id) is None
    for asked in (lambda: list(maps.chunks(job_id)), lambda: maps.chunk_at(job_id, 0)):
        with pytest.raises(
            JobError, match=r"job 1 \(tiny\) has no stored map: run `farthest enumerate tiny`"
        ):
            asked()
    with pytest.raises(JobError, match="there is no job 99"):
        list(maps.chunks(99))


@pytest.mark.parametrize("key", [-1, 950])
def test_a_key_outside_the_map(maps: Maps, job_id: int, key: int) -> None:
    store(maps, job_id, DISTANCES)
    with pytest.raises(ValueError, match="outside the map"):
        maps.chunk_at(job_id, key)


def test_a_checkpoint_of_a_job_that_is_gone_or_taken_over(jobs: Jobs, maps: Maps, job_id: int) -> None:
    store(maps, job_id, DISTANCES)
    with pytest.raises(JobError, match="taken over"):
        maps.checkpoint(job_id, 4, pieces(DISTANCES, 100), [], None, owner="someone/2/0")
    assert maps.depth(job_id) == 3
    jobs.interrupt(job_id)
    jobs.delete(job_id)
    with pytest.raises(JobError, match="deleted"):
        store(maps, job_id, DISTANCES)


def test_states_are_plain_rows(database: Database, maps: Maps, job_id: int) -> None:
    rows = [(key, key % 4, f"board {key}") for key in [*range(1200), 2**63 - 1]]
    maps.add_states(job_id, iter(rows))
    assert list(maps.states(job_id)) == [StateRecord(*row) for row in rows]
    assert [one.key for one in maps.states(job_id, 3)][:3] == [3, 7, 11]
    with database.read() as connection:
        sql = "SELECT board FROM state WHERE job_id = 1 AND distance = 1 ORDER BY key LIMIT 2"
        found = connection.exec_driver_sql(sql).scalars().all()
    assert found == ["board 1", "board 5"]


def test_states_may_be_made_from_what_the_same_transaction_reads(
    database: Database, maps: Maps, job_id: int
) -> None:
    maps.checkpoint(
        job_id, 1, [Chunk(0, 3, "uint8", b"\x00\x01\x01\xff")], [LayerRecord(0, 1), LayerRecord(1, 2)], 0.0
    )
    with database.write():
        made = ((key, bytes(maps.chunk_at(job_id, key).distances)[key], "x") for key in range(3))
        maps.add_states(job_id, made)
    assert [(row.key, row.distance) for row in maps.states(job_id)] == [(0, 0), (1, 1), (2, 1)]


def test_states_of_an_unknown_job_are_refused(maps: Maps) -> None:
    with pytest.raises(JobError, match="there is no job 99"):
        maps.add_states(99, [(0, 0, "x")])


def test_a_whole_result_is_stored_at_once_or_not_at_all(
    database: Database, jobs: Jobs, maps: Maps, job_id: int
) -> None:
    def finish(fail: bool) -> None:
        with database.write():
            store(maps, job_id, DISTANCES)
            maps.add_states(job_id, [(0, 0, "a")])
            assert joined(maps.chunks(job_id)) == DISTANCES
            if fail:
                raise RuntimeError
            jobs.finish(
                job_id,
                states=950,
                eccentricity=30,
                depth=30,
                complete=True,
                has_map=True,
                digest="e" * 64,
                seconds=1,
            )

    with pytest.raises(RuntimeError):
        finish(fail=True)
    assert maps.depth(job_id) is None
    assert list(maps.states(job_id)) == []
    finish(fail=False)
    job = jobs.find("tiny", has_map=True)
    assert (job.digest, job.unit, job.keys) == ("e" * 64, "uint8", 950)


def test_a_part_that_fails_is_undone_alone(database: Database, maps: Maps, job_id: int) -> None:
    with database.write():
        maps.add_states(job_id, [(0, 0, "a")])
        with pytest.raises(ValueError, match="chunk"):
            maps.checkpoint(job_id, 4, [Chunk(0, 0, "uint8", b"a"), Chunk(5, 5, "uint8", b"b")], [], None)
    assert [one.board for one in maps.states(job_id)] == ["a"]
    assert maps.depth(job_id) is None


def test_a_stream_that_outlives_its_database_leaves_no_connection(database_url: str) -> None:
    with open_database(database_url, create=True) as database:
        job_id = Jobs(database).add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")
        Maps(database).add_states(job_id, [(key, 0, "a") for key in range(5000)])
        stream = Maps(database).states(job_id)
        next(stream)
    del stream, database
    gc.collect()  # the driver warns of connections that were never closed, and a warning is a failure
