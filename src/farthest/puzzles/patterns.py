"""Patterns: a puzzle of which only some pieces matter, ``15-puzzle@1-7``. docs/patterns.md has what they are good for.

An *additive* pattern (of a sliding puzzle) counts the moves of its own pieces alone, all others cost nothing: a state
is where these pieces are. A *plain* one (``15-puzzle@plain:1-7``, and any of a permutation puzzle) makes the other
pieces alike, so it is an ordinary puzzle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.puzzles.families import FAMILIES
from farthest.puzzles.family import family
from farthest.puzzles.pattern_maker import MARK, PLAIN
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.definition import PuzzleDefinition
    from farthest.puzzles.pattern_maker import PatternMaker

FORM = "PUZZLE@TOKENS"

_LISTED = 12

_MOST_SHOWN = 80
"""Characters of a pattern's text in messages."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of a puzzle. ``puzzle``: what is enumerated; ``parent``: the puzzle itself.

    ``labels``: of the parent's pieces in the pattern, ascending; of an additive pattern, in the order of the rank.
    ``relabel``: for each label of the parent that of the pattern's puzzle.
    """

    puzzle: Puzzle
    parent: Puzzle
    additive: bool
    labels: tuple[int, ...]
    relabel: tuple[int, ...]

    def boards(self, boards: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Boards of the parent, uint8 (N, cells), as boards of the pattern's puzzle, uint8 (N, its cells)."""
        import numpy

        relabel = numpy.array(self.relabel, dtype=numpy.uint8)
        return _maker(self.parent, self.parent.name).boards(self.puzzle.definition, relabel, boards)


def split_name(name: str) -> tuple[str, str]:
    """The puzzle's name or path, and the pattern's text. Raises PuzzleError where one of them is missing."""
    parent, _, tokens = name.rpartition(MARK)
    if not parent:
        raise PuzzleError(f"{shown(name)}: no puzzle before {MARK}; expected {FORM} such as 15-puzzle@1-7")
    return parent, tokens


def pattern_of(parent: Puzzle, text: str) -> Pattern:
    """The pattern that ``text`` (``1-7``, ``1.5.6``, ``plain:1-7``) means. Raises PuzzleError naming the wrong part."""
    place = f"{parent.name}{MARK}{text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + '...'}"
    definition = parent.definition
    if MARK in parent.name:
        raise PuzzleError(
            f"{place}: {parent.name} is a pattern already; name all its pieces after one {MARK}"
        )
    maker = _maker(parent, place)
    plain = text.startswith(PLAIN)
    tokens = maker.tokens(definition)
    chosen = _chosen(text.removeprefix(PLAIN), list(dict.fromkeys(filter(None, tokens))), place)
    labels = tuple(label for label, token in enumerate(tokens) if token in chosen)
    made, relabel = maker.make(definition, parent.metric, labels, place, plain=plain)
    additive = not made.has_moves
    return _pattern(parent, made, chosen, labels, relabel, plain=plain, additive=additive)


def _maker(parent: Puzzle, place: str) -> PatternMaker:
    found = family(parent.family).patterns()
    if found is None:
        able = " and ".join(name for name in FAMILIES if family(name).patterns())
        raise PuzzleError(
            f"{place}: patterns are of {able} puzzles, and this is of the family {parent.family}; enumerate the puzzle "
            "itself"
        )
    return found


def _pattern(
    parent: Puzzle,
    definition: PuzzleDefinition,
    chosen: Sequence[str],
    labels: tuple[int, ...],
    relabel: tuple[int, ...],
    *,
    plain: bool,
    additive: bool,
) -> Pattern:
    written = _written(chosen)
    kind = "moves of others free" if additive else "other pieces alike"
    puzzle = replace(
        parent,
        name=f"{parent.name}{MARK}{PLAIN if plain else ''}{written}",
        title=f"{parent.title}: pieces {written}, {kind}",
        source=f"a pattern of {parent.name}",
        origin=Origin(),
        known=(),
        definition=definition,
    )
    return Pattern(puzzle, parent, additive, labels, relabel)


def _chosen(text: str, tokens: list[str], place: str) -> list[str]:
    """The tokens that the text names, in the puzzle's order."""
    if not text:
        raise PuzzleError(
            f"{place}: no pieces after {MARK}; expected {FORM} such as {MARK}{'.'.join(tokens[:2])}"
        )
    named: list[str] = []
    for part in [text] if text in tokens else text.split("."):
        for token in _range(part, tokens, place):
            if token in named:
                raise PuzzleError(f"{place}: piece {token} is there twice; name each once")
            named.append(token)
    return [token for token in tokens if token in named]


def _range(part: str, tokens: list[str], place: str) -> list[str]:
    if part in tokens:
        return [part]
    first, dash, last = part.partition("-")
    if dash and _is_number(first) and _is_number(last):
        if int(first) > int(last):
            raise PuzzleError(f"{place}: {part} runs downward; write {last}-{first}")
        if int(last) - int(first) >= len(tokens):
            raise PuzzleError(
                f"{place}: {part} is more than the {len(tokens)} kinds of piece; {_listed(tokens)}"
            )
        return [
            token
            for number in range(int(first), int(last) + 1)
            for token in _range(str(number), tokens, place)
        ]
    what = (
        f"no piece is written {shown(part)}" if part else "a piece is missing: there is nothing beside a dot"
    )
    mend = (near_match(part, tokens) if part else "") or _listed(tokens)
    raise PuzzleError(f"{place}: {what}; expected pieces with . between, or a range such as 1-7; {mend}")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 3


def _listed(tokens: Sequence[str]) -> str:
    more = " ..." if len(tokens) > _LISTED else ""
    return f"the pieces are {' '.join(tokens[:_LISTED])}{more}"


def _written(tokens: Sequence[str]) -> str:
    """The text of a pattern: three and more numbers in a row as a range."""
    runs: list[list[str]] = []
    for token in tokens:
        if runs and _is_number(token) and _is_number(runs[-1][-1]) and int(runs[-1][-1]) + 1 == int(token):
            runs[-1].append(token)
        else:
            runs.append([token])
    return ".".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ".".join(run) for run in runs)
