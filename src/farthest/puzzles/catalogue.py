"""Puzzles by name: those of the catalogue, one TOML file each, those of any size by parametric names, and what is made
of them.

A name may have moves behind it, ``cube-3x3x3<U,R>``: the puzzle with these moves alone (``Family.with_moves``), and
pieces behind ``@``: a pattern (patterns.py).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.puzzles.family import families, family, file_endings
from farthest.puzzles.puzzle import MARK, MAX_TOKENS, Puzzle
from farthest.wording import near_match, or_list, shown

if TYPE_CHECKING:
    from pathlib import Path

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "catalogue")
_SUFFIX = ".toml"
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FORM = re.compile(r"[a-z0-9]+(?:-[A-Za-z0-9.]+)*")
_TEXT = re.compile(r'(title|also)\s*=\s*"(.*)"')
ALIASES = {"24-puzzle": "sliding-5x5", "cube-3x3x3-htm": "cube-3x3x3"}
"""Other names of puzzles."""

OPENS = "<"
CLOSES = ">"
_MOST_SHOWN = 80
"""Characters of moves in a message."""
_LISTED = 8

_WORD = re.compile(r"[^\W_]+")
MOST_WORDS = 64
LONGEST = 1000
"""Characters of a text that are compared with titles."""
TELLING = 3
"""Letters and digits of a word by which a puzzle may be guessed."""


class UnknownPuzzleError(PuzzleError):
    """No puzzle has that name, and no file is meant."""


def _read(path: str) -> Puzzle:
    # The reader of files is large, and names of stored puzzles are mostly found without it.
    from farthest.puzzles.reader import read_puzzle

    return read_puzzle(path)


def load(name_or_path: str | Path) -> Puzzle:
    """The puzzle of a name, also one that people call it by; of the path of a file, ``.toml`` or in a format of another
    program, perhaps with moves or pieces behind it; or of a text that tells a puzzle, such as generators of a group.

    Reads only that puzzle's file. Raises PuzzleError for an impossible size or a wrong file, UnknownPuzzleError for an
    unknown name.
    """
    name = os.fspath(name_or_path)
    if not isinstance(name_or_path, str):
        return _read(name)
    if not os.path.isfile(name):
        if MARK in name:
            return _pattern(name)
        if OPENS in name:
            parent, moves = _split_moves(name)
            return with_moves(load(parent), moves)
        if "(" in name or "[" in name:
            written = _written(name)
            if written is not None:
                return written
    if name.endswith(puzzle_file_endings()) or "/" in name or os.sep in name:
        return _read(name)
    puzzle = _plain_puzzle(name) or called(name) or _written(name)
    if puzzle is None:
        raise _unknown(name)
    return puzzle


def _written(text: str) -> Puzzle | None:
    """The puzzle that a text tells, such as generators of a group, or a board of Rush Hour."""
    return next(filter(None, (each.written(text) for each in families())), None)


def find(name: str) -> Puzzle | None:
    """The puzzle that ``load`` finds for a name without reading a file but the catalogue's; None where there is none.

    For names of stored puzzles, which may be anything. Raises PuzzleError as ``load``.
    """
    parent, mark, tokens = name.partition(MARK)
    if OPENS in parent:
        plain_name, moves = _split_moves(parent)
        plain_puzzle = _plain_puzzle(plain_name)
        puzzle = None if plain_puzzle is None else with_moves(plain_puzzle, moves)
    else:
        puzzle = _plain_puzzle(parent)
    if puzzle is None or not mark:
        return puzzle
    from farthest.puzzles.patterns import pattern_of

    return pattern_of(puzzle, tokens).puzzle


def find_or_refuse(name: str) -> Puzzle:
    """As ``find``. Raises UnknownPuzzleError where there is none."""
    puzzle = find(name)
    if puzzle is None:
        raise _unknown(name)
    return puzzle


def called(name: str) -> Puzzle | None:
    """The one puzzle of the catalogue that people call so, capitals, spaces and marks apart (``15puzzle``); None where
    there is none, or several."""
    wanted = plain(name).replace("-", "")
    if not wanted:
        return None
    names_of = {each: [each, *also.split(",")] for each, (_, also) in _called().items()}
    for each, of in ALIASES.items():
        names_of.setdefault(of, []).append(each)
    found = [each for each, so in names_of.items() if wanted in (plain(word).replace("-", "") for word in so)]
    return _plain_puzzle(found[0]) if len(found) == 1 else None


def _plain_puzzle(name: str) -> Puzzle | None:
    """The puzzle of a name without moves and pieces."""
    name = ALIASES.get(name, name)
    if _NAME.fullmatch(name):
        path = os.path.join(_FOLDER, name + _SUFFIX)
        if os.path.isfile(path):
            return _in_catalogue(path)
    if not _FORM.fullmatch(name):
        return None
    return next(filter(None, (each.parametric(name) for each in families())), None)


@cache  # the files of the catalogue are parts of the program
def _in_catalogue(path: str) -> Puzzle:
    puzzle = _read(path)
    stem = os.path.basename(path).removesuffix(_SUFFIX)
    if puzzle.name != stem:
        raise PuzzleError(
            f"{path}: the puzzle is called {puzzle.name}, expected {stem} as the file is; rename one of them"
        )
    return puzzle


def _pattern(name: str) -> Puzzle:
    from farthest.puzzles.patterns import pattern_of, split_name

    parent, tokens = split_name(name)
    if OPENS in tokens:
        pattern, opened, moves = tokens.partition(OPENS)
        raise PuzzleError(
            f"{shown(name)}: write the moves before {MARK}: {parent}{opened}{moves}{MARK}{pattern}"
        )
    if MARK in parent and not os.path.isfile(parent):
        raise PuzzleError(
            f"{shown(name)}: a pattern of a pattern already; name all its pieces after one {MARK}"
        )
    return pattern_of(load(parent), tokens).puzzle


def _split_moves(name: str) -> tuple[str, str]:
    """The puzzle's name or path, and the text of the moves. Raises PuzzleError where one of them is missing."""
    parent, _, moves = name.partition(OPENS)
    problem = (
        f"no puzzle before {OPENS}"
        if not parent
        else f"no {CLOSES} at the end"
        if not moves.endswith(CLOSES)
        else f"no moves between {OPENS} and {CLOSES}"
        if not moves[:-1].strip()
        else f"more than {MAX_TOKENS} characters of moves"
        if len(moves) > MAX_TOKENS
        else None
    )
    if problem:
        raise PuzzleError(
            f"{shown(name)}: {problem}; expected PUZZLE<MOVES> such as 'cube-3x3x3<U,R>', in quotes on a command line"
        )
    return parent, moves[:-1]


