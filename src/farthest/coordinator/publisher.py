"""Sends messages to workers."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from farthest.stores.redis.connections import RedisNodes, translate_any
from farthest.worker.app import NORMAL, QUEUE, URGENT, broker_settings, celery_app


class Publisher:
    """Sends the messages of one ``task``, over a connection to the broker that is made again after it has failed.

    A thread imports Celery, which takes half a second: small layers do not wait for it, and the first layer that is
    sent waits less. Raises SettingError for a URL that cannot be used.
    """

    def __init__(self, nodes: RedisNodes, task: str) -> None:
        self._task = task
        self._place = nodes.places[0]
        self._url = nodes.urls[0]
        self._producer: Any = None
        broker_settings(self._url)
        self._loading = threading.Thread(target=_load, args=(self._url,), name="farthest-celery", daemon=True)
        self._loading.start()

    def publish(self, attempt: str, depth: int, items: Iterable[int], *, urgent: bool = False) -> None:
        """Sends a message (attempt, depth, item) for each item; after an error some may have been sent, and all may be
        sent again.

        Raises UnavailableError where waiting may help, else StorageError.
        """
        self._loading.join()  # two threads that import the same modules may see them partly initialised
        app = celery_app(self._url)
        options = {"queue": QUEUE, "priority": URGENT if urgent else NORMAL, "retry": False}
        try:
            if self._producer is None:
                self._producer = app.amqp.Producer(app.connection_for_write().channel())
            with self._producer.batch():
                for item in items:
                    app.send_task(self._task, (attempt, depth, item), producer=self._producer, **options)
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


def _load(url: str) -> None:
    """Imports what sending needs. An error is raised with the first message."""
    with suppress(Exception):
        celery_app(url).connection_for_write().get_transport_cls()
