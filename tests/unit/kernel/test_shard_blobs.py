"""Blobs of shards: that decode_shards() brings back what encode_shards() was given, and takes nothing else."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest import _kernel
from kernel_samples import Bitmap, make_space

SPACES = [
    make_space([1, 2, 3]),
    make_space([2, 2, 2, 2]),
    make_space([6, 1, 6]),  # many lines
    make_space([1] * 6),
    make_space([1, 2, 1, 1, 1, 1, 1]),
    make_space([1] * 9, parity=[0, 1] * 4 + [0]),
    make_space([1] * 9, parity=[1, 0] * 4 + [1], shard_classes=2),
]
SPACE = SPACES[0]

spaces = st.sampled_from(SPACES)
seeds = st.integers(0, 2**32)


def random_layer(space: _kernel.Space, seed: int) -> tuple[Bitmap, set[int], tuple[int, int]]:
    """Some shards of a space, the first and how many, with some states; lines without one may have flags too."""
    rng = np.random.default_rng(seed)
    first, last = sorted(rng.integers(0, space.shards, 2, endpoint=True).tolist())
    per_shard = space.keys // space.shards
    keys: set[int] = set()
    if last > first:
        keys = set(rng.integers(first * per_shard, last * per_shard, int(rng.integers(100))).tolist())
    layer = Bitmap(space, keys, first, last - first)
    layer.flags |= rng.integers(0, 2, len(layer.flags)).astype(np.uint8)
    return layer, keys, (first, last - first)


def coded(space: _kernel.Space, layer: Bitmap) -> list[bytes]:
    return [blob for blob, _ in _kernel.encode_shards(space, layer.layer)]


@given(spaces, seeds, st.integers(1, 3), st.sampled_from([bytes, bytearray, memoryview]))
def test_states_come_back_and_are_added_to_what_is_there(
    space: _kernel.Space, seed: int, copies: int, kind: Any
) -> None:
    layer, keys, piece = random_layer(space, seed)
    found = _kernel.encode_shards(space, layer.layer)
    assert [states for _, states in found] == _kernel.population(space, layer.layer)
    assert all((blob == b"") == (states == 0) for blob, states in found)
    per_shard = space.keys // space.shards
    known = {key + piece[0] * per_shard for key in range(0, per_shard, 7)} if piece[1] else set()
    out = [Bitmap(space, known, *piece) for _ in range(copies)]
    blobs = [kind(blob) for blob, _ in found]
    assert _kernel.decode_shards(space, blobs, [bitmap.layer for bitmap in out]) == len(keys)
    for bitmap in out:
        assert set(bitmap.keys()) == keys | known


@given(spaces, seeds, st.data())
def test_damaged_blobs_are_refused(space: _kernel.Space, seed: int, data: st.DataObject) -> None:
    layer, keys, piece = random_layer(space, seed)
    if not keys:
        return
    blobs = coded(space, layer)
    number = data.draw(st.sampled_from([at for at, blob in enumerate(blobs) if blob]))
    damaged = bytearray(blobs[number])
    damage = data.draw(st.sampled_from(["longer", "shorter", "altered"]))
    if damage == "longer":
        damaged += data.draw(st.binary(min_size=1, max_size=20))
    elif damage == "shorter":
        del damaged[data.draw(st.integers(1, len(damaged) - 1)) :]
    else:
        bit = data.draw(st.integers(0, 8 * len(damaged) - 1))
        damaged[bit // 8] ^= 1 << bit % 8
    blobs[number] = bytes(damaged)
    with pytest.raises(ValueError, match="blob"):
        _kernel.decode_shards(space, blobs, [Bitmap(space, (), *piece).layer])


@given(spaces, st.binary(max_size=400))
def test_no_bytes_do_harm(space: _kernel.Space, blob: bytes) -> None:
    out = Bitmap(space, (), 0, 1)
    try:
        states = _kernel.decode_shards(space, [blob], [out.layer])
    except ValueError:
        return
    assert states == len(out.keys())


def test_layers_that_do_not_fit_the_blobs_are_refused() -> None:
    blobs = coded(SPACE, Bitmap(SPACE, [3]))
    whole, piece, other = Bitmap(SPACE), Bitmap(SPACE, (), 0, 2), Bitmap(SPACE, (), 1, 2)
    with pytest.raises(ValueError, match="need a layer"):
        _kernel.decode_shards(SPACE, blobs, [])
    for layers in ([whole, piece], [piece, whole], [piece, other]):
        with pytest.raises(ValueError, match="same shards"):
            _kernel.decode_shards(SPACE, blobs, [bitmap.layer for bitmap in layers])
    with pytest.raises(ValueError, match="as many blobs"):
        _kernel.decode_shards(SPACE, blobs, [piece.layer])


@for_each("blob", [None, "text", [0] * 8, np.zeros(16, np.uint8)[::2]])
def test_blobs_of_other_types_and_shapes_are_refused(blob: Any) -> None:
    with pytest.raises((TypeError, ValueError, BufferError)):
        _kernel.decode_shards(SPACE, [blob] * SPACE.shards, [Bitmap(SPACE).layer])
