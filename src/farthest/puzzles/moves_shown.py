"""Moves as text, in commands and on pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import MoveName, NamedPath


def move_text(move: MoveName) -> str:
    """A move as it is shown: its name, or two cells as from-to."""
    return move if isinstance(move, str) else f"{move[0]}-{move[1]}"


def moves_text(moves: Sequence[MoveName]) -> str:
    """Moves as they are shown, in a row."""
    texts = list(map(move_text, moves))
    return (", " if any(" " in text for text in texts) else " ").join(texts)


def board_titles(path: NamedPath) -> list[str]:
    """For each board of a path the move that leads to it; for the first ``start``."""
    return ["start", *map(move_text, path.moves)]
