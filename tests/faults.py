"""What can go wrong while a job runs, done on purpose: functions that strike an arena, a cluster with its servers."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from cluster import Cluster, Result, Service, until
from farthest.models import tables
from servers import PostgresServer, RedisServer

LEASE_SECONDS = 1.0
WORKERS = (2, 1)
COORDINATORS = 2
EDGE = 3
"""Layers at the beginning and at the end of a space at which nothing is done."""


@dataclass
class Arena:
    """A cluster with spare workers and coordinators, its servers, and what has been done to them."""

    cluster: Cluster
    redis: RedisServer
    postgres: PostgresServer
    rng: random.Random
    told: list[str] = field(default_factory=list)
    job: int = 0
    landed: list[Strike] = field(default_factory=list)  # at the last job
    patience: float = 30.0  # seconds that a strike waits for what it strikes

    def say(self, text: str) -> None:
        self.told.append(text)

    def mend(self) -> None:
        """Starts what is missing, and waits until it is there."""
        for services in (self.cluster.workers, self.cluster.coordinators):
            for service in list(services):
                if not service.alive:
                    self.cluster.remove(service)
        while len(self.cluster.workers) < len(WORKERS):
            self.cluster.add_worker(WORKERS[len(self.cluster.workers)])
        while len(self.cluster.coordinators) < COORDINATORS:
            self.cluster.add_coordinator()
        self.cluster.ready()

    def play(self, puzzle: str, strikes: list[Strike], layers: int, seconds: float = 120) -> Result:
        """Runs a job and strikes at random layers; what came out. AssertionError if it had ended before the first.

        ``layers``: how many the puzzle has.
        """
        self.mend()
        self.told.clear()
        self.landed = []
        self.job = self.cluster.submit(puzzle)
        targets = sorted(self.rng.sample(range(EDGE, layers - EDGE), len(strikes)))
        for number, (target, strike) in enumerate(zip(targets, strikes, strict=True)):
            if number and not self.runs():  # it went on during the strikes before
                self.say(f"ended before {strike.__name__}")
                break
            depth = until(partial(self._at, target, number), seconds, f"layer {target} is under way")
            if depth < 0:
                self.say(f"ended before {strike.__name__}")
                break
            time.sleep(self.rng.uniform(0, 0.05))
            assert number or self.runs(), f"job {self.job} had ended before {strike.__name__}"
            self.say(f"{strike.__name__} at layer {depth}")
            strike(self)
            if not self.told[-1].startswith("too late"):
                self.landed.append(strike)
        result = self.cluster.wait(self.job, seconds)
        for service in (*self.cluster.workers, *self.cluster.coordinators):
            assert service.alive, f"{service.name} did not survive\n{service.said()}"
        return result

    def _at(self, least: int, struck: int) -> int | None:
        """The layer under way, from ``least`` on; -1 where a job that was struck has ended before."""
        depth = self.cluster.depth()
        if depth == 0:
            time.sleep(0.05)
            if not self.runs():
                assert struck, f"job {self.job} ended before layer {least}\n{self.cluster.logs()}"
                return -1
        return depth if depth >= least else None

    def runs(self) -> bool:
        """Whether the job has not ended."""
        return self.cluster.job(self.job).status in ("queued", "running")

    def owner(self) -> Service:
        """The coordinator that runs the job."""

        def claimed() -> Service | None:
            owner = self.cluster.job(self.job).owner
            if owner is None:
                return None
            pid = int(owner.split("/")[-2])
            return next((one for one in self.cluster.coordinators if one.pid == pid), None)

        return until(claimed, self.patience, "a coordinator has claimed the job")

    def blobs(self) -> list[bytes]:
        """The keys of the blobs of the newest layer that is complete or under way; waits until there are some."""

        def newest() -> list[bytes] | None:
            depth = self.cluster.depth()
            return list(self.cluster.redis.scan_iter(f"farthest:attempt:*:[bo]:{depth - 1}:*", 1000)) or None

        return until(newest, self.patience, "there are blobs", 0.001)


Strike = Callable[[Arena], None]


def kill_worker_child(arena: Arena) -> None:
    worker = arena.rng.choice(arena.cluster.workers)
    arena.say(f"child {worker.kill_child(arena.rng.randrange(2))} of {worker.name}")


def kill_worker(arena: Arena) -> None:
    arena.cluster.remove(arena.rng.choice(arena.cluster.workers))


def kill_all_workers(arena: Arena) -> None:
    """All workers; fresh ones come a little later."""
    for worker in list(arena.cluster.workers):
        arena.cluster.remove(worker)
    time.sleep(arena.rng.uniform(0, 1))
    for concurrency in WORKERS:
        arena.cluster.add_worker(concurrency)


def kill_coordinator(arena: Arena) -> None:
    arena.cluster.remove(arena.owner())


def freeze_worker(arena: Arena) -> None:
    """For longer than its lease."""
    worker = arena.rng.choice(arena.cluster.workers)
    worker.freeze()
    time.sleep(LEASE_SECONDS + arena.rng.uniform(0.3, 1))
    worker.thaw()


def freeze_worker_until_the_end(arena: Arena) -> None:
    """It wakes when its job has ended, or much later in it."""
    worker = arena.rng.choice(arena.cluster.workers)
    worker.freeze()
    with contextlib.suppress(AssertionError):
        until(lambda: None if arena.runs() else True, 5 * LEASE_SECONDS, "the job ends", 0.05)
    worker.thaw()


def restart_redis_with_data(arena: Arena) -> None:
    arena.redis.restart()


def empty_redis(arena: Arena) -> None:
    arena.redis.flush()


def kill_redis(arena: Arena) -> None:
    """All is lost, and it is away for a while."""
    arena.redis.kill()
    time.sleep(arena.rng.uniform(0, 3))
    arena.redis.start()


def freeze_redis(arena: Arena) -> None:
    arena.redis.freeze()
    time.sleep(LEASE_SECONDS + arena.rng.uniform(0.3, 2))
    arena.redis.thaw()


def stop_database(arena: Arena) -> None:
    stop_database_for(arena, 10)


def stop_database_briefly(arena: Arena) -> None:
    stop_database_for(arena, 1)


def stop_database_for(arena: Arena, seconds: float) -> None:
    arena.postgres.stop()
    time.sleep(seconds)
    arena.postgres.start()


def kill_database_in_a_checkpoint(arena: Arena) -> None:
    """As its rows are being written."""
    import psycopg

    writing = (
        "SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND query ILIKE '%insert into chunk%'"
    )
    with psycopg.connect(arena.cluster.database_url, autocommit=True) as connection:
        with contextlib.suppress(AssertionError):
            until(
                lambda: sum(connection.execute(writing).fetchone() or ()) or None,
                2,
                "rows are written",
                0.0005,
            )
            arena.say("rows were being written")
        arena.postgres.kill()
    time.sleep(1)
    arena.postgres.start()


ITS_RUNS = {"id", "status", "owner", "lease_until", "started", "progress", "error"}
"""Columns of a job that are about who runs it."""


def turn_database_back(arena: Arena) -> None:
    """To the last checkpoint but one: a replica that lagged behind has taken the server's place."""
    import psycopg

    job, same = {"job": arena.job}, "WHERE job_id = %(job)s"
    with psycopg.connect(arena.cluster.database_url, autocommit=True) as connection:

        def depth() -> int | None:
            row = connection.execute(f"SELECT min(depth) FROM chunk {same}", job).fetchone()
            return None if row is None or row[0] is None else int(row[0])

        until(depth, arena.patience, "there is a checkpoint")
        with connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for table in ("layer", "chunk"):
                connection.execute(f"CREATE TEMPORARY TABLE old_{table} AS SELECT * FROM {table} {same}", job)
            connection.execute("CREATE TEMPORARY TABLE old_job AS SELECT * FROM job WHERE id = %(job)s", job)
            was = depth()
        until(lambda: True if depth() != was else None, arena.patience, "there is another checkpoint")
        with connection.transaction():
            kept = ", ".join(
                f"{name} = old_job.{name}" for name in sorted(set(tables.job.c.keys()) - ITS_RUNS)
            )
            struck = connection.execute(
                f"UPDATE job SET {kept} FROM old_job WHERE job.id = old_job.id AND job.status = 'running'"
            )
            if not struck.rowcount:
                arena.say("too late: the checkpoint was the result")
                return
            for table in ("layer", "chunk"):
                connection.execute(f"DELETE FROM {table} {same}", job)
                connection.execute(f"INSERT INTO {table} SELECT * FROM old_{table}")
    arena.say(f"back to the checkpoint of depth {was}")


