"""What every place for blobs promises."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blob_places import Contents
from farthest.stores.blobs.place import (
    ATTEMPT_FOLDER,
    BlobName,
    BlobPart,
    BlobPlace,
    Kind,
    NameTakenError,
    probe,
)
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.places import place_of


@pytest.fixture
def nodes(redis_url: str) -> Iterator[RedisNodes]:
    """Two nodes for blobs."""
    made = RedisNodes([redis_url, f"{redis_url.removesuffix('/0')}/1"])
    yield made
    made.close()


@pytest.fixture
def place(blobs_url: str, nodes: RedisNodes) -> BlobPlace:
    return place_of(nodes)


@pytest.fixture
def contents(blobs_url: str, nodes: RedisNodes) -> Contents:
    return Contents(blobs_url, nodes)


def name(block: int, attempt: str = "7-aa-1", kind: Kind = "b", depth: int = 3, nonce: int = 0) -> BlobName:
    return BlobName(attempt, kind, depth, block, f"{nonce:08x}")


def whole(place: BlobPlace, *names: BlobName) -> list[bytes]:
    return place.read([BlobPart(one, 0, 2**24) for one in names])


def test_blobs_are_read_as_written(place: BlobPlace) -> None:
    blobs = {name(block): bytes([block]) * (block + 1) for block in range(20)}
    place.put(blobs)
    assert whole(place, *blobs) == list(blobs.values())
    assert whole(place, name(3), name(99), name(3)) == [blobs[name(3)], b"", blobs[name(3)]]
    place.put({})
    assert place.read([]) == []


def test_names_that_differ_in_one_part_are_of_different_blobs(place: BlobPlace) -> None:
    names = [
        name(1),
        name(2),
        name(1, attempt="7-aa-2"),
        name(1, kind="v"),
        name(1, kind="o"),
        name(1, depth=11),
        name(11, depth=1),
        name(1, nonce=1),
    ]
    place.put({one: str(one).encode() for one in names})
    assert whole(place, *names) == [str(one).encode() for one in names]


def test_parts_are_read_as_far_as_they_are_there(place: BlobPlace) -> None:
    place.put({name(1): b"0123456789"})
    wanted = {(0, 3): b"012", (3, 4): b"3456", (8, 5): b"89", (9, 1): b"9", (10, 4): b"", (70, 9): b""}
    assert place.read([BlobPart(name(1), *part) for part in wanted]) == list(wanted.values())


def test_a_blob_never_changes(place: BlobPlace) -> None:
    place.put({name(1): b"first"})
    place.put({name(1): b"first", name(2): b"more"})  # sent again, as its answer was lost
    for other in (b"other", b"firs", b"first and more", b""):
        with pytest.raises(NameTakenError):
            place.put({name(1): other})
    assert whole(place, name(1), name(2)) == [b"first", b"more"]


def test_large_blobs(place: BlobPlace) -> None:
    blob = bytes(range(256)) * 2**15  # above what clients of object stores send as one, unless told to
    place.put({name(1): blob})
    assert whole(place, name(1)) == [blob]
    assert place.read([BlobPart(name(1), 2**22 + 5, 300)]) == [blob[2**22 + 5 : 2**22 + 305]]
    with pytest.raises(NameTakenError):
        place.put({name(1): blob[:-1] + b"!"})


def test_what_is_removed_is_gone_alone(place: BlobPlace) -> None:
    blobs = {name(block): b"blob" for block in range(8)}
    place.put(blobs)
    place.remove([name(1), name(5), name(77)])
    place.remove([name(1)])
    place.remove([])
    left = [b"" if one in (name(1), name(5)) else b"blob" for one in blobs]
    assert whole(place, *blobs) == left
    place.put({name(1): b"another now"})
    assert whole(place, name(1)) == [b"another now"]


def test_attempts_are_told_and_dropped_one_by_one(place: BlobPlace, contents: Contents) -> None:
    assert place.attempts() == []
    alike = ["7-aa-1", "7-aa-11", "7-aa-1.b", "..", "7-aa", "A" * 200]
    place.put({name(block, attempt=attempt): b"blob" for attempt in alike for block in range(3)})
    assert sorted(place.attempts()) == sorted(alike)
    assert all(0 <= place.silence(attempt) < 60 for attempt in alike)
    for number, attempt in enumerate(alike):
        place.drop(attempt)
        place.drop(attempt)
        assert sorted(place.attempts()) == sorted(alike[number + 1 :])
    assert contents.names() == []
    assert place.silence("7-aa-1") == 0


def test_what_is_not_farthests_own_is_left_alone(
    place: BlobPlace, contents: Contents, blobs_url: str, nodes: RedisNodes
) -> None:
    if blobs_url == "redis":
        foreign = []
        for key in ("farthest", "another's", "farthest:attempt:7-aa-12:b:1:1:00000000"):
            nodes.main.set(key, "kept")
    else:
        inside = f"{ATTEMPT_FOLDER}7-aa-1"
        foreign = [
            "notes.txt",
            f"{inside}/notes.txt",
            f"{inside}/b-1-1-0000000",
            f"{inside}/b-1-1-00000000.bak",
            f"{inside}/x-1-1-00000000",
            f"{ATTEMPT_FOLDER}7 aa/b-1-1-00000000",
            "another/b-1-1-00000000",
            "7-aa-1/b-1-1-00000000",
        ]
        for one in foreign:
            contents.write(one, b"kept")
    place.put({name(1): b"blob"})
    for attempt in [*place.attempts(), "7-aa-1"]:
        place.drop(attempt)
    assert whole(place, name(1)) == [b""]
    if blobs_url == "redis":
        assert nodes.main.mget(["farthest", "another's"]) == [b"kept"] * 2
    else:
        assert contents.names() == sorted(foreign)


def test_another_process_sees_the_same(place: BlobPlace, nodes: RedisNodes) -> None:
    place.put({name(1): b"blob"})
    other = place_of(nodes)
    assert whole(other, name(1)) == [b"blob"]
    assert other.url == place.url
    other.remove([name(1)])
    assert whole(place, name(1)) == [b""]


def test_what_is_cut_or_altered_there_is_read_as_it_is(place: BlobPlace, contents: Contents) -> None:
    """The blobs' own checksums show it."""
    place.put({name(1): b"0123456789"})
    [stored] = contents.names()
    for damaged in (b"01234", b"x123456789", b"0123456789more", b""):
        contents.write(stored, damaged)
        assert whole(place, name(1)) == [damaged]
        assert place.read([BlobPart(name(1), 7, 3)]) == [damaged[7:10]]


