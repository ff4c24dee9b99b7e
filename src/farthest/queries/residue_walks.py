"""Distances from residues in any dense space, an array of states at a time: the kernel does the same for arrangements.

``read`` gives the residues of keys, -1 where they are not reached; see ``map_files.form``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from farthest.map_files.form import ResidueForm
    from farthest.queries.chunk_cache import Distances
    from farthest.spaces.contract import Space

    Keys = NDArray[numpy.uint64]
    Unit = numpy.dtype[numpy.uint8] | numpy.dtype[numpy.uint16]
    Read = Callable[[Keys], NDArray[numpy.int64]]

TOGETHER = 2**16


def walk(
    space: Space, form: ResidueForm, read: Read, keys: Keys, origins: Keys, most: int
) -> NDArray[numpy.int32]:
    """The lengths of walks from keys to nearer neighbours, down to origins (ascending); -1 where a walk ends elsewhere,
    or is longer than ``most``."""
    found = numpy.full(len(keys), -1, dtype=numpy.int32)
    rows, boards, residues = numpy.arange(len(keys)), space.decode(keys), read(keys)
    for made in range(most + 1):
        at_zero = residues == 0
        at_zero[at_zero] = _among(keys[at_zero], origins)
        found[rows[at_zero]] = made
        going = ~at_zero & (residues >= 0)
        rows, boards, residues = rows[going], boards[going], residues[going]
        if not len(rows) or made == most:
            break
        wanted = (residues - 1) % form.modulus
        after, stepped = numpy.zeros_like(boards), numpy.zeros(len(rows), dtype=bool)
        for _, of_move, reached in space.neighbours(boards, toward=True):
            new = ~stepped[of_move]
            of_move, reached = of_move[new], reached[new]
            if not len(of_move):
                continue
            nearer = read(space.encode(reached)) == wanted[of_move]
            after[of_move[nearer]] = reached[nearer]
            stepped[of_move[nearer]] = True
        rows, boards, residues = rows[stepped], after[stepped], wanted[stepped]
        keys = space.encode(boards) if len(boards) else numpy.empty(0, dtype=numpy.uint64)
    return found


def layer_at(space: Space, form: ResidueForm, read: Read, origins: Keys, depth: int) -> Keys:
    """The keys of one layer, ascending: from the origins on, each layer from the one before."""
    layer = origins
    for distance in range(1, depth + 1):
        layer = _unique(
            keys[read(keys) == distance % form.modulus]  # the others are in this layer, or in the one before
            for keys in _neighbours(space, layer)
        )
    return layer


def spread(space: Space, form: ResidueForm, read: Read, origins: Keys, depth: int, unit: Unit) -> Distances:
    """The distances of all keys up to ``depth``, as ``unit``, whose greatest number stands for none: from the origins
    on, layer by layer."""
    none = numpy.iinfo(unit).max
    distances = numpy.full(form.order.keys, none, dtype=unit)
    layer = origins
    distances[layer] = 0
    for distance in range(1, depth + 1):
        new = (keys[distances[keys] == none] for keys in _neighbours(space, layer))
        layer = _unique(keys[read(keys) == distance % form.modulus] for keys in new)
        distances[layer] = distance
    return distances


def _neighbours(space: Space, layer: Keys) -> Iterator[Keys]:
    """The keys that moves join to some keys, some at a time, each once at a time."""
    for at in range(0, len(layer), TOGETHER):
        for _, _, reached in space.neighbours(space.decode(layer[at : at + TOGETHER]), toward=True):
            yield numpy.unique(space.encode(reached))


def _unique(parts: Iterable[Keys]) -> Keys:
    return numpy.unique(numpy.concatenate([numpy.empty(0, dtype=numpy.uint64), *parts]))


def _among(keys: Keys, origins: Keys) -> NDArray[numpy.bool_]:
    places = numpy.searchsorted(origins, keys)
    places[places == len(origins)] = 0
    found: NDArray[numpy.bool_] = origins[places] == keys
    return found
