"""Layers, steps and distance planes through the bindings: what they do, and that nothing wrong gets in."""

import gc
import subprocess
import sys
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cases import for_each
from farthest import _kernel
from kernel_samples import Bitmap, make_space

SPACE = make_space([1, 2, 3])
SPACE.prepare(range(SPACE.shards))
OTHER = make_space([1, 2, 3])


def stepped(space: _kernel.Space, frontier: Bitmap, exclude: list[Bitmap]) -> tuple[Bitmap, list[int]]:
    fresh = Bitmap(space)
    counts = _kernel.step(
        space, range(space.shards), [frontier.layer], [fresh.layer], [[layer.layer] for layer in exclude], []
    )
    return fresh, counts


def test_a_search_by_hand_reaches_what_a_row_allows() -> None:
    # In a row the order of the pieces never changes: only the place of the blank does.
    start = 17
    frontier, before = Bitmap(SPACE, [start]), Bitmap(SPACE)
    sizes = []
    while frontier.keys():
        sizes.append(len(frontier.keys()))
        fresh, counts = stepped(SPACE, frontier, [frontier, before])
        assert sum(counts) == len(fresh.keys())
        assert counts == _kernel.population(SPACE, fresh.layer)
        frontier, before = fresh, frontier
    assert sum(sizes) == SPACE.shards == 6
    assert max(sizes) <= 2


def test_all_instruction_sets_and_threads_give_the_same_words() -> None:
    results = set()
    for isa in _kernel.available_isas():
        for threads in (1, 2, 5, 10**6, 0, -3):
            space = make_space([6, 1, 6], isa=isa)
            space.prepare(range(space.shards), threads)
            frontier, fresh = Bitmap(space, range(0, space.keys, 5)), Bitmap(space)
            _kernel.step(space, range(space.shards), [frontier.layer], [fresh.layer], [], [], threads)
            results.add(fresh.words.tobytes())
    assert len(results) == 1


def test_pieces_of_a_layer_do_as_well_as_the_whole() -> None:
    whole = stepped(SPACE, Bitmap(SPACE, range(0, 60, 7)), [])[0].keys()
    found = []
    frontier = [Bitmap(SPACE, (), first, 2) for first in range(0, 6, 2)]
    full = Bitmap(SPACE, range(0, 60, 7))
    for index, piece in enumerate(frontier):
        size, lines = len(piece.words), len(piece.flags)
        piece.words[:] = full.words[index * size : (index + 1) * size]
        piece.flags[:] = full.flags[index * lines : (index + 1) * lines]
    for shard in range(6):
        fresh = Bitmap(SPACE, (), shard, 1)
        counts = _kernel.step(SPACE, [shard], [piece.layer for piece in frontier], [fresh.layer], [], [])
        assert counts == [len(fresh.keys())]
        found += fresh.keys()
    assert found == whole


def test_distances_survive_planes() -> None:
    distances = np.arange(60, dtype=np.uint8)
    distances[::4] = 255
    planes = [Bitmap(SPACE).layer for _ in range(6)]
    _kernel.collect(SPACE, planes, 0, 0, distances)
    for out in (np.zeros(60, dtype=np.uint8), np.zeros(60, dtype=np.uint16)):
        _kernel.expand(SPACE, planes, 0, [], 0, out, 2)
        assert (np.where(out == np.iinfo(out.dtype).max, 255, out) == distances).all()
    part = np.zeros(10, dtype=np.uint8)
    _kernel.expand(SPACE, planes, 0, [], 33, part)
    assert (part == distances[33:43]).all()
    layer = Bitmap(SPACE)
    _kernel.mark(SPACE, layer.layer, 0, distances, 33)
    assert layer.keys() == [33]
    _kernel.mark(SPACE, layer.layer, 0, distances, -1)
    assert layer.keys() == np.flatnonzero(distances != 255).tolist()
    _kernel.clear(SPACE, layer.layer)
    assert layer.keys() == []
    for depth in (255, 65535, 2**31 - 1):  # no distance, and beyond any
        _kernel.mark(SPACE, layer.layer, 0, distances, depth)
    assert layer.keys() == []


