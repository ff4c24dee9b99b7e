"""The text that names a board or the boards of an origin: words, boards, moves, or a set of them, one per line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board, PuzzleDefinition

WORDS = ("goal", "start")
"""Boards that a puzzle's file gives: its goals, its start."""
MAX_NAMED = 10_000
"""Boards that an origin names one by one."""
_SEPARATOR = "\n"
_MOVES = re.compile(r"\s*(?:moves|scramble)\b", re.IGNORECASE)


def is_moves(text: str) -> bool:
    """Whether a board is written as moves that lead to it: ``moves: R U'``."""
    return _MOVES.match(text) is not None


def joined(names: Iterable[str]) -> str:
    """The text of a set of names: words first, then boards in order, each once, so that equal sets are equal texts."""
    return _SEPARATOR.join(sorted(set(names), key=lambda name: (name not in WORDS, name)))


def names_of(where: str) -> list[str]:
    """The words and texts of boards of such a text."""
    return where.split(_SEPARATOR)


def where_text(where: str) -> str:
    """One line for a message or a table."""
    names = names_of(where)
    return where if len(names) == 1 else f"{len(names):,} boards ({names[0]}, ...)"


MAX_ORIGINS = 1_000_000
"""Boards at depth 0."""


def origin_patterns(definition: PuzzleDefinition, where: str, name: str) -> tuple[Board, ...]:
    """The boards of ``Origin.where``, each once; goals may have ``WILDCARD``. ``name``: the puzzle's, for messages.
    Raises BoardError for a text that is no board, PuzzleError for a word that names no board."""
    found: dict[Board, None] = {}
    for each in names_of(where):
        found.update(dict.fromkeys(_patterns(definition, each, name)))
    return tuple(found)


def filled_boards(
    definition: PuzzleDefinition,
    where: str,
    name: str,
    ways: Callable[[Board], int],
    filled: Callable[[Board], Iterable[Board]],
) -> list[Board]:
    """The boards at depth 0, sorted, none twice, of ``origin_patterns``. ``ways``: how many boards a pattern with
    ``WILDCARD`` stands for; ``filled``: these boards. Raises BoardError when the origin is not a board, PuzzleError
    when there is no start, no goal or too many."""
    found: set[Board] = set()
    total = 0
    for pattern in origin_patterns(definition, where, name):
        total += ways(pattern)
        if total > MAX_ORIGINS:
            raise PuzzleError(
                f"puzzle {name}: the goals stand for more than {MAX_ORIGINS:,} boards "
                f"(goal {definition.format_board(pattern)}); use fewer wildcards"
            )
        found.update(filled(pattern))
    return sorted(found)


def _patterns(definition: PuzzleDefinition, each: str, name: str) -> tuple[Board, ...]:
    if each not in WORDS:
        return (definition.parse_board(each, name=name),)
    patterns = definition.origin_boards[0] if each == "goal" else definition.starts
    if not patterns:
        raise PuzzleError(
            f"puzzle {name}: it has no {each}; name a board instead with --to or --from, or add {each} "
            "to its file"
        )
    return patterns
