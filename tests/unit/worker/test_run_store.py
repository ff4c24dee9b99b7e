"""The coordinator's store: results, checkpoints, restoring, what Redis holds meanwhile, and every kind of loss."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farthest.environment import REDIS_WAIT_SECONDS
from farthest.errors import DamagedMapError, LateStepError, LostStateError, ResourceError, StorageError
from farthest.models.chunks import Chunk
from farthest.stores.contract import step
from farthest.stores.memory.gather_store import MemoryStore
from farthest.stores.redis import attempts
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.places import blob_key
from farthest.worker.enumeration import StepWork
from run_cases import (
    NAMES_BY_RULE,
    Nodes,
    advance,
    base_of,
    begin_run,
    distances_of,
    keys,
    names_of,
    stepped,
    worker_store,
)
from servers import RedisServer
from store_cases import NAMES, Case, case

Begin = Callable[..., GatherAttempt]
Connect = Callable[..., Nodes]

rules = pytest.mark.parametrize("rule", NAMES_BY_RULE)


def whole(store: GatherAttempt | MemoryStore, depth: int, size: int = 10**9, threads: int = 1) -> bytes:
    """The map in chunks of ``size`` keys, which are checked, as one."""
    chunks = list(store.chunks(depth, size, threads))
    expected = [
        (first, min(first + size, store.kernel.keys) - 1) for first in range(0, store.kernel.keys, size)
    ]
    assert [(one.first, one.last) for one in chunks] == expected
    assert {one.unit for one in chunks} == {"uint8"}
    return b"".join(memoryview(one.distances) for one in chunks)


def as_stored(of: Case, depth: int, size: int) -> list[Chunk]:
    """A checkpoint as a store is given it, in chunks of ``size`` keys."""
    data = memoryview(distances_of(of, depth))
    return [
        Chunk(first, min(first + size, len(data)) - 1, "uint8", data[first : first + size])
        for first in range(0, len(data), size)
    ]


def restored(run: GatherAttempt, of: Case, depth: int, size: int = 97) -> GatherAttempt:
    """The run, at the checkpoint of a depth."""
    states = sum(sum(of.counts(each).values()) for each in range(depth + 1))
    run.restore(depth, as_stored(of, depth, size), states)
    run.stored(depth, base_of(of, depth, size))
    return run


def check_to_the_end(run: GatherAttempt, of: Case, first: int) -> None:
    """Goes on from layer ``first``; what comes out is right."""
    last = len(of.layers) - 1
    for depth in range(first, last + 2):
        advance(run, depth, depth)
        assert run.counts(depth) == of.counts(depth)
    assert run.keys(last, 10**6) == list(of.layers[last])
    assert whole(run, last) == distances_of(of, last)


# Results


@rules
def test_distances_and_keys_at_every_depth(begin: Begin, rule: str) -> None:
    of = case(NAMES_BY_RULE[rule], 2)
    run, other = begin(of), MemoryStore(of.kernel, of.origins, distances=True)
    for depth in range(len(of.layers)):
        if depth:
            advance(run, depth, depth)
            step(other, depth, other.begin(depth, range(of.kernel.shards)))
        assert whole(run, depth, 11) == whole(other, depth, 11) == distances_of(of, depth)
        assert run.keys(depth, 10**6) == list(of.layers[depth])
        assert run.keys(depth, 2) == list(of.layers[depth][:2])


@pytest.mark.slow
@settings(max_examples=25)
@given(
    rule=st.sampled_from(sorted(NAMES_BY_RULE)),
    classes=st.integers(1, 3),
    per_block=st.integers(1, 40),
    size=st.integers(40, 900),
    stored=st.integers(0, 6),
    more=st.integers(0, 3),
    again=st.booleans(),
)
def test_chunks_do_not_depend_on_blocks_or_checkpoints(
    redis_server: RedisServer,
    rule: str,
    classes: int,
    per_block: int,
    size: int,
    stored: int,
    more: int,
    again: bool,
) -> None:
    """A checkpoint at one depth, the map at a later one; ``again``: in a run that was restored from it."""
    of = case(NAMES_BY_RULE[rule], classes)
    nodes = Nodes([redis_server.url])
    run = begin_run(of, nodes, per_block=per_block)
    if again:
        restored(run, of, stored, size)
    else:
        advance(run, 1, stored)
        assert whole(run, stored, size) == distances_of(of, stored)
        run.stored(stored, base_of(of, stored, size))
    advance(run, stored + 1, stored + more)
    assert whole(run, stored + more, size, threads=2) == distances_of(of, stored + more)
    run.drop()
    nodes.close()


RESTORED = ("two colours", "not bipartite", "one-way", "graded", "representatives, united")
"""One for each way to tell what is new, and of layers that are united."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in RESTORED else pytest.mark.night) for name in NAMES]
)
def test_a_restored_run_goes_on_with_other_blocks(begin: Begin, name: str) -> None:
    of = case(name, 2)
    last = len(of.layers) - 1
    for depth in range(last + 1):
        run = restored(begin(of, per_block=3 + depth % 4), of, depth)
        assert run.counts(depth) == of.counts(depth)
        assert run.keys(depth, 10**6) == list(of.layers[depth])
        assert whole(run, depth, 50) == distances_of(of, depth)
        if depth in (0, 1, 2, last // 2, last):
            check_to_the_end(run, of, depth + 1)


def test_a_run_that_has_stepped_is_not_restored(begin: Begin) -> None:
    of = case("two colours")
    run = begin(of)
    advance(run, 1, 1)
    with pytest.raises(StorageError, match="before its first step"):
        restored(run, of, 2)


def test_a_map_that_is_not_of_this_space_is_refused(begin: Begin) -> None:
    of = case("two colours", 2)
    with pytest.raises(DamagedMapError, match=r"hold 720 distances|hold \d+ distances, the layers"):
        begin(of).restore(3, as_stored(of, 3, 50), 7)
    with pytest.raises(DamagedMapError, match="the chunk from key 0 has distances beyond depth 2"):
        begin(of).restore(2, as_stored(of, 3, 10**6), sum(map(len, of.layers[:4])))


def test_a_run_that_only_counts_has_no_distances(begin: Begin) -> None:
    of = case("two colours", 2)
    run = begin(of, distances=False)
    advance(run, 1, len(of.layers) - 1)
    assert run.keys(len(of.layers) - 1, 5) == list(of.layers[-1][:5])
    with pytest.raises(StorageError, match="only counts"):
        run.chunks(1, 10)


@pytest.mark.parametrize("distances", [True, False])
def test_distances_cannot_be_greater_than_their_type(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, distances: bool
) -> None:
    monkeypatch.setattr("farthest.stores.contract.MAX_DEPTH", 3)
    of = case("slides")
    run = begin(of, distances=distances)
    advance(run, 1, 3)
    if distances:
        with pytest.raises(ResourceError, match="deeper than 3 moves"):
            advance(run, 4, 4)
    else:
        advance(run, 4, 4)


def test_a_database_with_an_older_checkpoint_is_noticed(begin: Begin) -> None:
    of = case("two colours", 2)
    run = begin(of)
    advance(run, 1, 4)

    def older(key: int) -> Chunk:
        return base_of(of, 2, 100)(key)

    run.stored(4, older)
    with pytest.raises(LostStateError, match="checkpoint of depth 2"):
        whole(run, 4)


# What Redis holds


@rules
def test_redis_holds_the_layers_that_steps_read(begin: Begin, nodes: Nodes, rule: str) -> None:
    of = case(NAMES_BY_RULE[rule], 2)
    run = begin(of, distances=False)
    for depth in range(1, len(of.layers) + 1):
        advance(run, depth, depth)
        run.removals.settle()
        parts = [name.removeprefix(attempts.prefix(run.attempt)).split(":") for name in keys(nodes)]
        layers = {int(part[1]) for part in parts if part[0] in ("b", "c")}
        blobs = [part for part in parts if part[0] == "b"]
        committed = [set(run.blocks.of(of.counts(known))) for known in range(max(depth - 2, 0), depth + 1)]
        assert min(layers) >= depth - 2
        assert len(blobs) == sum(map(len, committed))
        visited = {block for known in range(depth + 1) for block in run.blocks.of(of.counts(known))}
        found = [int(part[2]) for part in parts if part[0] == "v" and len(part) == 4]
        assert sorted(found) == (sorted(visited) if rule == "all" else [])


@rules
def test_a_restored_run_has_left_nothing_of_its_beginning(begin: Begin, nodes: Nodes, rule: str) -> None:
    of = case(NAMES_BY_RULE[rule], 2)
    run = restored(begin(of), of, 5)
    depths = {name.split(":")[4] for name in keys(nodes) if ":b:" in name or ":c:" in name}
    assert depths == ({"5"} if rule == "all" else {"4", "5"})
    visited = [name for name in keys(nodes) if name.startswith(f"{run.visited_key}:")]
    assert len(visited) == len({int(name.split(":")[5]) for name in visited})


def test_a_run_that_ends_leaves_no_keys(begin: Begin, nodes: Nodes) -> None:
    of = case("one-way", 2)
    run, other = begin(of), begin(of)
    advance(run, 1, 3)
    advance(other, 1, 2)
    run.drop()
    assert keys(nodes)
    assert not [name for name in keys(nodes) if run.attempt in name]
    check_to_the_end(other, of, 3)
    other.drop()
    assert keys(nodes) == set()


def test_what_cannot_begin_leaves_no_keys(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    of = case("one-way", 2)

    def broken(run: GatherAttempt, depth: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(GatherAttempt, "_start", broken)
    with pytest.raises(KeyboardInterrupt):
        begin_run(of, nodes)
    assert keys(nodes) == set()


def test_what_dead_coordinators_left_is_removed(begin: Begin, nodes: Nodes) -> None:
    of = case("one-way", 2)
    mine, others, old, slow = (begin_run(of, nodes) for _ in range(4))
    made = {"7-aa-1": mine, "7-ab-1": others, "9-aa-1": old}
    dropped = slow.attempt
    step(worker_store(slow), 1, slow.begin(1, range(slow.kernel.shards)))
    slow.drop()
    nodes.clients[1].set(blob_key(slow.found_name(1, 1, "0123abcd")), b"written by a worker that stood still")
    for name, run in made.items():
        for client in nodes.clients:
            for key in names_of(client, f"{attempts.prefix(run.attempt)}*"):
                client.rename(key, key.replace(run.attempt, name))
        nodes.main.zrem(attempts.ATTEMPTS, run.attempt)
        attempts.touch(nodes, name)
    nodes.main.zincrby(attempts.ATTEMPTS, -2 * attempts.DEAD_SECONDS, "9-aa-1")
    attempts.drop_dead(nodes, "7-aa")
    left = {name.split(":")[2] for name in keys(nodes) if name.startswith("farthest:attempt:")}
    assert left == {"7-ab-1"}
    assert dropped not in left
    assert nodes.main.zrange(attempts.ATTEMPTS, 0, -1) == [b"7-ab-1"]
    for run in (mine, others, old):
        run.drop()


def test_a_run_with_long_layers_or_checkpoints_is_alive(begin: Begin, nodes: Nodes) -> None:
    of = case("two colours", 2)
    run = begin(of)
    run.begin(1, range(run.kernel.shards))
    for alive in (lambda: StepWork(run.nodes, run.attempt).finished(1), lambda: list(run.chunks(0, 100))):
        nodes.main.zadd(attempts.ATTEMPTS, {run.attempt: 0})
        alive()
        assert (nodes.main.zscore(attempts.ATTEMPTS, run.attempt) or 0) > 0


# Loss

Damage = Callable[[bytes, bytes], bytes | None]


def flipped(blob: bytes, other: bytes) -> bytes:
    place = random.Random(len(blob)).randrange(len(blob))
    return blob[:place] + bytes([blob[place] ^ 4]) + blob[place + 1 :]


DAMAGE: dict[str, Damage] = {
    "cut off": lambda blob, other: blob[:-3],
    "empty": lambda blob, other: b"",
    "a bit flipped": flipped,
    "another's": lambda blob, other: other,
    "deleted": lambda blob, other: None,
    "something after it": lambda blob, other: blob + blob,
}


@pytest.fixture(params=NAMES_BY_RULE)
def begun(request: pytest.FixtureRequest, begin: Begin) -> tuple[Case, GatherAttempt]:
    """A run whose layer 4 is complete and whose layer 5 is under way."""
    of = case(NAMES_BY_RULE[request.param], 2)
    run = begin(of)
    advance(run, 1, 4)
    run.begin(5, range(run.kernel.shards))
    return of, run


def open_all(run: GatherAttempt, depth: int) -> None:
    """Reads what the steps of a layer that is under way need, as a worker with nothing in its cache."""
    worker = worker_store(run)
    for block in run.blocks.of(run.begin(depth, range(run.kernel.shards))):
        worker.open(depth, run.blocks.shards(block)).run()


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_blobs_are_noticed(begun: tuple[Case, GatherAttempt], damage: str) -> None:
    """Each one in turn is damaged, tried, and made whole again; in the end all is right."""
    of, run = begun
    places = [
        (client, name)
        for client in run.nodes.clients
        for name in names_of(client, "*:b:*") + names_of(client, "*:v:*")
    ]
    read = [":b:4:", ":v:" if run.facts.exclude == "all" else ":b:3:"]
    wanted = [place for place in places if any(part in place[1] for part in read)]
    assert len(wanted) > 2
    flips: list[bool] = []
    for (client, name), (owner, other) in zip(wanted, wanted[1:] + wanted[:1], strict=True):
        blob, another = client.get(name), owner.get(other)
        assert isinstance(blob, bytes)
        assert isinstance(another, bytes)
        broken = DAMAGE[damage](blob, another)
        if broken is None:
            client.delete(name)
        else:
            client.set(name, broken)
        if ":v:" in name and damage == "a bit flipped":
            flips.append(is_noticed(run))
        else:
            assert is_noticed(run)
        client.set(name, blob)
    # A shard that no step to this depth reaches is passed on as it is, with its checksum.
    assert any(flips) or not flips
    check_to_the_end(run, of, 5)


def is_noticed(run: GatherAttempt) -> bool:
    """Whether the steps of the layer 5 find a loss."""
    try:
        open_all(run, 5)
    except LostStateError:
        return True
    return False


def test_blobs_of_both_kinds_are_not_taken_for_each_other(begin: Begin) -> None:
    of = case("one-way", 2)
    run = begin(of)
    advance(run, 1, 4)
    run.begin(5, range(run.kernel.shards))
    block = run.blocks.of(of.counts(4))[0]
    client = run.nodes.node(block)
    [visited] = names_of(client, f"*:v:*:{block}:*")
    [found] = names_of(client, f"*:b:4:{block}:*")
    client.copy(found, visited, replace=True)
    with pytest.raises(LostStateError, match="damaged"):
        open_all(run, 5)


HASHES: dict[str, Callable[[bytes], bytes | None]] = {
    "removed": lambda text: None,
    "cut off": lambda text: text[:-1],
    "another number": lambda text: text[:-2] + bytes([text[-2] ^ 1]) + text[-1:],
    "no text": lambda text: b"\xff\xfe",
    "empty": lambda text: b"",
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", HASHES)
def test_damaged_records_are_noticed(begun: tuple[Case, GatherAttempt], damage: str) -> None:
    of, run = begun
    main = run.nodes.main
    older = run.visited_key if run.facts.exclude == "all" else run.records_key(3)
    for name in (run.records_key(4), older):
        fields: dict[Any, Any] = main.hgetall(name)
        assert fields
        for field, text in fields.items():
            broken = HASHES[damage](text)
            if broken is None:
                main.hdel(name, field)
            else:
                main.hset(name, field, broken)
            with pytest.raises(LostStateError):
                open_all(run, 5)
            main.hset(name, field, text)
    check_to_the_end(run, of, 5)


@pytest.mark.parametrize("damage", HASHES)
def test_damaged_records_are_not_counted(begun: tuple[Case, GatherAttempt], damage: str) -> None:
    _, run = begun
    main = run.nodes.main
    step(run, 5, run.begin(5, range(run.kernel.shards)))
    records: dict[Any, Any] = main.hgetall(run.records_key(5))
    for field, text in records.items():
        broken = HASHES[damage](text)
        if broken is None:
            main.hdel(run.records_key(5), field)
        else:
            main.hset(run.records_key(5), field, broken)
        with pytest.raises(LostStateError):
            run.counts(5)
        main.hset(run.records_key(5), field, text)
    [one, other, *_] = records
    main.hset(run.records_key(5), one, records[other])
    with pytest.raises(LostStateError):
        run.counts(5)


@pytest.mark.parametrize("change", ["meta", "sealed", "garbled", "too many", "depth", "records", "all"])
def test_a_run_that_redis_has_lost_is_noticed(begun: tuple[Case, GatherAttempt], change: str) -> None:
    _, run = begun
    main, worker = run.nodes.main, worker_store(run)
    block = run.blocks.of(run.begin(5, range(run.kernel.shards)))[0]
    step_input, counts = stepped(worker, 5, block)
    own_views, own_counts = stepped(run, 5, block)
    losses: dict[str, Callable[[], Any]] = {
        "meta": lambda: main.delete(run.meta_key),
        "sealed": lambda: main.hdel(run.meta_key, "sealed:4"),
        "garbled": lambda: main.hset(run.meta_key, "sealed:4", b"\xff"),
        "too many": lambda: main.hincrby(run.meta_key, "sealed:4", 1),
        "depth": lambda: main.hset(run.meta_key, "depth", b"\xff"),
        "records": lambda: main.delete(run.records_key(4)),
        "all": main.flushall,
    }
    losses[change]()
    shards = run.blocks.shards(block)
    with pytest.raises(LostStateError):
        run.open(5, shards)
    with pytest.raises((LostStateError, LateStepError)):
        worker.open(5, shards)
    if change in ("meta", "depth", "all"):
        with pytest.raises(LateStepError):
            worker.commit(5, step_input, counts)
        with pytest.raises(LostStateError):
            run.commit(5, own_views, own_counts)
        with pytest.raises(LostStateError):
            StepWork(run.nodes, run.attempt).finished(5)
    with pytest.raises(LostStateError):
        advance(run, 6, 6)


def test_a_layer_is_not_begun_after_one_that_has_lost_records(begun: tuple[Case, GatherAttempt]) -> None:
    """Lost since the coordinator has read them."""
    _, run = begun
    advance(run, 5, 5)
    main: Any = run.nodes.main
    main.hdel(run.records_key(5), main.hkeys(run.records_key(5))[0])
    with pytest.raises(LostStateError, match="Redis has lost layer 5 or a part of it"):
        run.begin(6, range(run.kernel.shards))


def test_the_first_layer_of_all_is_looked_for_too(begin: Begin) -> None:
    run = begin(case("two colours"))
    advance(run, 1, 1)
    blocks = run.blocks.of(run.begin(2, range(run.kernel.shards)))
    run.nodes.main.delete(run.records_key(0))
    with pytest.raises(LostStateError, match="layer 0 has 0 records"):
        run.open(2, run.blocks.shards(blocks[0]))


def flush(clients: list[Any], left: list[int]) -> None:
    """Flushes the nodes when as many commands have been sent as are left."""
    if left[0] == 0:
        for client in clients:
            client.flushdb()
    left[0] -= 1


@rules
@pytest.mark.parametrize("which", [0, 1, None])
@pytest.mark.parametrize(
    "stride", [pytest.param(11, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.night)]
)
def test_a_flush_between_any_two_commands_is_noticed(
    begin: Begin, connect: Connect, rule: str, which: int | None, stride: int
) -> None:
    """Of the main node, of the one with every other blob, or of both: the result is right, or LostStateError."""
    of = case(NAMES_BY_RULE[rule], 1)
    flush_at, tries, noticed = which or 0, 0, 0
    while True:
        nodes, left = connect(), [flush_at]
        flushed = nodes.clients if which is None else [nodes.clients[which]]
        nodes.before = partial(flush, flushed, left)
        try:
            run = begin(of, nodes, per_block=3)
            restored(run, of, 3)
            for depth in (4, 5):
                advance(run, depth, depth)
                assert run.counts(depth) == of.counts(depth)
            assert whole(run, 5) == distances_of(of, 5)
        except LostStateError:
            noticed += 1
        if left[0] >= 0:
            break
        tries += 1
        flush_at += stride
    assert noticed > tries / 5


# Late, twice, side by side


@rules
def test_a_late_commit_changes_nothing(begin: Begin, nodes: Nodes, rule: str) -> None:
    of = case(NAMES_BY_RULE[rule], 2)
    run = begin(of)
    worker = worker_store(run)
    advance(run, 1, 2)
    block = run.blocks.of(of.counts(3))[0]
    run.begin(3, range(run.kernel.shards))
    late, later = stepped(worker, 3, block), stepped(worker, 3, block)
    advance(run, 3, 3)
    worker.commit(3, *late)  # another's was first
    run.begin(4, range(run.kernel.shards))
    run.keys(3, 1)  # waits for what is being moved
    before = keys(nodes)
    with pytest.raises(LateStepError, match=r"layer 3 of attempt .* is over"):
        worker.commit(3, *later)
    assert keys(nodes) == before
    with pytest.raises(LateStepError):
        worker.open(3, run.blocks.shards(block))
    check_to_the_end(run, of, 4)
    run.drop()
    with pytest.raises(LateStepError):
        worker.commit(3, *later)
    with pytest.raises(LateStepError, match="has ended"):
        worker_store(run)
    assert keys(nodes) == set()


@rules
def test_two_attempts_at_one_job_do_not_touch_each_other(begin: Begin, rule: str) -> None:
    of = case(NAMES_BY_RULE[rule], 2)
    one, other = begin(of), restored(begin(of, per_block=3), of, 4)
    for depth in range(1, 4):
        advance(one, depth, depth)
        assert one.counts(depth) == of.counts(depth)
        advance(other, depth + 4, depth + 4)
        assert other.counts(depth + 4) == of.counts(depth + 4)
    check_to_the_end(one, of, 4)
    check_to_the_end(other, of, 8)


def test_a_drop_does_not_wait_for_redis(begin: Begin, redis_server: RedisServer, nodes: Nodes) -> None:
    """Though layers are being moved, and Redis is away: it may be a user who has asked twice to stop."""
    of = case("two colours", 2)
    run = begin(of)
    advance(run, 1, 2)
    nodes._wait = float(REDIS_WAIT_SECONDS.default)
    redis_server.stop()
    run._remove(0)
    run.drop()
    assert nodes._wait == float(REDIS_WAIT_SECONDS.default)
    redis_server.start()
