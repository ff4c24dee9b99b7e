"""Where a soak takes place: servers behind lines that can be cut, workers and coordinators, disks, clocks."""

from __future__ import annotations

import contextlib
import random
import re
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import small_pieces
from cluster import Cluster, Service
from farthest.errors import JobError
from faults import LEASE_SECONDS, Arena
from postman import Postman
from servers import PostgresServer, RedisServer
from soak import small_disk
from soak.clocks import Clocks
from soak.lines import Line
from soak.workloads import PIECE_SECONDS

if TYPE_CHECKING:
    from soak.running import CommandJob, Running, SubmittedJob

WORKERS = (2, 1)
COORDINATORS = 2
STEP_SECONDS = 0.04
REDIS = "redis"
"""The name of Redis's clock."""
LEAVE_SECONDS = 60.0
"""A process that was told to end has so long."""
TRACEBACK = re.compile(
    r"^Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(?P<last>\S.*)$", re.MULTILINE
)


@dataclass
class Ended:
    """A process that ended, or did not, as it should. ``tail``: of its log."""

    name: str
    status: int | None
    after: list[str]
    tail: str


@dataclass(kw_only=True)
class Ground(Arena):
    """An arena with more that can be struck, and what has been seen of its processes."""

    folder: Path
    disk: Path  # of the databases of commands that run alone
    disks_why_not: str
    redis_line: Line
    database_line: Line
    clocks: Clocks
    man: Postman
    jobs: list[Running] = field(default_factory=list)
    recent: list[str] = field(default_factory=list)  # strikes of this round
    leaving: list[tuple[Service, float]] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)  # by themselves
    refused: list[Ended] = field(default_factory=list)  # could not begin, with an error that says why
    left_badly: list[Ended] = field(default_factory=list)  # told to end: with a failure, or not at all
    tracebacks: dict[str, list[str]] = field(default_factory=dict)  # by their last lines: who wrote them
    _read: dict[Path, int] = field(default_factory=dict)

    def runs(self) -> bool:
        with contextlib.suppress(JobError):
            return super().runs()
        return False

    def running(self) -> list[Running]:
        return [job for job in self.jobs if job.result is None]

    def submitted(self) -> list[SubmittedJob]:
        """The enumerations that are queued or run."""
        from soak.running import SubmittedJob

        return [job for job in self.running() if isinstance(job, SubmittedJob)]

    def commands(self, kind: str) -> list[CommandJob]:
        """The commands under way of a kind of workload."""
        from soak.running import CommandJob

        return [
            job
            for job in self.running()
            if isinstance(job, CommandJob) and job.workload.kind == kind and job.service.alive
        ]

    def dismiss(self, service: Service) -> None:
        """Tells a worker or a coordinator to end (SIGTERM)."""
        service.process.send_signal(signal.SIGTERM)
        self.cluster.release(service)
        self.leaving.append((service, time.monotonic() + LEAVE_SECONDS))

    def fill_up(self) -> None:
        """Starts workers and coordinators until all are there that should be."""
        while len(self.cluster.workers) < len(WORKERS):
            self.cluster.add_worker(self.rng.choice(WORKERS))
        while len(self.cluster.coordinators) < COORDINATORS:
            self.cluster.add_coordinator()

    def mend(self) -> None:
        """As supervisors of services do; remembers who has ended without being told."""
        for service in (*self.cluster.workers, *self.cluster.coordinators):
            if not service.alive:
                self.cluster.release(service)
                one = self._ended(service)
                (self.refused if has_refused(service) else self.ended).append(one)
                self.say(f"{service.name} ended by itself, with status {one.status}")
        for service, limit in list(self.leaving):
            if service.alive and time.monotonic() < limit:
                continue
            self.leaving.remove((service, limit))
            if not left_well(service):
                self.left_badly.append(self._ended(service))
                service.kill()
        self.fill_up()

    def _ended(self, service: Service) -> Ended:
        return Ended(service.name, service.process.poll(), list(self.recent), service.said()[-3000:])

    def read_logs(self) -> None:
        """Notes the tracebacks that were written since the last time."""
        for service in self.cluster.services:
            start = self._read.get(service.log, 0)
            if service.log.stat().st_size == start:
                continue
            text = service.log.read_bytes()
            self._read[service.log] = len(text)
            for match in TRACEBACK.finditer(text[start:].decode(errors="replace")):
                last = re.sub(r"\d+", "N", match["last"])[:160]
                self.tracebacks.setdefault(last, []).append(service.name)

    def start_afresh(self) -> None:
        """Ends all processes by force and empties Redis: after a job that hung."""
        for service in (*self.cluster.workers, *self.cluster.coordinators, *self.leaving_services()):
            self.cluster.remove(service)
        self.leaving.clear()
        self.redis.flush()
        self.fill_up()

    def leaving_services(self) -> list[Service]:
        return [service for service, _ in self.leaving]


