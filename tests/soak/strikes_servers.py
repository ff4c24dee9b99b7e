"""The strikes of a soak on the database, connections, clocks and disks."""

from __future__ import annotations

import contextlib
import time

from cluster import until
from soak import small_disk
from soak.ground import REDIS, Ground
from soak.strikes import Missed, pause, strike

JUMPS = (-7200, -90, -20, 20, 90, 7200)
"""Seconds by which clocks jump."""


# The database


@strike()
def kill_database(ground: Ground) -> None:
    ground.postgres.kill()
    pause(ground, 0, 4)
    ground.postgres.start()


@strike()
def stop_database(ground: Ground) -> None:
    ground.postgres.stop()
    pause(ground, 5, 10)
    ground.postgres.start()


@strike()
def freeze_database(ground: Ground) -> None:
    ground.postgres.freeze()
    pause(ground, 1, 12)
    ground.postgres.thaw()


@strike()
def database_backends_ended(ground: Ground) -> None:
    """Several times, as they come back."""
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'soak'"
    for _ in range(ground.rng.randrange(1, 5)):
        ground.postgres.execute(end)
        time.sleep(ground.rng.uniform(0, 0.5))


# Connections


@strike()
def redis_line_cut(ground: Ground) -> None:
    for _ in range(ground.rng.randrange(1, 6)):
        ground.redis_line.cut()
        time.sleep(ground.rng.uniform(0, 0.5))


@strike()
def redis_line_refused(ground: Ground) -> None:
    with ground.redis_line.refused():
        pause(ground, 1, 8)


@strike()
def redis_line_slow(ground: Ground) -> None:
    with ground.redis_line.slow(ground.rng.uniform(0.01, 0.5)):
        pause(ground, 1, 6)


@strike()
def redis_line_stalled(ground: Ground) -> None:
    """Perhaps for longer than any timeout; what was sent comes through then."""
    with ground.redis_line.stalled():
        pause(ground, 1, 15)


@strike()
def database_line_cut(ground: Ground) -> None:
    for _ in range(ground.rng.randrange(1, 6)):
        ground.database_line.cut()
        time.sleep(ground.rng.uniform(0, 0.5))


@strike()
def database_line_refused(ground: Ground) -> None:
    with ground.database_line.refused():
        pause(ground, 1, 8)


@strike()
def database_line_stalled(ground: Ground) -> None:
    with ground.database_line.stalled():
        pause(ground, 1, 15)


# Clocks: they go right again at the next jump, or when the process is replaced.


def _jump(ground: Ground, names: list[str]) -> None:
    for name in names:
        seconds = ground.rng.choice(JUMPS)
        ground.clocks.set(name, seconds)
        ground.say(f"{name}: {seconds:+d} s")
    pause(ground, 1.5, 4)
    if ground.rng.random() < 0.5:
        for name in names:
            ground.clocks.set(name, 0)


@strike("clocks")
def worker_clocks_jump(ground: Ground) -> None:
    workers = ground.cluster.workers
    _jump(ground, [one.name for one in ground.rng.sample(workers, ground.rng.randint(1, len(workers)))])


@strike("clocks")
def coordinator_clocks_jump(ground: Ground) -> None:
    some = ground.cluster.coordinators
    _jump(ground, [one.name for one in ground.rng.sample(some, ground.rng.randint(1, len(some)))])


@strike("clocks")
def redis_clock_jumps(ground: Ground) -> None:
    """Little, as it says when leases end: they last so much longer when it goes back."""
    ground.clocks.set(REDIS, ground.rng.choice([-15, 15]))
    pause(ground, 1.5, 4)
    ground.clocks.set(REDIS, 0)
    time.sleep(1.0)


# Disks


@strike("local")
def disk_full(ground: Ground) -> None:
    """Where the databases of commands that run alone are."""
    if ground.disks_why_not:
        raise Missed(ground.disks_why_not)
    [job] = ground.commands("local")
    with small_disk.full(ground.disk), contextlib.suppress(AssertionError):
        until(lambda: None if job.service.alive else True, ground.rng.uniform(1, 5), "the command ends")
