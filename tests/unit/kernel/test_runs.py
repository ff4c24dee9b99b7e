"""Runs of codes, outboxes and maps of runs, against sets and dictionaries of Python."""

import random
import struct
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, takewhile

import pytest

from cases import for_each
from farthest import _kernel

Code = int | bytes


@dataclass(frozen=True)
class Kind:
    """A kind of code. ``keys``: of a dense space, else 0."""

    width: int
    keys: int = 0
    span: int = 2**64  # numbers are below

    def code(self, rng: random.Random) -> Code:
        if self.width == 8:
            return rng.randrange(self.keys or self.span)
        varied = bytes(rng.choices(b"\x00ab\xff", k=min(self.width, 7)))
        return varied.ljust(self.width, b"\x01") if rng.random() < 0.5 else varied.rjust(self.width, b"\xfe")

    def many(self, seed: int, number: int = 900) -> list[Code]:
        rng = random.Random(seed)
        return [self.code(rng) for _ in range(number)]

    def joined(self, codes: Sequence[Code]) -> bytes:
        if self.width == 8:
            return struct.pack(f"<{len(codes)}Q", *codes)
        return b"".join(code for code in codes if isinstance(code, bytes))

    def split(self, data: bytes) -> list[Code]:
        if self.width == 8:
            return list(struct.unpack(f"<{len(data) // 8}Q", data))
        return [data[at : at + self.width] for at in range(0, len(data), self.width)]


KINDS = [
    Kind(8),
    Kind(8, span=1000),
    Kind(8, span=2**33),
    Kind(8, keys=5000),
    Kind(8, keys=2**64 - 1),
    *(Kind(width) for width in (1, 3, 7, 9, 16, 17, 33, 65, 129, 1024)),
]


@pytest.fixture(params=KINDS, ids=str)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


def run_of(kind: Kind, codes: Sequence[Code]) -> bytes:
    return _kernel.run_of(kind.width, kind.joined(codes))[1]


def test_a_run_is_the_codes_in_order_none_twice(kind: Kind) -> None:
    for number in (0, 1, 2, 900):
        codes = kind.many(number, number)
        states, run = _kernel.run_of(kind.width, kind.joined(codes * 2))
        wanted = sorted(set(codes))
        assert states == len(wanted)
        assert kind.split(_kernel.run_codes(kind.width, run)) == wanted
        assert kind.split(_kernel.run_codes(kind.width, run, 5)) == wanted[:5]


def test_the_greatest_and_the_least_codes() -> None:
    for codes in ([0], [2**64 - 1], [0, 2**64 - 1], [0, 1, 2**64 - 2, 2**64 - 1]):
        kind = Kind(8)
        assert kind.split(_kernel.run_codes(8, run_of(kind, codes))) == codes


def test_dense_runs_are_bitmaps() -> None:
    kind = Kind(8)
    assert len(run_of(kind, range(10**6, 10**6 + 8000))) < 1020
    assert len(run_of(kind, range(0, 8000, 2))) < 1020
    assert len(run_of(kind, range(0, 80000, 20))) < 4020


@for_each(
    ("codes", "run"),
    [
        ([], "00 00"),
        ([5], "00 01 05 00"),
        ([300, 301, 700], "00 03 ac 02 90 03 00 8e 03"),
        ([3, 4, 5, 7, 10], "01 05 03 07 97"),
    ],
)
def test_runs_are_as_described(codes: list[Code], run: str) -> None:
    assert run_of(Kind(8), codes) == bytes.fromhex(run)


def test_byte_strings_share_what_they_begin_with() -> None:
    assert run_of(Kind(3), [b"abc", b"abd", b"b\x00\x00"]) == b"\x02\x03\x00abc\x02d\x00b\x00\x00"


def test_merging_and_taking_out(kind: Kind) -> None:
    lists = [kind.many(seed, 200 * seed) for seed in range(4)]
    for out in ([], lists[:1], lists[1:3]):
        wanted = sorted({code for one in lists for code in one} - {code for one in out for code in one})
        states, run = _kernel.merge_runs(
            kind.width, [run_of(kind, one) for one in lists], [run_of(kind, one) for one in out]
        )
        assert states == len(wanted)
        assert run == run_of(kind, wanted)


