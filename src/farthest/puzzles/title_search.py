"""Puzzles found by words of their names and titles."""

from __future__ import annotations

import re
from collections.abc import Mapping

from farthest.wording import near_match, or_list

_WORD = re.compile(r"[^\W_]+")
MOST_WORDS = 64
LONGEST = 1000
"""Characters of a text that are looked at."""
TELLING = 3
"""Letters and digits of a word by which a puzzle may be guessed."""


def matching(text: str, titles: Mapping[str, str]) -> list[str]:
    """The names where each word of the text begins a word of the name or its title, in any order and any case.

    ``titles`` are by name. A text without letters and digits matches nothing.
    """
    wanted = _words(text)
    found = ((name, _words(f"{name} {title}")) for name, title in titles.items())
    return [
        name
        for name, words in found
        if wanted and all(any(word.startswith(each) for word in words) for each in wanted)
    ]


def meant(text: str, titles: Mapping[str, str], most: int = 3) -> str:
    """A question such as ``did you mean 'red-donkey'?``: the names that the words of the text match, else the nearest
    names, else those that words like these match. Empty where there are none."""
    found = matching(text, titles) if telling(text) else []
    if not found:
        near = near_match(text, titles, most)
        if near or not telling(text):
            return near
        found = _nearly(text, titles)
    if not found:
        return ""
    if len(found) > most:
        words = " ".join(_words(text))
        return (
            f"did you mean {or_list(found[:most])}, or one of {len(found) - most} more? farthest puzzles {words} "
            "lists them"
        )
    return f"did you mean {or_list(found[:most])}?"


def _nearly(text: str, titles: Mapping[str, str]) -> list[str]:
    """As ``matching``, each word replaced by the one of all names and titles that is most like it."""
    import difflib

    known = {word for name, title in titles.items() for word in _words(f"{name} {title}")}
    words = [
        next(iter(difflib.get_close_matches(word, known, n=1, cutoff=0.75)), "") for word in _words(text)
    ]
    return matching(" ".join(words), titles) if all(words) else []


def telling(text: str) -> bool:
    """Whether a puzzle may be guessed by one of the words."""
    return any(len(word) >= TELLING for word in _words(text))


def plain(text: str) -> str:
    """The words of a text, small letters, joined by hyphens: equal for texts that differ in capitals, spaces and marks
    alone."""
    return "-".join(_words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:LONGEST].lower())[:MOST_WORDS]
