"""Spaces of representatives beside those of all states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farthest import _kernel
from farthest.spaces.contract import GatherSpace
from farthest.spaces.reduced import Representatives


def distances(space: GatherSpace, isa: str = "") -> tuple[list[int], NDArray[np.int16]]:
    """The states of each layer, and the distance of each key, -1 where it is not reached."""
    kernel = space.compile_kernel(isa=isa)
    kernel.prepare(range(kernel.shards))
    words = [np.zeros(kernel.words, dtype=np.uint64) for _ in range(3)]
    layers = [
        _kernel.Layer(kernel, each, np.ones(kernel.lines, np.uint8), 0, kernel.shards) for each in words
    ]
    frontier, fresh, visited = layers
    of_keys = np.full(space.keys, -1, dtype=np.int16)
    for key in space.encode(np.array(space.origins, dtype=np.uint8)).tolist():
        _kernel.insert(kernel, frontier, key)
        _kernel.insert(kernel, visited, key)
    counts: list[int] = []
    while states := sum(_kernel.population(kernel, frontier)):
        keys = _kernel.keys_of(kernel, frontier, space.keys)
        of_keys[keys] = len(counts)
        counts.append(states)
        _kernel.step(kernel, range(kernel.shards), [frontier], [fresh], [[visited]], [[visited]], 2)
        frontier, fresh = fresh, frontier
    return counts, of_keys


def compare(plain: GatherSpace, *spaces: Representatives) -> None:
    """Layers, distances and codes of spaces of representatives are those of all states."""
    counts, of_keys = distances(plain)
    keys = np.flatnonzero(of_keys >= 0).astype(np.uint64)
    boards = plain.decode(keys)
    for reduced in spaces:
        for isa in _kernel.available_isas():
            assert distances(reduced, isa)[0] == counts, (isa, reduced.order)
        assert int(reduced.weights.sum()) * reduced.keys // len(reduced.weights) >= sum(counts)
        ours = distances(reduced)[1]
        found = reduced.encode(boards)
        assert (ours[found.astype(np.int64)] == of_keys[keys.astype(np.int64)]).all()
        # A key is one of the board's images, and each image has the same key but for a stabiliser.
        back = reduced.decode(found)
        images = [each.images(boards) for each in reduced.maps]
        assert np.logical_or.reduce([(image == back).all(axis=1) for image in images]).all()
        assert (reduced.encode(back) == found).all()
