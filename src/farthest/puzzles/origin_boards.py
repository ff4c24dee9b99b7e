"""The boards that the text of an origin or of a target means, before wildcards are filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.puzzles.origin_names import WORDS, names_of

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board, PuzzleDefinition

MAX_ORIGINS = 1_000_000
"""Boards at depth 0."""


def origin_patterns(definition: PuzzleDefinition, where: str, name: str) -> tuple[Board, ...]:
    """The boards of ``Origin.where``, each once; goals may have ``WILDCARD``. ``name``: the puzzle's, for messages.
    Raises BoardError for a text that is no board, PuzzleError for a word that names no board."""
    found: dict[Board, None] = {}
    for each in names_of(where):
        found.update(dict.fromkeys(_patterns(definition, each, name)))
    return tuple(found)


def _patterns(definition: PuzzleDefinition, each: str, name: str) -> tuple[Board, ...]:
    if each not in WORDS:
        return (definition.parse_board(each, name=name),)
    patterns = definition.origin_boards[0] if each == "goal" else definition.starts
    if not patterns:
        raise PuzzleError(f"puzzle {name}: it has no {each}; name a board instead, or add {each} to its file")
    return patterns
