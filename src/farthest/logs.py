"""The log of services: one line an event on standard error, in UTC, without secrets."""

from __future__ import annotations

import logging
import re
import sys
import textwrap
import time
from collections.abc import Sequence
from copy import copy
from datetime import UTC, datetime
from typing import Any

from farthest.environment import DATABASE_URL, LOG_LEVEL, REDIS_NODES, REDIS_URL, WEB_TOKEN
from farthest.errors import SettingError
from farthest.locations import passwords_in
from farthest.safe_text import safe, tell_at_once

LEVELS = ("debug", "info", "warning", "error")

# Libraries that tell of every message and connection; what matters of it, farthest says itself.
_TALKATIVE = (
    "celery.worker.strategy",
    "celery.app.trace",
    "celery.worker",
    "celery",
    "kombu",
    "amqp",
    "alembic",
)


class PlainFormatter(logging.Formatter):
    """``2026-11-21T09:30:00.123Z INFO message``; every one of ``secrets`` is written as ***, wherever it stands."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._secrets = re.compile(
            "|".join(map(re.escape, sorted(secrets, key=len, reverse=True))) or r"(?!)"
        )

    def formatMessage(self, record: logging.LogRecord) -> str:
        """In one line."""
        record.message = " ".join(record.message.split())
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        """What libraries say of a server that has gone is one line, without its traceback."""
        failure = record.exc_info
        if failure and failure[0] and not record.name.startswith("farthest"):
            record = copy(record)
            record.msg, record.args = f"{record.getMessage()} ({failure[0].__name__})", ()
            record.exc_info = record.exc_text = None
        return self._secrets.sub("***", safe(super().format(record)))

    def formatException(self, failure: Any) -> str:
        """Shifted, so that no text in it looks like a line of the log."""
        return textwrap.indent(super().formatException(failure), "    ")


def start_log() -> None:
    """Lets this process, and those that it forks, log to standard error. Raises SettingError for a wrong level."""
    level = LOG_LEVEL.text().lower()
    if level not in LEVELS:
        raise SettingError(f"{LOG_LEVEL.name} is {LOG_LEVEL.text()!r}; expected one of {', '.join(LEVELS)}")
    urls = [REDIS_URL.text(), DATABASE_URL.text(), *REDIS_NODES.text().split()]
    handler = logging.StreamHandler(sys.stderr)
    token = WEB_TOKEN.text()
    handler.setFormatter(PlainFormatter([*passwords_in(urls), *([token] if token else [])]))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)
    if level != "debug":
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)
        logging.getLogger("celery.worker.consumer.connection").setLevel(level.upper())


def say(message: str) -> None:
    """Logs from a signal handler: what it has interrupted may hold the locks of logging."""
    moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    tell_at_once(f"{moment} INFO {message}")
