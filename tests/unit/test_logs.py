"""The log of services shows no password, wherever it stands in a message."""

from __future__ import annotations

import json
import logging
import sys

from farthest.locations import passwords_in
from farthest.logs import JsonFormatter, PlainFormatter, about


def test_a_line() -> None:
    line = "tried %s with (word) for w%%40rd"
    record = logging.LogRecord("farthest", logging.INFO, "", 0, line, ("redis://:word@host",), None)
    shown = PlainFormatter(passwords_in(["redis://:word@host", "redis://:w%40rd@host"])).format(record)
    assert shown.endswith("INFO tried redis://:***@host with (***) for ***")
    plain = PlainFormatter().format(record)
    assert plain.endswith("INFO tried redis://:word@host with (word) for w%40rd")


def test_what_libraries_say_of_a_failure_is_one_line() -> None:
    try:
        raise ConnectionError("reset")
    except ConnectionError:
        failure = sys.exc_info()
    for name, one_line in (("celery.app", True), ("farthest.worker", False)):
        record = logging.LogRecord(name, logging.ERROR, "", 0, "lost %s", ("redis",), failure)
        shown = PlainFormatter().format(record)
        assert "ERROR lost redis" in shown
        assert "ConnectionError" in shown
        assert (len(shown.splitlines()) == 1) == one_line


def test_json() -> None:
    """One object a line, with what the line is about and a traceback inside; no password, however it is written."""
    try:
        raise ConnectionError('reset by "word"')
    except ConnectionError:
        failure = sys.exc_info()
    message = 'first\nsecond "%s" \x1b[0m'
    record = logging.LogRecord("celery.app", logging.ERROR, "", 0, message, ('wo"rd',), failure)
    with about(job=7, kind="step"), about(block=3):
        line = JsonFormatter(["word", 'wo"rd']).format(record)
    assert line.isascii()
    assert line.isprintable()
    read = json.loads(line)
    assert read.pop("exception").splitlines()[-1] == 'ConnectionError: reset by "***"'
    assert read.pop("time").endswith("Z")
    assert read.pop("pid") == record.process
    assert read == {
        "level": "error",
        "logger": "celery.app",
        "message": 'first\nsecond "***" \x1b[0m',
        "job": 7,
        "kind": "step",
        "block": 3,
    }
    assert "job" not in json.loads(JsonFormatter().format(record))
