"""The kernel's spaces through their Python face: sizes, encoding, and what is refused."""

from array import array
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive
from arrangements import arrangement_space
from cases import for_each
from farthest import _kernel
from farthest.families.sliding.definition import sliding
from kernel_samples import make_space, row_moves
from strategies import layouts, puzzles

NO_KEY = 2**64 - 1


def test_the_portable_instruction_set_is_always_there() -> None:
    isas = _kernel.available_isas()
    assert isas[0] == "portable"
    assert len(set(isas)) == len(isas)
    assert set(isas) <= {"portable", "avx2", "avx512"}


@for_each(
    ("counts", "parity", "keys"),
    [
        ([1, 1], [], 2),
        ([1, 2, 3], [], 60),
        ([1] * 7, [], 5040),
        ([1] * 4, [0, 1, 0, 1], 12),
        ([1, 63], [], 64),
    ],
)
def test_sizes_fit_together(counts: list[int], parity: list[int], keys: int) -> None:
    space = _kernel.ArrangementSpace(sum(counts), counts, parity, row_moves(sum(counts)))
    assert space.keys == keys
    assert 1 <= space.bits <= 64
    assert space.words * space.bits == keys
    assert space.shards * space.lines_per_shard == space.lines
    assert space.shards * space.words_per_shard == space.words
    assert space.shard_levels >= 1
    assert space.row_bytes > 0
    assert space.reversible
    assert set(space.colours) == {0, 1}


def test_sources_are_neighbouring_places_of_the_blank() -> None:
    space = make_space([1, 1, 2, 2])
    assert space.shards == 6
    assert [sorted(space.sources(shard)) for shard in range(6)] == [[1], [0, 2], [1, 3], [2, 4], [3, 5], [4]]
    with pytest.raises(ValueError, match="shard"):
        space.sources(6)
    with pytest.raises(TypeError):
        space.sources(-1)


def key_of(layout: dict[str, Any], board: tuple[int, ...]) -> int:
    """The key of a board by the definition of the key layout, or NO_KEY."""
    places = {label: [s for s, cell in enumerate(layout["slots"]) if board[cell] == label] for label in board}
    free, full, digits = list(range(len(layout["slots"]))), 0, 0
    for label, count in zip(layout["classes"], layout["counts"], strict=True):
        if len(places.get(label, [])) != count:
            return NO_KEY
        positions = [free.index(slot) for slot in places[label]]
        rank = sum(binomial(p, i) for i, p in enumerate(positions, 1))
        full = full * binomial(len(free), count) + rank
        digits += rank
        free = [slot for slot in free if slot not in places[label]]
    if layout["parity"] is None:
        return full
    return full >> 1 if digits % 2 == layout["parity"][places[0][0]] else NO_KEY


def binomial(n: int, k: int) -> int:
    out = 1
    for i in range(k):
        out = out * (n - i) // (i + 1)
    return out


@pytest.mark.slow
@given(st.data())
def test_boards_have_the_keys_that_the_layout_defines(data: st.DataObject) -> None:
    puzzle = data.draw(puzzles(most=720))
    layout = data.draw(layouts(puzzle))
    space = arrangement_space(puzzle, layout=layout)
    expected = naive.boards_in_key_order(layout)
    assert space.kernel.keys == len(expected)
    decoded = space.decode(np.arange(len(expected), dtype=np.uint64))
    assert list(map(tuple, decoded.tolist())) == expected
    boards = list(naive.arrangements(sliding(puzzle).counts))
    keys = space.encode(np.array(boards, dtype=np.uint8)).tolist()
    assert keys == [key_of(layout, board) for board in boards]
    assert sorted(key for key in keys if key != NO_KEY) == list(range(len(expected)))


