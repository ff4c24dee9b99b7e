"""Steps in Redis as workers take them: commits that come late, twice or after a lost answer, and lost input."""

from collections.abc import Callable

import pytest

from farthest.errors import LostStateError
from farthest.stores.contract import step
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.worker.enumeration import StepWork
from run_cases import NAMES_BY_RULE, Nodes, advance, keys, stepped, worker_store
from store_cases import NAMES, Case, case

Begin = Callable[..., GatherAttempt]
Connect = Callable[..., Nodes]

rules = pytest.mark.parametrize("rule", NAMES_BY_RULE)


def check_the_rest(run: GatherAttempt, of: Case, first: int) -> None:
    """Goes on from layer ``first`` to the end."""
    for depth in range(first, len(of.layers) + 1):
        advance(run, depth, depth)
        assert run.counts(depth) == of.counts(depth)


@pytest.mark.parametrize("name", NAMES)
def test_workers_step_every_kind_of_graph(begin: Begin, connect: Connect, name: str) -> None:
    """Two of them in turn, one of which keeps nothing in its cache, with connections of their own."""
    of = case(name, 2)
    run = begin(of)
    workers = [worker_store(run, connect(), cache) for cache in (0, 2**20)]
    for depth in range(1, len(of.layers) + 1):
        for block in run.blocks.of(run.begin(depth, range(run.kernel.shards))):
            step(workers[block % 2], depth, run.blocks.shards(block))
        assert run.counts(depth) == of.counts(depth)


@rules
def test_every_command_may_be_executed_twice(begin: Begin, connect: Connect, rule: str) -> None:
    of, nodes = case(NAMES_BY_RULE[rule], 2), connect(times=2)
    run = begin(of, nodes)
    worker = worker_store(run)
    for depth in range(1, len(of.layers) + 1):
        advance(run, depth, depth, worker)
        assert run.counts(depth) == of.counts(depth)
    run.drop()
    assert keys(nodes) == set()


@rules
def test_a_commit_whose_answer_was_lost_until_the_layer_was_over_stands(
    begin: Begin, connect: Connect, rule: str
) -> None:
    """The worker asks again when the next layer is under way: its blobs are the run's by then."""
    of, slow = case(NAMES_BY_RULE[rule], 2), connect()
    run = begin(of)
    worker = worker_store(run, slow)
    advance(run, 1, 2)
    blocks = run.blocks.of(run.begin(3, range(run.kernel.shards)))
    last = max(block for block in blocks if set(of.counts(3)) & set(run.blocks.shards(block)))
    for block in blocks:
        if block != last:
            step(run, 3, run.blocks.shards(block))
    step_input, counts = stepped(worker, 3, last)

    def next_layer() -> None:
        if StepWork(run.nodes, run.attempt).finished(3) >= set(blocks):
            slow.times = 1
            run.begin(4, range(run.kernel.shards))

    slow.times, slow.between = 2, next_layer
    worker.commit(3, step_input, counts)
    assert slow.times == 1
    advance(run, 4, 4)
    check_the_rest(run, of, 5)


def test_a_record_that_was_lost_is_not_replaced_by_an_empty_one(begin: Begin) -> None:
    """Where all states found are kept they hold the block's fresh ones by then: a step would find nothing new."""
    of = case("one-way", 2)
    run = begin(of)
    worker, records = worker_store(run), run.nodes.main
    advance(run, 1, 2)
    shards = run.begin(3, range(run.kernel.shards))
    step(worker, 3, shards)
    block = run.blocks.of(of.counts(3))[0]
    records.hdel(run.records_key(3), str(block))
    with pytest.raises(LostStateError):
        step(worker, 3, run.blocks.shards(block))
    with pytest.raises(LostStateError):
        run.counts(3)


def test_a_lost_pointer_to_what_was_visited_is_not_read_as_none(begin: Begin) -> None:
    of = case("one-way", 2)
    run = begin(of)
    worker = worker_store(run)
    advance(run, 1, 3)
    run.begin(4, range(run.kernel.shards))
    visited = {block for depth in range(4) for block in run.blocks.of(of.counts(depth))}
    for block in visited:
        run.nodes.main.hdel(run.visited_key, str(block))
        run.nodes.main.hset(run.visited_key, "1000", "3:abc")  # as many as before
        with pytest.raises(LostStateError):
            step(worker, 4, run.blocks.shards(block))


def test_a_flush_before_the_run_is_ready_is_noticed(begin: Begin, connect: Connect) -> None:
    """The main node loses what it had while the other node keeps its blobs."""
    of = case("one-way", 2)
    for commands in (2, 3, 4):
        nodes, sent = connect(), list[int]()

        def count_and_flush(nodes: Nodes = nodes, sent: list[int] = sent, commands: int = commands) -> None:
            sent.append(1)
            if len(sent) == commands:
                nodes.main.flushdb()

        nodes.before = count_and_flush
        run = begin(of, nodes)
        nodes.before = lambda: None
        assert len(sent) >= commands
        try:
            check_the_rest(run, of, 1)
        except LostStateError:
            continue