def left_well(service: Service) -> bool:
    """Whether a process that was told to end has done so. One that was just starting may not have heeded it yet."""
    status = service.process.poll()
    return status == 0 or (status == -signal.SIGTERM and not has_begun(service))


def has_begun(service: Service) -> bool:
    """Whether a worker or a coordinator has found its servers and its folders."""
    said = service.said()
    return " is ready: " in said or ": waiting for jobs in " in said


def has_refused(service: Service) -> bool:
    """Whether it has ended before that, and said why."""
    return not has_begun(service) and "\nError: " in f"\n{service.said()}"


def settings_of(rng: random.Random, name: str) -> dict[str, str]:
    """What may differ between processes without changing any result."""
    drawn = {
        "CHECKPOINT_SECONDS": rng.choice(["0", "0", "1", "5"]),
        "SMALL_LAYER_STATES": rng.choice(["0", "300", "1000"]),
        "BLOCK_SIZE": rng.choice(["8KiB", "16KiB", "64KiB"]),
        "REDIS_WAIT_SECONDS": rng.choice(["2", "60", "300"]),
        "DATABASE_WAIT_SECONDS": rng.choice(["2", "60", "300"]),
        "WORKER_MEMORY": rng.choice(["64KiB", "256MiB"]),
    }
    if name.startswith("solve"):  # a command that gives up is no service that goes on
        drawn |= {"REDIS_WAIT_SECONDS": "300", "DATABASE_WAIT_SECONDS": "300"}
    return {f"FARTHEST_{key}": value for key, value in drawn.items()}


@contextlib.contextmanager
def ground(folder: Path, seed: int, why_no_disks: str) -> Iterator[Ground]:
    """Servers and processes in a folder, while they are needed. ``why_no_disks``: why no file system can be mounted."""
    disk = folder / "disk"
    rng = random.Random(seed)
    disk.mkdir()
    why_no_disks = why_no_disks or small_disk.mount(disk)
    with ExitStack() as stack:
        stack.callback(small_disk.unmount, disk)
        redis, postgres = RedisServer(folder / "redis"), PostgresServer(folder / "postgres")
        clocks = Clocks(folder / "clocks")
        redis.environment |= clocks.environment(REDIS)
        for server in (redis, postgres):
            stack.callback(server.close)
            server.start()
        lines = [stack.enter_context(Line(server.port)) for server in (redis, postgres)]
        man = Postman(redis.url, list)
        man.start()
        stack.callback(man.stop)
        database = postgres.create_database("soak")
        settings = {
            "REDIS_URL": redis.url.replace(str(redis.port), str(lines[0].port)),
            "DATABASE_URL": database.replace(str(postgres.port), str(lines[1].port)),
            "LEASE_SECONDS": LEASE_SECONDS,
            "TEST_PIECES": f"{small_pieces.CUT} {PIECE_SECONDS['search']}",
            "PUZZLE_MODULES": "python_spaces",
        }
        cluster = Cluster(
            folder / "logs",
            redis.url,
            database,
            settings,
            delay=STEP_SECONDS,
            own=lambda name: {**clocks.environment(name), **settings_of(rng, name)},
        )
        made = Ground(
            stack.enter_context(cluster),
            redis,
            postgres,
            rng,
            patience=2.0,
            folder=folder,
            disk=disk,
            disks_why_not=why_no_disks,
            redis_line=lines[0],
            database_line=lines[1],
            clocks=clocks,
            man=man,
        )
        stack.callback(redis.thaw)
        stack.callback(postgres.thaw)
        yield made
