"""The catalogue: puzzles by name, one TOML file each, and puzzles of any size by parametric names."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.puzzles.family import MARK, families, family, file_endings
from farthest.puzzles.puzzle import MAX_TOKENS, Puzzle
from farthest.puzzles.reader import read_puzzle
from farthest.wording import near_match, or_list, shown

if TYPE_CHECKING:
    from pathlib import Path


# --- Puzzles with some moves of another alone, ``cube-3x3x3<U,R>``: the part of it that these moves reach.
#
# Each move in ``<>`` is one of the puzzle's, a power of one, or a sequence of them with a name; its inverse or its
# powers are moves too, as the puzzle's metric has it. The family says how they are written (``Family.with_moves``).

OPENS = "<"
CLOSES = ">"
_MOST_SHOWN = 80


def split_moves(name: str) -> tuple[str, str] | None:
    """The puzzle's name or path, and the text of the moves; None: the name has none. Raises PuzzleError where one of
    them is missing."""
    parent, opened, moves = name.partition(OPENS)
    if not opened:
        return None
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
    place = f"{parent.name}{OPENS}{written}{CLOSES}"

    def fail(problem: str) -> PuzzleError:
        return PuzzleError(f"{place}: {problem}")

    if OPENS in parent.name:
        raise fail("the moves of a puzzle are chosen once; name them all in one <>")
    return family(parent.family).with_moves(parent, moves, fail)


# --- Puzzles found by words of their names and titles.

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


_HERE = os.path.dirname(os.path.abspath(__file__))
_FOLDER = os.path.join(_HERE, "catalogue")
_SUFFIX = ".toml"
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LISTED = 8
ALIASES = {"24-puzzle": "sliding-5x5", "cube-3x3x3-htm": "cube-3x3x3"}
"""Other names of puzzles."""
_TEXT = re.compile(r'(title|also)\s*=\s*"(.*)"')
_FORM = re.compile(r"[a-z0-9]+(?:-[A-Za-z0-9.]+)*")


def puzzle_file_endings() -> tuple[str, ...]:
    """The endings of files that hold puzzles."""
    return (_SUFFIX, *file_endings())


def names() -> list[str]:
    """The names of the catalogue's puzzles, sorted, without parametric names such as ``sliding-3x4``."""
    return _stems(_FOLDER)


class UnknownPuzzleError(PuzzleError):
    """No puzzle has that name, and no file is meant."""


def titles() -> dict[str, str]:
    """The titles of the catalogue's puzzles by name; the puzzles themselves are not read."""
    return {name: title for name, (title, _) in _called().items()}


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


def search(text: str) -> list[str]:
    """The names of the catalogue's puzzles whose names, titles and other names hold all words of the text."""
    return matching(text, _described())


def search_forms(text: str) -> dict[str, str]:
    """The parametric names, as they are written, that hold all words of the text, or are called so; and how they are
    called."""
    called = forms()
    return {form: called[form] for form in matching(text, called)}


def load(name_or_path: str | Path) -> Puzzle:
    """The puzzle of a catalogue name, a parametric name (``sliding-3x4-slide``) or a path of a file: ``.toml``, or a
    format of another program; with ``<`` and ``>`` around moves after it, the puzzle with these alone; with ``@`` and
    tokens after that, a pattern; or of a text that tells a puzzle, such as generators of a group in cycles.

    Reads only that puzzle's file. Raises PuzzleError for an impossible size or a wrong file, UnknownPuzzleError for an
    unknown name.
    """
    name = os.fspath(name_or_path)
    if isinstance(name_or_path, str) and MARK in name and not os.path.isfile(name):
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
    if isinstance(name_or_path, str) and OPENS in name and not os.path.isfile(name):
        split = split_moves(name)
        assert split is not None, "it holds the sign"
        return with_moves(load(split[0]), split[1])
    if isinstance(name_or_path, str) and ("(" in name or "[" in name) and not os.path.isfile(name):
        written = next(filter(None, (each.written(name) for each in families())), None)
        if written is not None:
            return written
    if (
        not isinstance(name_or_path, str)
        or name.endswith(puzzle_file_endings())
        or "/" in name
        or os.sep in name
    ):
        return read_puzzle(name)
    puzzle = _named(name) or _called_so(name)
    if puzzle is None:
        raise _unknown(name)
    return puzzle