def test_a_damaged_run_is_refused_or_another_run(kind: Kind) -> None:
    rng = random.Random(3)
    for codes in (kind.many(3, 1), kind.many(4, 40), kind.many(5)):
        run = run_of(kind, codes)
        for _ in range(50):
            damaged = bytearray(run)
            place = rng.randrange(len(run) if rng.random() < 0.5 else min(len(run), 24))
            if rng.random() < 0.5:
                damaged[place] ^= 1 << rng.randrange(8)
            else:
                damaged[place:] = rng.randbytes(rng.randrange(3))
            try:
                read = _kernel.run_codes(kind.width, damaged)
            except ValueError:
                continue
            found = kind.split(read)
            assert found == sorted(set(found))


@for_each("bits", ["d7", "56", "17", "57 00"])
def test_a_bitmap_has_its_first_and_its_last_code_and_nothing_beyond(bits: str) -> None:
    bitmap = "01 05 03 06"
    assert run_of(Kind(8), [3, 4, 5, 7, 9]) == bytes.fromhex(f"{bitmap} 57")
    with pytest.raises(ValueError, match="damaged"):
        _kernel.run_codes(8, bytes.fromhex(f"{bitmap} {bits}"))


@for_each("run", [b"", b"\x00", b"\x03\x00", b"\x02\x00", b"\x00\x01", b"\x00" + b"\xff" * 30])
def test_what_is_no_run_is_refused(run: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        _kernel.run_codes(8, run)
    with pytest.raises(ValueError, match="damaged"):
        _kernel.merge_runs(8, [], [run])


@for_each(("width", "begins", "bytes_a_state"), [(8, b"\0", 1), (1024, b"\2", 2), (8, b"\1", 1 / 8)])
def test_no_room_is_made_for_more_states_than_a_run_of_its_size_can_have(
    width: int, begins: bytes, bytes_a_state: float
) -> None:
    states = 2**16
    run = bytearray(begins + b"\x80\x80\x04")  # 2^16, in groups of seven bits
    run += bytes(int(states * bytes_a_state) - len(run) - 1)
    tracemalloc.start()
    try:
        for read in (lambda: _kernel.run_codes(width, run), lambda: _kernel.merge_runs(width, [run], [])):
            with pytest.raises(ValueError, match="damaged"):
                read()
        assert tracemalloc.get_traced_memory()[1] < states * width // 2
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("threads", "room"), [(1, 10**9), (3, 0)])
def test_outboxes_give_each_shard_its_run(kind: Kind, threads: int, room: int) -> None:
    boxes = _kernel.Outboxes(kind.width, 5, kind.keys, room)
    seen, shards_of = [], dict[Code, int]()
    for turn in range(3):
        codes = kind.many(turn)
        for part in (codes[:300], codes[200:], []):
            boxes.add(kind.joined(part), threads)
        known = codes[::3]
        shards = boxes.filled()
        taken = boxes.take(shards, [[run_of(kind, known), run_of(kind, codes[:2])]] * len(shards), threads)
        found = [kind.split(_kernel.run_codes(kind.width, run)) for _, run in taken]
        assert [states for states, _ in taken] == [len(run) for run in found]
        assert sorted(code for run in found for code in run) == sorted(set(codes) - {*known, *codes[:2]})
        for shard, run in zip(shards, found, strict=True):
            for code in run:
                assert shards_of.setdefault(code, shard) == shard
        assert boxes.filled() == []
        seen.append(boxes.held_bytes)
    assert len(set(shards_of.values())) == 5 or kind.width < 7  # of the shortest there are too few
    boxes.trim()
    assert boxes.held_bytes == 0 < seen[-1]


def test_shards_of_dense_spaces_are_equal_ranges() -> None:
    boxes = _kernel.Outboxes(8, 4, 10, 0)
    boxes.add(Kind(8).joined(range(10)))
    assert [states for states, _ in boxes.take([0, 1, 2, 3], [[]] * 4)] == [3, 3, 3, 1]


