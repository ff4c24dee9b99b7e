"""Commands of farthest as processes: forked from one that has imported all that they need, which takes a second of a
processor, or started anew where a process has to be.

Each is in a session of its own, writes to a log of its own, and ends with the process of the tests.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

NEW = "import sys; from forked import become; become(*map(int, sys.argv[1:2]), float(sys.argv[2]), sys.argv[3:])"
NURSERY = "import sys; from forked import rear; rear(*map(int, sys.argv[1:]))"
FORBIDDEN_TO_FORK = "LD_PRELOAD"
"""What changes a process only where it is started anew."""


def _network() -> str:
    """The network namespace of this thread."""
    return os.readlink("/proc/thread-self/ns/net")


HERE = _network()


def started(
    folder: Path, log: Path, words: list[str], environment: Mapping[str, str], delay: float
) -> subprocess.Popen[bytes] | Forked:
    """A command under way in a folder. ``environment``: all of it. ``delay``: seconds before each of its steps."""
    log.touch()
    if FORBIDDEN_TO_FORK not in environment and _network() == HERE:
        return Forked(folder, log, words, environment, delay)
    with log.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, "-c", NEW, str(os.getpid()), str(delay), *words],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )


class Forked:
    """A process that is forked; as ``subprocess.Popen``."""

    def __init__(
        self, folder: Path, log: Path, words: list[str], environment: Mapping[str, str], delay: float
    ) -> None:
        self.pid: int = _nursery()(
            {
                "folder": str(folder),
                "log": str(log),
                "words": words,
                "environment": dict(environment),
                "delay": delay,
            }
        )
        self.returncode: int | None = None
        self._end = os.pidfd_open(self.pid)

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        if (status := self._ended(timeout)) is None:
            raise subprocess.TimeoutExpired("farthest", timeout or 0)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _ended(self, seconds: float | None) -> int | None:
        if self.returncode is None:
            end = select.poll()
            end.register(self._end, select.POLLIN)
            if end.poll(None if seconds is None else 1000 * seconds):
                os.close(self._end)
                self.returncode = _nursery()({"ended": self.pid})
        return self.returncode


@cache
def _nursery() -> Callable[[dict[str, Any]], int]:
    """Asks the process that forks, which is started here."""
    here, there = socket.socketpair()
    with there:
        process = subprocess.Popen(
            [sys.executable, "-c", NURSERY, str(os.getpid()), str(there.fileno())],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            pass_fds=[there.fileno()],
            start_new_session=True,
        )

    def ask(question: dict[str, Any]) -> int:
        here.sendall(json.dumps(question).encode() + b"\n")
        answer = here.recv(100)
        assert answer, "the process that forks has ended"
        return int(answer)

    def end() -> None:
        here.close()
        process.wait()

    atexit.register(end)
    return ask


# In the process that forks, and in those that are forked


def rear(tests: int, descriptor: int) -> None:
    """Forks processes, and tells how they ended, until the process of the tests, ``tests``, has ended."""
    _end_with(tests)
    _import()
    gc.freeze()
    asked = socket.socket(fileno=descriptor)
    for line in asked.makefile():
        question = json.loads(line)
        if "ended" in question:
            answer = os.waitstatus_to_exitcode(os.waitpid(question["ended"], 0)[1])
        else:
            with warnings.catch_warnings():  # Python does not know which threads are asleep for good
                warnings.simplefilter("ignore", DeprecationWarning)
                answer = os.fork()
            if not answer:
                asked.detach()
                os.close(descriptor)
                _begin(**question)
        asked.sendall(b"%d" % answer)
    os._exit(0)


def _import() -> None:
    """What services use, but what asks the environment when it is imported, and what must not be forked."""
    if "FARTHEST_KERNEL_PATH" in os.environ:
        import conftest  # noqa: F401
    services = "cli.services", "coordinator.service", "coordinator.enumeration.celery_backend"
    for name in (*(f"farthest.{name}" for name in services), "psycopg", "sqlalchemy.dialects.postgresql"):
        import_module(name)
    from farthest.worker.service import load

    load()


def _begin(folder: str, log: str, words: list[str], environment: dict[str, str], delay: float) -> None:
    os.setsid()
    os.chdir(folder)
    for number, (name, way) in enumerate(
        [(os.devnull, os.O_RDONLY), *[(log, os.O_WRONLY | os.O_APPEND)] * 2]
    ):
        opened = os.open(name, way | os.O_CREAT, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.path[1:1] = [
        path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path and path not in sys.path
    ]
    become(os.getppid(), delay, words)


def become(parent: int, delay: float, words: list[str]) -> None:
    """Runs a command in this process, which ends with its parent and writes what its threads do into its log at
    SIGUSR2. A delay before every step, and FARTHEST_TEST_LAYER seconds before every layer, make runs of small puzzles
    long enough to disturb. FARTHEST_TEST_JOB_LEASE: seconds that the job of a coordinator which stands still is not
    taken over."""
    _end_with(parent)
    faulthandler.register(signal.SIGUSR2)
    if "FARTHEST_KERNEL_PATH" in os.environ:
        import conftest  # noqa: F401
    if delay:
        from farthest import _kernel
        from farthest.stores.redis.gather_store import GatherStore

        _slow(_kernel, "step", delay)
        _slow(_kernel, "merge_runs", delay)
        _slow(GatherStore, "stepped", delay)
    if "FARTHEST_TEST_LAYER" in os.environ:
        from farthest.coordinator.enumeration import job

        _slow(job, "next_layer", float(os.environ["FARTHEST_TEST_LAYER"]))
    if "FARTHEST_TEST_JOB_LEASE" in os.environ:
        from farthest.coordinator import service

        service.__dict__["SERVICE_LEASE_SECONDS"] = float(os.environ["FARTHEST_TEST_JOB_LEASE"])
    if "FARTHEST_TEST_PIECES" in os.environ:
        import small_pieces

        small_pieces.cut(os.environ["FARTHEST_TEST_PIECES"])
    from farthest.cli.entry import main

    sys.argv = ["farthest", *words]
    main()


def _slow(owner: Any, name: str, seconds: float) -> None:
    act = getattr(owner, name)

    def slow(*arguments: Any) -> Any:
        time.sleep(seconds)
        return act(*arguments)

    setattr(owner, name, slow)


def _end_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)
