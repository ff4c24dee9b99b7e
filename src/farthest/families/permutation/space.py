"""Permutation puzzles compiled: which of the family's spaces a puzzle gets.

Labels in words of bits, or orientations, are fastest (``gather_space``). Where few of all arrangements can be reached,
those of some pieces tell the others (``based_space``); where too few even so, or slots are too many for the kernel,
elements of the group are numbered (``chain_space``). The orientation of one of several equal pieces cannot be told by
its piece, and few kinds of piece on many slots leave too little to a word: such puzzles are enumerated by
``scatter_space``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.errors import ResourceError
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.fields import MAX_SLOTS
from farthest.families.permutation.gather_space import PermutationSpace
from farthest.families.permutation.layout import MEND, Layout, choose_layout
from farthest.families.permutation.neighbours import origin_boards
from farthest.families.permutation.reach import few_states
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.too_large import check_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.spaces.contract import Space

MOST_PLACES = 2**16
"""Shards at the least: a shard takes a kilobyte or two besides its states, of which these would have few."""


def compile(puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None) -> Space:  # noqa: A001 - what families call it
    """See ``spaces.compile_space``."""
    definition = permutation(puzzle)
    origins = origin_boards(puzzle, origin)
    if layout is not None:
        return _stored(puzzle, origin, origins, layout)
    scattered = definition.slots <= MAX_SLOTS and not _for_the_kernel(definition, origins)
    if not scattered:
        chosen = choose_layout(definition, origins)
        large = definition.slots > MAX_SLOTS
        few = few_states(definition, origins[0], None if large else chosen.keys)
        if few is not None:
            from farthest.families.permutation.few_reached import space_of_few

            space = space_of_few(puzzle, origin, origins, few)
            if space is not None:
                return space
    if definition.slots > MAX_SLOTS:
        raise ResourceError(
            f"puzzle {puzzle.name}: {definition.slots} slots; with more than {MAX_SLOTS} it can be enumerated only "
            "where the order of its group is known, at most 4.6e18, and moves join all origins; take fewer points"
        )
    if scattered:
        from farthest.families.permutation.scatter_space import SlotwiseSpace

        return SlotwiseSpace(puzzle, origin, origins, layout)
    check_keys(puzzle, chosen.keys, MEND)
    return PermutationSpace(puzzle, origin, origins, chosen)


def _stored(puzzle: Puzzle, origin: Origin, origins: list[Board], layout: dict[str, Any]) -> Space:
    """The space of a stored layout. Raises StorageError."""
    if "turned" in layout:
        from farthest.families.permutation.scatter_space import SlotwiseSpace

        return SlotwiseSpace(puzzle, origin, origins, layout)
    if "base" in layout:
        from farthest.families.permutation.few_reached import stored_space

        return stored_space(puzzle, origin, origins, layout)
    chosen = Layout.from_dict(layout, permutation(puzzle))
    check_keys(puzzle, chosen.keys, MEND)
    return PermutationSpace(puzzle, origin, origins, chosen)


def _for_the_kernel(definition: Permutation, origins: Sequence[Board]) -> bool:
    """Whether no orientation that matters is one of equal pieces, and the first of two labels or more, whose places are
    shards, has not too many."""
    equal = any(
        count > 1 and not ignored and definition.moduli[of] > 1
        for count, ignored, of in zip(
            definition.counts, definition.ignore, definition.label_orbit, strict=True
        )
    )
    return (
        not equal
        and len(definition.counts) > 1
        and choose_layout(definition, origins).radices[0] <= MOST_PLACES
    )
