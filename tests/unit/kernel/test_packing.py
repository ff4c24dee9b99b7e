"""Packed layers: what pack() writes, that unpack() brings it back, and that it takes nothing else."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

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


def packed_by_hand(space: _kernel.Space, layer: Bitmap) -> bytes:
    lines = layer.words.reshape(-1, space.words // space.lines)
    filled: NDArray[Any] = np.any(lines, axis=1)
    bitmap = np.zeros(-(-len(filled) // 64) * 64, np.uint8)
    bitmap[: len(filled)] = filled
    header: bytes = np.packbits(bitmap, bitorder="little").tobytes()
    words: bytes = lines[filled].astype("<u8").tobytes()
    return header + words


@given(spaces, seeds)
def test_packed_layers_are_as_described(space: _kernel.Space, seed: int) -> None:
    layer, _, _ = random_layer(space, seed)
    assert _kernel.pack(space, layer.layer) == packed_by_hand(space, layer)


@given(spaces, seeds, st.integers(1, 3), st.sampled_from([bytes, bytearray, memoryview]))
def test_packed_layers_come_back(space: _kernel.Space, seed: int, copies: int, kind: Any) -> None:
    layer, keys, piece = random_layer(space, seed)
    blob = _kernel.pack(space, layer.layer)
    out = [Bitmap(space, sorted(keys)[::2], *piece) for _ in range(copies)]
    assert _kernel.unpack(space, kind(blob), [bitmap.layer for bitmap in out]) == len(keys)
    for bitmap in out:
        assert set(bitmap.keys()) == keys
        assert _kernel.pack(space, bitmap.layer) == blob


@given(spaces, seeds)
def test_packed_layers_are_added_to_what_is_there(space: _kernel.Space, seed: int) -> None:
    layer, keys, piece = random_layer(space, seed)
    other = np.random.default_rng(seed).permutation(space.keys // space.shards)[:30] + piece[0] * (
        space.keys // space.shards
    )
    known = set(other.tolist()) if piece[1] else set()
    out = Bitmap(space, known, *piece)
    assert _kernel.unpack(space, _kernel.pack(space, layer.layer), [out.layer]) == len(keys)
    assert set(out.keys()) == keys | known


def test_layers_of_no_shards_are_packed_into_nothing() -> None:
    layer = Bitmap(SPACE, (), 6, 0).layer
    assert _kernel.pack(SPACE, layer) == b""
    assert _kernel.unpack(SPACE, b"", [layer]) == 0
    with pytest.raises(ValueError, match="size"):
        _kernel.unpack(SPACE, b"\0", [layer])


def test_packed_layers_may_begin_at_any_address() -> None:
    blob = _kernel.pack(SPACE, Bitmap(SPACE, [3, 31, 59]).layer)
    for offset in range(8):
        out = Bitmap(SPACE)
        assert _kernel.unpack(SPACE, memoryview(bytes(offset) + blob)[offset:], [out.layer]) == 3
        assert out.keys() == [3, 31, 59]


@given(spaces, seeds, st.data())
def test_damaged_blobs_are_refused_and_change_nothing(
    space: _kernel.Space, seed: int, data: st.DataObject
) -> None:
    layer, _, piece = random_layer(space, seed)
    blob = bytearray(_kernel.pack(space, layer.layer))
    lines, line_bytes = len(layer.flags), 8 * space.words // space.lines
    bitmap = (lines + 63) // 64 * 8
    damages = ["longer"]
    if blob:
        damages += ["shorter", "another line"]
    if lines % 64:
        damages.append("a line too many")
    if len(blob) > bitmap:
        damages.append("an empty line")
        if space.bits < 64:
            damages.append("a bit too many")
    damage = data.draw(st.sampled_from(damages))
    if damage == "longer":
        blob += data.draw(st.binary(min_size=1, max_size=2 * line_bytes))
    elif damage == "shorter":
        del blob[data.draw(st.integers(0, len(blob) - 1)) :]
    elif damage == "another line":
        bit = data.draw(st.integers(0, 8 * bitmap - 1))
        blob[bit // 8] ^= 1 << bit % 8
    elif damage == "a line too many":
        bit = data.draw(st.integers(lines, 8 * bitmap - 1))
        blob[bit // 8] |= 1 << bit % 8
        blob += b"\1" * line_bytes
    elif damage == "an empty line":
        at = bitmap + line_bytes * data.draw(st.integers(0, (len(blob) - bitmap) // line_bytes - 1))
        blob[at : at + line_bytes] = bytes(line_bytes)
    else:
        at, bit = (
            data.draw(st.integers(bitmap // 8, len(blob) // 8 - 1)),
            data.draw(st.integers(space.bits, 63)),
        )
        blob[8 * at + bit // 8] |= 1 << bit % 8
    out = Bitmap(space, (), *piece)
    with pytest.raises(ValueError, match="the packed layer"):
        _kernel.unpack(space, blob, [out.layer])
    assert not out.words.any()
    assert not out.flags.any()


@given(spaces, seeds, st.binary(max_size=400))
def test_no_bytes_do_harm(space: _kernel.Space, seed: int, blob: bytes) -> None:
    _, _, piece = random_layer(space, seed)
    out = Bitmap(space, (), *piece)
    try:
        states = _kernel.unpack(space, blob, [out.layer])
    except ValueError:
        assert not out.words.any()
    else:
        assert states == len(out.keys())
        assert _kernel.pack(space, out.layer) == blob


def test_layers_that_do_not_fit_a_blob_are_refused() -> None:
    blob = _kernel.pack(SPACE, Bitmap(SPACE, [3]).layer)
    whole, piece, other = Bitmap(SPACE), Bitmap(SPACE, (), 0, 2), Bitmap(SPACE, (), 1, 2)
    with pytest.raises(ValueError, match="needs a layer"):
        _kernel.unpack(SPACE, blob, [])
    for layers in ([whole, piece], [piece, whole], [piece, other]):
        with pytest.raises(ValueError, match="same shards"):
            _kernel.unpack(SPACE, blob, [bitmap.layer for bitmap in layers])
    blob = _kernel.pack(SPACE, Bitmap(SPACE, [3, 57]).layer)
    with pytest.raises(ValueError, match="packed layer"):
        _kernel.unpack(SPACE, blob, [piece.layer])


@pytest.mark.parametrize(
    "blob",
    [None, "text", [0] * 8, np.zeros(1, np.uint64), np.zeros((2, 4), np.uint8), np.zeros(16, np.uint8)[::2]],
)
def test_blobs_of_other_types_and_shapes_are_refused(blob: Any) -> None:
    with pytest.raises(TypeError):
        _kernel.unpack(SPACE, blob, [Bitmap(SPACE).layer])
