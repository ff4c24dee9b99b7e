"""How many states a space has, where that is known before it is enumerated."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farthest.spaces.contract import Space

PUBLISHED = "published figures"
WORKED_OUT = "the order of the group of its moves"


def known_states(space: Space, *, own_origin: bool = False) -> tuple[int, str] | None:
    """The number of states and where it is known from, or None. Published figures are of the puzzle's own origin; with
    ``own_origin`` they count for that alone."""
    published = [answer.states for answer in space.puzzle.known if answer.states is not None]
    if published and (not own_origin or space.origin == space.puzzle.origin):
        return max(published), PUBLISHED
    reached = space.puzzle.definition.reachable(space.origins)
    return None if reached is None else (reached, WORKED_OUT)
