"""Whatever is killed, stopped, emptied, damaged, repeated or delayed while a job runs: the same digest and layers.

Strikes come at random moments; a failed round tells its seed, and FARTHEST_TEST_SEED repeats it where timing allows.
"""

import os
import random
import time
from collections.abc import Iterator, Sequence

import pytest

import faults
from cluster import Cluster, Service, until
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Outcome
from farthest.puzzles.catalogue import load
from faults import Arena, Strike, arena, leftovers
from postman import Thief, postman
from servers import PostgresServer, RedisServer

SEED = int(os.environ.get("FARTHEST_TEST_SEED", "0")) or random.SystemRandom().getrandbits(32)
PUZZLE = "sliding-2x5"
SCATTERED = "hakoiri-musume-step"
STEP_SECONDS = 0.01

ROUNDS: dict[str, list[Strike]] = {
    "kills": [faults.kill_worker_child, faults.kill_worker, faults.kill_coordinator, faults.kill_all_workers],
    "frozen workers": [faults.freeze_worker, faults.freeze_worker_until_the_end],
    "redis": [faults.empty_redis, faults.restart_redis_with_data, faults.kill_redis, faults.freeze_redis],
    "database": [
        faults.stop_database_briefly,
        faults.kill_database_in_a_checkpoint,
        faults.turn_database_back,
    ],
    "blobs": [faults.damage_blob, faults.truncate_blob, faults.delete_blob, faults.swap_blob],
    "records": [faults.remove_record, faults.alter_record],
}
"""Every kind of strike, a job each."""
STRIKES = [strike for strikes in ROUNDS.values() for strike in strikes]


@pytest.fixture(scope="module")
def expected() -> Outcome:
    return enumerate_puzzle(load(PUZZLE), None)


@pytest.fixture(scope="module")
def standing(
    redis_server: RedisServer, postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Arena]:
    folder = tmp_path_factory.mktemp("faults")
    with arena(folder, redis_server, postgres_server, SEED, STEP_SECONDS) as one:
        yield one


TRIES = 3


def check(one: Arena, expected: Outcome, strikes: Sequence[Strike], seed: int) -> None:
    """One round: the digest and the layers are the expected ones. A job that ends before all strikes have landed is
    followed by another, for the rest."""
    one.rng.seed(seed)
    print(f"seed {seed}")
    left: list[Strike] = list(strikes)
    layers = len(expected.layers)
    for _ in range(TRIES):
        try:
            result = one.play(expected.puzzle, left, layers)
        finally:
            print("\n".join(one.told))
        if (result.layers, result.digest) != (expected.layers, expected.digest):
            print(one.cluster.logs())
        assert result.layers == expected.layers
        assert result.digest == expected.digest
        left = [strike for strike in left if strike not in one.landed]
        if not left:
            return
        layers = max(layers // 2, 2 * faults.EDGE + len(left))  # what came too late is tried sooner
    pytest.fail(f"in {TRIES} jobs these did not land: {', '.join(strike.__name__ for strike in left)}")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ROUNDS)
def test_faults_of_one_kind(standing: Arena, expected: Outcome, kind: str) -> None:
    check(standing, expected, random.Random(SEED).sample(ROUNDS[kind], len(ROUNDS[kind])), SEED)


@pytest.mark.night
@pytest.mark.parametrize("strike", STRIKES, ids=lambda strike: strike.__name__)
def test_one_fault(standing: Arena, expected: Outcome, strike: Strike) -> None:
    check(standing, expected, [strike], SEED)


@pytest.fixture(scope="module")
def scattered() -> Outcome:
    return enumerate_puzzle(load(SCATTERED), None)


@pytest.mark.night
def test_several_faults_where_states_are_scattered(standing: Arena, scattered: Outcome) -> None:
    strikes = [faults.kill_worker, faults.empty_redis, faults.swap_blob, faults.remove_record]
    check(standing, scattered, strikes, SEED)


@pytest.mark.night
def test_the_database_stops_for_ten_seconds(standing: Arena, expected: Outcome) -> None:
    check(standing, expected, [faults.stop_database], SEED)


