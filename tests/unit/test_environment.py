"""Settings by environment variables: what is read from them, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from farthest.environment import SETTINGS, Setting, byte_count
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
            assert setting.number() == float(setting.default)
        if setting.name.endswith(("_MEMORY", "_SIZE")):
            assert setting.size() > 0


@pytest.mark.parametrize("value", ["", "  ", "\t"])
def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NUMBER.name, value)
    assert NUMBER.text() == "5"
    assert NUMBER.number() == 5


@pytest.mark.parametrize(("value", "number"), [("2", 2), (" 2.5 ", 2.5), ("0", 0), ("1e3", 1000)])
def test_numbers(monkeypatch: pytest.MonkeyPatch, value: str, number: float) -> None:
    monkeypatch.setenv(NUMBER.name, value)
    assert NUMBER.number() == number


@pytest.mark.parametrize("value", ["five", "-1", "nan", "inf", "-inf", "1e999", "5 s", "0x5"])
def test_what_is_no_number(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NUMBER.name, value)
    with pytest.raises(SettingError) as refused:
        NUMBER.number()
    message = str(refused.value)
    assert message.startswith(f"FARTHEST_TEST_NUMBER is {value!r}; expected ")
    assert message.endswith("such as 5")


def test_the_least_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NUMBER.name, "0.5")
    assert replace(NUMBER, least=0.5).number() == 0.5
    with pytest.raises(SettingError, match=r"expected a number, 1 or more"):
        replace(NUMBER, least=1).number()


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