def called(name: str) -> Puzzle | None:
    """As ``known``, also by another name that people type for one puzzle."""
    return known(name) or _called_so(name)


def _called_so(name: str) -> Puzzle | None:
    """The one puzzle of the catalogue that is called so, capitals, spaces and marks apart; None where there is none or
    several."""
    wanted = plain(name)
    if not wanted:
        return None
    called = {each: [each, *also.split(",")] for each, (_, also) in _called().items()}
    called |= {of: [*called.get(of, []), each] for each, of in ALIASES.items()}
    found = [each for each, so in called.items() if wanted in map(plain, so)]
    return _named(found[0]) if len(found) == 1 else None


def named(name: str) -> Puzzle:
    """As ``known``. Raises UnknownPuzzleError where there is none."""
    puzzle = known(name)
    if puzzle is None:
        raise _unknown(name)
    return puzzle


def known(name: str) -> Puzzle | None:
    """The puzzle, or the pattern of one, that ``load`` finds for a name without reading a file but the catalogue's;
    None where there is none. For names of stored puzzles, which may be anything. Raises PuzzleError as ``load``."""
    parent, mark, tokens = name.partition(MARK)
    split = split_moves(parent)
    puzzle = _named(parent if split is None else split[0])
    if puzzle is not None and split is not None:
        puzzle = with_moves(puzzle, split[1])
    if puzzle is None or not mark:
        return puzzle
    from farthest.puzzles.patterns import pattern_of

    return pattern_of(puzzle, tokens).puzzle


def _named(name: str) -> Puzzle | None:
    name = ALIASES.get(name, name)
    if _NAME.fullmatch(name):
        path = os.path.join(_FOLDER, name + _SUFFIX)
        if os.path.isfile(path):
            return _in_catalogue(path)
    return _parametric(name) if _FORM.fullmatch(name) else None


def forms() -> dict[str, str]:
    """How parametric names are written, and what people call such puzzles."""
    return {form: called for each in families() for form, called in each.forms}


def _parametric(name: str) -> Puzzle | None:
    found = (each.parametric(name) for each in families())
    return next((puzzle for puzzle in found if puzzle is not None), None)


def read_folder(folder: Path | str = _FOLDER) -> list[Puzzle]:
    """All puzzles of a folder of definitions, sorted by the names of their files.

    Raises PuzzleError where a file is wrong, or the name of its puzzle is taken, parametric, or not the
    file's.
    """
    puzzles: dict[str, str] = {}
    found = []
    for stem in _stems(folder):
        path = os.path.join(folder, stem + _SUFFIX)
        puzzle = read_puzzle(path)
        if puzzle.name in puzzles:
            raise PuzzleError(
                f"{path}: the name {puzzle.name} is also that of {puzzles[puzzle.name]}; "
                "expected names that differ, change one"
            )
        if _is_parametric(puzzle.name):
            raise PuzzleError(f"{path}: the name {puzzle.name} is a parametric one; choose another")
        puzzles[puzzle.name] = path
        _check_stem(path, puzzle)
        found.append(puzzle)
    return found


def _is_parametric(name: str) -> bool:
    try:
        return _parametric(name) is not None
    except PuzzleError:  # of a size that cannot be
        return True


def _stems(folder: Path | str) -> list[str]:
    return sorted(file.removesuffix(_SUFFIX) for file in os.listdir(folder) if file.endswith(_SUFFIX))


@cache  # the files of the catalogue are parts of the program
def _in_catalogue(path: str) -> Puzzle:
    puzzle = read_puzzle(path)
    _check_stem(path, puzzle)
    return puzzle


def _check_stem(path: str, puzzle: Puzzle) -> None:
    stem = os.path.basename(path).removesuffix(_SUFFIX)
    if puzzle.name != stem:
        raise PuzzleError(
            f"{path}: the puzzle is called {puzzle.name}, expected {stem} as the file is; rename one of them"
        )


def _unknown(name: str) -> UnknownPuzzleError:
    if os.path.isfile(name + _SUFFIX):
        mend = f"for the file, write {name + _SUFFIX}"
    else:
        listed = f"the puzzles are {', '.join(names()[:_LISTED])} and more, which farthest puzzles lists"
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
