"""One process of a worker: Celery's consumer, which runs the messages itself, one after another.

It is forked by the worker's main process (worker/service.py), which starts another one when it ends. So anything that
Celery or kombu cannot handle, such as a Redis without memory or bytes that are not a message, ends a process between
two steps, and the next one begins with a new connection. Celery's pools are not used: a pool shares an event loop with
the connection, and would lose its steps with it.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import warnings
from contextlib import suppress
from typing import Any

from farthest.errors import StorageError
from farthest.stores.redis.connections import translate_any
from farthest.worker.app import KINDS, QUEUE, celery_app, node_name, task_name, work_class

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


def consume(url: str, place: str, name: str, number: int) -> int:
    """Runs messages until SIGTERM, finishes the one under way and returns the exit status. ``number``: the number of
    the process in the worker ``name``, from 1."""
    _follow_main()
    if number > 1:  # the first process logs for all what happens to the connection
        for logger in _CONNECTION_LOGS:
            logging.getLogger(logger).setLevel(logging.CRITICAL)
    try:
        _make_worker(url, node_name(name, number)).start()
    except StorageError as error:
        log.error("%s, process %d: %s", name, number, error)
        return FAILED
    except Exception as error:
        known = translate_any(error, place)
        if known is None:
            log.exception("%s, process %d cannot go on", name, number)
        else:
            log.error("%s, process %d: %s", name, number, known)
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
            except SystemExit as told:  # to stop
                self.stop(exitcode=told.code)

    app = celery_app(url)
    _restrict(app)
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


def _refuse(definition: bytes) -> bytes:
    raise ValueError("a compressed message")


def _leave_logging(**options: Any) -> None:
    """With this signal handler connected, Celery does not set up its own logging."""