def with_moves(parent: Puzzle, moves: str) -> Puzzle:
    """The puzzle with these moves alone. Raises PuzzleError naming the wrong part."""
    written = moves if len(moves) <= _MOST_SHOWN else moves[:_MOST_SHOWN] + "..."

    def fail(problem: str) -> PuzzleError:
        return PuzzleError(f"{parent.name}{OPENS}{written}{CLOSES}: {problem}")

    if OPENS in parent.name:
        raise fail("the moves of a puzzle are chosen once; name them all in one <>")
    return family(parent.family).with_moves(parent, moves, fail)


# Lists


def puzzle_file_endings() -> tuple[str, ...]:
    """The endings of files that hold puzzles."""
    return (_SUFFIX, *file_endings())


def names() -> list[str]:
    """The names of the catalogue's puzzles, sorted, without parametric names such as ``sliding-3x4``."""
    return sorted(file.removesuffix(_SUFFIX) for file in os.listdir(_FOLDER) if file.endswith(_SUFFIX))


@cache
def titles() -> dict[str, str]:
    """The titles of the catalogue's puzzles by name; the puzzles themselves are not read."""
    return {name: title for name, (title, _) in _called().items()}


def forms() -> dict[str, str]:
    """How parametric names are written, and what people call such puzzles."""
    return {form: words for each in families() for form, words in each.forms}


def _called() -> dict[str, tuple[str, str]]:
    """Of each puzzle of the catalogue by name: its title, and its other names, divided by commas."""
    found = {}
    for name in names():
        texts = {"title": "", "also": ""}
        with open(os.path.join(_FOLDER, name + _SUFFIX), encoding="utf-8") as file:
            for line in file:
                if not line.strip():
                    break  # the keys of the puzzle itself are the first lines
                if text := _TEXT.match(line):
                    texts[text[1]] = text[2]
        found[name] = texts["title"], texts["also"]
    return found


def _described() -> dict[str, str]:
    """The titles and other names of the catalogue's puzzles by name."""
    return {name: f"{title} {also}" for name, (title, also) in _called().items()}


def _unknown(name: str) -> UnknownPuzzleError:
    if os.path.isfile(name + _SUFFIX):
        mend = f"for the file, write {name + _SUFFIX}"
    else:
        listed = f"the puzzles are {', '.join(names()[:_LISTED])} and more; `farthest puzzles` lists them"
        word = name.partition("-")[0]
        alike = [*(search_forms(name) if telling(name) else [])] or [
            form for form in forms() if near_match(word, [form.partition("-")[0]])
        ]
        any_size = f"did you mean {' or '.join(alike)}?" if alike else ""
        mend = meant(name, _described()) or any_size or listed
    endings = ", ".join(puzzle_file_endings())
    return UnknownPuzzleError(
        f"no puzzle is called {shown(name)}; expected a name or the path of a file ({endings}); {mend}"
    )


# Words of names and titles


def search(text: str) -> list[str]:
    """The names of the catalogue's puzzles whose names, titles and other names hold all words of the text."""
    return matching(text, _described())


def search_forms(text: str) -> dict[str, str]:
    """The parametric names, as they are written, that hold all words or are called so; and how they are called."""
    described = forms()
    return {form: described[form] for form in matching(text, described)}


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
            f"did you mean {or_list(found[:most])}, or {len(found) - most} more? `farthest puzzles {words}` "
            "lists them"
        )
    return f"did you mean {or_list(found[:most])}?"


def _nearly(text: str, titles: Mapping[str, str]) -> list[str]:
    """As ``matching``, each word replaced by the one of all names and titles that is most like it."""
    import difflib

    every = {word for name, title in titles.items() for word in _words(f"{name} {title}")}
    words = [
        next(iter(difflib.get_close_matches(word, every, n=1, cutoff=0.75)), "") for word in _words(text)
    ]
    return matching(" ".join(words), titles) if all(words) else []


def telling(text: str) -> bool:
    """Whether a puzzle may be guessed by one of the words."""
    return any(len(word) >= TELLING for word in _words(text))


def plain(text: str) -> str:
    """The words of a text, small letters, joined by hyphens: capitals, spaces and marks make no difference."""
    return "-".join(_words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:LONGEST].lower())[:MOST_WORDS]
