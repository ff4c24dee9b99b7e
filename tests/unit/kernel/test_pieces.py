"""Layers of some shards: what is done piece by piece is what is done to the whole, and no key lies outside."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cases import for_each
from farthest import _kernel
from kernel_samples import Bitmap, make_space

SPACES = [
    make_space([1, 2, 3]),
    make_space([1, 1]),
    make_space([1, 3, 3]),
    make_space([1, 1, 1, 1, 2]),
    make_space([1, 1, 4, 4]),  # many lines a shard
    make_space([1, 1, 4, 4], shard_classes=2),
    make_space([1] * 6),  # even and odd arrangements in words of their own
    make_space([1, 2, 1, 1, 1, 1, 1]),
    make_space([1] * 4, parity=[1, 0, 1, 0]),  # half of the arrangements
    make_space([1] * 8, parity=[1, 0] * 4),
    make_space([1] * 9, parity=[0, 1] * 4 + [0]),
    make_space([1] * 9, parity=[1, 0] * 4 + [1], shard_classes=2),
]
SPACE = SPACES[0]
PLANES = 5

spaces = st.sampled_from(SPACES)
seeds = st.integers(0, 2**32)


def cuts(first: int, last: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """The range cut at random into runs, some perhaps empty."""
    ends = sorted(rng.integers(first, last, int(rng.integers(4)), endpoint=True).tolist())
    return list(zip([first, *ends], [*ends, last], strict=True))


def part(space: _kernel.Space, whole: Bitmap, first: int, last: int) -> _kernel.Layer:
    """The shards ``first`` to ``last - 1`` of a layer over all shards, in the same memory."""
    size, lines = space.words_per_shard, space.lines_per_shard
    return _kernel.Layer(
        space,
        whole.words[first * size : last * size],
        whole.flags[first * lines : last * lines],
        first,
        last - first,
    )


def same(one: Bitmap, other: Bitmap) -> bool:
    return bool((one.words == other.words).all() and (one.flags == other.flags).all())


def random_distances(
    space: _kernel.Space, shift: int, parity: list[int], rng: np.random.Generator
) -> NDArray[Any]:
    """Distances of all keys, a third of them none; with ``shift`` 1, of the parity of their shard."""
    dtype, none = (np.uint8, 255) if rng.integers(2) else (np.uint16, 65535)
    distances: NDArray[Any] = rng.integers(0, 30, space.keys).astype(dtype)
    if shift:
        distances = distances // 2 * 2 + np.repeat(np.array(parity, dtype), space.keys // space.shards)
    distances[rng.integers(0, 3, space.keys) == 0] = none
    return distances


@given(spaces, st.sampled_from([0, 1]), seeds)
def test_pieces_glued_together_are_the_whole(space: _kernel.Space, shift: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parity = rng.integers(0, 2, space.shards).tolist()
    distances = random_distances(space, shift, parity, rng)
    depth, per_shard = int(rng.integers(30)), space.keys // space.shards
    whole, glued = ([Bitmap(space) for _ in range(PLANES)] for _ in range(2))
    layer, layer_glued, found, found_glued, inserted = (Bitmap(space) for _ in range(5))
    _kernel.collect(space, [plane.layer for plane in whole], shift, 0, distances)
    _kernel.mark(space, layer.layer, 0, distances, depth)
    _kernel.mark(space, found.layer, 0, distances, -1)
    expanded = np.zeros_like(distances)
    for first, last in cuts(0, space.shards, rng):
        planes = [part(space, plane, first, last) for plane in glued]
        expected = [part(space, plane, first, last) for plane in whole]
        for begin, end in cuts(first * per_shard, last * per_shard, rng):
            some, threads = distances[begin:end], int(rng.integers(1, 4))
            _kernel.collect(space, planes, shift, begin, some, threads)
            _kernel.mark(space, part(space, layer_glued, first, last), begin, some, depth, threads)
            _kernel.mark(space, part(space, found_glued, first, last), begin, some, -1, threads)
            _kernel.expand(space, expected, shift, parity, begin, expanded[begin:end], threads)
            for key in np.flatnonzero(some == depth)[:50].tolist():
                _kernel.insert(space, part(space, inserted, first, last), begin + key)
    assert (expanded == distances).all()
    assert all(map(same, whole, glued))
    assert same(layer, layer_glued)
    assert same(found, found_glued)
    assert set(inserted.keys()) <= set(layer.keys())
    assert bool(inserted.keys()) == bool(layer.keys())


@given(spaces, seeds)
def test_keys_outside_of_a_piece_are_refused(space: _kernel.Space, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, last = sorted(rng.integers(0, space.shards, 2, endpoint=True).tolist())
    per_shard = space.keys // space.shards
    begin, end = first * per_shard, last * per_shard
    layer, parity = Bitmap(space, (), first, last - first).layer, [0] * space.shards
    calls: list[Callable[[int, NDArray[Any]], None]] = [
        lambda key, distances: _kernel.expand(space, [layer], 1, parity, key, distances),
        lambda key, distances: _kernel.collect(space, [layer], 0, key, distances),
        lambda key, distances: _kernel.mark(space, layer, key, distances, 0),
        lambda key, distances: _kernel.mark(space, layer, key, distances, -1),
    ]
    outside = [(begin, end - begin + 1), (end, 1), (end + 1, 0), (2**64 - 1, 2)]
    if begin:
        outside += [(begin - 1, 0), (begin - 1, 1), (begin - 1, end - begin + 2), (0, 1)]
    for call in calls:
        for key, count in outside:
            with pytest.raises(ValueError, match="keys out of range"):
                call(key, np.zeros(count, np.uint8))
        call(end, np.zeros(0, np.uint8))
        call(begin, np.zeros(end - begin, np.uint8))
    for key in {begin - 1, end, 0, space.keys - 1} - set(range(begin, end)) - {-1, space.keys}:
        with pytest.raises(ValueError, match="keys out of range"):
            _kernel.insert(space, layer, key)


@for_each(("first", "shards"), [(1, 2), (0, 3), (0, 6), (2, 0)])
def test_planes_of_different_shards_are_refused(first: int, shards: int) -> None:
    planes = [Bitmap(SPACE, (), 0, 2).layer, Bitmap(SPACE, (), first, shards).layer]
    for order in (planes, planes[::-1]):
        with pytest.raises(ValueError, match="same shards"):
            _kernel.expand(SPACE, order, 0, [], 10, np.zeros(1, np.uint8))
        with pytest.raises(ValueError, match="same shards"):
            _kernel.collect(SPACE, order, 0, 10, np.zeros(1, np.uint8))


def test_a_piece_needs_the_parities_of_all_shards() -> None:
    piece, out = Bitmap(SPACE, (), 4, 2).layer, np.zeros(20, np.uint8)
    with pytest.raises(ValueError, match="shift"):
        _kernel.expand(SPACE, [piece], 1, [0, 1], 40, out)
    for key in range(40, 60):
        _kernel.insert(SPACE, piece, key)
    _kernel.expand(SPACE, [piece], 1, [0, 0, 0, 0, 1, 0], 40, out)
    assert out.tolist() == [1] * 10 + [0] * 10


def test_words_may_have_bits_that_are_no_states() -> None:
    for space in SPACES:
        layer = Bitmap(space)
        layer.words[:], layer.flags[:] = 2**64 - 1, 1
        assert layer.keys() == list(range(space.keys))
