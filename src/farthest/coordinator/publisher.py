"""Sends messages to the workers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from farthest.stores.redis.connections import RedisNodes, translate_any
from farthest.worker.app import NORMAL, QUEUE, URGENT, celery_app


class Publisher:
    """Sends the messages of one ``task``, over a connection to the broker that is made again after it has failed."""

    def __init__(self, nodes: RedisNodes, task: str) -> None:
        self._task = task
        self._place = nodes.places[0]
        self._app = celery_app(nodes.urls[0])
        self._producer: Any = None

    def publish(self, run: str, depth: int, items: Iterable[int], *, urgent: bool = False) -> None:
        """Sends a message (run, depth, item) for each item; after an error some may have been sent, and all may be sent
        again.

        Raises UnavailableError where waiting may help, else StorageError.
        """
        options = {"queue": QUEUE, "priority": URGENT if urgent else NORMAL, "retry": False}
        try:
            if self._producer is None:
                self._producer = self._app.amqp.Producer(self._app.connection_for_write().channel())
            with self._producer.batch():
                for item in items:
                    self._app.send_task(self._task, (run, depth, item), producer=self._producer, **options)
        except Exception as error:
            self.close()
            known = translate_any(error, self._place)
            if known is None:
                raise
            raise known from error

    def close(self) -> None:
        """Ends the connection."""
        if self._producer is not None:
            connection, self._producer = self._producer.connection, None
            connection.collect()
