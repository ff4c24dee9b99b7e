"""The keys that make a move: of twisty puzzles the letter of its name, with Shift for its inverse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farthest.puzzles.definition import MoveName

_NAME = re.compile(r"([A-Za-z])('?)")


def key_of(move: MoveName) -> str | None:
    """As ``aria-keyshortcuts`` writes it: ``R`` for the move R, ``Shift+R`` for R'; None: no key makes it."""
    found = _NAME.fullmatch(move) if isinstance(move, str) else None
    return None if found is None else f"Shift+{found[1].upper()}" if found[2] else found[1].upper()
