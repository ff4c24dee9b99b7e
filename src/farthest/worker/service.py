"""``farthest worker``: the main process, which starts the processes that do work, and replaces those that end.

The main process has one thread, so that it can fork at any time. It uses Redis only to register the worker, so that
nothing that happens to Redis or to work ends it. Only signals do.

The other processes are Celery's consumers, which do the work of messages themselves, one after another. Anything that
Celery or kombu cannot handle, such as a Redis without memory, ends a process between two items of work, and the next
one begins with a new connection. Celery's pools are not used: a pool shares an event loop with the connection, and
would lose its work with it.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from farthest import metrics, tracing
from farthest.environment import BLOBS, LEASE_SECONDS, WORKER_MEMORY
from farthest.errors import FarthestError, SettingError, StorageError
from farthest.families.python.allowed import allowed_modules
from farthest.logs import say
from farthest.machine import memory_limit
from farthest.models.leases import host_name
from farthest.retry import retry_while_away
from farthest.stores.blobs.place import REDIS
from farthest.stores.redis.attempts import PROTOCOL
from farthest.stores.redis.connections import RedisNodes, translate_any
from farthest.stores.redis.places import place_of
from farthest.version import __version__
from farthest.wording import shown
from farthest.worker.app import KINDS, QUEUE, celery_app, node_name, task_name, work_class
from farthest.worker.registry import Heartbeat, WorkerRecord, claim_name
from farthest.worker.work import ENDING

log = logging.getLogger(__name__)

QUESTIONS = frozenset(
    (
        *("active", "active_queues", "heartbeat", "ping", "query_task", "registered", "reserved", "revoked"),
        *("scheduled", "stats", "enable_events", "disable_events"),
    )
)
"""The commands of Celery's remote control that Flower uses. The others, which anyone who can write to Redis could send,
end a worker, change its processes, tasks and queues, or write files; a worker is controlled by signals only."""

DRAINS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""The signals that tell a worker to end."""

FAILED = 1
"""Exit status of a process that could not go on."""

_CONNECTION_LOGS = ("celery.worker.consumer.connection", "celery.worker.consumer.consumer")

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
        log.info("puzzle classes of these modules may run: %s", ", ".join(allowed))
    nodes = RedisNodes.from_environment()
    listening = metrics.listen()
    tracing.load()
    retry_while_away(nodes.check, told=log.warning)
    _check_place()
    main = _Main(concurrency, name, nodes, listening)
    main.claim_name()
    nodes.close()
    load()
    if listening is None:
        main.run()
        return 0
    with TemporaryDirectory(prefix="farthest-metrics-", ignore_cleanup_errors=True) as folder:
        metrics.load(Path(folder))
        log.info("metrics: %s", metrics.shown_address(listening))
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


SERVER = 0
"""The number of the process that answers with metrics."""


class _Slot:
    """The place of one process of a worker: the one that runs now or the next one. ``number``: from 1, or SERVER."""

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
    def __init__(
        self, concurrency: int, name: str, nodes: RedisNodes, listening: socket.socket | None = None
    ) -> None:
        self._name = name
        self._nodes = nodes
        self._listening = listening
        self._slots = [_Slot(number + 1) for number in range(concurrency)]
        self._all_slots = [*self._slots, *([_Slot(SERVER)] if listening else [])]
        started = datetime.now(UTC).isoformat(timespec="seconds")
        record = WorkerRecord(
            name,
            host_name(),
            os.getpid(),
            __version__,
            PROTOCOL,
            concurrency,
            started,
            memory=memory_limit(None),
        )
        self._heartbeat = Heartbeat(nodes, record, self._pids)
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
        while not self._stopping or self._pids():
            with suppress(_Stopping), self._interruptible():
                self._heartbeat.beat_if_due()
            wait(self._sentinels(), timeout=max(0.0, self._next_deadline() - monotonic()))
            self._start_missing()
        self._heartbeat.end()

    def _start_missing(self) -> None:
        """Starts the processes that are due."""
        with _undisturbed():  # signals go to all processes that exist, so a new one must be among them
            self._bury()
            for slot in self._all_slots:
                if slot.process is None and slot.due <= monotonic() and not self._stopping:
                    try:
                        slot.start(self._process(slot.number))
                    except OSError as error:  # no memory, or no more processes
                        log.error("process %d does not start: %s", slot.number, error.strerror)
                        slot.ended()

    def _bury(self) -> None:
        """Notes the processes that have ended."""
        for slot in self._all_slots:
            process = slot.process
            if process is None or process.exitcode is None:
                continue
            status = process.exitcode
            process.close()
            pause = slot.ended()
            if self._listening:
                metrics.process_ended(slot.number)
            if not self._stopping:
                when = f"in {pause:g} s" if pause else "now"
                log.warning(
                    "process %d ended with status %d; another one begins %s", slot.number, status, when
                )

    def _process(self, number: int) -> ForkProcess:
        fork = multiprocessing.get_context("fork")
        if number == SERVER:
            assert self._listening is not None
            return fork.Process(target=_answer, args=(self._listening,))
        work = self._nodes.urls[0], self._nodes.places[0], self._name, number, self._listening
        return fork.Process(target=lambda: sys.exit(consume(*work)))

    def _pids(self) -> list[int]:
        running = (slot.process for slot in self._slots)
        return [process.pid for process in running if process is not None and process.pid is not None]

    def _sentinels(self) -> list[int]:
        return [slot.process.sentinel for slot in self._all_slots if slot.process is not None]

    def _next_deadline(self) -> float:
        missing = [] if self._stopping else [slot.due for slot in self._all_slots if slot.process is None]
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
            say(f"{name} again: ending at once; other workers will get the unfinished steps")
            self._send(signal.SIGKILL)
            os._exit(128 + number)
        self._stopping = True
        say(f"{name}: finishing the steps under way; the same signal again ends them at once")
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


