"""Sparse maps: pieces to payloads and back, checkpoints, leads, digests, and what is wrong with them."""

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.errors import StorageError
from farthest.models.chunks import (
    CHUNK_BYTES,
    Chunk,
    MapDigest,
    Unit,
    chunk_states,
    code_array,
    digest_of,
    encode,
    open_chunk,
    written,
)
from farthest.models.database import Database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.models.records import ChunkRecord, LayerRecord

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

WIDTHS = st.sampled_from([1, 2, 5, 8, 16, 20])


def written_codes(width: int) -> st.SearchStrategy[list[bytes]]:
    """Codes in their written form, ascending."""
    return st.sets(st.binary(min_size=width, max_size=width), min_size=1, max_size=40).map(sorted)


def held(codes: list[bytes], width: int) -> bytes:
    """Codes as a piece has them."""
    return b"".join(code[::-1] if width == 8 else code for code in codes)


def piece(codes: list[bytes], unit: Unit = "uint8", first: int = 0) -> Chunk:
    width = len(codes[0])
    distances = b"".join(i.to_bytes(2 if unit == "uint16" else 1, "little") for i in range(len(codes)))
    return Chunk(first, first + len(codes) - 1, unit, distances, width, held(codes, width))


def cut(whole: Chunk, size: int) -> Iterator[Chunk]:
    """A map cut into pieces of ``size`` states."""
    codes, distances = memoryview(whole.codes).cast("B"), memoryview(whole.distances).cast("B")
    unit = 2 if whole.unit == "uint16" else 1
    for first in range(0, whole.last + 1, size):
        last = min(first + size - 1, whole.last)
        yield Chunk(
            first,
            last,
            whole.unit,
            distances[first * unit : (last + 1) * unit],
            whole.width,
            codes[first * whole.width : (last + 1) * whole.width],
        )


def record(one: Chunk) -> ChunkRecord:
    stored = encode(one)
    return ChunkRecord(7, one.first, one.last, 3, stored.codec, stored.payload, stored.checksum, stored.lead)


@given(WIDTHS.flatmap(written_codes), st.sampled_from(["uint8", "uint16"]), st.integers(0, 2**40))
def test_a_piece_comes_back_as_it_was(codes: list[bytes], unit: Unit, first: int) -> None:
    one = piece(codes, unit, first)
    row = record(one)
    assert row.codec == f"zstd:codes{len(codes[0])}:{unit}"
    assert row.lead == codes[0]
    assert open_chunk(row) == one


def test_a_sparse_chunk_is_readable_without_the_program() -> None:
    row = record(piece([number.to_bytes(8, "big") for number in (3, 5, 2**40)]))
    data = zstd.decompress(row.payload)
    planes, distances = numpy.frombuffer(data[:24], dtype=numpy.uint8), data[24:]
    steps = [int.from_bytes(planes[i::3].tobytes(), "big") for i in range(3)]
    assert steps == [3, 2, 2**40 - 5]
    assert distances == b"\0\1\2"
    assert zstd.decompress(record(piece([b"ab", b"cd", b"ce"])).payload) == b"accbde\0\1\2"


def test_the_written_form_of_one_code() -> None:
    assert written(258, 8) == b"\0\0\0\0\0\0\1\2"
    assert written(b"ab", 4) == b"ab\0\0"
    assert code_array(b"ab\0\0ab\0\1", 4).tolist() == [b"ab", b"ab\0\1"]


def test_chunks_hold_about_as_many_bytes_whatever_the_width() -> None:
    assert chunk_states(8) * 8 == chunk_states(16) * 16 == CHUNK_BYTES
    assert chunk_states(1024) * 1024 == CHUNK_BYTES


ABC = piece([b"ab", b"cd", b"ef"])
WRONG = {
    "not ascending": (
        replace(ABC, codes=b"abefcd"),
        "the code of state 2 is not greater than the one before",
    ),
    "twice": (replace(ABC, codes=b"ababcd"), "the code of state 1 is not greater than"),
    "too few codes": (
        replace(ABC, codes=b"abcd"),
        "4 bytes of codes and 3 of distances .uint8. for 3 states",
    ),
    "too few distances": (replace(ABC, distances=b"\0"), "6 bytes of codes and 1 of distances"),
    "no states": (replace(ABC, last=-1, codes=b"", distances=b""), "for 0 states"),
    "too wide": (replace(ABC, width=1025), "codes of 1025 bytes; 1 to 1024 are possible"),
    "no width": (replace(ABC, width=0), "6 bytes of codes and 3 of distances"),
    "less than no width": (replace(ABC, width=-1), "codes of -1 bytes"),
}


@for_each("name", WRONG)
def test_a_wrong_piece_is_not_encoded(name: str) -> None:
    wrong, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        encode(wrong)


def forged(data: bytes, **fields: object) -> ChunkRecord:
    """A row whose checksum is right though its content is not."""
    payload = zstd.compress(data)
    return replace(
        record(ABC),
        payload=payload,
        checksum=hashlib.sha256(payload).hexdigest(),
        **fields,  # type: ignore[arg-type]
    )