def test_distances_of_coloured_shards_save_a_plane() -> None:
    colours = SPACE.colours
    distances = np.array([2 * (key % 7) + colours[key // 10] for key in range(60)], dtype=np.uint16)
    planes = [Bitmap(SPACE).layer for _ in range(3)]
    _kernel.collect(SPACE, planes, 1, 0, distances)
    out = np.zeros(60, dtype=np.uint16)
    _kernel.expand(SPACE, planes, 1, colours, 0, out)
    assert (out == distances).all()


def test_keys_of_gives_the_least_keys() -> None:
    layer = Bitmap(SPACE, [59, 3, 31, 4])
    assert _kernel.keys_of(SPACE, layer.layer, 3) == [3, 4, 31]
    assert _kernel.keys_of(SPACE, layer.layer, 0) == []


def test_layers_keep_their_space_and_memory() -> None:
    space = make_space([1, 2, 3])
    layer = Bitmap(space).layer
    del space
    gc.collect()
    for _ in range(50):
        make_space([1, 2, 3])
    with pytest.raises(ValueError, match="another space"):
        _kernel.insert(SPACE, layer, 0)


def test_layers_over_no_shards() -> None:
    layer = _kernel.Layer(SPACE, array("Q"), bytearray(), 6, 0)
    assert _kernel.keys_of(SPACE, layer, 10) == []
    assert _kernel.population(SPACE, layer) == []
    _kernel.clear(SPACE, layer)
    with pytest.raises(ValueError, match="shard"):
        _kernel.step(SPACE, [0], [layer], [layer], [], [])


WORDS, LINES = SPACE.words, SPACE.lines


def words(count: int = WORDS, dtype: str = "u8") -> Any:
    return np.zeros(count, dtype=dtype)


def flags(count: int = LINES, dtype: str = "u1") -> Any:
    return np.zeros(count, dtype=dtype)


@pytest.mark.parametrize(
    ("bits", "marks", "first", "shards"),
    [
        (words(WORDS - 1), flags(), 0, 6),
        (words(WORDS + 1), flags(), 0, 6),
        (words(0), flags(), 0, 6),
        (words(), flags(LINES - 1), 0, 6),
        (words(), flags(LINES + 1), 0, 6),
        (words(), flags(), 1, 6),
        (words(), flags(), 0, 5),
        (words(), flags(), 0, 7),
        (words(0), flags(0), 7, 0),
        (words(0), flags(0), 2**63, 2**63),
        (words(), flags(), 2**64 - 1, 7),
        (words(), flags(), 0, 2**61 + 6),
    ],
)
def test_layers_of_wrong_size_are_refused(bits: Any, marks: Any, first: int, shards: int) -> None:
    with pytest.raises(ValueError):
        _kernel.Layer(SPACE, bits, marks, first, shards)


@pytest.mark.parametrize(
    ("bits", "marks", "first", "shards"),
    [
        (words(dtype="i8"), flags(), 0, 6),
        (words(2 * WORDS, "u4"), flags(), 0, 6),
        (words(dtype="f8"), flags(), 0, 6),
        (words(dtype=">u8"), flags(), 0, 6),
        (words(2 * WORDS)[::2], flags(), 0, 6),
        (words().reshape(1, -1), flags(), 0, 6),
        (words().tobytes(), flags(), 0, 6),
        (memoryview(bytearray(8 * WORDS)).cast("Q").toreadonly(), flags(), 0, 6),
        ([0] * WORDS, flags(), 0, 6),
        (None, flags(), 0, 6),
        (words(), flags(dtype="i1"), 0, 6),
        (words(), flags(dtype="?"), 0, 6),
        (words(), bytes(LINES), 0, 6),
        (words(), None, 0, 6),
        (words(), flags(), -1, 6),
        (words(), flags(), 0, -6),
        (words(), flags(), 0.0, 6),
    ],
)
def test_layers_of_wrong_type_are_refused(bits: Any, marks: Any, first: Any, shards: Any) -> None:
    with pytest.raises(TypeError):
        _kernel.Layer(SPACE, bits, marks, first, shards)


@for_each("offset", [1, 4, 7])
def test_misaligned_words_are_refused(offset: int) -> None:
    memory = bytearray(8 * WORDS + 8)
    start = (-np.frombuffer(memory, dtype=np.uint8).ctypes.data + offset) % 8
    bits = memoryview(memory)[start : start + 8 * WORDS].cast("Q")
    with pytest.raises((ValueError, TypeError)):
        _kernel.Layer(SPACE, bits, flags(), 0, 6)


def test_misaligned_keys_and_distances_are_refused() -> None:
    memory = bytearray(32)
    start = (-np.frombuffer(memory, dtype=np.uint8).ctypes.data + 1) % 8
    keys = memoryview(memory)[start : start + 8].cast("Q")
    with pytest.raises((ValueError, TypeError)):
        SPACE.encode(bytes([0, 1, 1, 2, 2, 2]), 6, range(6), bytes(range(256)), keys)
    with pytest.raises((ValueError, TypeError)):
        SPACE.decode(keys, 6, range(6), b"\0\1\2", bytearray(6))
    distances = memoryview(memory)[start : start + 8].cast("H")
    planes = [Bitmap(SPACE).layer]
    with pytest.raises((ValueError, TypeError)):
        _kernel.expand(SPACE, planes, 0, [], 0, distances)
    with pytest.raises((ValueError, TypeError)):
        _kernel.collect(SPACE, planes, 0, 0, distances)


Call = Callable[[_kernel.Layer], object]
DISTANCES = np.zeros(10, dtype=np.uint8)

STEPS: list[Call] = [
    lambda layer: _kernel.step(SPACE, [0], [layer], [Bitmap(SPACE).layer], [], []),
    lambda layer: _kernel.step(SPACE, [0], [Bitmap(SPACE).layer], [layer], [], []),
    lambda layer: _kernel.step(SPACE, [0], [Bitmap(SPACE).layer], [Bitmap(SPACE).layer], [[layer]], []),
    lambda layer: _kernel.step(SPACE, [0], [Bitmap(SPACE).layer], [Bitmap(SPACE).layer], [], [[layer]]),
]
OF_KEYS: list[Call] = [
    lambda layer: _kernel.expand(SPACE, [layer], 0, [], 0, np.zeros(60, dtype=np.uint8)),
    lambda layer: _kernel.collect(SPACE, [layer], 0, 0, DISTANCES),
    lambda layer: _kernel.mark(SPACE, layer, 0, DISTANCES, 0),
    lambda layer: _kernel.mark(SPACE, layer, 0, DISTANCES, -1),
    lambda layer: _kernel.insert(SPACE, layer, 0),
]
OF_ANY_LAYER: list[Call] = [
    lambda layer: _kernel.keys_of(SPACE, layer, 1),
    lambda layer: _kernel.population(SPACE, layer),
    lambda layer: _kernel.clear(SPACE, layer),
    lambda layer: _kernel.encode_shards(SPACE, layer),
    lambda layer: _kernel.decode_shards(SPACE, [b""] * SPACE.shards, [layer]),
]


@for_each("call", STEPS + OF_KEYS + OF_ANY_LAYER)
def test_layers_of_another_space_are_refused(call: Call) -> None:
    with pytest.raises(ValueError, match="another space"):
        call(Bitmap(OTHER).layer)


@for_each("call", STEPS)
def test_steps_without_the_shards_that_they_need_are_refused(call: Call) -> None:
    with pytest.raises(ValueError, match="shard"):
        call(Bitmap(SPACE, (), 5, 1).layer)


@for_each("call", OF_KEYS)
def test_keys_outside_of_a_layer_are_refused(call: Call) -> None:
    with pytest.raises(ValueError, match="keys out of range"):
        call(Bitmap(SPACE, (), 5, 1).layer)


NONE_INSTEAD_OF_A_LAYER = [
    "step(space, [0], [None], [layer], [], [])",
    "step(space, [0], [layer], [None], [], [])",
    "step(space, [0], [layer], [layer], [[None]], [])",
    "step(space, [0], [layer], [layer], [], [[None]])",
    "expand(space, [None], 0, [], 0, bytearray(60))",
    "collect(space, [None], 0, 0, bytes(60))",
    "mark(space, None, 0, bytes(60), 0)",
    "insert(space, None, 0)",
    "keys_of(space, None, 1)",
    "population(space, None)",
    "clear(space, None)",
    "encode_shards(space, None)",
    "decode_shards(space, [b''] * 6, [None])",
    "decode_shards(space, [None] * 6, [layer])",
    "clear(None, layer)",
]


def test_none_instead_of_a_layer_is_refused() -> None:
    # In a process of its own: this used to end the interpreter.
    script = f"""
import os, sys
sys.path[:0] = {sys.path!r}
import conftest
from farthest._kernel import *
from kernel_samples import Bitmap, make_space
space = make_space([1, 2, 3])
space.prepare(range(6))
layer = Bitmap(space).layer
for call in {NONE_INSTEAD_OF_A_LAYER!r}:
    print(call, flush=True)
    try:
        eval(call)
    except (TypeError, ValueError):
        continue
    sys.exit("accepted: " + call)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"after {run.stdout.splitlines()[-1:]}: {run.returncode} {run.stderr[-500:]}"
    assert run.stdout.splitlines() == NONE_INSTEAD_OF_A_LAYER


@for_each("shards", [[6], [0, 2**63], [2**64 - 1]])
def test_steps_of_shards_that_are_none_are_refused(shards: list[int]) -> None:
    layer = Bitmap(SPACE).layer
    with pytest.raises(ValueError, match="shard"):
        _kernel.step(SPACE, shards, [layer], [Bitmap(SPACE).layer], [], [])


def test_steps_of_shards_that_are_not_prepared_are_refused() -> None:
    space = make_space([1, 2, 3])
    space.prepare([0])
    frontier, fresh = Bitmap(space).layer, Bitmap(space).layer
    assert _kernel.step(space, [0], [frontier], [fresh], [], []) == [0]
    with pytest.raises(ValueError, match="not prepared"):
        _kernel.step(space, [0, 1], [frontier], [fresh], [], [])


def test_too_many_layers_are_refused() -> None:
    layers = [[Bitmap(SPACE).layer] for _ in range(19)]
    frontier, fresh = Bitmap(SPACE).layer, Bitmap(SPACE).layer
    with pytest.raises(ValueError, match="too many"):
        _kernel.step(SPACE, [0], [frontier], [fresh], layers[:3], [])
    with pytest.raises(ValueError, match="too many"):
        _kernel.step(SPACE, [0], [frontier], [fresh], [], layers)
    assert _kernel.step(SPACE, [0], [frontier], [fresh], layers[:2], layers[:18]) == [0]


@for_each("key", [60, 61, 2**63, 2**64 - 1])
def test_keys_that_are_none_cannot_be_inserted(key: int) -> None:
    with pytest.raises(ValueError, match=str(key)):
        _kernel.insert(SPACE, Bitmap(SPACE).layer, key)


@for_each(("first", "count"), [(0, 61), (60, 1), (61, 0), (2**63, 0), (2**64 - 1, 2)])
def test_distances_of_keys_out_of_range_are_refused(first: int, count: int) -> None:
    layer, distances = Bitmap(SPACE).layer, np.zeros(count, dtype=np.uint8)
    with pytest.raises(ValueError, match="range"):
        _kernel.expand(SPACE, [layer], 0, [], first, distances)
    with pytest.raises(ValueError, match="range"):
        _kernel.collect(SPACE, [layer], 0, first, distances)
    for depth in (0, -1):
        with pytest.raises(ValueError, match="range"):
            _kernel.mark(SPACE, layer, first, distances, depth)


@for_each(("shift", "parity"), [(2, []), (-1, []), (1, []), (1, [0] * 5), (1, [0] * 7), (2**31 - 1, [0] * 6)])
def test_expand_refuses_wrong_codes(shift: int, parity: list[int]) -> None:
    with pytest.raises(ValueError, match="shift"):
        _kernel.expand(SPACE, [Bitmap(SPACE).layer], shift, parity, 0, np.zeros(60, dtype=np.uint8))
    if shift != 1:
        with pytest.raises(ValueError, match="shift"):
            _kernel.collect(SPACE, [Bitmap(SPACE).layer], shift, 0, np.zeros(60, dtype=np.uint8))


@for_each("dtype", ["i1", "u4", "u8", "f4", "f8", "?", "c16"])
def test_distances_of_other_types_are_refused(dtype: str) -> None:
    layer, distances = Bitmap(SPACE).layer, np.zeros(60, dtype=dtype)
    with pytest.raises((ValueError, TypeError)):
        _kernel.expand(SPACE, [layer], 0, [], 0, distances)
    with pytest.raises((ValueError, TypeError)):
        _kernel.collect(SPACE, [layer], 0, 0, distances)
    with pytest.raises((ValueError, TypeError)):
        _kernel.mark(SPACE, layer, 0, distances, 0)


def test_distances_of_other_shapes_are_refused() -> None:
    layer = Bitmap(SPACE).layer
    read_only = np.zeros(60, dtype=np.uint8)
    read_only.setflags(write=False)
    for distances in (np.zeros((6, 10), dtype=np.uint8), np.zeros(120, dtype=np.uint16)[::2], None, [0] * 60):
        with pytest.raises(TypeError):
            _kernel.expand(SPACE, [layer], 0, [], 0, distances)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            _kernel.collect(SPACE, [layer], 0, 0, distances)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _kernel.expand(SPACE, [layer], 0, [], 0, read_only)
    _kernel.collect(SPACE, [layer], 0, 0, read_only)


def test_too_few_or_too_many_planes_are_refused() -> None:
    distances = np.full(60, 3, dtype=np.uint8)  # the number 4 needs three planes
    with pytest.raises(ValueError, match="planes"):
        _kernel.collect(SPACE, [Bitmap(SPACE).layer] * 2, 0, 0, distances)
    with pytest.raises(ValueError, match="planes"):
        _kernel.collect(SPACE, [], 0, 0, distances)
    with pytest.raises(ValueError, match="planes"):
        _kernel.expand(SPACE, [Bitmap(SPACE).layer] * 17, 0, [], 0, distances)
    out = np.zeros(60, dtype=np.uint8)
    _kernel.expand(SPACE, [], 0, [], 0, out)
    assert (out == 255).all()


@for_each("count", [31, 32, 33, 64, 100])
def test_more_planes_than_numbers_have_bits(count: int) -> None:
    planes = [Bitmap(SPACE) for _ in range(count)]
    try:
        _kernel.collect(SPACE, [plane.layer for plane in planes], 0, 0, np.full(60, 5, dtype=np.uint8))
    except ValueError:
        return
    assert [len(plane.keys()) for plane in planes] == [0, 60, 60] + [0] * (count - 3)