@pytest.mark.night
@pytest.mark.parametrize("number", range(12))
def test_one_fault_after_another(standing: Arena, expected: Outcome, number: int) -> None:
    seed = SEED + number
    several = [strike for strike in STRIKES if strike is not faults.freeze_worker_until_the_end]
    strikes = random.Random(seed).sample(several, 5)
    check(standing, expected, strikes, seed)


@pytest.mark.slow
def test_every_task_is_delivered_twice_at_once_and_late(standing: Arena, expected: Outcome) -> None:
    """In the layer, in later layers, and after the end."""
    rng = random.Random(SEED)
    with postman(standing.redis.url, lambda: [0.0, rng.uniform(0.1, 2.0)]) as man:
        check(standing, expected, [], SEED)
        for queue, message in man.seen:
            man.push(queue, message)
        queues = {queue for queue, _ in man.seen}
        redis = standing.cluster.redis
        until(lambda: None if any(redis.llen(queue) for queue in queues) else True, 30, "the queue is empty")
    assert len(man.seen) >= len(expected.layers)
    assert man.again >= 2 * len(man.seen)
    until(lambda: None if leftovers(redis) else True, 5, "nothing is left of the run")


@pytest.mark.night
@pytest.mark.parametrize("copies", [1, 3])
def test_every_task_is_delivered_more_than_once(standing: Arena, expected: Outcome, copies: int) -> None:
    with postman(standing.redis.url, lambda: [0.0] * copies) as man:
        check(standing, expected, [], SEED)
        until(lambda: True if man.again >= copies * len(man.seen) else None, 10, "all copies are delivered")
    assert len(man.seen) >= len(expected.layers)


@pytest.mark.night
def test_some_messages_are_lost(standing: Arena, expected: Outcome) -> None:
    with postman(standing.redis.url, list) as man:
        standing.mend()
        standing.cluster.run("8-puzzle")
        queue = man.seen[0][0].decode()
    with Thief(standing.redis.url, queue, 0.05, random.Random(SEED)) as thief:
        check(standing, expected, [], SEED)
    assert thief.stolen


@pytest.mark.slow
def test_a_killed_workers_step_is_committed_by_another_within_ten_seconds(
    redis_url: str, postgres_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = {"SMALL_LAYER_STATES": 0, "BLOCK_SIZE": "32KiB"}  # leases as they are by default
    folder = tmp_path_factory.mktemp("killed")
    with Cluster(folder, redis_url, postgres_url, settings, delay=0.02) as cluster:
        cluster.add_coordinator()
        victim, _ = cluster.add_worker(), cluster.add_worker()
        cluster.ready()
        cluster.submit(PUZZLE)
        until(lambda: True if cluster.depth() > 10 else None, 30, "layer 10 is over")
        records, block = until(lambda: caught_in_a_step(cluster, victim), 30, "a step is under way", 0.05)
        cluster.remove(victim)
        killed = time.monotonic()
        until(lambda: committed(cluster, records, block), 20, "the step is committed")
        seconds = time.monotonic() - killed
    print(f"{seconds:.1f} s")
    assert seconds <= 10


def caught_in_a_step(cluster: Cluster, worker: Service) -> tuple[str, str] | None:
    """Freezes a worker; if it has the lease of a step that is not committed, the records and the block of that step."""
    worker.freeze()
    time.sleep(0.02)
    pids = {str(pid) for pid in worker.children()}
    for name in cluster.redis.scan_iter("farthest:attempt:*:lease:*", 1000):
        holder = cluster.redis.get(name)
        if holder and holder.decode().rpartition("/")[2] in pids:
            run, _, place = name.decode().partition(":lease:")
            kind, depth, block = place.split(":")
            if (
                kind == "step"
                and int(depth) == cluster.depth()
                and not committed(cluster, f"{run}:c:{depth}", block)
            ):
                return f"{run}:c:{depth}", block
    worker.thaw()
    return None


def committed(cluster: Cluster, records: str, block: str) -> bool | None:
    """Whether a block is in the records of its layer; None if not. (They stay until its layer is two layers old.)"""
    return True if cluster.redis.hexists(records, block) else None
