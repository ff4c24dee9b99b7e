"""``farthest worker``: the main process, which starts the processes that run steps, and replaces those that end.

It has one thread, so that it can fork at any time. It uses Redis only to register the worker, so that nothing that
happens to Redis or to a step ends it. Only signals do.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from time import monotonic

from farthest.environment import BLOBS, LEASE_SECONDS, WORKER_MEMORY
from farthest.errors import FarthestError, SettingError, StorageError
from farthest.families.python.allowed import allowed_modules
from farthest.logs import say
from farthest.models.leases import host_name
from farthest.retry import retry_while_away
from farthest.stores.blobs.place import REDIS
from farthest.stores.redis.attempts import PROTOCOL
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.places import place_of
from farthest.version import __version__
from farthest.worker import consumer
from farthest.worker.consumer import DRAINS
from farthest.worker.registry import Heartbeat, WorkerRecord, claim_name, tell_of

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 5.0
"""Pauses before a process that has ended is replaced: none at first, then they double from FIRST_PAUSE to this."""
LASTING_SECONDS = 30.0
"""A process that ran for so long is replaced without a pause."""


def worker_name(name: str | None) -> str:
    """The name of a worker of this process: ``name``, or one made of the host and the process. Raises SettingError."""
    if name is None:
        return f"farthest@{host_name()}-{os.getpid()}"
    if not name or not name.isprintable() or any(sign in " /@%" for sign in name):
        raise SettingError(
            f"--name is {name!r}; expected a name without spaces, /, @ and %, such as worker-1"
        )
    return f"farthest@{name}"


def run_worker(concurrency: int, name: str) -> int:
    """Runs a worker until it is told to stop; returns its exit status. Raises SettingError and StorageError at the
    start.

    The first SIGTERM, SIGINT or SIGHUP lets the steps under way end, a second one ends the worker at once.
    """
    LEASE_SECONDS.number()
    WORKER_MEMORY.size()
    allowed = sorted(allowed_modules())
    if allowed:
        log.info("puzzle classes may run of the modules %s", ", ".join(allowed))
    nodes = RedisNodes.from_environment()
    retry_while_away(nodes.check, told=log.warning)
    _check_place()
    main = _Main(concurrency, name, nodes)
    main.claim_name()
    nodes.close()
    consumer.load()
    main.run()
    return 0


def _check_place() -> None:
    """Raises SettingError and StorageError where the place of blobs cannot be used. Another process looks: one that has
    used an object store must not be forked."""
    if BLOBS.text() == REDIS:
        return
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=_look_at_place, args=(there,), daemon=True)
    process.start()
    there.close()
    try:
        error = here.recv()
    except EOFError:
        process.join()
        raise StorageError(f"{BLOBS.name}: its check ended with status {process.exitcode}") from None
    process.join()
    if error is not None:
        raise error


def _look_at_place(there: Connection) -> None:
    """Sends the error that the check of the place has raised, or None."""
    try:
        retry_while_away(place_of(RedisNodes.from_environment()).check, told=log.warning)
    except FarthestError as error:
        there.send(error)
    else:
        there.send(None)


class _Stopping(BaseException):
    """Raised by the first signal where the main process waits for Redis."""


class _Slot:
    """The place of one process of a worker: the one that runs now or the next one. ``number``: from 1."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: ForkProcess | None = None
        self.due = 0.0  # when the next one begins, by the monotonic clock
        self._begun = 0.0
        self._pause = 0.0

    def start(self, process: ForkProcess) -> None:
        process.start()
        self.process, self._begun = process, monotonic()

    def ended(self) -> float:
        """Notes that its process has ended; returns the pause before the next one."""
        now = monotonic()
        pause = 0.0 if now - self._begun >= LASTING_SECONDS else self._pause
        self._pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * pause))
        self.process, self.due = None, now + pause
        return pause


class _Main:
    def __init__(self, concurrency: int, name: str, nodes: RedisNodes) -> None:
        self._name = name
        self._nodes = nodes
        self._slots = [_Slot(number + 1) for number in range(concurrency)]
        started = datetime.now(UTC).isoformat(timespec="seconds")
        record = WorkerRecord(name, host_name(), os.getpid(), __version__, PROTOCOL, concurrency, started)
        self._heartbeat = Heartbeat(nodes, record, self._pids, other=tell_of)
        self._stopping = False
        self._beating = False

    def claim_name(self) -> None:
        """Raises SettingError where another worker has the name."""
        claim_name(self._heartbeat)

    def run(self) -> None:
        for number in DRAINS:
            signal.signal(number, self._on_signal)
        self._start_missing()
        steps = "1 process" if len(self._slots) == 1 else f"{len(self._slots)} processes"
        log.info("%s is ready: %s, %s", self._name, steps, self._nodes.places[0])
        while not self._stopping or self._sentinels():
            with suppress(_Stopping), self._interruptible():
                self._heartbeat.beat_if_due()
            wait(self._sentinels(), timeout=max(0.0, self._next_deadline() - monotonic()))
            self._start_missing()
        self._heartbeat.end()

    def _start_missing(self) -> None:
        """Starts the processes that are due."""
        with _undisturbed():  # signals go to all processes that exist, so a new one must be among them
            self._bury()
            for slot in self._slots:
                if slot.process is None and slot.due <= monotonic() and not self._stopping:
                    try:
                        slot.start(_fork(self._nodes, self._name, slot.number))
                    except OSError as error:  # no memory, or no more processes
                        log.error("process %d does not start: %s", slot.number, error.strerror)
                        slot.ended()

    def _bury(self) -> None:
        """Notes the processes that have ended."""
        for slot in self._slots:
            process = slot.process
            if process is None or process.exitcode is None:
                continue
            status = process.exitcode
            process.close()
            pause = slot.ended()
            if not self._stopping:
                when = f"in {pause:g} s" if pause else "now"
                log.warning(
                    "process %d ended with status %d; another one begins %s", slot.number, status, when
                )

    def _pids(self) -> list[int]:
        running = (slot.process for slot in self._slots)
        return [process.pid for process in running if process is not None and process.pid is not None]

    def _sentinels(self) -> list[int]:
        return [slot.process.sentinel for slot in self._slots if slot.process is not None]

    def _next_deadline(self) -> float:
        missing = [] if self._stopping else [slot.due for slot in self._slots if slot.process is None]
        return min([self._heartbeat.due, *missing])

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """During the block the first signal raises an exception: waiting for Redis may take long."""
        self._beating = True
        try:
            yield
        finally:
            self._beating = False

    def _on_signal(self, number: int, frame: object) -> None:
        name = signal.Signals(number).name
        if self._stopping:
            say(f"{name} again: ending at once; what was under way is sent to others")
            self._send(signal.SIGKILL)
            os._exit(128 + number)
        self._stopping = True
        say(f"{name}: letting the steps under way end; the same again ends them at once")
        self._send(signal.SIGTERM)
        if self._beating:
            raise _Stopping

    def _send(self, number: int) -> None:
        for pid in self._pids():
            with suppress(ProcessLookupError):  # multiprocessing has noted its end, this process not yet
                os.kill(pid, number)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Blocks the signals that end a worker."""
    signal.pthread_sigmask(signal.SIG_BLOCK, DRAINS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, DRAINS)


def _fork(nodes: RedisNodes, name: str, number: int) -> ForkProcess:
    arguments = (nodes.urls[0], nodes.places[0], name, number)
    return multiprocessing.get_context("fork").Process(target=_in_process, args=arguments)


def _in_process(url: str, place: str, name: str, number: int) -> None:
    sys.exit(consumer.consume(url, place, name, number))