def test_outboxes_refuse_what_does_not_fit() -> None:
    boxes = _kernel.Outboxes(8, 4, 10, 0)
    with pytest.raises(ValueError, match="no key"):
        boxes.add(struct.pack("<Q", 10))
    with pytest.raises(ValueError, match="whole codes"):
        boxes.add(b"1234567")
    with pytest.raises(ValueError, match="no such shard"):
        boxes.take([4], [[]])
    with pytest.raises(ValueError, match="named twice"):
        boxes.take([1, 1], [[], []])
    with pytest.raises(ValueError, match="list of runs"):
        boxes.take([1], [])
    for width, shards, keys in ((0, 1, 0), (1025, 1, 0), (8, 0, 0), (8, 70000, 0), (16, 1, 10)):
        with pytest.raises(ValueError, match=r"codes must|shards|keys have"):
            _kernel.Outboxes(width, shards, keys, 0)


@pytest.mark.parametrize("unit", [1, 2])
def test_maps_are_written_and_read_in_pieces(kind: Kind, unit: int) -> None:
    rng = random.Random(7)
    codes = sorted(set(kind.many(7)))
    distances = [rng.randrange(10) for _ in codes]
    written = b"".join(distance.to_bytes(unit, "little") for distance in distances)
    writer = _kernel.MapWriter(kind.width, 5, kind.keys, 9)
    for first in range(0, len(codes), 100):
        part = slice(first * unit, (first + 100) * unit)
        writer.add(kind.joined(codes[first : first + 100]), written[part], unit)
    runs = [(run, depth) for depth in range(10) for _, _, run in writer.runs(depth)]
    for depth in range(10):
        layer = {code for code, distance in zip(codes, distances, strict=True) if distance == depth}
        assert sum(states for _, states, _ in writer.runs(depth)) == len(layer)
        assert {
            code for run, d in runs if d == depth for code in kind.split(_kernel.run_codes(kind.width, run))
        } == layer
    for states in (1, 7, 100, 10**6):
        reader = _kernel.MapReader(kind.width, [run for run, _ in runs], [depth for _, depth in runs])
        pieces = list(takewhile(any, (reader.next(states, unit, 2) for _ in count())))
        assert b"".join(piece for piece, _ in pieces) == kind.joined(codes)
        assert b"".join(piece for _, piece in pieces) == written
        assert all(len(piece) == states * kind.width for piece, _ in pieces[:-1])


def test_maps_of_dense_spaces_have_a_distance_for_every_key() -> None:
    kind, rng = Kind(8, keys=5000), random.Random(8)
    found = {code: rng.randrange(300) for code in kind.many(8) if isinstance(code, int)}
    distances = struct.pack("<5000H", *(found.get(key, 65535) for key in range(5000)))
    writer = _kernel.MapWriter(8, 5, 5000, 299)
    for first in range(0, 5000, 700):
        writer.add_keys(first, distances[2 * first : 2 * first + 1400], 2)
    runs = [(run, depth) for depth in range(300) for _, _, run in writer.runs(depth)]
    reader = _kernel.MapReader(8, [run for run, _ in runs], [depth for _, depth in runs])
    out = bytearray(10000)
    for first in range(0, 5000, 900):
        reader.fill(first, memoryview(out).cast("H")[first : first + 900])
    assert out == distances
    with pytest.raises(ValueError, match="ascend"):
        writer.add_keys(0, bytes(2), 2)


def test_maps_refuse_what_does_not_fit() -> None:
    writer = _kernel.MapWriter(8, 5, 100, 9)
    for codes, distances in (([100], [1]), ([5, 5], [1, 1]), ([6], [10]), ([7, 8], [1])):
        with pytest.raises(ValueError, match=r"key|ascend|depth|equally"):
            writer.add(Kind(8).joined(codes), bytes(distances), 1)
    with pytest.raises(ValueError, match="1 or 2"):
        writer.add(b"", b"", 3)
    with pytest.raises(ValueError, match="damaged"):
        _kernel.MapReader(8, [b"\x07"], [0])
    with pytest.raises(ValueError, match="depth"):
        _kernel.MapReader(8, [b"\x00\x00"], [])
    reader = _kernel.MapReader(8, [run_of(Kind(8), [3])], [0])
    with pytest.raises(ValueError, match="passed over"):
        reader.fill(4, bytearray(3))
