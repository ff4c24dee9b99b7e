"""Values in Redis that others wrote there: told with their place or left out with a line in the log, never believed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bounds import little_memory
from cases import for_each
from farthest.coordinator.workers import Outstanding, Publisher
from farthest.errors import LateStepError, LostStateError, StorageError
from farthest.search.contract import Node, PieceResult
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.places import blob_key
from farthest.stores.redis.records import MOST_OF_A_MESSAGE, Pointer, Record, Report, recorded, with_checksum
from farthest.stores.redis.scatter_attempt import ScatterAttempt
from farthest.worker.enumeration import StepWork
from farthest.worker.leases import Leases, working_key
from farthest.worker.registry import Heartbeat, WorkerRecord, list_workers
from farthest.worker.search_batches import SearchWork
from farthest.worker.work import WorkerProcess
from run_cases import Nodes, begin_run, names_of
from scatter_cases import scatter_case
from store_cases import case

DEEP = "[" * 100_000
GARBAGE = [
    b"",
    b"\xff\xfe",
    b"x",
    b"-1",
    b"9" * 5000,
    DEEP.encode(),
    b"null",
    b"{}",
    b"[]",
    b"NaN",
    b"1e999",
    str(2**60).encode(),
    b"[" + str(2**60).encode() + b"]",
    b"../../x",
    b"\x1b[2J",
]


@pytest.fixture
def process(nodes: Nodes, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerProcess]:
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    monkeypatch.setenv("FARTHEST_REDIS_NODES", nodes.urls[1])
    made = WorkerProcess("farthest@test")
    yield made
    made.nodes.close()


# What a run is


def reports(nodes: RedisNodes, key: str) -> list[Report]:
    entries: Any = nodes.main.lrange(key, 0, -1)
    return [Report.of(entry) for entry in entries]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["gather", "scatter"])
def test_whatever_stands_in_meta_is_told(
    engine: str, process: WorkerProcess, nodes: Nodes, caplog: pytest.LogCaptureFixture
) -> None:
    run: GatherAttempt | ScatterAttempt
    if engine == "gather":
        run = begin_run(case("two colours"), nodes, per_block=1, distances=False)
    else:
        run = ScatterAttempt.create(
            nodes, attempts.new_attempt("1"), scatter_case("sparse").space, 5, distances=False
        )
    run.begin(1, range(run.shards))
    good: Any = nodes.main.hgetall(run.meta_key)
    with little_memory():
        for field in run.facts.fields():
            for garbage in (*GARBAGE, b"scatter", b"gather", b"4096"):
                nodes.main.delete(run.done_key)
                nodes.main.hset(run.meta_key, mapping={**good, field.encode(): garbage})
                fresh = WorkerProcess("farthest@test")
                fresh.run(StepWork, run.attempt, 1, 0)
                fresh.nodes.close()
                told = reports(nodes, run.done_key)
                assert len(told) <= 1
                assert all(report.error in ("lost", "failed", "") for report in told), (field, garbage)
    run.drop()
    tracebacks = [repr(record.exc_info[1]) for record in caplog.records if record.exc_info]
    assert tracebacks == []


def test_layouts_of_meta_are_not_believed(
    nodes: Nodes, begin: Callable[..., GatherAttempt], process: WorkerProcess
) -> None:
    run = begin(case("two colours"))
    for layout in ("{}", '{"labels": 5}', "[]", DEEP, '{"counts": [1e999]}'):
        nodes.main.hset(run.meta_key, "layout", layout)
        with pytest.raises(LostStateError, match=r"farthest:attempt:.*:meta: .* damaged"):
            process.opened(StepWork, run.attempt)


def test_a_message_for_a_block_that_is_none_changes_nothing(
    nodes: Nodes, begin: Callable[..., GatherAttempt], process: WorkerProcess
) -> None:
    run = begin(case("two colours"))
    run.begin(1, range(run.shards))
    process.run(StepWork, run.attempt, 1, run.blocks.count)
    process.run(StepWork, run.attempt, 1, 2**60)
    assert reports(nodes, run.done_key) == []


# Records


HOSTILE_RECORDS = [
    "[]",
    "{}",
    "null",
    "7",
    DEEP,
    '["a",[],[],1]',
    '["a",[[1]],[]]',
    '["a",[[-1,1]],[]]',
    '["a",[[1,1.5]],[]]',
    "[1,[],[]]",
    '["a",{"1":2},[]]',
    '["a",[],[[1,2]]]',
    '["a",[],[[1,2,-3]]]',
    f'["a",[[1,{2**64}]],[]]',
    '["a",[[1,true]],[]]',
    '["a",[[1,NaN]],[]]',
    '["a","b","c"]',
]
HOSTILE_POINTERS = [
    "[]",
    "{}",
    "7",
    DEEP,
    "[-1,[]]",
    '["1",[]]',
    "[1,{}]",
    '[1,[[1,"a"]]]',
    "[1,[[1,2,3]]]",
    '[1,[["1","a",3]]]',
]
HOSTILE_NODES = [
    "[]",
    "7",
    '{"board":[]}',
    '[["a"],1,1,[]]',
    "[[1],-1,1,[]]",
    "[[1],1,null,[]]",
    "[[1],1,1,[[1,2,3]]]",
    "[[1],1,1,[{}]]",
    "[[1],1,1,5]",
    DEEP,
]
HOSTILE_PIECES = [
    "[]",
    "7",
    "[1,1,[],1]",
    "[-1,1,[],1,[]]",
    '["1",1,[],1,[]]',
    "[1,1,5,1,[]]",
    "[1,1,[],-1,[]]",
    "[1,1,[],1,[[]]]",
    "[1,1,[],1,7]",
    "[1,-1,[],1,[]]",
    DEEP,
]


@for_each("said", HOSTILE_RECORDS)
def test_a_record_with_a_right_checksum_need_not_be_right(said: str) -> None:
    with pytest.raises(LostStateError, match="block 5 at depth 3 is not one of farthest's"):
        Record.of(with_checksum("c:3:5", said).encode(), 3, 5)


@for_each("said", HOSTILE_POINTERS)
def test_a_pointer_with_a_right_checksum_need_not_be_right(said: str) -> None:
    with pytest.raises(LostStateError, match="what block 5 has visited is not one of farthest's"):
        Pointer.of(with_checksum("v:5", said).encode(), 5)


@for_each(
    ("made", "said"),
    [(Node, said) for said in HOSTILE_NODES] + [(PieceResult, said) for said in HOSTILE_PIECES],
)
def test_nodes_and_pieces_with_a_right_checksum_need_not_be_right(
    made: type[Node | PieceResult], said: str
) -> None:
    with pytest.raises(LostStateError, match="the record of it is not one of farthest's"):
        recorded(with_checksum("p", said).encode(), "p", "it", made)


# Reports


def test_what_is_no_report_is_left_out(
    nodes: Nodes, begin: Callable[..., GatherAttempt], caplog: pytest.LogCaptureFixture
) -> None:
    run = begin(case("two colours"))
    run.begin(1, range(run.shards))
    outstanding = Outstanding(StepWork(nodes, run.attempt), 1, Publisher(nodes))
    outstanding.expect([0, 1])
    good = Report(1, 0, "worker").text()
    for entry in (
        *GARBAGE,
        b'{"depth":1,"block":1}',
        b'{"depth":1,"block":1,"by":7}',
        b'{"depth":1,"block":-1,"by":"a"}',
        b'{"depth":1,"block":1,"by":"a","error":"odd"}',
        b'{"depth":1,"block":1,"by":"a","else":0}',
        b'{"depth":1,"block":1,"by":"%s"}' % (b"a" * 2**17),
        good.encode(),
    ):
        nodes.main.rpush(run.done_key, entry)
    assert outstanding.wait() == {0}
    left_out = [record.getMessage() for record in caplog.records]
    assert len(left_out) == len(GARBAGE) + 6
    assert all(
        line.startswith(f"{run.done_key}: an entry that is not a report was left out: ") for line in left_out
    )
    assert max(map(len, left_out)) < 300


def test_a_report_has_a_message_of_bounded_length() -> None:
    report = Report(1, 2, "worker", "failed", "x" * 10**6)
    assert Report.of(report.text().encode()).message == "x" * MOST_OF_A_MESSAGE
    escaped = Report(1, 2, "worker", "failed", "\x1b" * 10**6)
    assert Report.of(escaped.text().encode()).error == "failed"


# Messages


@pytest.mark.parametrize(
    "message",
    [
        ("*", 1, 0),
        ("", 1, 0),
        ("x" * 10**6, 1, 0),
        ("a:b", 1, 0),
        ("\x1b[2J", 1, 0),
        (7, 1, 0),
        (None, 1, 0),
        ([], 1, 0),
        ("a", "1", 0),
        ("a", 1, -1),
        ("a", 2**64, 0),
        ("a", 1.0, 0),
        ("a", True, 0),
        ("a", 1, {}),
    ],
)
def test_a_message_that_is_none_is_dropped(
    process: WorkerProcess, nodes: Nodes, message: Any, caplog: pytest.LogCaptureFixture
) -> None:
    before = set(nodes.main.scan_iter())
    process.run(StepWork, *message)
    assert [record.getMessage() for record in caplog.records] == [
        "a message that is not from farthest was dropped"
    ]
    assert set(nodes.main.scan_iter()) == before


# Workers


ALPHA = WorkerRecord("farthest@alpha", "here", 10, "1.2.3", 1, 2, "2026-11-21T09:00:00+00:00")
FIELDS = {
    "name": "farthest@beta",
    "host": "h",
    "pid": 1,
    "version": "1",
    "protocol": 1,
    "concurrency": 1,
    "started": "s",
    "pids": [1],
}
HOSTILE_WORKERS = [
    *GARBAGE,
    b"[" + b"1," * 10**5 + b"1]",
    *(
        json.dumps({**FIELDS, name: value}).encode()
        for name, value in (
            ("name", "farthest@alpha"),
            ("name", 7),
            ("pids", 7),
            ("pids", ["1"]),
            ("pids", [2**70]),
            ("concurrency", "many"),
            ("concurrency", -5),
            ("version", None),
            ("host", ["h"]),
            ("started", 5),
            ("protocol", 1.5),
            ("host", "h" * 2**17),
        )
    ),
]


def test_what_is_no_record_of_a_worker_is_left_out(nodes: Nodes, caplog: pytest.LogCaptureFixture) -> None:
    Heartbeat(nodes, ALPHA, lambda: [11, 12]).beat()
    for number, garbage in enumerate(HOSTILE_WORKERS):
        name = "farthest@beta" if number >= len(GARBAGE) else f"farthest@{number}"
        nodes.main.set(f"farthest:worker:{name}", garbage)
        nodes.main.zadd("farthest:workers", {name: nodes.now()})
        assert [worker.name for worker in list_workers(nodes)] == [ALPHA.name]
        assert (name in caplog.text) == bool(garbage)
        caplog.clear()
        assert [worker.name for worker in list_workers(nodes)] == [ALPHA.name]
        assert caplog.text == ""  # told once
    nodes.main.zadd("farthest:workers", {b"\xff\xfe": nodes.now()})
    nodes.main.set(b"farthest:worker:\xff\xfe", json.dumps(FIELDS))
    nodes.main.delete("farthest:worker:farthest@0")
    nodes.main.lpush("farthest:worker:farthest@0", "of another type")
    nodes.main.zadd("farthest:workers", {"farthest@0": nodes.now()})
    assert [worker.name for worker in list_workers(nodes)] == [ALPHA.name]


def test_what_a_worker_does_may_be_garbage(nodes: Nodes) -> None:
    Heartbeat(nodes, ALPHA, lambda: [11, 12]).beat()
    Leases(nodes, "4-abc", "step", 5).take(3, 7, f"{ALPHA.name}/11")
    for garbage in (*GARBAGE, b'{"attempt":"a","depth":"3","block":1,"since":1,"kind":"step"}'):
        nodes.main.set(working_key(f"{ALPHA.name}/12"), garbage)
        assert [work.process for work in list_workers(nodes)[0].busy] == [11]


# Keys


def test_a_key_of_another_kind_is_named(
    nodes: Nodes, begin: Callable[..., GatherAttempt], process: WorkerProcess
) -> None:
    run = begin(case("two colours"))
    nodes.main.delete(run.meta_key)
    nodes.main.set(run.meta_key, "a text")
    for asked in (
        lambda: StepWork(run.nodes, run.attempt).finished(0),
        lambda: process.opened(StepWork, run.attempt),
        lambda: run.begin(1, [0]),
    ):
        with pytest.raises(StorageError) as caught:
            asked()
        assert run.meta_key in str(caught.value)
        assert "something of another kind" in str(caught.value)
    nodes.main.set("farthest:workers", "a text")
    with pytest.raises(StorageError, match=r"another kind .*farthest:workers"):
        list_workers(nodes)


def test_fields_that_are_no_numbers_are_told(nodes: Nodes, begin: Callable[..., GatherAttempt]) -> None:
    run = begin(case("two colours"))
    run.begin(1, range(run.shards))
    nodes.main.hset(run.records_key(1), "\x1b[2J" + "x" * 1000, "")
    for asked in (lambda: StepWork(run.nodes, run.attempt).finished(1), lambda: run.counts(1)):
        with pytest.raises(
            LostStateError, match=r"c:1: it holds '\\x1b\[2J.*expected numbers alone"
        ) as caught:
            asked()
        assert len(str(caught.value)) < 300


def test_names_of_runs_do_not_match_those_of_others(
    nodes: Nodes, begin: Callable[..., GatherAttempt]
) -> None:
    run = begin(case("two colours"))
    own = f"farthest:attempt:{run.attempt}:*"
    held = [names_of(client, own) for client in nodes.clients]
    for name in (b"*", b"?" * len(run.attempt), b"[1-9]*", b"\xff\xfe"):
        nodes.main.set(b"farthest:attempt:" + name + b":meta", "")
        nodes.main.zadd(attempts.ATTEMPTS, {name: 0})
    attempts.drop_dead(nodes, "2")
    assert StepWork(run.nodes, run.attempt).finished(0)
    assert [names_of(client, own) for client in nodes.clients] == held


def test_names_that_are_no_text_stop_nobody(nodes: Nodes) -> None:
    assert not attempts.others(nodes, "2")
    nodes.main.zadd(attempts.ATTEMPTS, {b"\xff\xfe": nodes.now(), b"2-ab": nodes.now()})
    assert not attempts.others(nodes, "2")
    nodes.main.zadd(attempts.ATTEMPTS, {b"3-ab": nodes.now()})
    assert attempts.others(nodes, "2")
    nodes.main.hset("farthest:attempt:2-ab:meta", b"\xff", "x")
    with pytest.raises(LateStepError):
        SearchWork(nodes, "2-ab").facts()


def test_of_a_blob_no_more_is_read_than_it_can_have(begin: Callable[..., GatherAttempt]) -> None:
    run = begin(case("two colours"))
    (record,) = (record for record in run._complete(0).values() if record.nonce)
    (block,) = (block for block, one in run._complete(0).items() if one is record)
    name = run.found_name(0, block, record.nonce)
    assert run.fetch([name], 10**6) == run.fetch([name], run.longest_blob(1))
    run.nodes.node(block).set(blob_key(name), bytes(2**24))
    (read,) = run.fetch([name], run.longest_blob(1))
    assert read is not None
    assert len(read) == run.longest_blob(1) + 1
    with pytest.raises(LostStateError, match="damaged"):
        run.keys(0, 1)
    assert run.fetch([run.found_name(7, block, record.nonce)], 10) == [None]