def test_a_place_that_keeps_the_contract_passes_the_probe(place: BlobPlace, contents: Contents) -> None:
    place.check()
    probe(place)
    assert contents.names() == []
    assert place.attempts() == []


NAMES = [
    name(block, attempt=attempt, nonce=nonce)
    for attempt in ("1", "1-1")
    for block in (0, 1)
    for nonce in (0, 1)
]
BYTES = st.binary(min_size=1, max_size=6)
OPERATIONS = st.one_of(
    st.tuples(st.just("put"), st.dictionaries(st.sampled_from(NAMES), BYTES, max_size=3)),
    st.tuples(st.just("remove"), st.lists(st.sampled_from(NAMES), max_size=3, unique=True)),
    st.tuples(st.just("drop"), st.sampled_from(["1", "1-1"])),
    st.tuples(
        st.just("read"),
        st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 7), st.integers(1, 7)), max_size=4),
    ),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(OPERATIONS, max_size=12))
def test_any_operations_do_what_they_do_to_a_dictionary(
    place: BlobPlace, operations: list[tuple[str, object]]
) -> None:
    model: dict[BlobName, bytes] = {}
    refused: set[str] = set()  # attempts that a refused blob may have left an empty folder of
    for attempt in ("1", "1-1"):
        place.drop(attempt)
    for kind, of in operations:
        if kind == "put":
            assert isinstance(of, dict)
            if any(model.get(one, blob) != blob for one, blob in of.items()):
                with pytest.raises(NameTakenError):
                    place.put(of)
                refused |= {one.attempt for one in of}
                for one in of:  # the others are written or not
                    [there] = whole(place, one)
                    assert there in (model.get(one, b""), of[one] if one not in model else model[one])
                    if there:
                        model[one] = there
            else:
                place.put(of)
                model |= of
        elif kind == "remove":
            assert isinstance(of, list)
            place.remove(of)
            model = {one: blob for one, blob in model.items() if one not in of}
        elif kind == "drop":
            assert isinstance(of, str)
            place.drop(of)
            model = {one: blob for one, blob in model.items() if one.attempt != of}
        else:
            assert isinstance(of, list)
            parts = [BlobPart(*part) for part in of]
            wanted = [model.get(one, b"")[first : first + size] for one, first, size in parts]
            assert place.read(parts) == wanted
    assert whole(place, *NAMES) == [model.get(one, b"") for one in NAMES]
    assert set(place.attempts()) - refused == {one.attempt for one in model} - refused
