"""Which codes an enumeration takes: keys without gaps, or packed boards, where only some layers are asked for."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from farthest.coordinator.enumeration.expected_layers import layers_by_growth, published_layers
from farthest.coordinator.estimate import MOST_MAP_KEYS, memory_limit
from farthest.errors import ResourceError
from farthest.spaces import compile_space
from farthest.spaces.contract import gather
from farthest.spaces.packed_layout import PACKED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.coordinator.settings import Settings
    from farthest.puzzles.puzzle import Puzzle
    from farthest.spaces.contract import Space

DENSE_LAYERS = 3
"""Bitmaps of all keys that a run holds at once, at most."""

PACKED_BYTES = 16
"""Memory for a state of the last two layers of packed boards."""

SMALL_BITMAPS = 2**29
"""Bytes of bitmaps that take about a second: no others are compared with packed boards where they fit."""

PACKED_COST = 4
"""A byte of packed boards takes as long as so many bytes of bitmaps, at least."""

DENSE_WITH_WORKERS = 2**35
"""Bytes of bitmaps that a run by workers takes at most where only some layers are asked for."""


def space_for(puzzle: Puzzle, settings: Settings) -> Space:
    """The puzzle's space. With a depth limit it is one of packed boards where bitmaps of all keys, or a map of them,
    are too large, or much larger than the layers asked for: memory then goes by the states found. Raises what
    ``compile_space`` raises."""
    limited = settings.max_depth is not None
    try:
        space = compile_space(puzzle, settings.origin)
    except ResourceError:
        if not limited:
            raise
    else:
        if not limited or not _too_large(space, settings):
            return space
    return compile_space(puzzle, settings.origin, dict(PACKED))


def _too_large(space: Space, settings: Settings) -> bool:
    if space.keys is None or space.engine == "pattern":
        return False
    if space.engine == "scatter":
        return space.keys > MOST_MAP_KEYS and not settings.histogram_only
    dense = DENSE_LAYERS * space.keys // 8
    allowed = memory_limit(settings) if settings.workers == "threads" else DENSE_WITH_WORKERS
    assert settings.max_depth is not None
    if dense > allowed:
        return dense > _packed_bytes(published_layers(space, settings.max_depth))
    if dense > SMALL_BITMAPS and not settings.residues:  # which only bitmaps give
        layers = published_layers(space, settings.max_depth) or layers_by_growth(space, settings.max_depth)
        if dense > PACKED_COST * _packed_bytes(layers):
            return True
    try:
        gather(space).kernel  # noqa: B018 - raises where the kernel cannot step it
    except ResourceError:
        return True
    return False


def _packed_bytes(layers: Sequence[int]) -> int:
    """Memory for two layers of packed boards, one after the other, at most."""
    return PACKED_BYTES * max(a + b for a, b in pairwise((0, *layers, 0)))