def test_five_cells_encoded_by_hand() -> None:
    # Slots 0..4 hold classes 1 0 2 1 2. Class 0 at position 1 of 5: digit 1. Class 1 at positions 0 and 2 of
    # the four that are free: C(0,1) + C(2,2) = 1 of C(4,2) = 6. Class 2 takes the rest. Key = 1 * 6 + 1.
    space = make_space([1, 2, 2])
    keys = array("Q", [0])
    space.encode(bytes([1, 0, 2, 1, 2]), 5, range(5), bytes(range(256)), keys)
    assert keys[0] == 7


def test_boards_may_lie_anywhere_in_rows_of_bytes() -> None:
    space = make_space([1, 1, 1])
    boards = [bytes(p) for p in permutations((0, 1, 2))]
    rows = b"".join(b"<%c-%c-%c>" % tuple(board) for board in boards)
    keys = array("Q", [NO_KEY] * 6)
    space.encode(rows, 7, [1, 3, 5], bytes(range(256)), keys)
    assert sorted(keys) == list(range(6))
    out = bytearray(b"<.-.-.>" * 6)
    space.decode(keys, 7, [1, 3, 5], b"\0\1\2", out)
    assert out == rows
    space.decode_range(0, 6, 7, [5, 3, 1], b"xyz", out)
    assert sorted(out[7 * i : 7 * i + 7] for i in range(6)) == sorted(
        b"<%c-%c-%c>" % p for p in permutations(b"xyz")
    )


