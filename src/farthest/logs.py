"""The log of services: one line an event on standard error, in UTC, without secrets; as text, or as JSON."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from datetime import UTC, datetime
from typing import Any

from farthest.environment import DATABASE_URL, LOG_FORMAT, LOG_LEVEL, REDIS_NODES, REDIS_URL, WEB_TOKEN
from farthest.errors import SettingError
from farthest.locations import passwords_in
from farthest.safe_text import safe, tell_at_once

LEVELS = ("debug", "info", "warning", "error")
TEXT, JSON = "text", "json"

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


_ABOUT: ContextVar[dict[str, Any] | None] = ContextVar("about", default=None)


@contextmanager
def about(**fields: Any) -> Iterator[None]:
    """What this thread logs during the block is about these: fields of the lines in JSON."""
    token = _ABOUT.set({**(_ABOUT.get() or {}), **fields})
    try:
        yield
    finally:
        _ABOUT.reset(token)


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
        return self.hidden(safe(super().format(record)))

    def formatException(self, failure: Any) -> str:
        """Shifted, so that no text in it looks like a line of the log."""
        return textwrap.indent(super().formatException(failure), "    ")

    def hidden(self, text: str) -> str:
        """Without the secrets."""
        return self._secrets.sub("***", text)


class JsonFormatter(PlainFormatter):
    """An object a line: ``time``, ``level``, ``logger``, ``message``, ``pid``, what the line is ``about``, and
    ``exception``, a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "pid": record.process,
            **(_ABOUT.get() or {}),
        }
        if record.exc_info:
            fields["exception"] = logging.Formatter.formatException(self, record.exc_info)
        if record.stack_info:
            fields["stack"] = record.stack_info
        hidden = {
            name: self.hidden(value) if isinstance(value, str) else value for name, value in fields.items()
        }
        return json.dumps(hidden)


def start_log() -> None:
    """Lets this process, and those that it forks, log to standard error. Raises SettingError for a wrong level."""
    level = LOG_LEVEL.text().lower()
    if level not in LEVELS:
        raise SettingError(f"{LOG_LEVEL.name} is {LOG_LEVEL.text()!r}; expected one of {', '.join(LEVELS)}")
    form = LOG_FORMAT.text().lower()
    if form not in (TEXT, JSON):
        raise SettingError(f"{LOG_FORMAT.name} is {LOG_FORMAT.text()!r}; expected {TEXT} or {JSON}")
    urls = [REDIS_URL.text(), DATABASE_URL.text(), *REDIS_NODES.text().split()]
    handler = logging.StreamHandler(sys.stderr)
    token = WEB_TOKEN.text()
    formatter = JsonFormatter if form == JSON else PlainFormatter
    handler.setFormatter(formatter([*passwords_in(urls), *([token] if token else [])]))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)
    if level != "debug":
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)
        logging.getLogger("celery.worker.consumer.connection").setLevel(level.upper())


def say(message: str) -> None:
    """Logs from a signal handler: what it has interrupted may hold the locks of logging."""
    moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if LOG_FORMAT.text().lower() == JSON:
        line = {"time": moment, "level": "info", "logger": __name__, "message": message, "pid": os.getpid()}
        tell_at_once(json.dumps(line))
    else:
        tell_at_once(f"{moment} INFO {message}")
