"""Text from anywhere on its way to a terminal or a log: it cannot steer, hide or turn around anything."""

from __future__ import annotations

import io
import json
import logging
import sys
import unicodedata

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.cli.printing import print_drawings
from farthest.logs import PlainFormatter
from farthest.puzzles.picture import COLOURS
from farthest.safe_text import SafeStream, raw, safe, safe_streams

HOSTILE = {
    "\x1b]0;title\x07": "\\u001b]0;title\\u0007",
    "\x1b[2J\x1b[H": "\\u001b[2J\\u001b[H",
    "\x9b31m": "\\u009b31m",
    "a\rb\x08\x7f": "a\\u000db\\u0008\\u007f",
    "abc\u202edef\u202c": "abc\\u202edef\\u202c",
    "a\u2066b\u200bc\u200dd\ufeff": "a\\u2066b\\u200bc\\u200dd\\ufeff",
    "x\u2028y\u2029z\x85": "x\\u2028y\\u2029z\\u0085",
    "\ud800 \udcff": "\\ud800 \\udcff",
    "\U000e0041": "\\udb40\\udc41",
    "\ufdd0\uffff": "\\ufdd0\\uffff",
}
HARMLESS = [
    "",
    "plain",
    "┘│└/─□─",
    "a\tb\nc\n",
    "日本　語\u3000",
    "é e\u0301",
    "🁢 ❤\ufe0f",
    "\\u001b",
    "ü\u00a0ß",
]


@for_each("text", HOSTILE)
def test_what_is_unsafe_becomes_an_escape(text: str) -> None:
    assert safe(f"{text}.") == f"{HOSTILE[text]}."


@for_each("text", HARMLESS)
def test_what_is_harmless_stays(text: str) -> None:
    assert safe(text) == text


@given(st.text())
def test_no_text_holds_control_or_format_characters_afterwards(text: str) -> None:
    shown = safe(text)
    shown.encode()
    assert {unicodedata.category(sign) for sign in shown if sign not in "\t\n"} & {
        "Cc",
        "Cs",
        "Zl",
        "Zp",
    } == set()
    if all(unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp") for sign in text):
        assert safe(text).replace("\u3164", "") == text.replace("\u3164", "") or shown != text


@given(
    st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_json_means_the_same_afterwards(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert json.loads(safe(text)) == value


def test_colours_stay_in_drawings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", out)
    hidden = click.style("no", fg=16)  # black
    drawn = click.style("7", fg=COLOURS[0][0])
    with safe_streams():
        click.echo(hidden)
        print_drawings([(hidden, [drawn])])
    assert out.getvalue().splitlines() == ["\\u001b[38;5;16mno\\u001b[0m"] * 2 + [drawn]


def test_all_that_is_printed_meanwhile_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with safe_streams():
        print("\x1b[2J")
        click.echo("a\u202eb")
        sys.stdout.writelines(["\x07"])
        click.UsageError("got \x1b[2J").show()
        raw(sys.stderr).write("\r")
        assert isinstance(sys.stderr, SafeStream)
    now: list[object] = [sys.stdout, sys.stderr]
    assert now == [out, err]
    assert out.getvalue() == "\\u001b[2J\na\\u202eb\n\\u0007"
    assert err.getvalue() == "Error: got \n\r"


def test_a_locale_without_utf_8_is_no_way_around(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii", write_through=True))
    with safe_streams():
        click.echo("┘\u202e\x1b[2J\x07")
    assert written.getvalue().decode() == "┘\\u202e\\u0007\n"


def test_streams_that_are_closed_stay_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with safe_streams():
        assert sys.stdout is None


def test_a_line_of_the_log_is_one_line_without_control_characters() -> None:
    log = logging.getLogger("farthest.test")
    try:
        raise ValueError("bad\n2026-11-21T09:00:00.000Z INFO all is well\x1b[2J")
    except ValueError:
        record = log.makeRecord(
            log.name, logging.ERROR, "f", 1, "a\nb \x1b[2J%s", ("\u202e",), sys.exc_info()
        )
    lines = PlainFormatter().format(record).split("\n")
    assert lines[0].endswith("ERROR a b \\u001b[2J\\u202e")
    assert all(line.startswith("    ") for line in lines[1:])
    assert "\x1b" not in "".join(lines)