@for_each(
    ("slots", "counts", "parity", "message"),
    [
        (1, [1], [], "slots"),
        (0, [], [], "slots"),
        (-1, [1, 1], [], "slots"),
        (65, [1, 64], [], "slots"),
        (2**31 - 1, [1, 1], [], "slots"),
        (4, [4], [], "classes"),
        (4, [1, 2], [], "fill"),
        (4, [1, 4], [], "fill"),
        (4, [0, 4], [], "fill"),
        (4, [-1, 5], [], "fill"),
        (21, [1] * 21, [], "2\\^62"),
        (64, [16] * 4, [], "2\\^62"),
        (4, [1, 1, 2], [0] * 4, "parity"),
        (4, [1] * 4, [0] * 3, "parity"),
        (4, [1] * 4, [0, 1, 2, 0], "[Pp]arit"),
        (4, [1] * 4, [0, 1, 257, 0], "[Pp]arit"),
        (4, [1] * 4, [0, 1, -1, 0], "[Pp]arit"),
    ],
)
def test_wrong_layouts_are_refused(slots: int, counts: list[int], parity: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _kernel.ArrangementSpace(slots, counts, parity, [])


@for_each(
    "move",
    [
        ([0, 1, 2], 0, 0),
        ([0, 1, 2, 3, 4], 0, 0),
        ([0, 1, 2, 2], 0, 0),
        ([0, 1, 2, 4], 0, 0),
        ([0, 1, 2, -1], 0, 0),
        ([0, 1, 2, 2**31 - 1], 0, 0),
        ([0, 1, 2, 259], 0, 0),
        ([0, 1, 2, 3], 1 << 4, 0),
        ([0, 1, 2, 3], 0, 1 << 63),
        ([0, 1, 2, 3], 3, 2),
    ],
)
def test_wrong_moves_are_refused(move: tuple[list[int], int, int]) -> None:
    with pytest.raises(ValueError, match="move"):
        _kernel.ArrangementSpace(4, [1, 3], [], [move])


@for_each(
    "arguments",
    [
        ("4", [1, 3], [], []),
        (4, None, [], []),
        (4, [1, 3.5], [], []),
        (4, [1, 2**40], [], []),
        (4, [1, 3], [], [None]),
        (4, [1, 3], [], [([0, 1, 2, 3], -1, 0)]),
        (4, [1, 3], [], [([0, 1, 2, 3], 1 << 64, 0)]),
        (4, [1, 3], [], [([0, 1, 2, 3], 0)]),
    ],
)
def test_wrong_types_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        _kernel.ArrangementSpace(*arguments)


@for_each("shard_classes", [-1, 0, 2, 1000])
def test_shards_are_cut_by_upper_classes_only(shard_classes: int) -> None:
    assert make_space([1, 3]).shard_levels == 1
    with pytest.raises(ValueError, match="shard_classes"):
        make_space([1, 3], shard_classes=shard_classes)


@for_each("isa", ["sse9", "AVX2", "portable "])
def test_unknown_instruction_sets_are_refused(isa: str) -> None:
    with pytest.raises(ValueError, match="instruction set"):
        make_space([1, 3], isa=isa)


def test_a_space_cannot_be_made_again_in_place() -> None:
    space = make_space([1, 3])
    with pytest.raises(TypeError), pytest.warns(RuntimeWarning, match="already-initialized"):
        space.__init__(3, [1, 2], [], [])  # type: ignore[misc]
    assert space.keys == 4


SPACE = make_space([1, 1, 2])
BOARDS = np.array([0, 1, 2, 2] * 3, dtype=np.uint8)
IDENTITY = bytes(range(256))
READ_ONLY = np.zeros(3, dtype=np.uint64)
READ_ONLY.setflags(write=False)


def zeros(count: int, dtype: str = "u8") -> NDArray[Any]:
    return np.zeros(count, dtype=dtype)


@for_each(
    ("boards", "stride", "positions", "class_of", "keys"),
    [
        (BOARDS[:-1], 4, range(4), IDENTITY, zeros(3)),
        (BOARDS, 4, range(4), IDENTITY, zeros(2)),
        (BOARDS, 4, range(4), IDENTITY, zeros(4)),
        (BOARDS, 4, range(3), IDENTITY, zeros(3)),
        (BOARDS, 4, range(5), IDENTITY, zeros(3)),
        (BOARDS, 4, [0, 1, 2, 4], IDENTITY, zeros(3)),
        (BOARDS, 3, range(4), IDENTITY, zeros(4)),
        (BOARDS, 0, range(4), IDENTITY, zeros(3)),
        (BOARDS, 2**63, range(4), IDENTITY, zeros(3)),
        (BOARDS, 4, [0, 1, 2, 2**63], IDENTITY, zeros(3)),
        (BOARDS, 4, range(4), IDENTITY[:255], zeros(3)),
        (BOARDS, 4, range(4), b"", zeros(3)),
    ],
)
def test_encode_refuses_wrong_sizes(
    boards: Any, stride: int, positions: Any, class_of: Any, keys: Any
) -> None:
    with pytest.raises(ValueError):
        SPACE.encode(boards, stride, positions, class_of, keys)
    assert not keys.any()


@for_each(
    ("boards", "stride", "positions", "class_of", "keys"),
    [
        (BOARDS.reshape(3, 4), 4, range(4), IDENTITY, zeros(3)),
        (np.repeat(BOARDS, 2)[::2], 4, range(4), IDENTITY, zeros(3)),
        (BOARDS.astype(np.int8), 4, range(4), IDENTITY, zeros(3)),
        (BOARDS.astype(np.uint16), 4, range(4), IDENTITY, zeros(3)),
        (BOARDS.tolist(), 4, range(4), IDENTITY, zeros(3)),
        (None, 4, range(4), IDENTITY, zeros(3)),
        ("□", 4, range(4), IDENTITY, zeros(3)),
        (BOARDS, -4, range(4), IDENTITY, zeros(3)),
        (BOARDS, 4, [-1, 0, 1, 2], IDENTITY, zeros(3)),
        (BOARDS, 4, None, IDENTITY, zeros(3)),
        (BOARDS, 4, range(4), None, zeros(3)),
        (BOARDS, 4, range(4), IDENTITY, zeros(3, "i8")),
        (BOARDS, 4, range(4), IDENTITY, zeros(3, "f8")),
        (BOARDS, 4, range(4), IDENTITY, zeros(3, ">u8")),
        (BOARDS, 4, range(4), IDENTITY, zeros(6)[::2]),
        (BOARDS, 4, range(4), IDENTITY, zeros(3)[::-1]),
        (BOARDS, 4, range(4), IDENTITY, zeros(3).reshape(3, 1)),
        (BOARDS, 4, range(4), IDENTITY, READ_ONLY),
        (BOARDS, 4, range(4), IDENTITY, bytes(24)),
        (BOARDS, 4, range(4), IDENTITY, [0, 0, 0]),
        (BOARDS, 4, range(4), IDENTITY, None),
    ],
)
def test_encode_refuses_wrong_types(
    boards: Any, stride: Any, positions: Any, class_of: Any, keys: Any
) -> None:
    with pytest.raises(TypeError):
        SPACE.encode(boards, stride, positions, class_of, keys)


def test_boards_with_wrong_labels_have_no_key() -> None:
    boards = np.array([[0, 1, 2, 2], [0, 0, 1, 2], [0, 1, 1, 2], [0, 1, 2, 3], [255] * 4], dtype=np.uint8)
    keys = zeros(5)
    SPACE.encode(boards.reshape(-1), 4, range(4), IDENTITY, keys)
    assert keys[0] < 12
    assert (keys[1:] == NO_KEY).all()
    SPACE.encode(boards.reshape(-1), 4, range(4), b"\xff" * 256, keys)
    assert (keys == NO_KEY).all()


@for_each("key", [12, 13, 2**63, NO_KEY])
def test_decode_refuses_keys_that_are_none(key: int) -> None:
    out = bytearray(8)
    with pytest.raises(ValueError, match=str(key)):
        SPACE.decode(array("Q", [0, key]), 4, range(4), b"\0\1\2", out)


@for_each(
    ("first", "count", "size"),
    [
        (0, 13, 52),
        (12, 1, 4),
        (13, 0, 0),
        (2**63, 2**63, 0),
        (NO_KEY, 1, 4),
        (1, NO_KEY, 0),
        (0, 3, 8),
        (0, 3, 13),
    ],
)
def test_decode_range_refuses_keys_out_of_range(first: int, count: int, size: int) -> None:
    with pytest.raises(ValueError):
        SPACE.decode_range(first, count, 4, range(4), b"\0\1\2", bytearray(size))


def test_empty_ranges_are_allowed() -> None:
    SPACE.decode_range(12, 0, 4, range(4), b"\0\1\2", bytearray())
    SPACE.decode(array("Q"), 4, range(4), b"\0\1\2", bytearray())
    SPACE.encode(b"", 4, range(4), IDENTITY, array("Q"))


@for_each("labels", [b"", b"\0\1", b"\0\1\2\3"])
def test_decode_refuses_labels_that_are_not_one_a_class(labels: bytes) -> None:
    with pytest.raises(ValueError, match="label_of"):
        SPACE.decode(array("Q", [0]), 4, range(4), labels, bytearray(4))


def test_decode_refuses_read_only_output() -> None:
    with pytest.raises(TypeError):
        SPACE.decode(array("Q", [0]), 4, range(4), b"\0\1\2", bytes(4))
    with pytest.raises(TypeError):
        SPACE.decode_range(0, 1, 4, range(4), b"\0\1\2", memoryview(bytearray(4)).toreadonly())


@for_each("shards", [[6], [0, 2**63], [NO_KEY]])
def test_prepare_refuses_shards_that_are_none(shards: list[int]) -> None:
    with pytest.raises(ValueError, match="shard"):
        make_space([1, 1, 2, 2]).prepare(shards)


def test_prepare_takes_a_shard_named_twice() -> None:
    space = make_space([1, 2, 2, 4, 4])
    for _ in range(3):
        space.prepare([0] * 16 + [1] * 16, 8)
        space.prepare([0, 0])
