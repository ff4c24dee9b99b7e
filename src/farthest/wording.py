"""How values are shown in messages, and how much room texts take."""

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

SHOWN = 80
"""Characters of a text that are shown, or looked at, at most."""


def shown(value: object) -> str:
    """The value as a short printable literal: control characters escaped, long texts cut."""
    if isinstance(value, str):
        return repr(value) if len(value) <= SHOWN else f"{value[: SHOWN - 3] + '...'!r}"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**SHOWN else "a huge number"
    return {bool: "a truth value", float: "a decimal number", list: "an array", dict: "a table"}.get(
        type(value), f"a {type(value).__name__}"
    )


def times(count: int) -> str:
    """``once``, ``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def counted(count: int, noun: str) -> str:
    """``1 cell``, ``2 cells``, ``1,000 cells``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def sample(texts: Sequence[str], noun: str, most: int) -> str:
    """``board X``, ``boards X; Y``; of more than ``most`` how many, six digits that differ for others, and some of
    them: ``5 boards ab12cd, such as X``."""
    listed = "; ".join(texts[:most])
    if len(texts) <= most:
        return f"{noun}{'' if len(texts) == 1 else 's'} {listed}"
    digits = sha256("\n".join(texts).encode()).hexdigest()[:6]
    return f"{counted(len(texts), noun)} {digits}, such as {listed}"


def near_match(word: str, choices: Iterable[str], most: int = 3) -> str:
    """A question such as ``did you mean 'goal'?`` with the choices nearest to the word, or an empty text."""
    import difflib

    lowered = {choice.lower(): choice for choice in choices}
    near = difflib.get_close_matches(word[:SHOWN].lower(), lowered, n=most, cutoff=0.6)
    return f"did you mean {or_list(lowered[match] for match in near)}?" if near else ""


def or_list(words: Iterable[str]) -> str:
    """``'a' or 'b'``."""
    return " or ".join(map(repr, words))


def seconds_text(seconds: float) -> str:
    """A duration: 0.0031 s, 12.3 s, 4 min 05 s, 2 h 03 min, 12 days, 4,210 years."""
    if seconds < 10:
        return f"{seconds:.2g} s" if seconds < 0.1 else f"{seconds:.2f} s"
    if seconds < 100:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60:02} s"
    if seconds < 240 * 3600:
        return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60:02} min"
    days = seconds / 86400
    return f"{days:,.0f} days" if days < 1000 else f"{days / 365.25:,.0f} years"


def rate_text(rate: float) -> str:
    """A rate with a prefix: 812, 15.3 k, 350 M."""
    for prefix in ("", " k", " M"):
        if rate < 999.5:
            return f"{rate:.3g}{prefix}"
        rate /= 1000
    return f"{rate:.3g} G"


def bytes_text(size: int) -> str:
    """A number of bytes: 812 bytes, 1.5 MiB."""
    if size < 1024:
        return f"{size} bytes"
    amount = size / 1024
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < 1023.95:
            return f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:,.0f} EiB"


_COLOUR = re.compile(r"\x1b\[[;?0-9]*[a-zA-Z]")
_HANGUL_ENDS = frozenset(map(chr, range(0x1160, 0x1200)))
"""Vowels and ends, shown within the syllable before."""


def columns(text: str) -> int:
    """The number of columns that a text takes on a terminal, its colours left out."""
    if text.isascii() and "\x1b" not in text:
        return len(text)
    text = _COLOUR.sub("", text)
    import unicodedata

    return sum(
        0
        if unicodedata.category(sign) in ("Mn", "Me", "Cf") or sign in _HANGUL_ENDS
        else 2
        if unicodedata.east_asian_width(sign) in "WF"
        else 1
        for sign in text
    )
