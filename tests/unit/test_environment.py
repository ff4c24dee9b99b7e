"""Settings by environment variables: what is read from them, what is refused, and that no password is shown."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthest.environment import SETTINGS, Setting, byte_count, hide_password
from farthest.errors import SettingError

NUMBER = Setting("FARTHEST_TEST_NUMBER", "5", "A number of the tests.")
SIZE = Setting("FARTHEST_TEST_SIZE", "4MiB", "A size of the tests.")


def test_names() -> None:
    names = [setting.name for setting in SETTINGS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"FARTHEST_[A-Z_]+", name) for name in names)
    for setting in SETTINGS:
        assert setting.meaning.endswith(".")
        assert "|" not in setting.meaning  # it is a cell of a table


def test_defaults_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in SETTINGS:
        monkeypatch.delenv(setting.name, raising=False)
        assert setting.text() == setting.default
        if setting.name.endswith(("_SECONDS", "_STATES")):
            assert setting.number(0) == float(setting.default)
        if setting.name.endswith(("_MEMORY", "_SIZE")):
            assert setting.size() > 0


@pytest.mark.parametrize("value", ["", "  ", "\t"])
def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NUMBER.name, value)
    assert NUMBER.text() == "5"
    assert NUMBER.number(0) == 5


@pytest.mark.parametrize(("value", "number"), [("2", 2), (" 2.5 ", 2.5), ("0", 0), ("1e3", 1000)])
def test_numbers(monkeypatch: pytest.MonkeyPatch, value: str, number: float) -> None:
    monkeypatch.setenv(NUMBER.name, value)
    assert NUMBER.number(0) == number


@pytest.mark.parametrize("value", ["five", "-1", "nan", "inf", "-inf", "1e999", "5 s", "0x5"])
def test_what_is_no_number(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NUMBER.name, value)
    with pytest.raises(SettingError) as refused:
        NUMBER.number(0)
    message = str(refused.value)
    assert message.startswith(f"FARTHEST_TEST_NUMBER is {value!r}; expected ")
    assert message.endswith("such as 5")


def test_the_least_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NUMBER.name, "0.5")
    assert NUMBER.number(0.5) == 0.5
    with pytest.raises(SettingError, match=r"expected a number, 1 or more"):
        NUMBER.number(1)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4", 4),
        ("0", 0),
        ("4B", 4),
        ("4k", 4 << 10),
        ("4KiB", 4 << 10),
        ("4kB", 4000),
        ("256MiB", 256 << 20),
        ("1.5g", 3 << 29),
        (".5k", 512),
        ("2.GiB", 2 << 30),
        ("4 GB", 4_000_000_000),
        (" 1TiB ", 1 << 40),
        ("1t", 1 << 40),
    ],
)
def test_sizes(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    assert byte_count(text) == size
    monkeypatch.setenv(SIZE.name, text)
    assert SIZE.size() == size


@pytest.mark.parametrize(
    "text", ["GiB", "four", "-4", "4 GiB 2", "4XiB", "4i", ".", "1e3", "inf", "4,5g", "9" * 400]
)
def test_what_is_no_size(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    assert byte_count(text) is None
    monkeypatch.setenv(SIZE.name, text)
    expected = r"^FARTHEST_TEST_SIZE is .*; expected a number and a unit, such as 4MiB$"
    with pytest.raises(SettingError, match=expected):
        SIZE.size()


def test_nothing_is_no_size() -> None:
    assert byte_count("") is None


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
