"""Values of types, by msgspec, in threads: a class is prepared by one thread at a time.

msgspec (0.22) prepares a class when a value of it is made first, and ends the process by a segmentation fault where two
threads do so at once.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, TypeVar, overload

import msgspec

Made = TypeVar("Made")


@overload
def convert(value: object, kind: type[Made], *, strict: bool = True) -> Made: ...


@overload
def convert(value: object, kind: Any, *, strict: bool = True) -> Any: ...


def convert(value: object, kind: Any, *, strict: bool = True) -> Any:
    """As ``msgspec.convert``. Raises msgspec.ValidationError."""
    _prepare(kind)
    return msgspec.convert(value, kind, strict=strict)


@overload
def decode(text: str | bytes | memoryview, kind: type[Made]) -> Made: ...


@overload
def decode(text: str | bytes | memoryview, kind: Any) -> Any: ...


def decode(text: str | bytes | memoryview, kind: Any) -> Any:
    """As ``msgspec.json.decode``. Raises msgspec.MsgspecError, and ValueError for a text that is not in UTF-8."""
    _prepare(kind)
    return msgspec.json.decode(text, type=kind)


def _prepare(kind: Any) -> None:
    if kind not in _PREPARED:
        with _LOCK:
            msgspec.json.Decoder(kind)
            _PREPARED.add(kind)


_LOCK = Lock()
_PREPARED: set[Any] = set()