def damage_blob(arena: Arena) -> None:
    """Another byte somewhere."""
    change_blob(arena, overwritten)


def truncate_blob(arena: Arena) -> None:
    change_blob(arena, lambda arena, blob: blob[: arena.rng.randrange(len(blob))])


def delete_blob(arena: Arena) -> None:
    change_blob(arena, lambda arena, blob: None)


def swap_blob(arena: Arena) -> None:
    """A sound blob, of another block or depth."""
    redis, other = arena.cluster.redis, arena.rng.choice(arena.blobs())
    change_blob(arena, lambda arena, blob: redis.get(other))


def change_blob(arena: Arena, change: Callable[[Arena, bytes], bytes | None]) -> None:
    """One blob of the newest layers."""
    redis = arena.cluster.redis

    def changed() -> str | None:
        names = arena.blobs()
        name = arena.rng.choice(names)
        blob = redis.get(name)
        if not blob:
            return None
        other = change(arena, blob)
        done = redis.unlink(name) if other is None else redis.set(name, other, xx=True)
        return name.decode() if done else None

    arena.say(until(changed, arena.patience, "a blob is there to be changed", 0.001))


def overwritten(arena: Arena, blob: bytes) -> bytes:
    place = arena.rng.randrange(len(blob))
    byte = blob[place] ^ arena.rng.randrange(1, 256)
    return blob[:place] + bytes([byte]) + blob[place + 1 :]


