"""The bytes of a puzzle's file, and its TOML as tables; both are bounded, whatever was named or written."""

from __future__ import annotations

import os
import re
import select
import stat
import tomllib
from pathlib import Path
from typing import Any

MOST_BYTES = 2**20
"""Of a file: the largest of the catalogue has some kilobytes."""

PIPE_SECONDS = 10.0
"""How long a pipe's writer is waited for."""

MOST_PARTS = 16
"""Of a key with dots. What tomllib keeps of one grows with the square of them: of 200 KB tens of gigabytes."""

# One that does not end goes on to the end of the text, or of the line: what is read once need not be read again. The
# quotes at the end of one in three quotes may be five: the first two are its own.
_STRINGS = (
    r'"""(?:[^"\\]|\\.|""?(?!"))*+(?:"{3,5}|\Z)',
    r"'''.*?(?:'{3,5}|\Z)",
    r'"(?:[^"\\\n]|\\.)*+(?:"|\n|\Z)',
    r"'[^'\n]*'",
)
_STRING_OR_COMMENT = re.compile(rf"(?P<string>{'|'.join(_STRINGS)})|#[^\n]*", re.DOTALL)
_LONG_KEY = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MOST_PARTS}}}")


class NestedTooDeepError(ValueError):
    """The TOML is nested deeper than any definition."""


def read_bytes(path: Path | str) -> bytes:
    """The bytes of a file, of a larger one than MOST_BYTES one byte more. A pipe is read to its end, which is where its
    writers close it.

    Raises OSError, a TimeoutError where nobody opens a pipe to write for PIPE_SECONDS; ValueError (of names that no
    file can have).
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            _await_writer(file.fileno())
        os.set_blocking(file.fileno(), True)
        return file.read(MOST_BYTES + 1)


def _await_writer(pipe: int) -> None:
    """Waits until there is something to read, or a writer has come and gone: before that a pipe seems empty."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    if not poll.poll(PIPE_SECONDS * 1000):
        raise TimeoutError(f"nobody wrote to this pipe for {PIPE_SECONDS:g} s")


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a text. Raises NestedTooDeepError, tomllib.TOMLDecodeError, ValueError (of huge numbers)."""
    bare = _STRING_OR_COMMENT.sub(lambda found: "s" if found["string"] else "", text)
    if _LONG_KEY.search(bare):
        raise NestedTooDeepError
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise NestedTooDeepError from None
