"""The Celery app: how the messages of all kinds of work reach workers. ``celery_app`` makes it; importing this module
does not import Celery.

A message is removed from Redis as soon as a process of a worker has it. From then on the coordinator watches the work:
it sends again what is neither done nor leased (coordinator/workers.py). The broker's own acknowledgements are
switched off: they would write to Redis for each message, which a full Redis refuses. There are no Celery results:
finished work is reported on the attempt's done-list.

Celery's own programs find the app here too: ``celery -A farthest.worker.app flower``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from farthest import tracing
from farthest.environment import REDIS_URL

if TYPE_CHECKING:
    from celery import Celery

    from farthest.stores.redis.connections import RedisNodes
    from farthest.worker.work import Work, WorkerProcess

KINDS = {
    "step": "farthest.worker.enumeration:StepWork",
    "cut": "farthest.worker.enumeration:CutWork",
    "part": "farthest.worker.enumeration:PartWork",
    "search": "farthest.worker.search_batches:SearchWork",
    "board": "farthest.worker.search_batches:BoardWork",
    "survey": "farthest.worker.survey:SurveyWork",
}
"""The kinds of work, and the class of each (worker/work.py), which is imported where it is done."""
QUEUE = "farthest.steps"
KEY_PREFIX = "farthest:"
PRIORITIES = URGENT, NORMAL, LATER = 0, 1, 2
"""Lost steps that are sent again go first, so that a layer does not wait for them at its end. Parts of surveys go last:
they may take an hour, and nothing waits for one of them."""


def priority_of(kind: str) -> int:
    """The priority of messages for work of a kind."""
    return LATER if kind == "survey" else NORMAL


def queue_length(nodes: RedisNodes, priority: int = LATER) -> int:
    """Messages, of this priority and those before, that no worker has received yet. Raises as ``RedisNodes.errors``."""
    with nodes.errors(), nodes.main.pipeline(transaction=False) as pipeline:
        for each in PRIORITIES[: priority + 1]:  # kombu keeps those of each in a list
            pipeline.llen(f"{KEY_PREFIX}{QUEUE}" + (f"\x06\x16{each}" if each else ""))
        return sum(pipeline.execute())


@cache
def celery_app(url: str) -> Celery:
    """The app of this process for a Redis server. Raises SettingError for a URL that cannot be used."""
    from celery import Celery
    from celery.app.amqp import AMQP
    from kombu.connection import Connection

    class PromptConnection(Connection):
        """Tries to reach the server every second or two: when it is back, a job waits for its workers."""

        def ensure_connection(self, *args: Any, **options: Any) -> Any:
            waits = {"interval_start": 0.5, "interval_step": 0.5, "interval_max": 2}
            return super().ensure_connection(*args, **{**options, **waits})  # type: ignore[no-untyped-call]

    class PromptAMQP(AMQP):  # type: ignore[misc]
        Connection = PromptConnection

    app = Celery("farthest", amqp=PromptAMQP, set_as_current=False)
    app.conf.update(
        **broker_settings(url),
        broker_transport_options={
            "global_keyprefix": KEY_PREFIX,
            "ack_emulation": False,
            "priority_steps": [*PRIORITIES],
            "queue_order_strategy": "priority",
            "socket_timeout": 10,
            "socket_connect_timeout": 5,
            "socket_keepalive": True,
            "health_check_interval": 10,
        },
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        accept_content=["json"],
        task_serializer="json",
        task_default_queue=QUEUE,
        task_default_priority=NORMAL,
        task_ignore_result=True,
        task_acks_late=False,
        # A process takes its next message when it has none: a reserved one would wait behind a long step.
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
    )

    for kind in KINDS:
        app.task(_doing(kind), name=task_name(kind), bind=True)
    return app


def task_name(kind: str) -> str:
    """The name of the Celery task for work of a kind."""
    return f"farthest.{kind}"


def _doing(kind: str) -> Callable[..., None]:
    """The task: does the work of a message, in the process of the worker that has received it."""

    def do(task: Any, *message: Any, **_: Any) -> None:
        attempt, depth, item = (
            message if len(message) == 3 else ("", 0, 0)
        )  # dropped as no message of farthest's
        worker = str(task.request.hostname).rpartition(".")[0]
        again = (task.request.delivery_info or {}).get("priority") == URGENT
        headers = task.request.headers
        sent = headers if isinstance(headers, dict) else {}
        with tracing.span(kind, sent, attempt=attempt, depth=depth):
            _process(os.getpid(), worker).run(work_class(kind), attempt, depth, item, again)

    return do


@cache
def _process(pid: int, worker: str) -> WorkerProcess:
    from farthest.worker.work import WorkerProcess

    return WorkerProcess(worker)


def work_class(kind: str) -> type[Work]:
    """The class of a kind of work."""
    module, _, name = KINDS[kind].partition(":")
    return cast("type[Work]", getattr(import_module(module), name))


def node_name(worker: str, number: int) -> str:
    """The name of a worker's process in Celery."""
    return f"{worker}.{number}"


def broker_settings(url: str) -> dict[str, Any]:
    """Celery's settings for a URL as redis-py understands it. Raises SettingError for a URL that redis-py does not
    accept.

    Kombu knows fewer forms than redis-py, and by default does not check a TLS server's certificate.
    """
    from redis.connection import parse_url

    from farthest.stores.redis.connections import url_error

    try:
        parts = dict(parse_url(url))  # type: ignore[no-untyped-call]
    except ValueError:
        raise url_error(url) from None
    secret = ":".join(quote(str(parts.get(name) or ""), safe="") for name in ("username", "password"))
    user = f"{secret}@" if secret != ":" else ""
    database = str(parts.get("db", 0))
    if "path" in parts:
        return {"broker_url": f"redis+socket://{user}{parts['path']}", "broker_vhost": database}
    place = f"{user}{parts.get('host', 'localhost')}:{parts.get('port', 6379)}/{database}"
    if not url.startswith("rediss:"):
        return {"broker_url": f"redis://{place}"}
    tls = {name: value for name, value in parts.items() if name.startswith("ssl_")}
    return {"broker_url": f"rediss://{place}", "broker_use_ssl": {"ssl_cert_reqs": "required", **tls}}


def __getattr__(name: str) -> Any:
    if name == "app":
        return celery_app(REDIS_URL.text())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
