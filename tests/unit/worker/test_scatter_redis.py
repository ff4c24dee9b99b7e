"""Runs in Redis whose states are scattered: steps of workers, every kind of loss, what Redis holds, checkpoints."""

import random
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from farthest import _kernel
from farthest.errors import DamagedMapError, LateStepError, LostStateError, ResourceError, StorageError
from farthest.models.chunks import Chunk, MadeChunk, digest_of, open_chunk
from farthest.models.records import ChunkRecord
from farthest.stores import scattering
from farthest.stores.blobs.blob import BlobCache
from farthest.stores.contract import step
from farthest.stores.redis import attempts, run_blobs, scatter_attempt, scatter_store
from farthest.stores.redis.attempt_stores import Access
from farthest.stores.redis.attempts import new_attempt
from farthest.stores.redis.map_parts import AttemptParts, PartMaker
from farthest.stores.redis.places import blob_key
from farthest.stores.redis.records import NO_JOB, CutRecord, Pointer
from farthest.stores.redis.scatter_attempt import ScatterAttempt, shards_for
from farthest.stores.redis.scatter_store import ScatterStore
from farthest.stores.residues import residue_form, words_of_distances
from farthest.stores.scattering import SortedRun, equal_ranges
from farthest.worker.enumeration import attach
from run_cases import Nodes, keys, names_of
from scatter_cases import NAMES, PUZZLES, ScatterCase, digest, expected, in_memory, scatter_case

Begin = Callable[..., ScatterAttempt]

RULES = {"none": "byte strings, graded", "two": "sparse", "two, sent": "sparse", "all": "byte strings"}
"""A case for each way to tell what is new in a shard."""
SENT = {"two, sent": {"outboxes": True}}
"""The kernel finds successors, and yet there are outboxes, as byte strings always have."""

rules = pytest.mark.parametrize("rule", RULES)
names = pytest.mark.parametrize("name", NAMES)
ways = pytest.mark.parametrize("outboxes", [None, True])


pytestmark = pytest.mark.usefixtures("spaces_of_cases")


@pytest.fixture
def begin(nodes: Nodes) -> Iterator[Begin]:
    """Begins runs of five shards, or others, and drops them at the end."""
    made: list[ScatterAttempt] = []

    def begin_one(
        of: ScatterCase, over: Nodes | None = None, shards: int = 5, **options: Any
    ) -> ScatterAttempt:
        options = {"distances": True, **options}
        made.append(ScatterAttempt.create(over or nodes, new_attempt("1"), of.space, shards, **options))
        return made[-1]

    yield begin_one
    for run in made:
        run.drop()


def worker_store(run: ScatterAttempt, nodes: Nodes | None = None, cache: int = 0) -> ScatterStore:
    """What a worker makes of the run."""
    store = attach(Access.found(nodes or run.nodes, run.attempt, BlobCache(cache), "worker"))
    assert isinstance(store, ScatterStore)
    return store


def advance(run: ScatterAttempt, first: int, last: int, worker: ScatterStore | None = None) -> None:
    """Steps the layers ``first`` to ``last``, shard by shard."""
    for depth in range(first, last + 1):
        for shard in run.begin(depth, run.reachable(depth)):
            step(worker or run, depth, [shard])
        run.counts(depth)


def check_to_the_end(run: ScatterAttempt, of: ScatterCase, first: int) -> None:
    """Goes on from layer ``first``; what comes out is right."""
    last = len(of.layers) - 1
    for depth in range(first, last + 2):
        advance(run, depth, depth)
        assert run.counts(depth) == of.counts(depth, run.shards)
    assert run.keys(last, 10**6) == of.least(last, 10**6)
    assert digest(run, of, last) == expected(of, last)


def as_stored(of: ScatterCase, depth: int, size: int = 23) -> list[Any]:
    """A checkpoint as a store is given it."""
    return list(in_memory(of, depth).chunks(depth, size))


def states(of: ScatterCase, depth: int) -> int:
    return sum(map(len, of.layers[: depth + 1]))


# Steps


