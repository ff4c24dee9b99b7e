"""Spaces of permutation puzzles whose moves reach few of all arrangements: by a base, or by the group's elements."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from farthest.errors import PuzzleError, StorageError
from farthest.families.permutation.based_space import BasedSpace, pattern_of_base
from farthest.families.permutation.chain import Chain, stored_levels
from farthest.families.permutation.chain_space import KIND, ChainSpace
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.fields import MAX_SLOTS
from farthest.families.permutation.layout import VERSION, Layout
from farthest.families.permutation.reach import DENSE, SMALL, base

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.families.permutation.definition import Permutation
    from farthest.families.permutation.reach import Level
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Origin, Puzzle

TOGETHER = 1 << 14
"""Boards that are looked at together."""


def space_of_few(
    puzzle: Puzzle, origin: Origin, origins: list[Board], states: int
) -> BasedSpace | ChainSpace | None:
    """The space, where so many states are reached from the first origin; None where not all origins are joined."""
    definition = permutation(puzzle)
    levels = base(definition, origins[0])
    if levels is None or not _joined(definition, origins, levels):
        return None
    if definition.slots <= MAX_SLOTS:
        with suppress(PuzzleError):  # the base are all pieces, or all but one
            space = BasedSpace(puzzle, origin, origins, levels, None)
            if space.keys <= max(SMALL, states * DENSE):
                return space
    return ChainSpace(puzzle, origin, origins, levels)


def stored_space(
    puzzle: Puzzle, origin: Origin, origins: list[Board], fields: dict[str, Any]
) -> BasedSpace | ChainSpace:
    """The space of a stored layout. Raises StorageError."""
    definition = permutation(puzzle)
    levels = stored_levels(fields["base"], definition)
    if fields.get("kind") == KIND:
        if fields.get("version") != VERSION:
            raise StorageError(
                f"stored key layout: version {fields.get('version')!r}, expected {VERSION}; the map was written by "
                "another version of farthest, use that one"
            )
        return ChainSpace(puzzle, origin, origins, levels)
    try:
        pattern, _ = pattern_of_base(definition, origins, levels)
    except PuzzleError as error:
        raise StorageError(f"stored key layout is damaged ({error}); enumerate the puzzle again") from None
    return BasedSpace(puzzle, origin, origins, levels, Layout.from_dict(fields, pattern))


def _joined(definition: Permutation, origins: Sequence[Board], levels: Sequence[Level]) -> bool:
    """Whether moves join all origins to the first."""
    if len(origins) == 1:
        return True
    import numpy as np

    boards = np.array(origins, dtype=np.uint8)
    chain = Chain(definition, origins[0], levels)
    for part in np.array_split(boards, len(boards) // TOGETHER + 1):
        found, whole = chain.whole(part)
        if not (found.all() and (whole == part).all()):
            return False
    return True
