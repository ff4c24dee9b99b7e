"""``farthest worker``: the process that receives steps and the processes that run them."""

from __future__ import annotations

import logging
import os
import signal
import warnings
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from farthest import __version__
from farthest.environment import LEASE_SECONDS, WORKER_MEMORY
from farthest.errors import SettingError
from farthest.logs import say
from farthest.models.leases import host_name
from farthest.patience import patiently
from farthest.puzzles.allowed import allowed_modules
from farthest.worker.app import QUEUE, SUBTREE_TASK, TASK, celery_app
from farthest.worker.connections import RedisNodes
from farthest.worker.registry import Heartbeat, WorkerRecord
from farthest.worker.runs import PROTOCOL

log = logging.getLogger(__name__)

QUESTIONS = frozenset(
    (
        *("active", "active_queues", "heartbeat", "ping", "query_task", "registered", "reserved", "revoked"),
        *("scheduled", "stats", "enable_events", "disable_events"),
    )
)
"""Of Celery's remote control: what Flower asks. The others, which messages in Redis could send too, end a worker,
change its processes, tasks and queues, or write files; a worker is steered by signals alone."""

DRAINS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


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
    """Runs a worker until it is told to stop; its exit status. Raises SettingError and StorageError at the start.

    The first SIGTERM, SIGINT or SIGHUP lets the steps under way end, a second one ends the worker at once.
    """
    LEASE_SECONDS.number()
    WORKER_MEMORY.size()
    allowed = sorted(allowed_modules())
    if allowed:
        log.info("puzzle classes may run of the modules %s", ", ".join(allowed))
    nodes = RedisNodes.from_environment()
    patiently(nodes.check, told=log.warning)
    worker = _make_worker(concurrency, name, nodes)
    worker.start()
    return int(worker.exitcode or 0)


def _make_worker(concurrency: int, name: str, nodes: RedisNodes) -> Any:
    from celery import signals
    from celery.apps.worker import Worker
    from celery.exceptions import CPendingDeprecationWarning
    from celery.platforms import SecurityWarning

    warnings.simplefilter("ignore", SecurityWarning)  # of root: the messages are JSON, which runs nothing
    warnings.simplefilter("ignore", CPendingDeprecationWarning)

    app = celery_app(nodes.urls[0])
    _restrict(app)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    record = WorkerRecord(name, host_name(), os.getpid(), __version__, PROTOCOL, concurrency, started)

    class StepWorker(Worker):  # type: ignore[misc]
        """Celery's worker without its banner and its signal handlers."""

        heartbeat: Heartbeat | None = None

        def setup_logging(self, colorize: bool | None = None) -> bool:
            return True

        def install_platform_tweaks(self, worker: Any) -> None:
            stop = _Stop(self)
            for number in DRAINS:
                signal.signal(number, stop)

        def on_consumer_ready(self, consumer: Any) -> None:
            if self.heartbeat is None:
                self.heartbeat = Heartbeat(nodes, record, self.processes)
                self.heartbeat.start()
            steps = "1 process" if concurrency == 1 else f"{concurrency} processes"
            log.info("%s is ready: %s, %s", name, steps, nodes.places[0])

        def processes(self) -> list[int]:
            return [process.pid for process in list(self.pool._pool._pool)]

        def stop(self, *args: Any, **options: Any) -> None:
            super().stop(*args, **options)
            if self.heartbeat is not None:
                self.heartbeat.stop()
                self.heartbeat = None

    signals.setup_logging.connect(_leave_logging, weak=False)
    signals.worker_process_init.connect(_follow_main, weak=False)
    return app.subclass_with_self(StepWorker)(
        hostname=name,
        concurrency=concurrency,
        pool_cls="prefork",
        queues=[QUEUE],
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        statedb=None,
    )


def _restrict(app: Any) -> None:
    """Leaves to messages the two tasks, and of remote control the questions; Celery brings more of both."""
    from celery.worker.control import Panel

    for name in set(app.tasks) - {TASK, SUBTREE_TASK}:
        app.tasks.unregister(name)
    for name in set(Panel.data) - QUESTIONS:
        del Panel.data[name]


def _leave_logging(**options: Any) -> None:
    """Where this is connected, Celery does not set up logging of its own."""


def _follow_main(**options: Any) -> None:
    """In a process that steps: what ends a worker may be sent to all of its processes (Ctrl-C, systemd), and only its
    main process knows how to end without losing the steps under way. With that one gone, it ends at once."""
    from billiard.util import set_pdeathsig

    for number in DRAINS:
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):  # known on Linux only
        set_pdeathsig(signal.SIGKILL)


@dataclass
class _Stop:
    """The handler of signals that end the worker."""

    worker: Any
    wanted: bool = False

    def __call__(self, number: int, frame: Any) -> None:
        from celery.worker import state

        name = signal.Signals(number).name
        if self.wanted:
            say(f"{name} again: ending at once; what was under way is sent to others")
            for pid in self.worker.processes():
                os.kill(pid, signal.SIGKILL)
            os._exit(128 + number)
        self.wanted = True
        say(f"{name}: letting the steps under way end; the same again ends them at once")
        state.should_stop = 0
