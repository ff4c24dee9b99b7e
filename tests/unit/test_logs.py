"""The log of services shows no password, wherever it stands in a message."""

from __future__ import annotations

import logging

import pytest

from farthest.logs import PlainFormatter, secrets_of


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("redis://127.0.0.1:6379/0", []),
        ("redis://someone@127.0.0.1:6379/0", []),
        ("sqlite:///farthest.db", []),
        ("farthest.db", []),
        ("redis://:word@host", ["word"]),
        ("redis://someone:w%40rd@host:1/0", ["w%40rd", "w@rd"]),
        ("redis://:w@rd@host", ["w@rd"]),
        ("redis://:wo[rd@host", ["wo[rd"]),
        ("postgresql://some@where:w/rd@host/maps", ["w/rd"]),
        ("postgresql://host:5432/maps?user=someone&password=w%20rd", ["w rd", "w%20rd"]),
    ],
)
def test_passwords_in_urls(url: str, secrets: list[str]) -> None:
    assert secrets_of([url, "redis://127.0.0.1"]) == secrets


def test_a_line() -> None:
    line = "tried %s with (word) for w%%40rd"
    record = logging.LogRecord("farthest", logging.INFO, "", 0, line, ("redis://:word@host",), None)
    shown = PlainFormatter(secrets_of(["redis://:word@host", "redis://:w%40rd@host"])).format(record)
    assert shown.endswith("INFO tried redis://:***@host with (***) for ***")
    plain = PlainFormatter().format(record)
    assert plain.endswith("INFO tried redis://:word@host with (word) for w%40rd")
