"""JSON that others wrote: from Redis, the database, files, standard input. The one place where such text is parsed.

What comes out is plain: no value is nested deeper than DEPTH, no object has a key twice, every number is finite and has
DIGITS at most, every text can be written as UTF-8. Anything else is a ValueError whose message says what is wrong in a
few words and holds nothing of the text, so that it may be shown.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, NoReturn

from farthest.wording import bytes_text, shown

MOST_BYTES = 2**24
"""A text has at most so many bytes where its reader does not say another bound."""

DEPTH = 32
"""Arrays and objects stand in each other so many deep at most."""


DIGITS = 1000
"""Of a whole number at most: there are paths enough in a large graph for a hundred."""


def read_json(text: str | bytes, most: int = MOST_BYTES) -> Any:
    """The value of a text in UTF-8 of at most ``most`` bytes (or characters). Raises ValueError."""
    if len(text) > most:
        raise ValueError(f"it has {bytes_text(len(text))}, expected {bytes_text(most)} at most")
    written = text if isinstance(text, str) else str(text, "utf-8")
    try:
        value = _DECODER.decode(written)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error})") from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if written.count("[") + written.count("{") > DEPTH:
        _check_depth(value)
    _check_texts(value, written)
    return value


def read_json_object(text: str | bytes, most: int = MOST_BYTES) -> dict[str, Any]:
    """The object that a text is; see ``read_json``. Raises ValueError."""
    value = read_json(text, most)
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return value


_TOO_DEEP = f"its arrays and objects are nested deeper than {DEPTH}"


def _check_depth(value: Any) -> None:
    level: list[Any] = [[value]]
    for _ in range(DEPTH + 1):
        level = [
            item
            for one in level
            for item in (one.values() if isinstance(one, dict) else one)
            if isinstance(item, _CONTAINERS)
        ]
    if level:
        raise ValueError(_TOO_DEEP)


_CONTAINERS = (list, dict)


def _check_texts(value: Any, written: str) -> None:
    """A half of a character beyond 16 bits can stand in a text, or be written as an escape."""
    try:
        written.encode()
        if "\\ud" in written or "\\uD" in written:
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half a character (a lone surrogate)") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object in it has a key twice")
    return found


def _whole(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError(f"a number in it has {len(text)} digits, expected {DIGITS} at most")
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("a number in it is too large")
    return number


def _constant(_name: str) -> NoReturn:
    raise ValueError("it contains NaN or Infinity, expected numbers")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_number, parse_int=_whole, parse_constant=_constant
)


def text(value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {shown(value)}")
    return value