def remove_record(arena: Arena) -> None:
    """What says that a block has been stepped, in one of the layers that are read."""
    redis = arena.cluster.redis

    def removed() -> str | None:
        depth = arena.cluster.depth() - arena.rng.randrange(3)
        for name in redis.scan_iter(f"farthest:attempt:*:c:{depth}", 1000):
            blocks = redis.hkeys(name)
            block = arena.rng.choice(blocks) if blocks else b""
            if redis.hdel(name, block):
                return f"{name.decode()} {block.decode()}"
        return None

    arena.say(until(removed, arena.patience, "a record is there to be removed", 0.001))


def alter_record(arena: Arena) -> None:
    """One digit of what says how many states a block has, or which blob."""
    redis = arena.cluster.redis

    def altered() -> str | None:
        depth = arena.cluster.depth() - arena.rng.randrange(2)
        for name in redis.scan_iter(f"farthest:attempt:*:c:{depth}", 1000):
            for block, text in redis.hgetall(name).items():
                places = [place for place, sign in enumerate(text) if chr(sign).isdigit()]
                place = arena.rng.choice(places or [0])
                digit = (text[place] - ord("0") + arena.rng.randrange(1, 10)) % 10
                redis.hset(name, block, text[:place] + str(digit).encode() + text[place + 1 :])
                return f"{name.decode()} {block.decode()} {text.decode()}"
        return None

    arena.say(until(altered, arena.patience, "a record is there to be altered", 0.001))


@contextlib.contextmanager
def arena(
    folder: Path, redis: RedisServer, postgres: PostgresServer, seed: int, delay: float, **environment: object
) -> Iterator[Arena]:
    """An arena with a database of its own."""
    name = f"arena_{seed:x}"
    settings = {
        "SMALL_LAYER_STATES": 0,
        "BLOCK_SIZE": "32KiB",
        "LEASE_SECONDS": LEASE_SECONDS,
        "CHECKPOINT_SECONDS": 0,
    }
    redis.flush()
    database = postgres.create_database(name)
    try:
        with Cluster(folder, redis.url, database, {**settings, **environment}, delay=delay) as cluster:
            yield Arena(cluster, redis, postgres, random.Random(seed))
    finally:
        for server in (redis, postgres):
            server.thaw()
            if server.process is None:
                server.start()
        postgres.drop_database(name)


def leftovers(redis: Any) -> list[str]:
    """The keys of runs."""
    return sorted(name.decode() for name in redis.scan_iter("farthest:attempt:*", 1000))
