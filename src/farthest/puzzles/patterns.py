"""Patterns: a puzzle of which only some pieces matter, ``15-puzzle@1-7``. docs/patterns.md has what they are good for.

An *additive* pattern (of a sliding puzzle) counts the moves of its own pieces alone, all others cost nothing: a state
is where these pieces are. A *plain* one (``15-puzzle@plain:1-7``, and any of a permutation puzzle) makes the other
pieces alike, so it is an ordinary puzzle. pattern_text.py has how they are written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.puzzles.families import FAMILIES
from farthest.puzzles.family import family
from farthest.puzzles.pattern_maker import MARK, PLAIN, Choice
from farthest.puzzles.pattern_text import FORM, chosen, written
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.wording import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.pattern_maker import PatternMaker

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
    """The pattern that ``text`` (``1-7``, ``1.5.6``, ``plain:1-7``, ``UF=UB.turns:edges``) means. Raises PuzzleError
    naming the wrong part."""
    place = f"{parent.name}{MARK}{text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + '...'}"
    definition = parent.definition
    if MARK in parent.name:
        raise PuzzleError(
            f"{place}: {parent.name} is a pattern already; name all its pieces after one {MARK}"
        )
    return _pattern(parent, chosen(text, _maker(parent, place).names(definition), place), place)


def pattern_of_labels(parent: Puzzle, labels: Sequence[int]) -> Pattern:
    """The pattern of pieces with these labels, ascending, each told apart from all others: what naming them one by one
    means. Raises PuzzleError."""
    return _pattern(parent, Choice(False, tuple((label,) for label in labels)), parent.name)


def _pattern(parent: Puzzle, choice: Choice, place: str) -> Pattern:
    maker = _maker(parent, place)
    made, relabel = maker.make(parent.definition, parent.metric, choice, place)
    name = written(choice, maker.names(parent.definition))
    additive = not made.has_moves
    puzzle = replace(
        parent,
        name=f"{parent.name}{MARK}{name}",
        title=f"{parent.title}: pieces {name.removeprefix(PLAIN)}, "
        f"{'moves of others free' if additive else 'other pieces alike'}",
        source=f"a pattern of {parent.name}",
        origin=Origin(),
        known=(),
        definition=made,
    )
    return Pattern(puzzle, parent, additive, choice.labels, relabel)


def _maker(parent: Puzzle, place: str) -> PatternMaker:
    found = family(parent.family).patterns()
    if found is None:
        able = " and ".join(name for name in FAMILIES if family(name).patterns())
        raise PuzzleError(
            f"{place}: patterns are of {able} puzzles, and this is of the family {parent.family}; enumerate the puzzle "
            "itself"
        )
    return found
