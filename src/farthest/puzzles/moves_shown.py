"""Moves as text, in commands and on pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import MoveName


def move_text(move: MoveName) -> str:
    """A move as it is shown: its name, or two cells as from-to."""
    return move if isinstance(move, str) else f"{move[0]}-{move[1]}"


def moves_text(moves: Sequence[MoveName]) -> str:
    """Moves as they are shown, in a row."""
    texts = list(map(move_text, moves))
    return (", " if any(" " in text for text in texts) else " ").join(texts)
