"""Workers and coordinators as processes of their own, for tests that need many of them, and kill or freeze them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from click.testing import CliRunner
from redis import Redis

from farthest.cli.app import cli
from farthest.errors import UnavailableError
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.records import JobRecord
from forked import started

T = TypeVar("T")

READY_SECONDS = 60.0
STOP_SECONDS = 20.0
LOG_TAIL = 4000
ENDS = ("finished", "failed", "cancelled", "interrupted")


@dataclass(frozen=True)
class Result:
    """What a job left in the database."""

    job: int
    digest: str
    layers: tuple[int, ...]
    seconds: float


class Service:
    """One command of farthest that runs until it is told to end, with the processes that it starts."""

    def __init__(
        self, folder: Path, name: str, words: list[str], environment: Mapping[str, str], delay: float
    ) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._frozen: list[int] = []
        self.process = started(folder, self.log, words, environment, delay)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def children(self) -> list[int]:
        """The processes that it has started, oldest first."""
        return children(self.pid)

    def kill(self) -> None:
        """Kills it and its children at the same moment (kill -9)."""
        for pid in self._tree():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def kill_child(self, number: int = 0) -> int:
        """Kills one of its children (kill -9); which one."""
        pids = until(lambda: self.children() or None, READY_SECONDS, f"{self.name} starts a child")
        pid = pids[number % len(pids)]
        os.kill(pid, signal.SIGKILL)
        return pid

    def freeze(self) -> None:
        """Stops it and its children (SIGSTOP): connections stay open, nothing is done."""
        self._frozen = self._tree()
        for pid in self._frozen:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Lets it go on."""
        for pid in self._frozen:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self._frozen = []

    def stop(self) -> int:
        """Tells it to end (SIGTERM) and waits; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_SECONDS)

    def said(self) -> str:
        """What it has written so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def _tree(self) -> list[int]:
        found = [self.pid] if self.alive else []
        for pid in found:
            found += children(pid)
        return found


def children(pid: int) -> list[int]:
    """The children of a process, oldest first."""
    pids: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            pids += map(int, task.read_text().split())
    return sorted(pids)


def until(ask: Callable[[], T | None], seconds: float, what: str, pause: float = 0.005) -> T:
    """The first answer that is not None. AssertionError when there is none in time."""
    limit = time.monotonic() + seconds
    while (answer := ask()) is None:
        assert time.monotonic() < limit, f"waited {seconds:g} s in vain until {what}"
        time.sleep(pause)
    return answer


