"""Maps that workers make part by part: the same as the coordinator's alone, whatever is late, repeated or lost."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from farthest import frames
from farthest.errors import JobError, LateStepError, LostStateError, NoBaseError
from farthest.models.chunks import Chunk, MadeChunk, StoredDraft, digest_of
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps, write_drafts
from farthest.models.records import LayerRecord, job_token
from farthest.stores.contract import Base
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.map_parts import AttemptParts, PartMaker
from farthest.stores.redis.places import blob_key
from farthest.stores.redis.records import NO_JOB, PartRecord
from farthest.worker.enumeration import JobDatabase, PartWork
from run_cases import NAMES_BY_RULE, Nodes, advance, base_of, distances_of, keys, worker_store
from store_cases import Case, case

Begin = Callable[..., GatherAttempt]

SIZE = 24
"""Keys of a chunk in these tests."""


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.stores.redis.map_parts.CHUNK_KEYS", SIZE)
    monkeypatch.setattr("farthest.stores.redis.assembly.CHUNK_KEYS", SIZE)
    monkeypatch.setattr("farthest.worker.enumeration.CHUNK_KEYS", SIZE)
    monkeypatch.setattr("farthest.models.maps.LEAST_STATES", SIZE)
    monkeypatch.setattr("farthest.models.chunks.CHUNK_KEYS", SIZE)
    monkeypatch.setattr("farthest.stores.redis.assembly.LEAST_CHUNKS", 1)


def stored_nowhere(nonce: str) -> bool:
    return False


def make(
    run: GatherAttempt, parts: AttemptParts, only: list[int] | None = None, database: Base | None = None
) -> PartMaker:
    """What a worker does for the messages of all parts, which see the base in the place of blobs, or ``database``."""
    maker = PartMaker(worker_store(run))
    for part in only if only is not None else parts.parts:
        fold = maker.fold(parts.fold.depth)
        made, states = maker.make(fold, part, maker.base_in_place(fold, part) or database)
        maker.commit(fold, part, made, states, stored_nowhere)
    return maker


def states(of: Case, depth: int) -> int:
    return sum(map(of.states, range(depth + 1)))


def distances(parts: AttemptParts, of: Case, depth: int) -> bytes:
    """The map that was made; its digest is checked."""
    made = parts.made(states(of, depth))
    chunks = [one for one in made.chunks() if isinstance(one, MadeChunk)]
    data = b"".join(frames.unpacked(one.payload, SIZE, 1) for one in chunks)
    assert [(one.first, one.last) for one in chunks][-1][1] == of.kernel.keys - 1
    layers = [len(layer) for layer in of.layers[: depth + 1]]
    assert made.digest(layers) == digest_of(layers, [Chunk(0, len(data) - 1, "uint8", data)])
    return data


@pytest.mark.parametrize("rule", NAMES_BY_RULE)
def test_workers_make_the_map(begin: Begin, nodes: Nodes, rule: str) -> None:
    of = case(NAMES_BY_RULE[rule], 2)
    run, last = begin(of), len(of.layers) - 1
    middle = last // 2
    advance(run, 1, middle)
    parts = AttemptParts.of(run, middle, NO_JOB, "")
    assert len(parts.parts) >= 2
    parts.begin()
    make(run, parts)
    assert PartWork(run.nodes, run.attempt).finished(parts.fold.depth) == set(parts.parts)
    assert distances(parts, of, middle) == distances_of(of, middle)
    run.stored(middle, base_of(of, middle, SIZE))
    run.removals.settle()
    assert not [name for name in keys(nodes) if ":p:" in name or name.endswith(":fold")]
    # From here on it is made of that checkpoint, as the place of blobs or the database has it.
    advance(run, middle + 1, last)
    parts = AttemptParts.of(run, last, NO_JOB, "")
    parts.begin()
    for part in parts.parts[::2]:
        parts.give_base(part)
    make(run, parts, database=base_of(of, middle, SIZE))
    assert distances(parts, of, last) == distances_of(of, last)
    parts.end()
    run.removals.settle()
    assert not [name for name in keys(nodes) if ":p:" in name or ":parts:" in name or ":bases:" in name]


def test_layers_stay_until_a_checkpoint_has_them(begin: Begin, nodes: Nodes) -> None:
    of = case("two colours", 2)
    run = begin(of)
    advance(run, 1, 6)
    run.removals.settle()
    assert {name.split(":")[4] for name in keys(nodes) if ":b:" in name} == set("0123456")
    assert run.unfolded() == (states(of, 3), states(of, 6) - states(of, 3))
    run.stored(6, base_of(of, 6, SIZE))
    run.removals.settle()
    assert {name.split(":")[4] for name in keys(nodes) if ":b:" in name} == set("456")
    advance(run, 7, 7)
    run.removals.settle()
    assert {name.split(":")[4] for name in keys(nodes) if ":b:" in name} == set("567")


def test_a_part_that_is_made_twice_changes_nothing(begin: Begin, nodes: Nodes) -> None:
    of = case("two colours", 2)
    run = begin(of)
    advance(run, 1, 4)
    parts = AttemptParts.of(run, 4, NO_JOB, "")
    parts.begin()
    make(run, parts)
    before = {name for name in keys(nodes) if ":p:" in name}
    make(run, parts, only=[0, 1])
    assert {name for name in keys(nodes) if ":p:" in name} == before
    assert distances(parts, of, 4) == distances_of(of, 4)


def test_a_part_of_another_map_is_late(begin: Begin, nodes: Nodes) -> None:
    of = case("two colours", 2)
    run = begin(of)
    advance(run, 1, 4)
    parts = AttemptParts.of(run, 4, NO_JOB, "somebody")
    parts.begin()
    maker = PartMaker(worker_store(run))
    fold = maker.fold(4)
    made, number = maker.make(fold, 0, None)
    again = AttemptParts.of(run, 4, NO_JOB, "somebody else")
    again.begin()
    for late in (
        lambda: maker.commit(fold, 0, made, number, stored_nowhere),
        lambda: maker.make(fold, 2, None),
    ):
        with pytest.raises(LateStepError):
            late()
    with pytest.raises(LateStepError, match="depth 3 is not to be made now"):
        maker.fold(3)
    assert not PartWork(run.nodes, run.attempt).finished(again.fold.depth)
    assert not [name for name in keys(nodes) if ":p:" in name]
    again.end()
    with pytest.raises(LostStateError, match="lost the map up to depth 4"):
        PartWork(run.nodes, run.attempt).finished(parts.fold.depth)


def test_what_redis_loses_is_noticed(begin: Begin, nodes: Nodes) -> None:
    of = case("two colours", 2)
    run = begin(of)
    advance(run, 1, 4)
    parts = AttemptParts.of(run, 4, NO_JOB, "")
    parts.begin()
    make(run, parts)
    key = run.parts_key(4)
    main: Any = nodes.main
    texts = {part: main.hget(key, str(part)) for part in parts.parts}
    record = PartRecord.of(texts[1], 4, 1)
    name = run.part_name(4, 1, record.nonce)
    client: Any = nodes.node(name.block)
    blob = client.get(blob_key(name))
    for damage in (blob[:-1] + bytes([blob[-1] ^ 1]), blob[:-1], None):
        client.delete(blob_key(name)) if damage is None else client.set(blob_key(name), damage)
        with pytest.raises(LostStateError, match=r"blob of map part 1 at depth 4"):
            list(parts.made(states(of, 4)).chunks())
    with pytest.raises(LostStateError, match="states"):
        parts.made(states(of, 4) + 1)
    main.hset(key, "1", texts[0])
    with pytest.raises(LostStateError, match="record of map part 1 at depth 4 is damaged"):
        parts.made(states(of, 4))
    nodes.main.hdel(key, "1")
    with pytest.raises(LostStateError, match=r"of the \d+ map parts are known"):
        parts.made(states(of, 4))
    main.hdel(run.records_key(2), main.hkeys(run.records_key(2))[0])
    with pytest.raises(LostStateError, match=r"layer 2 has \d+ records, expected"):
        make(run, parts, only=[1])


# The database

OWNER = "elsewhere/1/0"


def draft(one: MadeChunk, nonce: str) -> StoredDraft:
    return StoredDraft(one.first, one.last, one.unit, one.codec, one.checksum, nonce, one.lead)


def chunks_of(of: Case, run: GatherAttempt, depth: int) -> list[MadeChunk]:
    parts = AttemptParts.of(run, depth, NO_JOB, "")
    parts.begin()
    maker = PartMaker(worker_store(run))
    return [one for part in parts.parts for one in maker.make(maker.fold(depth), part, None)[0]]


def test_drafts_become_the_map_at_once(begin: Begin, postgres_url: str) -> None:
    of = case("two colours", 2)
    run = begin(of)
    advance(run, 1, 4)
    made = chunks_of(of, run, 4)
    with open_database(postgres_url, create=True) as database:
        jobs, maps = Jobs(database), Maps(database)
        job = jobs.add('{"name":"tiny"}', "d" * 64, "tiny", {}, {"version": 1}, OWNER)
        layers = [LayerRecord(depth, len(layer)) for depth, layer in enumerate(of.layers[:5])]
        write_drafts(database, job, OWNER, 4, "0000000a", made)
        write_drafts(database, job, OWNER, 4, "ffffffff", made[:2])  # of one that lost its lease
        with pytest.raises(LateStepError, match="not run by another"):
            write_drafts(database, job, "another", 4, "0000000b", made)
        assert maps.depth(job) is None
        with pytest.raises(JobError, match="no stored map"):
            list(maps.chunks(job))
        drafts = [draft(one, "0000000a") for one in made]
        with pytest.raises(LostStateError, match=r"0 of the \d+ chunks"):
            maps.checkpoint_made(
                job,
                4,
                [draft(one, "0000000c") for one in made],
                layers,
                1.0,
            )
        # Some by the database, others by the place of blobs.
        maps.checkpoint_made(job, 4, [*drafts[:-2], *made[-2:]], layers, 1.0, owner=OWNER)
        assert b"".join(one.distances for one in maps.chunks(job)) == distances_of(of, 4)
        assert maps.depth(job) == 4
        with database.read() as connection:
            rows = connection.exec_driver_sql("SELECT count(*) FROM chunk").scalar_one()
        assert rows == len(made)


def test_a_worker_without_the_database_says_so(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    of = case("two colours", 2)
    run = begin(of)
    advance(run, 1, 2)
    fold = AttemptParts.of(run, 2, 1, OWNER).fold
    for url in (
        "sqlite:///there_is_none.db",
        postgres_url,
        postgres_url.replace("postgresql", "postgresql+no"),
    ):
        monkeypatch.setenv("FARTHEST_DATABASE_URL", url)
        assert not JobDatabase().write(run.attempt, fold, "0000000a", [])
        with pytest.raises(NoBaseError):
            JobDatabase().base(run.attempt, fold, [(0, SIZE - 1)])


def test_a_worker_with_the_database_stores_and_reads_there(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    of = case("two colours", 2)
    run = begin(of)
    advance(run, 1, 4)
    made = chunks_of(of, run, 4)
    monkeypatch.setenv("FARTHEST_DATABASE_URL", postgres_url)
    with open_database(postgres_url, create=True) as database:
        jobs, maps = Jobs(database), Maps(database)
        job = jobs.add('{"name":"tiny"}', "d" * 64, "tiny", {}, {"version": 1}, OWNER)
        record = jobs.get(job)
        attempt = f"{job_token(record.id, record.created, record.puzzle_digest)}-0123abcd"
        fold = AttemptParts.of(run, 4, job, OWNER).fold
        seen = JobDatabase()
        assert seen.write(attempt, fold, "0000000a", made)
        assert not JobDatabase().write(
            attempt, msgspec.structs.replace(fold, owner="another"), "0000000b", made
        )
        assert not JobDatabase().write(f"{record.id}-00000000-0123abcd", fold, "0000000b", made)
        drafts = [draft(one, "0000000a") for one in made]
        layers = [LayerRecord(depth, len(layer)) for depth, layer in enumerate(of.layers[:5])]
        maps.checkpoint_made(job, 4, drafts, layers, 1.0)
        later = msgspec.structs.replace(fold, base=4, depth=5, records=(1,))
        keys = [(one.first, one.last) for one in made]
        base = seen.base(attempt, later, keys)
        assert b"".join(base(first).distances for first, _ in keys) == distances_of(of, 4)
        with pytest.raises(LostStateError, match="the checkpoint of depth 4, expected 3"):
            seen.base(attempt, msgspec.structs.replace(fold, base=3, depth=4, records=(1,)), keys)
        jobs.interrupt(job)
        with pytest.raises(LateStepError):
            seen.write(attempt, fold, "0000000c", made)
        seen.close()


def test_a_digest_is_that_of_the_payload(begin: Begin) -> None:
    of = case("slides", 2)
    run = begin(of)
    advance(run, 1, 2)
    for one in chunks_of(of, run, 2):
        assert hashlib.sha256(one.payload).hexdigest() == one.checksum
        assert hashlib.sha256(frames.unpacked(one.payload, SIZE, 1)).hexdigest() == one.digest
