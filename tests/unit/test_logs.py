"""The log of services shows no password, wherever it stands in a message."""

from __future__ import annotations

import logging

from farthest.logs import PlainFormatter
from farthest.passwords import passwords_in


def test_a_line() -> None:
    line = "tried %s with (word) for w%%40rd"
    record = logging.LogRecord("farthest", logging.INFO, "", 0, line, ("redis://:word@host",), None)
    shown = PlainFormatter(passwords_in(["redis://:word@host", "redis://:w%40rd@host"])).format(record)
    assert shown.endswith("INFO tried redis://:***@host with (***) for ***")
    plain = PlainFormatter().format(record)
    assert plain.endswith("INFO tried redis://:word@host with (word) for w%40rd")
