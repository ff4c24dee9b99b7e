"""Text that may be shown: what would steer a terminal, or hide or turn around what follows, is written as an escape.

Names, titles, boards, messages of errors and what workers say of themselves come from files, databases and Redis.
All that goes to a terminal passes ``SafeStream``, all that is logged ``safe``: nothing else need think of it. Only
coloured drawings pass by it (``print_drawings``), after what others wrote in them was made safe.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Any, TextIO

# Control characters but for tab and new line; those without a width of their own, those that change the direction of
# writing, line ends of Unicode, halves of characters, and what is no character at all.
_UNSAFE = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U000e0000-\U000e0fff"
)
_FOUND = re.compile(rf"[{_UNSAFE}]")


def safe(text: str) -> str:
    """The text with unsafe characters as JSON writes them in texts: ``\\u001b``. So JSON means the same afterwards."""
    if text.replace("\n", "").isprintable():
        return text
    return _FOUND.sub(lambda found: _escaped(found[0]), text)


def _escaped(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


class SafeStream:
    """A stream of text, to which only what is ``safe`` is written. ``stream`` is the one that it stands for."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(safe(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class MessageStream(SafeStream):
    """Standard error: a message that cannot be written there is lost, and changes neither what a command does nor the
    status that it ends with."""

    def write(self, text: str) -> int:
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self.stream.flush()


def tell_at_once(line: str) -> None:
    """Writes a line to standard error from a signal handler. That may have interrupted a write to the stream, or to a
    log, whose buffers and locks cannot be taken twice: the line goes past them. Where it cannot be written it is lost.
    """
    if sys.__stderr__ is None:  # closed from the beginning: its number may be that of any file
        return
    with suppress(OSError):
        os.write(2, f"{line}\n".encode())


def raw(stream: TextIO) -> TextIO:
    """The stream itself, for what steers a terminal on purpose; text from elsewhere must be ``safe`` before."""
    return stream.stream if isinstance(stream, SafeStream) else stream


@contextmanager
def safe_streams() -> Iterator[None]:
    """Lets standard output and standard error be safe meanwhile; messages that cannot be written are lost."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _guarded(sys.stdout, SafeStream), _guarded(sys.stderr, MessageStream)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _guarded(stream: TextIO | None, guard: type[SafeStream]) -> Any:
    if stream is None:  # closed from the beginning
        return None
    # Where a locale without UTF-8 is set by mistake, click would write UTF-8 past this stream.
    if (stream.encoding or "").lower() in _ASCII and isinstance(stream, TextIOWrapper):
        stream.reconfigure(encoding="utf-8")
    return guard(stream)


_ASCII = ("ascii", "us-ascii", "ansi_x3.4-1968", "646")