@names
@ways
def test_two_workers_step_every_kind_of_space(
    begin: Begin, connect: Callable[..., Nodes], name: str, outboxes: bool | None
) -> None:
    """In turn; one of them keeps nothing in its cache. The map of any depth is right."""
    of = scatter_case(name)
    run = begin(of, outboxes=outboxes)
    workers = [worker_store(run, connect(), cache) for cache in (0, 2**20)]
    for depth in range(1, len(of.layers) + 1):
        for shard in run.begin(depth, run.reachable(depth)):
            step(workers[shard % 2], depth, [shard])
        assert run.counts(depth) == of.counts(depth, run.shards)
        if depth in (2, len(of.layers) - 1):
            assert run.keys(depth, 10**6) == of.least(depth, 10**6)
            assert run.keys(depth, 2) == of.least(depth, 2)
            assert digest(run, of, depth) == expected(of, depth)


@rules
def test_of_a_layer_that_is_only_counted_the_least_states_are_kept(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    for module in (scatter_store, scatter_attempt, scattering):
        monkeypatch.setattr(module, "LEAST_KEPT", 2)
    of = scatter_case(RULES[rule])
    run = begin(of, **SENT.get(rule, {}), distances=False, max_depth=3, counted=True)
    advance(run, 1, 3, worker_store(run))
    counts = run.counts(3)
    assert counts == of.counts(3, run.shards)
    assert run.keys(3, 2) == of.least(3, 2)
    assert len(run.keys(3, 10**6)) == sum(min(2, states) for states in counts.values()) < sum(counts.values())
    assert run.keys(2, 10**6) == of.least(2, 10**6)


@pytest.mark.parametrize("name", [name for name in NAMES if "dense" not in name])
def test_the_least_of_very_many_states_are_read_alone(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for module in (run_blobs, scatter_attempt):
        monkeypatch.setattr(module, "LEAST_KEPT", 2)
        monkeypatch.setattr(module, "MANY", 2)
    monkeypatch.setattr(scatter_store, "MANY", 2)
    monkeypatch.setattr(scattering, "LEAST_KEPT", 2)
    of = scatter_case(name)
    run, last = begin(of), max(range(len(of.layers)), key=of.states)
    advance(run, 1, last, worker_store(run))
    assert max(run.counts(last).values()) > 2
    assert digest(run, of, last) == expected(of, last)
    found = [0]
    whole = ScatterAttempt._found

    def counted(self: ScatterAttempt, records: Any) -> Any:
        found[0] += sum(record.states[shard] for _, shard, record in records)
        return whole(self, records)

    with monkeypatch.context() as patch:
        patch.setattr(ScatterAttempt, "_found", counted)
        assert run.keys(last, 2) == of.least(last, 2)
    assert found[0] == sum(number for number in run.counts(last).values() if number <= 2)
    assert run.keys(last, 10**6) == of.least(last, 10**6)


@rules
def test_a_layer_that_is_given_up_leaves_those_before(begin: Begin, rule: str) -> None:
    of = scatter_case(RULES[rule])
    run = begin(of, **SENT.get(rule, {}))
    worker = worker_store(run)
    advance(run, 1, 2, worker)
    shards = run.begin(3, run.reachable(3))
    step(worker, 3, shards[:1])
    run.give_up(3)
    assert run.keys(2, 10**6) == of.least(2, 10**6)
    assert digest(run, of, 2) == expected(of, 2)
    with pytest.raises(LateStepError):
        step(worker, 3, shards[1:])
    run.drop()
    assert keys(run.nodes) == set()


@rules
def test_every_command_may_be_executed_twice(begin: Begin, connect: Callable[..., Nodes], rule: str) -> None:
    of, nodes = scatter_case(RULES[rule]), connect(times=2)
    run = begin(of, nodes, **SENT.get(rule, {}))
    worker = worker_store(run)
    for depth in range(1, len(of.layers) + 1):
        advance(run, depth, depth, worker)
        assert run.counts(depth) == of.counts(depth, run.shards)
    run.drop()
    assert keys(nodes) == set()


@rules
@pytest.mark.parametrize("shards", [1, 17])
def test_the_number_of_shards_does_not_show(begin: Begin, rule: str, shards: int) -> None:
    of = scatter_case(RULES[rule])
    check_to_the_end(begin(of, shards=shards, **SENT.get(rule, {})), of, 1)


@rules
def test_a_commit_that_comes_late_changes_nothing(begin: Begin, rule: str) -> None:
    of = scatter_case(RULES[rule])
    run = begin(of, **SENT.get(rule, {}))
    worker = worker_store(run)
    advance(run, 1, 1)
    shards = run.begin(2, run.reachable(2))
    late = {shard: worker.open(2, [shard]) for shard in shards}
    counts = {shard: step_input.run() for shard, step_input in late.items()}
    for shard in shards:
        step(run, 2, [shard])
    before = keys(run.nodes)
    worker.commit(2, late[shards[0]], counts[shards[0]])
    assert keys(run.nodes) <= before  # older layers may be on their way out of Redis
    advance(run, 3, 3)
    before = keys(run.nodes)
    with pytest.raises(LateStepError):
        worker.commit(2, late[shards[0]], counts[shards[0]])
    with pytest.raises(LateStepError):
        worker.open(2, shards)
    assert keys(run.nodes) <= before
    check_to_the_end(run, of, 4)


def test_a_step_whose_layer_ends_while_it_reads_is_late(begin: Begin, connect: Callable[..., Nodes]) -> None:
    """The outboxes have left Redis: that is no loss."""
    of, slow = scatter_case("byte strings"), connect()
    run = begin(of)
    worker = worker_store(run, slow)
    advance(run, 1, 1)
    shards = run.begin(2, run.reachable(2))
    asked: list[int] = []

    def finish() -> None:
        asked.append(1)
        if len(asked) == 3:  # what is committed, what was found, and the parts of outboxes
            for shard in shards:
                step(run, 2, [shard])
            advance(run, 3, 4)
            run.keys(4, 1)

    slow.before = finish
    with pytest.raises(LateStepError):
        worker.open(2, shards)


# Loss

Damage = Callable[[bytes, bytes], bytes | None]

DAMAGE: dict[str, Damage] = {
    "cut off": lambda blob, other: blob[:-3],
    "empty": lambda blob, other: b"",
    "a bit flipped": lambda blob, other: _flipped(blob),
    "another's": lambda blob, other: other,
    "deleted": lambda blob, other: None,
}


def _flipped(blob: bytes) -> bytes:
    place = random.Random(len(blob)).randrange(len(blob))
    return blob[:place] + bytes([blob[place] ^ 4]) + blob[place + 1 :]


def begun(begin: Begin, rule: str) -> tuple[ScatterCase, ScatterAttempt]:
    """A run whose layer 2 is complete and whose layer 3 is under way."""
    of = scatter_case(RULES[rule])
    run = begin(of, **SENT.get(rule, {}))
    advance(run, 1, 2)
    run.begin(3, run.reachable(3))
    return of, run


def open_all(run: ScatterAttempt) -> None:
    """Reads what the steps of layer 3 need, as a worker with nothing in its cache."""
    worker_store(run).open(3, run.begin(3, []))


@rules
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_blobs_are_noticed(begin: Begin, rule: str, damage: str) -> None:
    """Each one in turn is damaged, tried, and made whole again; in the end all is right."""
    of, run = begun(begin, rule)
    kinds = {
        "none": [":o:2:"],
        "two": [":b:2:", ":b:1:"],
        "two, sent": [":o:2:", ":b:2:", ":b:1:"],
        "all": [":o:2:", ":v:"],
    }[rule]
    for kind in kinds:
        places = [(client, name) for client in run.nodes.clients for name in names_of(client, f"*{kind}*:*")]
        assert len(places) > 1
        for (client, name), (owner, other) in zip(places, places[1:] + places[:1], strict=True):
            shard = int(name.split(":")[5])
            if ":b:" in kind and shard not in run.begin(3, []):
                continue
            blob, another = client.get(name), owner.get(other)
            assert isinstance(blob, bytes)
            assert isinstance(another, bytes)
            broken = DAMAGE[damage](blob, another)
            if broken is None:
                client.delete(name)
            else:
                client.set(name, broken)
            with pytest.raises(LostStateError):
                open_all(run)
            client.set(name, blob)
    check_to_the_end(run, of, 3)


@rules
def test_damaged_records_are_noticed(begin: Begin, rule: str) -> None:
    of, run = begun(begin, rule)
    main = run.nodes.main
    for name in (run.records_key(2), run.visited_key if rule == "all" else run.records_key(1)):
        fields: dict[Any, Any] = main.hgetall(name)
        for field, text in fields.items():
            if name == run.visited_key and int(field) not in run.begin(3, []):
                continue
            for broken in (None, text[:-1], text[:-2] + bytes([text[-2] ^ 1]) + text[-1:], b""):
                if broken is None:
                    main.hdel(name, field)
                elif name == run.records_key(1) and int(field) not in run.begin(3, []):
                    continue
                else:
                    main.hset(name, field, broken)
                with pytest.raises(LostStateError):
                    open_all(run)
                main.hset(name, field, text)
    check_to_the_end(run, of, 3)


@rules
def test_a_run_that_redis_has_lost_is_noticed(begin: Begin, rule: str) -> None:
    _, run = begun(begin, rule)
    shards = run.begin(3, [])
    step_input = run.open(3, shards)
    counts = step_input.run()
    run.nodes.main.flushall()
    with pytest.raises(LostStateError):
        run.open(3, shards)
    with pytest.raises(LostStateError):
        run.commit(3, step_input, counts)
    with pytest.raises(LostStateError):
        run.counts(3)


# What Redis holds


@names
@ways
def test_redis_holds_what_steps_read(begin: Begin, nodes: Nodes, name: str, outboxes: bool | None) -> None:
    of = scatter_case(name)
    run = begin(of, distances=False, outboxes=outboxes)
    for depth in range(1, len(of.layers) + 1):
        advance(run, depth, depth)
        run.removals.settle()
        parts = [key.removeprefix(attempts.prefix(run.attempt)).split(":") for key in keys(nodes)]
        assert {int(part[1]) for part in parts if part[0] in ("b", "c")} <= {depth - 2, depth - 1, depth}
        assert {int(part[1]) for part in parts if part[0] == "o"} <= {depth - 1, depth}
    run.drop()
    assert keys(nodes) == set()


def test_all_states_found_are_few_runs(begin: Begin, nodes: Nodes) -> None:
    """Each at least twice as long as the next; none but those that are named is left."""
    of = scatter_case("byte strings")
    run = begin(of, shards=1)
    for depth in range(1, len(of.layers)):
        advance(run, depth, depth)
        text = nodes.main.hget(run.visited_key, "0")
        assert isinstance(text, bytes)
        found = Pointer.of(text, 0).blobs
        sizes = [one.states for one in found]
        assert sum(sizes) == states(of, depth)
        assert all(one >= 2 * other for one, other in pairwise(sizes))
        assert names_of(nodes.node(0), f"{run.visited_key}:*") == sorted(
            blob_key(run.visited_name(one.depth, 0, one.nonce)) for one in found
        )


# Maps that workers make


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("models.chunks", "stores.redis.assembly", "stores.redis.run_parts"):
        monkeypatch.setattr(f"farthest.{module}.CHUNK_KEYS", 64)
        if module != "models.chunks":
            monkeypatch.setattr(f"farthest.{module}.LEAST_CHUNKS", 1)
    monkeypatch.setattr("farthest.models.chunks.CHUNK_BYTES", 64)  # of codes


def makers_of(run: ScatterAttempt) -> list[PartMaker]:
    return [PartMaker(worker_store(run)) for _ in range(2)]


def made_by_workers(run: ScatterAttempt, parts: AttemptParts, kept: list[PartMaker] | None = None) -> None:
    """Each item is done twice. ``kept``: by those that have made other maps of the run."""
    parts.begin()
    makers = kept or makers_of(run)
    fold = makers[0].fold(parts.fold.depth)
    for maker in makers:
        for shard in parts.shards:
            maker.cut_shard(fold, shard)
    for maker in makers:
        for part in parts.parts:
            maker.commit(fold, part, *maker.make(fold, part, None), lambda nonce: False)


def not_asked(key: int) -> Chunk:
    raise AssertionError("such maps are made of all layers")


@names
@pytest.mark.usefixtures("small_chunks")
def test_workers_make_the_map(begin: Begin, nodes: Nodes, name: str) -> None:
    of = scatter_case(name)
    run, last = begin(of), len(of.layers) - 1
    makers = makers_of(run)
    # The map up to depth 2 is made again, as that of the last checkpoint is at the end.
    for first, depth in ((1, 2), (3, 2), (3, last)):
        advance(run, first, depth)
        parts = AttemptParts.of(run, depth, NO_JOB, "")
        assert bool(parts.shards) == (of.space.keys is None)
        assert depth == 2 or of.space.keys is not None or len(parts.parts) > 2
        made_by_workers(run, parts, makers)
        made = parts.made(states(of, depth))
        records = [
            ChunkRecord(0, one.first, one.last, depth, one.codec, one.payload, one.checksum, one.lead)
            for one in made.chunks()
            if isinstance(one, MadeChunk)
        ]
        layers = [len(layer) for layer in of.layers[: depth + 1]]
        assert digest_of(layers, map(open_chunk, records)) == made.digest(layers) == expected(of, depth)
        with pytest.raises(LostStateError, match="states"):
            parts.made(states(of, depth) + 1)
        run.stored(depth, not_asked)
        run.removals.settle()
        left = {key.split(":")[3] for key in keys(nodes) if run.attempt in key}
        assert left <= {"meta", "b", "c", "o", "v", "done", "m"}
    check_to_the_end(run, of, last + 1)
    restored = begin(of, shards=3)
    restored.restore(last, as_stored(of, last), states(of, last))
    parts = AttemptParts.of(restored, last, NO_JOB, "")
    made_by_workers(restored, parts)
    layers = [len(layer) for layer in of.layers]
    assert parts.made(states(of, last)).digest(layers) == expected(of, last)


@pytest.mark.usefixtures("small_chunks")
def test_workers_make_a_residue_map(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PUZZLES, "larger", "hanoi-3-5")
    of = scatter_case("larger")
    form, last = residue_form(of.space, None), len(of.layers) - 1
    run = begin(of, distances=False, residues=form)
    advance(run, 1, last)
    parts = AttemptParts.of(run, last, NO_JOB, "")
    assert len(parts.parts) == 4
    made_by_workers(run, parts)
    alone = b"".join(words for _, words in words_of_distances(lambda size: run.chunks(last, size), form))
    assert b"".join(words for _, words in parts.made(0).words()) == alone
    assert [first for first, _ in parts.made(0).words()] == [0, 2, 4, 6]


@rules
@pytest.mark.usefixtures("small_chunks")
def test_a_map_of_damaged_blobs_is_not_made(begin: Begin, rule: str) -> None:
    of = scatter_case(RULES[rule])
    run = begin(of, **SENT.get(rule, {}))
    advance(run, 1, 2)
    parts = AttemptParts.of(run, 2, NO_JOB, "")
    made_by_workers(run, parts)
    maker = PartMaker(worker_store(run))
    fold = maker.fold(2)
    for key, record in list(CutRecord.all_of(run.nodes, run.cuts_key(2), 2).items()):
        if not record.outbox:
            continue
        client: Any = run.nodes.node(key)
        name = blob_key(run.outbox_name(2, key, record.nonce))
        blob = client.get(name)
        for broken in (blob[:-1], blob[:9] + bytes([blob[9] ^ 1]) + blob[10:], b""):
            client.set(name, broken)
            with pytest.raises(LostStateError):
                [maker.make(fold, part, None) for part in parts.parts]
        client.set(name, blob)
    run.nodes.main.hdel(run.cuts_key(2), "0")
    with pytest.raises(LostStateError, match="4 of 5 shards are cut"):
        PartMaker(worker_store(run)).make(fold, 0, None)
    again = AttemptParts.of(run, 2, NO_JOB, "")
    again.begin()
    with pytest.raises(LateStepError):
        maker.cut_shard(fold, 0)


def test_the_ranges_of_a_map_are_found_with_one_run_in_memory() -> None:
    width, each, makes = 16, 20_000, random.Random(1).randbytes
    runs = [SortedRun(*_kernel.run_of(width, makes(width * each))) for _ in range(8)]
    tracemalloc.start()
    try:
        bounds = bytes(equal_ranges(width, runs, 8 * each, 4))
        assert tracemalloc.get_traced_memory()[1] < 3 * width * each
    finally:
        tracemalloc.stop()
    assert [bounds[at] >> 6 for at in range(0, len(bounds), width)] == [1, 2, 3]


# Depth limits, checkpoints


@rules
def test_the_last_layer_of_a_limited_run_is_not_expanded(begin: Begin, nodes: Nodes, rule: str) -> None:
    of = scatter_case(RULES[rule])
    run = begin(of, **SENT.get(rule, {}), max_depth=2)
    advance(run, 1, 2, worker_store(run))
    assert run.counts(2) == of.counts(2, run.shards)
    assert digest(run, of, 2) == expected(of, 2)
    assert not [name for name in keys(nodes) if ":o:2:" in name]
    with pytest.raises(StorageError, match="beyond depth 2"):
        run.reachable(3)


@pytest.mark.slow
@names
def test_a_restored_run_goes_on_with_other_shards(begin: Begin, nodes: Nodes, name: str) -> None:
    of = scatter_case(name)
    last = len(of.layers) - 1
    for depth in sorted({0, 1, last // 2, last}):
        run = begin(of, shards=3 + depth % 3)
        run.restore(depth, as_stored(of, depth), states(of, depth))
        assert run.counts(depth) == of.counts(depth, run.shards)
        assert run.keys(depth, 10**6) == of.least(depth, 10**6)
        assert digest(run, of, depth) == expected(of, depth)
        mine = [key for key in keys(nodes) if run.attempt in key]
        assert {key.split(":")[4] for key in mine if ":b:" in key} == {
            str(known) for known in range(depth + 1)
        }
        check_to_the_end(run, of, depth + 1)


def test_a_map_of_another_space_is_refused(begin: Begin) -> None:
    of = scatter_case("dense")
    with pytest.raises(DamagedMapError, match=r"hold \d+ distances, the layers"):
        begin(of).restore(3, as_stored(of, 3), 7)
    with pytest.raises(DamagedMapError, match="the chunk from key 0 does not fit a map up to depth 2"):
        begin(of).restore(2, as_stored(of, 3), states(of, 3))
    with pytest.raises(DamagedMapError, match="of the other kind"):
        begin(of).restore(2, as_stored(scatter_case("sparse"), 2), 9)
    with pytest.raises(DamagedMapError, match="its codes have 8 bytes, those of the space 3"):
        begin(scatter_case("byte strings")).restore(2, as_stored(scatter_case("sparse"), 2), 9)
    run = begin(of)
    advance(run, 1, 1)
    with pytest.raises(StorageError, match="before its first step"):
        run.restore(2, [], 0)


def test_a_run_that_only_counts_has_no_distances(begin: Begin) -> None:
    of = scatter_case("sparse")
    run = begin(of, distances=False)
    advance(run, 1, len(of.layers) - 1)
    assert run.keys(len(of.layers) - 1, 5) == of.least(len(of.layers) - 1, 5)
    with pytest.raises(StorageError, match="only counts"):
        run.chunks(1, 10)


def test_distances_cannot_be_greater_than_their_type(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.stores.contract.MAX_DEPTH", 3)
    run = begin(scatter_case("dense"))
    advance(run, 1, 3)
    with pytest.raises(ResourceError, match="deeper than 3 moves"):
        advance(run, 4, 4)


def test_shards_are_as_many_as_their_states_need() -> None:
    dense, sparse = scatter_case("dense").space, scatter_case("sparse").space
    assert shards_for(dense, 2**22) == 1
    assert shards_for(dense, 27) == 8
    assert shards_for(dense, 1) == 27
    assert 1 <= shards_for(sparse, 1) <= 64