class Cluster:
    """Workers and coordinators over one Redis and one database. Used in a `with` block, at whose end they are killed.

    ``environment``: FARTHEST_… settings without their prefix, for all processes. ``delay``: seconds before each step
    of a worker. ``seen_from_here``: the Redis URL for this process, where it is another one than for the workers.
    ``own``: more environment variables of a process, by its name.
    """

    def __init__(
        self,
        folder: Path,
        redis_url: str,
        database_url: str,
        environment: Mapping[str, object] | None = None,
        *,
        delay: float = 0.0,
        seen_from_here: str | None = None,
        own: Callable[[str], Mapping[str, str]] = lambda name: {},
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.redis_url = seen_from_here or redis_url
        self.database_url = database_url
        self.workers: list[Service] = []
        self.coordinators: list[Service] = []
        self._delay = delay
        self._own = own
        self._gone: list[Service] = []
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("FARTHEST_") or name == "FARTHEST_KERNEL_PATH"
        }
        places = {"REDIS_URL": redis_url, "DATABASE_URL": database_url}
        settings: dict[str, object] = {**places, **(environment or {})}
        self.environment = {
            **kept,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "TMPDIR": str(folder),
            **{f"FARTHEST_{name}": str(value) for name, value in settings.items()},
        }
        self.redis: Any = Redis.from_url(self.redis_url, socket_timeout=10)

    def __enter__(self) -> Cluster:
        self._database = open_database(self.database_url, create=True)
        self._jobs = Jobs(self._database)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            print(self.logs())
        for service in self.services:
            service.kill()
        self.redis.close()
        self._database.close()

    @property
    def services(self) -> list[Service]:
        """All that have been started; some may be dead."""
        return [*self.workers, *self.coordinators, *self._gone]

    def add_worker(self, concurrency: int = 1, *options: str) -> Service:
        """Starts a worker; ``ready`` waits for it."""
        words = ["worker", "--concurrency", str(concurrency), *options]
        worker = self._start("worker", words, self._delay)
        self.workers.append(worker)
        return worker

    def add_coordinator(self, *options: str) -> Service:
        """Starts a coordinator."""
        coordinator = self._start("coordinator", ["coordinator", *options], 0)
        self.coordinators.append(coordinator)
        return coordinator

    def start(self, *words: str) -> Service:
        """Starts any other command, which uses the cluster's servers."""
        service = self._start(words[0], list(words), 0)
        self._gone.append(service)
        return service

    def adopt(self, service: Service) -> None:
        """Kills a process that was started elsewhere at the end, with its own."""
        self._gone.append(service)

    def remove(self, service: Service) -> None:
        """Kills a worker or a coordinator for good."""
        service.kill()
        self.release(service)

    def release(self, service: Service) -> None:
        """Counts a worker or a coordinator among those that are gone, or about to go."""
        for services in (self.workers, self.coordinators):
            if service in services:
                services.remove(service)
        self._gone.append(service)

    def _start(self, kind: str, words: list[str], delay: float) -> Service:
        name = f"{kind}-{len(self.services) + 1}"
        return Service(self.folder, name, words, {**self.environment, **self._own(name)}, delay)

    def ready(self) -> None:
        """Waits until every worker has said that it is there."""

        def all_there() -> bool | None:
            for service in (*self.workers, *self.coordinators):
                assert service.alive, (
                    f"{service.name} ended with status {service.process.poll()}:\n{self.logs()}"
                )
            wanted = {worker.pid for worker in self.workers}
            there = {record["pid"] for record in self.registered() if record["pids"]}
            return True if wanted <= there else None

        until(all_there, READY_SECONDS, "all workers are registered", 0.02)

    def registered(self) -> list[dict[str, Any]]:
        """What the workers say of themselves in Redis."""
        texts = self.redis.mget(list(self.redis.scan_iter("farthest:worker:*", 1000)) or ["none"])
        return [json.loads(text) for text in texts if text]

    def depth(self) -> int:
        """The layer under way; 0 where Redis knows of none."""
        runs = [run.decode() for run in self.redis.zrange("farthest:attempts", 0, -1)]
        depths = [self.redis.hget(f"farthest:attempt:{run}:meta", "depth") for run in runs]
        return max((int(depth) for depth in depths if depth), default=0)

    # Jobs

    def submit(self, puzzle: str, *options: str) -> int:
        """Queues a job; its id."""
        words = ["submit", puzzle, "--database", self.database_url, "--json", *options]
        result = CliRunner().invoke(cli, words, env={"FARTHEST_REDIS_URL": self.redis_url})
        assert result.exit_code == 0, result.output
        return int(json.loads(result.stdout)["job"])

    def job(self, job: int) -> JobRecord:
        """The job's row, waited for while the database is away."""
        return self.asked(lambda jobs: jobs.get(job))

    def asked(self, question: Callable[[Jobs], T]) -> T:
        """What the database says of its jobs, waited for while it is away."""

        def answer() -> tuple[T] | None:
            with contextlib.suppress(UnavailableError):
                return (question(self._jobs),)
            return None

        return until(answer, READY_SECONDS, "the database answers", 0.1)[0]

    def wait(self, job: int, seconds: float = 120) -> Result:
        """Waits until a job is finished; AssertionError if it ends in another way, or not in time."""
        begun = time.monotonic()
        try:
            record = until(lambda: self._ended(job), seconds, f"job {job} ends", 0.02)
            layers = tuple(layer.states for layer in self._jobs.layers(job))
            assert record.status == "finished", f"job {job} is {record.status}: {record.error}"
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.logs()}") from None
        assert record.digest is not None
        return Result(job, record.digest, layers, time.monotonic() - begun)

    def _ended(self, job: int) -> JobRecord | None:
        record = self.job(job)
        return record if record.status in ENDS else None

    def run(self, puzzle: str, *options: str) -> Result:
        """Queues a job and waits for its result."""
        return self.wait(self.submit(puzzle, *options))

    def logs(self) -> str:
        """The ends of all logs."""
        return "\n".join(f"--- {one.name} ({one.pid})\n{one.said()[-LOG_TAIL:]}" for one in self.services)