def _answer(listening: socket.socket) -> None:
    """What the process with the metrics does, until the main process ends: then it removes what that has left, where it
    was killed."""
    main = multiprocessing.parent_process()
    assert main is not None
    for number in DRAINS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, DRAINS)
    threading.Thread(target=metrics.answer, args=(listening, metrics.in_files()), daemon=True).start()
    main.join()
    metrics.remove_files()


# One process that does work


def load() -> None:
    """Imports what a process needs, also for its first step, so that forked processes share it and need not wait."""
    import numpy
    from celery.apps import worker
    from celery.concurrency import solo
    from celery.exceptions import CPendingDeprecationWarning
    from celery.platforms import SecurityWarning

    assert all((numpy, worker, solo, *map(work_class, KINDS)))
    # It warns of running as root: the messages are JSON, which runs no code.
    warnings.simplefilter("ignore", SecurityWarning)
    warnings.simplefilter("ignore", CPendingDeprecationWarning)


def consume(url: str, place: str, name: str, number: int, listening: socket.socket | None = None) -> int:
    """Runs messages until SIGTERM, finishes the one under way and returns the exit status. ``number``: the number of
    the process in the worker ``name``, from 1. ``listening``: where another process answers with metrics."""
    _follow_main()
    if listening is not None:
        listening.close()
        metrics.count_in_files(number)
    if number > 1:  # the first process logs for all what happens to the connection
        for logger in _CONNECTION_LOGS:
            logging.getLogger(logger).setLevel(logging.CRITICAL)
    try:
        with tracing.recorded("farthest-worker"):
            _make_worker(url, node_name(name, number)).start()
    except StorageError as error:
        log.error("%s, process %d: %s", name, number, error)
        return FAILED
    except Exception as error:
        translated = translate_any(error, place)
        if translated is None:
            log.exception("%s, process %d cannot go on", name, number)
        else:
            log.error("%s, process %d: %s", name, number, translated)
        return FAILED
    return 0


def _follow_main() -> None:
    """Signals that end a worker may be sent to all of its processes (Ctrl-C, systemd), but this one follows the main
    process: SIGTERM, once or more, lets it end after its step. If the main process is gone, it ends at once."""
    from billiard.util import set_pdeathsig

    # Signals are blocked since before the fork; SIGTERM is never ignored, because ignoring a signal discards a pending
    # one.
    signal.signal(signal.SIGTERM, _drain)
    for number in set(DRAINS) - {signal.SIGTERM}:
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):  # known on Linux only
        set_pdeathsig(signal.SIGKILL)
    main = multiprocessing.parent_process()
    if main is not None and os.getppid() != main.pid:  # the main process ended before that
        os._exit(FAILED)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, DRAINS)


def _drain(number: int, frame: Any) -> None:
    from celery.worker import state

    state.should_stop = 0
    ENDING.set()


def _make_worker(url: str, node: str) -> Any:
    from celery import signals
    from celery.apps.worker import Worker

    class Consumer(Worker):  # type: ignore[misc]
        """Celery's worker without its banner, its signal handlers and its error handling."""

        def setup_logging(self, colorize: bool | None = None) -> bool:
            return True

        def install_platform_tweaks(self, worker: Any) -> None:
            """Nothing: ``_follow_main`` handles signals."""

        def start(self) -> None:
            try:
                self.blueprint.start(self)
            except SystemExit as stopping:
                self.stop(exitcode=stopping.code)

    app = celery_app(url)
    _restrict(app)
    _drop_what_is_no_message()
    signals.setup_logging.connect(_leave_logging, weak=False)
    return app.subclass_with_self(Consumer)(
        hostname=node,
        concurrency=1,
        pool_cls="solo",
        use_eventloop=False,
        queues=[QUEUE],
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        statedb=None,
    )


def _restrict(app: Any) -> None:
    """Allows messages only the tasks of the kinds of work, and remote control only the queries; Celery has more of
    both. No message is decompressed, as it could become any size: farthest compresses none."""
    from celery.worker.control import Panel
    from kombu import compression

    for content_type in compression.encoders():  # type: ignore[no-untyped-call]
        compression.register(_refuse, _refuse, content_type)  # type: ignore[no-untyped-call]
    for name in set(app.tasks) - set(map(task_name, KINDS)):
        app.tasks.unregister(name)
    for name in set(Panel.data) - QUESTIONS:
        del Panel.data[name]


def _drop_what_is_no_message() -> None:
    """What is in the queue and is not a message, such as a text that is not JSON, is dropped with a line in the log.
    Kombu would raise what Python raises, which ends the process."""
    from queue import Empty

    from kombu.transport import redis

    class Channel(redis.Channel):
        def _brpop_read(self, **options: Any) -> Any:
            try:
                return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
                problem = shown(f"{type(error).__name__}: {error}")
                log.warning("a message that is not from farthest was dropped: %s", problem)
                raise Empty from None

    redis.Transport.Channel = Channel


def _refuse(definition: bytes) -> bytes:
    raise ValueError("a compressed message")


def _leave_logging(**options: Any) -> None:
    """With this signal handler connected, Celery does not set up its own logging."""
