"""JSON that others wrote: what is plain comes out as it was, anything else is a ValueError in few words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.untrusted_json import DEPTH, DIGITS, read_json, read_json_object

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text('ab[{"\\', max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(PLAIN, st.booleans(), st.booleans())
def test_what_is_plain_comes_out_as_it_was(value: Any, as_bytes: bool, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert read_json(text.encode() if as_bytes else text) == value


@given(st.text('[]{}",:\\ud8001eE-+.NaIfinty ') | st.binary())
def test_any_text_is_read_or_a_value_error(text: str | bytes) -> None:
    try:
        value = read_json(text)
    except ValueError:
        return
    assert json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def test_nesting_is_bounded() -> None:
    deepest = "[" * DEPTH + "]" * DEPTH
    assert json.dumps(read_json(deepest)) == deepest
    for deeper in (
        f"[{deepest}]",
        f'{{"a":{deepest}}}',
        "[" * 10**6,
        '{"a":' * 10**6,
        f"{'[' * 900}{']' * 900}",
    ):
        with pytest.raises(ValueError, match=f"nested deeper than {DEPTH}"):
            read_json(deeper)
    assert read_json(json.dumps(["[" * 900])) == ["[" * 900]  # in a text


@for_each(
    ("text", "wrong"),
    [
        ("[1, 2", "not JSON"),
        ("", "not JSON"),
        ("[1] x", "not JSON"),
        ("NaN", "NaN or Infinity"),
        ("[-Infinity]", "NaN or Infinity"),
        ("1e999", "too large"),
        (f"[{'1' * (DIGITS + 1)}]", "digits"),
        ('{"a": 1, "a": 1}', "twice"),
        ('"\\ud800"', "lone surrogate"),
        ('["\\uDC80"]', "lone surrogate"),
        ('"\ud800"', "lone surrogate"),
        (b'"\xed\xa0\x80"', "utf-8"),
        (b'"\xff"', "utf-8"),
        ('"1234567"', "expected 8 bytes at most"),
    ],
)
def test_what_is_not_plain_is_refused(text: str | bytes, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        read_json(text, 8 if "1234567" in str(text) else 10_000)


@for_each("text", ["[1]", "1", '"a"', "null"])
def test_an_object_is_expected(text: str) -> None:
    with pytest.raises(ValueError, match="not a JSON object"):
        read_json_object(text)
    assert read_json_object('{"a": 1}') == {"a": 1}