DAMAGED = {
    "flipped bit": (replace(record(ABC), payload=b"x" + record(ABC).payload[1:]), "checksum"),
    "codes out of order": (forged(b"aecbfd\0\1\2"), "the code of state 2 is not greater than the one before"),
    "another lead": (replace(record(ABC), lead=b"ac"), "its lead is not its first code"),
    "no lead": (replace(record(ABC), lead=None), "its lead is not its first code"),
    "a state too few": (forged(b"acbd\0\1"), "6 bytes, expected 9"),
    "another width": (forged(b"acebdf\0\1\2", codec="zstd:codes3:uint8"), "9 bytes, expected 12"),
    "a width of none": (replace(record(ABC), codec="zstd:codes0:uint8"), "its codec is 'zstd:codes0:uint8'"),
}


@for_each("name", DAMAGED)
def test_damage_is_told(name: str) -> None:
    row, message = DAMAGED[name]
    with pytest.raises(StorageError, match=f"job 7: the chunk of keys 0 to 2 is damaged: .*{message}"):
        open_chunk(row)


# --- in the database ---------------------------------------------------------------------------------------

LAYERS = [LayerRecord(0, 1, 0.5)]
NUMBERS = piece([number.to_bytes(8, "big") for number in range(5, 705, 7)])


def all_of(maps: Maps, job_id: int) -> list[Chunk]:
    return list(maps.chunks(job_id))


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_checkpoint_comes_back(jobs: Jobs, maps: Maps, job_id: int, size: int) -> None:
    maps.checkpoint(job_id, 3, cut(NUMBERS, size), LAYERS, 1.5)
    assert all_of(maps, job_id) == list(cut(NUMBERS, size))
    job = jobs.get(job_id)
    assert (job.depth, job.keys, job.unit) == (3, 100, "uint8")
    leads = maps.leads(job_id)
    assert [first for first, _ in leads] == list(range(0, 100, size))
    assert [int.from_bytes(lead, "big") for _, lead in leads] == [5 + 7 * i for i in range(0, 100, size)]
    assert maps.chunk_at(job_id, 99) == list(cut(NUMBERS, size))[-1]


def test_a_dense_map_has_no_leads(maps: Maps, job_id: int) -> None:
    maps.checkpoint(job_id, 3, [Chunk(0, 2, "uint8", b"\0\1\2")], LAYERS, 1.5)
    assert maps.leads(job_id) == []
    assert maps.chunk_at(job_id, 1).codes == b""


def test_the_older_map_is_read_apart_while_the_newer_is_written(maps: Maps, job_id: int) -> None:
    older, newer = piece([bytes([c]) for c in range(0, 200, 2)]), piece([bytes([c]) for c in range(200)])
    maps.checkpoint(job_id, 3, cut(older, 10), LAYERS, 1.5)

    def pieces() -> Iterator[Chunk]:
        read = 0
        for one in cut(newer, 10):
            while read < 100 and read <= one.first:  # numbers of the newer map are far ahead of the older
                assert maps.chunk_at(job_id, read, apart=True).first == read
                read += 10
            yield one
        while read < 100:
            assert maps.chunk_at(job_id, read, apart=True).first == read
            read += 10

    maps.checkpoint(job_id, 4, pieces(), LAYERS, 1.5)
    assert all_of(maps, job_id) == list(cut(newer, 10))


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([replace(ABC, first=1, last=3)], "chunk of keys 1 to 3: expected it from key 0"),
        (
            [ABC, replace(ABC, first=3, last=5)],
            "chunk of states 3 to 5: its codes do not follow those before",
        ),
        (
            [ABC, piece([b"xyz"], first=3)],
            "chunk of keys 3 to 3 is codes3:uint8, those before it codes2:uint8",
        ),
        ([ABC, Chunk(3, 3, "uint8", b"\0")], "chunk of keys 3 to 3 is uint8, those before it codes2:uint8"),
        ([WRONG["twice"][0]], "is not greater than the one before"),
    ],
)
def test_pieces_that_do_not_fit_together_are_not_stored(
    maps: Maps, database: Database, job_id: int, pieces: list[Chunk], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        maps.checkpoint(job_id, 3, pieces, LAYERS, 1.5)
    assert maps.depth(job_id) is None


def test_the_digest_is_that_of_the_documents_whatever_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.models.chunks.CHUNK_KEYS", each := 30)
    distances = bytes(memoryview(NUMBERS.distances))
    codes = b"".join(number.to_bytes(8, "big") for number in range(5, 705, 7))
    text = "farthest sparse map 2\n1 99\nuint8\n8\n"
    for at in range(0, 100, each):
        inner = hashlib.sha256(codes[8 * at : 8 * (at + each)]).digest()
        inner += hashlib.sha256(distances[at : at + each]).digest()
        text += hashlib.sha256(inner).hexdigest() + "\n"
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert digest_of([1, 99], [NUMBERS]) == expected
    assert digest_of([1, 99], cut(NUMBERS, 9)) == expected
    digest = MapDigest([1, 99])
    assert list(digest.passed(cut(NUMBERS, 30))) == list(cut(NUMBERS, 30))
    assert digest.hexdigest() == expected
