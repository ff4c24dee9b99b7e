"""Passwords in URLs: none is shown, each is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthest.locations import hide_password, passwords_in


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        # no password
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("redis://localhost", "redis://localhost"),
        ("rediss://localhost:6380/0?ssl_ca_certs=/etc/ca.pem", "rediss://localhost:6380/0"),
        ("redis://[::1]:6379/0", "redis://[::1]:6379/0"),
        ("unix:///run/redis.sock?db=1", "unix:///run/redis.sock"),
        ("sqlite:////tmp/farthest.db", "sqlite:////tmp/farthest.db"),
        ("sqlite:///a.db", "sqlite:///a.db"),
        ("farthest.db", "farthest.db"),
        ("", ""),
        # a user alone
        ("redis://someone@host:6379/0", "redis://someone@host:6379/0"),
        ("postgresql://someone@host/maps", "postgresql://someone@host/maps"),
        # passwords
        ("redis://:word@host:6379/0", "redis://:***@host:6379/0"),
        ("redis://someone:word@host", "redis://someone:***@host"),
        ("rediss://someone:@host", "rediss://someone:***@host"),
        ("unix://:word@/run/redis.sock", "unix://:***@/run/redis.sock"),
        ("postgresql+psycopg://me:word@host:5432/maps", "postgresql+psycopg://me:***@host:5432/maps"),
        ("redis://:w%40r%3Ad%2F@host/0", "redis://:***@host/0"),
        ("redis://:word@[::1]:6379/0", "redis://:***@[::1]:6379/0"),
        # passwords that should have been %-encoded
        ("redis://:w@rd@host", "redis://:***@host"),
        ("redis://:w:rd@host", "redis://:***@host"),
        ("postgresql://someone:w@r/d@host/maps", "postgresql://someone:***@host/maps"),
        ("postgresql://someone:w#rd@host/maps", "postgresql://someone:***@host/maps"),
        ("postgresql://someone:w?rd@host/maps", "postgresql://someone:***"),
        ("postgresql://someone:w@?rd@host/maps", "postgresql://someone:***"),
        ("redis://:wo\nrd@host", "redis://:***@host"),
        # users with characters of their own
        ("postgresql://some@where:word@host/maps", "postgresql://some@where:***@host/maps"),
        ("redis://some/one:word@host", "redis://some/one:***@host"),
        # options
        ("postgresql://host/maps?user=someone&password=word", "postgresql://host/maps"),
        ("postgresql://host:5432/maps?password=w@rd", "postgresql://host:***"),
        ("postgresql://someone@host/maps?password=w@rd", "postgresql://someone@host/maps"),
        # not quite URLs
        ("someone:word@host:6379", "someone:***@host:6379"),
        ("redis:/:word@host", "redis:***@host"),
        (":word@host", ":***@host"),
    ],
)
def test_passwords_are_hidden(url: str, shown: str) -> None:
    assert hide_password(url) == shown
    assert "word" not in shown


TEXT = st.text(st.characters(exclude_characters="*", min_codepoint=33, max_codepoint=126), max_size=12)


@given(
    scheme=st.sampled_from(["redis", "rediss", "postgresql", "postgresql+psycopg"]),
    user=st.text("abcxyz@/-_", max_size=6),
    before=TEXT,
    after=TEXT,
    options=st.sampled_from(["", "?a=b", "?a=@", "?password=SECRET", "?password=SEC@RET&x=SECRET@"]),
)
def test_no_password_is_ever_shown(scheme: str, user: str, before: str, after: str, options: str) -> None:
    shown = hide_password(f"{scheme}://{user}:{before}SECRET{after}@host:1/0{options}")
    assert "SECRET" not in shown
    assert "RET" not in shown


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
    assert passwords_in([url, "redis://127.0.0.1"]) == secrets
