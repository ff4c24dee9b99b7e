"""Spaces and runs by representatives through the bindings, so that the sanitizers see them: small ones made by hand,
and that nothing wrong gets in."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from cases import for_each
from farthest import _kernel
from kernel_samples import Bitmap, KernelMove


def layers(space: _kernel.Space, keys: Iterable[int]) -> tuple[list[int], list[int]]:
    """The states and the classes of each layer after that of the keys."""
    space.prepare(range(space.shards))
    frontier, visited = Bitmap(space, keys), Bitmap(space, keys)
    states, classes = [], []
    while frontier.keys():
        fresh = Bitmap(space)
        counts, number = _kernel.step_counted(
            space, range(space.shards), [frontier.layer], [fresh.layer], [[visited.layer]], [[visited.layer]]
        )
        states.append(sum(counts))
        classes.append(number)
        frontier = fresh
    return states, classes


# Arrangements: a blank and pieces on a ring of five slots, which a mirror through slot 2 leaves as they are.
MIRROR = [4, 3, 2, 1, 0]
KEPT: dict[str, Any] = {
    "starts": [1, 2],
    "symmetries": [([0, 1, 2, 3, 4], [0, 1, 2]), (MIRROR, [0, 1, 2])],
    "shards": ([0, 1, 2], [2, 2, 1], [0, 1, 2, 1, 0], [0, 0, 0, 1, 1]),
}


def ring_space(isa: str = "", **kept: Any) -> _kernel.ArrangementSpace:
    moves: list[KernelMove] = []
    for a in range(5):
        b = (a + 1) % 5
        to = list(range(5))
        to[a], to[b] = b, a
        moves += [(to, 1 << a, 1 << b), (to, 1 << b, 1 << a)]
    return _kernel.ArrangementSpace(5, [1, 2, 2], [], moves, 1, isa, **kept)


def test_arrangements_of_representatives_have_the_layers_of_all() -> None:
    plain = ring_space()
    boards = np.zeros((plain.keys, 5), dtype=np.uint8)
    plain.decode_range(0, plain.keys, 5, range(5), np.arange(3, dtype=np.uint8), boards.reshape(-1))
    (key,) = np.flatnonzero((boards == [1, 2, 0, 2, 1]).all(axis=1)).tolist()  # its own mirror image
    expected, _ = layers(plain, [key])
    found = set()
    for isa in _kernel.available_isas():
        space = ring_space(isa, **KEPT)
        assert (space.shards, space.states) == (3, plain.keys)
        assert [space.weight(shard) for shard in range(3)] == [2, 2, 1]
        states, classes = layers(space, [key])
        assert states == expected
        found.add(tuple(classes))
    assert len(found) == 1
    assert sum(classes) < sum(states)


@for_each(
    ("name", "value"),
    [
        ("starts", [9]),
        ("symmetries", [([0, 1, 2, 3], [0, 1, 2]), (MIRROR, [0, 1, 2])]),
        ("symmetries", [([0, 1, 2, 3, 4], [0, 1, 2]), ([4, 3, 2, 1, 1], [0, 1, 2])]),
        ("symmetries", [([0, 1, 2, 3, 4], [0, 1, 2]), (MIRROR, [0, 1])]),
        ("symmetries", [([0, 1, 2, 3, 4], [0, 1, 2]), (MIRROR, [1, 0, 2])]),
        ("symmetries", [([0, 1, 2, 3, 4], [0, 1, 2]), (MIRROR, [0, 1, 200])]),
        ("shards", ([0, 1, 9], [2, 2, 1], [0, 1, 2, 1, 0], [0, 0, 0, 1, 1])),
        ("shards", ([0, 1, 2], [2, 2], [0, 1, 2, 1, 0], [0, 0, 0, 1, 1])),
        ("shards", ([0, 1, 2], [2, 2, 1], [0, 1, 2, 1], [0, 0, 0, 1, 1])),
        ("shards", ([0, 1, 2], [2, 2, 1], [0, 1, 2, 1, 3], [0, 0, 0, 1, 1])),
        ("shards", ([0, 1, 2], [2, 2, 1], [0, 1, 2, 1, 0], [0, 0, 0, 1, 2])),
        ("shards", ([0, 1, 2], [2, 2, 1], [0, 1, 2, 0, 1], [0, 0, 0, 1, 1])),
    ],
)
def test_arrangements_refuse_what_does_not_fit(name: str, value: Any) -> None:
    with pytest.raises(ValueError):
        ring_space(**{**KEPT, name: value})


# Digits: two outer numbers that the one symmetry keeps, a digit of 3 values that numbers lines, and lines of 8 bits.
# Moves: to the next value; to the other outer number; another bit. The symmetry changes each bit number by 4.
SAME, NEXT = np.array([0, 1, 2], dtype=np.uint32), np.array([1, 2, 0], dtype=np.uint32)
BITS = np.arange(8, dtype=np.uint16)


def numbers(*values: int, dtype: str = "u4") -> Any:
    return np.array(values, dtype=dtype)


CUT: dict[str, Any] = {
    "words_per_line": 1,
    "bits": 8,
    "digits": [(3, np.concatenate([SAME, NEXT]), b"")],
    "first": numbers(0, 3, 6, dtype="u8"),
    "sources": numbers(0, 1, 0, 1, 0, 1),
    "maps": numbers(0, 0, 1, 0, 0, 1),
    "terms": numbers(1, 0, 0, 1, 0, 0),
    "held_first": numbers(0, 1, 2, dtype="u8"),
    "held_maps": numbers(2, 2),
    "held_terms": numbers(0, 0),
    "weights": numbers(1, 1),
    "bit_maps": [BITS, BITS ^ np.uint16(1), BITS ^ np.uint16(4)],
    "reversible": False,
}


def test_layers_of_a_space_of_digits() -> None:
    for isa in _kernel.available_isas():
        space = _kernel.ReducedSpace(**CUT, isa=isa)
        assert (space.keys, space.states, space.shards) == (48, 48, 2)
        # Pairs of a state and its image: the coefficients of (1 + x + x^2) (1 + x)^2, from the second on.
        assert layers(space, [0, 4]) == ([6, 8, 6, 2, 0], [3, 4, 3, 1, 0])
        with pytest.raises(_kernel.NotClosedError):
            layers(space, [0])


@for_each(
    ("name", "value"),
    [
        ("words_per_line", 0),
        ("words_per_line", 513),
        ("bits", 0),
        ("bits", 65),
        ("digits", [(3, SAME[:2], b"")]),
        ("digits", [(0, SAME, b"")]),
        ("digits", [(3, SAME, b""), (2**31, SAME, b"")]),
        ("digits", [(3, numbers(0, 1, 3, 1, 2, 0), b"")]),  # from a line that there is not
        ("digits", [(3, np.concatenate([SAME, NEXT]), b"\1")]),
        ("digits", [(3, np.concatenate([SAME, NEXT]), b"\0\1\0")]),  # the map 2 ^ 1 is not there
        ("first", numbers(0, dtype="u8")),
        ("first", numbers(0, 3, 9, dtype="u8")),
        ("first", numbers(0, 7, 6, dtype="u8")),
        ("sources", numbers(0, 1, 0, 1, 0, 2)),
        ("sources", numbers(0, 1, 0, 1, 0)),
        ("maps", numbers(0, 0, 1, 0, 0, 3)),
        ("maps", numbers(0, 0)),
        ("terms", numbers(1, 0, 0, 1, 0, 2)),
        ("terms", numbers(1)),
        ("held_first", numbers(0, 1, 3, dtype="u8")),
        ("held_first", numbers(0, 1, dtype="u8")),
        ("held_maps", numbers(2, 3)),
        ("held_terms", numbers(0, 2)),
        ("weights", numbers(1)),
        ("bit_maps", [BITS, BITS[:-1], BITS]),
        ("bit_maps", [BITS, BITS // 2, BITS]),
        ("bit_maps", [BITS, BITS + np.uint16(1), BITS]),
        ("bit_maps", [BITS]),
        ("isa", "abacus"),
    ],
)
def test_digits_refuse_what_does_not_fit(name: str, value: Any) -> None:
    with pytest.raises(ValueError):
        _kernel.ReducedSpace(**{**CUT, name: value})


@for_each("name", ["first", "sources", "weights", "held_maps"])
def test_arrays_of_other_types_are_refused(name: str) -> None:
    for value in (CUT[name].astype(np.float64), CUT[name].reshape(1, -1), None):
        with pytest.raises(TypeError):
            _kernel.ReducedSpace(**{**CUT, name: value})


def test_runs_refuse_what_does_not_fit() -> None:
    fields = [(0, 4, 2), (0, 0, 2)]
    same = np.arange(512, dtype=np.uint16)
    shard = [([(0, 0)], [0])]
    for width, places, points, shards in (
        (0, fields, same, shard),
        (8, [(1, 0, 2), (0, 0, 2)], same, shard),
        (8, [(0, 0, 2), (0, 4, 2)], same, shard),
        (8, fields, same[:-1], shard),
        (8, fields, same + np.uint16(1), shard),  # more than two bits hold
        (8, fields, same + np.uint16(256), shard),
        (8, fields, same, [([(1, 0)], [])]),
        (8, fields, same, [([(0, 1)], [])]),
        (8, fields, same, [([(0, 0)], [1])]),
    ):
        with pytest.raises(ValueError):
            _kernel.ReducedRuns(width, places, [points], shards)
    runs = _kernel.ReducedRuns(8, fields, [same], shard)
    code = np.array([17], dtype=np.uint64)
    assert runs.step([0], [code], [[]]) == [(1, 1, code.tobytes())]
    assert runs.step([0], [code], [[code]]) == [(0, 0, b"")]
    # 1 becomes 0, which is not there: the shard has not all images of its states.
    halves = np.arange(512, dtype=np.uint16)
    halves[256:258] = 257, 256
    torn = _kernel.ReducedRuns(8, fields, [same, halves], [([(0, 0)], [1])])
    with pytest.raises(ValueError, match="not closed"):
        torn.step([0], [code], [[]])
    for shards_, layer, exclude in (
        ([1], [code], [[]]),
        ([0], [], [[]]),
        ([0], [code], []),
        ([0], [b"1234567"], [[]]),
        ([0], [code], [[b"1"]]),
    ):
        with pytest.raises(ValueError):
            runs.step(shards_, layer, exclude)
