"""The space and the kind of map of an enumeration, as its puzzle and the settings have it: keys without gaps, or packed
boards; all states, or representatives of symmetries; distances, residues, or no map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from farthest.coordinator.enumeration.resources import layers_by_growth, published_layers
from farthest.coordinator.settings import MapKind, Settings
from farthest.errors import PuzzleError, ResourceError
from farthest.spaces import compile_space, reduced_runs_space, reduced_space
from farthest.spaces.contract import FULL_KEYS, PACKED, Space, gather

if TYPE_CHECKING:
    from farthest.coordinator.enumeration.machine import Machine
    from farthest.puzzles.puzzle import Puzzle

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

MOST_MAP_KEYS = 2**40
"""Most keys of a dense map: a byte for each key is made and compressed, so such a map takes about an hour."""

LEAST_REDUCED = 2**28
"""Arrangements from which on representatives of symmetries are kept: fewer are enumerated in a second as they are."""

LEAST_REDUCED_RUNS = 2**24
"""The same of states where only some layers are counted: outer numbers take a second or two before the first layer."""


def space_for(puzzle: Puzzle, settings: Settings, machine: Machine) -> Space:
    """The puzzle's space. With a depth limit it is one of packed boards where bitmaps of all keys, or a map of them,
    are too large, or much larger than the layers asked for: memory then goes by the states found. Raises what
    ``compile_space`` raises."""
    limited = settings.max_depth is not None
    by_representatives = _reduced(puzzle, settings, machine)
    if by_representatives is not None:
        return by_representatives
    try:
        space = compile_space(puzzle, settings.origin)
    except ResourceError:
        if not limited:
            raise
    else:
        if not limited or not _too_large(space, settings, machine):
            return space
    packed = compile_space(puzzle, settings.origin, dict(PACKED))
    return _reduced_runs(packed, settings) or packed


def _reduced_runs(packed: Space, settings: Settings) -> Space | None:
    """The space of representatives of packed boards, where it pays."""
    assert settings.max_depth is not None, "only some layers are asked for"
    if settings.symmetry == 1 or not settings.histogram_only or settings.workers == "celery":
        return None
    layers = published_layers(packed, settings.max_depth) or layers_by_growth(packed, settings.max_depth)
    if sum(layers) < LEAST_REDUCED_RUNS:
        return None
    return reduced_runs_space(packed.puzzle, settings.origin, settings.symmetry)


def _reduced(puzzle: Puzzle, settings: Settings, machine: Machine) -> Space | None:
    """The space of representatives, where it is asked for, or pays. Raises PuzzleError where it is asked for and cannot
    be."""
    order = settings.symmetry
    asked = order is not None and order > 1
    if order == 1 or not (asked or settings.max_depth is None):
        return None
    if not asked and puzzle.definition.arrangements() < LEAST_REDUCED:
        return None
    space = reduced_space(puzzle, settings.origin, order)
    if asked and settings.max_depth is not None and (space is None or _too_large(space, settings, machine)):
        packed = _packed_reduced(puzzle, settings, stored=machine.stored)
        if packed is not None:
            return packed
    if space is None and asked:
        raise PuzzleError(
            f"puzzle {puzzle.name}: no space of representatives of {order} symmetries: there is no such "
            "group that fixes the origin, or the pieces do not divide as it needs (docs/symmetry.md); leave out "
            "--symmetry"
        )
    return space if space is None or asked or space.pays(mapped=not settings.histogram_only) else None


def _packed_reduced(puzzle: Puzzle, settings: Settings, *, stored: bool) -> Space | None:
    """The space of representatives of packed boards that is asked for. Raises PuzzleError where they do not serve."""
    space = reduced_runs_space(puzzle, settings.origin, settings.symmetry)
    if space is None:
        return None
    if settings.workers == "celery":
        raise PuzzleError(
            f"puzzle {puzzle.name}: workers keep no packed boards by representatives; leave out --workers celery, or "
            "--symmetry"
        )
    if stored and not settings.histogram_only:
        raise PuzzleError(
            f"puzzle {puzzle.name}: packed boards by representatives give layers, and no map; use --map none, or leave "
            "out --symmetry"
        )
    return space


def _too_large(space: Space, settings: Settings, machine: Machine) -> bool:
    if space.keys is None or space.engine == "pattern":
        return False
    if space.engine == "scatter":
        return space.keys > MOST_MAP_KEYS and not settings.histogram_only
    dense = DENSE_LAYERS * space.keys // 8
    allowed = machine.memory if settings.workers == "threads" else DENSE_WITH_WORKERS
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


def check_countable(space: Space, settings: Settings) -> None:
    """Raises PuzzleError for states that cannot be given back from their codes, unless they are only counted here."""
    if space.puzzle.definition.uncertainty(0) is None or (
        settings.histogram_only and settings.workers == "threads"
    ):
        return
    raise PuzzleError(
        f"puzzle {space.puzzle.name}: its states have no keys, only hashes, from which no map can be made; write key "
        "and state in its class, or count the layers with --histogram-only, without workers"
    )


def with_kind_of_map(space: Space, settings: Settings, *, stored: bool) -> Settings:
    """The settings with the kind of map decided. ``stored``: whether anything of the run is.

    Raises PuzzleError where a residue map is asked for that cannot be.
    """
    if settings.histogram_only or not stored:
        return replace(settings, residues=False)
    threads = settings.workers == "threads"
    if settings.residues is None and not (threads and space.keys is not None and space.keys > FULL_KEYS):
        return replace(settings, residues=False)
    if settings.residues is False:
        return settings
    from farthest.stores.residues import residue_problem

    problem = residue_problem(space)
    if settings.residues is None:
        return replace(settings, residues=problem is None)
    if problem is not None:
        raise PuzzleError(f"puzzle {space.puzzle.name}: no residue map: {problem}; use --map full")
    return settings


def map_kind(space: Space, settings: Settings) -> MapKind:
    """The kind of map of settings where it is decided."""
    if settings.histogram_only:
        return "none"
    if settings.residues:
        return "residues"
    return "sparse" if space.keys is None else "full"
