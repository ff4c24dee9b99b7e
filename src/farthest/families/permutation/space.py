"""Permutation puzzles compiled: which of the family's spaces a puzzle gets.

Labels in words of bits, or orientations, are fastest (``gather_space``). Where few of all arrangements can be reached,
those of some pieces tell the others; where too few even so, or slots are too many for the kernel, elements of the group
are numbered (``group_spaces``). Few kinds of piece on many slots leave too little to a word, and
orientations of very many equal pieces fit no line of the kernel: such puzzles are enumerated by ``scatter_space``. So
are those with moves that cannot be made on every board, as packed codes: of all arrangements few are reached.
"""

from __future__ import annotations

from math import factorial, prod
from typing import TYPE_CHECKING, Any

from farthest.errors import ResourceError
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.fields import MAX_SLOTS
from farthest.families.permutation.gather_space import PermutationSpace, origin_boards
from farthest.families.permutation.layout import MEND, Layout, choose_layout
from farthest.families.permutation.reach import few_states
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import Space, check_keys, damaged_layout, is_packed

if TYPE_CHECKING:
    from farthest.families.permutation.reduced_runs import ReducedRunsSpace
    from farthest.puzzles.definition import Board
    from farthest.spaces.reduced import RepresentativeSpace

MOST_PLACES = 2**16
"""Shards at the least: a shard takes a kilobyte or two besides its states, of which these would have few."""

LEAST_BITS = 4
"""States in a word at the least: with fewer, sorted runs of codes take less memory."""

MOST_PROGRAM_BITS = 2**27
"""States of a line, times the programs that may be needed for it: some seconds and 200 MB."""


def compile(puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None) -> Space:  # noqa: A001 - what families call it
    """See ``spaces.compile_space``."""
    definition = permutation(puzzle)
    origins = origin_boards(puzzle, origin)
    if layout is not None:
        return _stored(puzzle, origin, origins, layout)
    if definition.guards:
        return _packed(puzzle, origin, origins)
    chosen = choose_layout(definition, origins) if definition.slots <= MAX_SLOTS else None
    few = few_states(definition, origins[0], chosen.keys if chosen else None)
    if few is not None:
        from farthest.families.permutation.group_spaces import space_of_few

        found = space_of_few(puzzle, origin, origins, few)
        if found is not None:
            return found
    if chosen is None:
        raise ResourceError(
            f"puzzle {puzzle.name}: {definition.slots} slots; with more than {MAX_SLOTS} all its states can be "
            "enumerated only where the order of its group is known, at most 4.6e18, and moves join all origins; count "
            "its first layers with --max-depth 3"
        )
    check_keys(puzzle, chosen.keys, MEND)
    space = PermutationSpace(puzzle, origin, origins, chosen)
    if _gathered(space):
        return space
    from farthest.families.permutation.scatter_space import SlotwiseSpace

    return SlotwiseSpace(puzzle, origin, origins, layout)


def compile_reduced(puzzle: Puzzle, origin: Origin, order: int | None) -> RepresentativeSpace | None:
    """See ``spaces.reduced_space``."""
    from farthest.families.permutation.reduced_space import fast_space, reduced_space

    if permutation(puzzle).guards:
        return None
    return fast_space(puzzle, origin) if order is None else reduced_space(puzzle, origin, order)


def compile_reduced_runs(puzzle: Puzzle, origin: Origin, order: int | None) -> ReducedRunsSpace | None:
    """See ``spaces.reduced_runs_space``."""
    from farthest.families.permutation.reduced_runs import reduced_runs

    definition = permutation(puzzle)
    return None if definition.slots > MAX_SLOTS or definition.guards else reduced_runs(puzzle, origin, order)


def _packed(puzzle: Puzzle, origin: Origin, origins: list[Board]) -> Space:
    """The space of packed boards. Raises ResourceError."""
    from farthest.families.permutation.scatter_space import PackedPermutationSpace

    return PackedPermutationSpace(puzzle, origin, origins)


def _stored(puzzle: Puzzle, origin: Origin, origins: list[Board], layout: dict[str, Any]) -> Space:
    """The space of a stored layout. Raises StorageError."""
    if is_packed(layout):
        return _packed(puzzle, origin, origins)
    if permutation(puzzle).guards:
        raise damaged_layout("boards of a puzzle with blocked moves are packed")
    if "base" in layout:
        from farthest.families.permutation.group_spaces import stored_space

        return stored_space(puzzle, origin, origins, layout)
    if "turned" in layout and not layout.get("gathered"):
        from farthest.families.permutation.scatter_space import SlotwiseSpace

        return SlotwiseSpace(puzzle, origin, origins, layout)
    chosen = Layout.from_dict(layout, permutation(puzzle))
    check_keys(puzzle, chosen.keys, MEND)
    return PermutationSpace(puzzle, origin, origins, chosen)


def _gathered(space: PermutationSpace) -> bool:
    """Whether the first of two labels or more, whose places are shards, has not too many, and the kernel can exchange
    the orientations of equal pieces: in full words, by not too many programs."""
    layout, counts = space.layout, space.definition.counts
    if layout.radices[0] > MOST_PLACES or (len(layout.classes) == 1 and layout.twists == 1):
        return False
    if not layout.exchanges:
        return True
    several = [label for label in layout.twisted if counts[label] > 1]
    ways = prod(factorial(counts[label]) * layout.modulus_of[label] ** counts[label] for label in several)
    moves = len(space.definition.generators)
    programs = min(moves * prod(layout.radices), moves * ways if layout.turned else ways)
    try:
        kernel = space.kernel
    except ResourceError:
        return False
    return (
        kernel.bits >= LEAST_BITS
        and programs * kernel.bits * (kernel.words // kernel.lines) <= MOST_PROGRAM_BITS
    )
