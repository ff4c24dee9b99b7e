"""What every place for map files promises."""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from blob_places import Contents
from farthest.errors import DamagedMapError, StorageError
from farthest.map_files.file import MapPages
from farthest.map_files.form import PAGE, ResidueForm, WordOrder
from farthest.map_files.place import MapPlace, MapWriter, WrittenFile

FORM = ResidueForm(3, WordOrder(9_000_000))
"""Its data are 2.1 sections, and so many pieces in an object store."""
FACTS = {"version": 1, "puzzle": "p"}
TOKEN, OTHER = "7-0123abcd", "70-0123abcd"

WORDS: NDArray[numpy.uint64] = numpy.random.default_rng(1).integers(0, 2**64, FORM.words, dtype=numpy.uint64)


def begun(place: MapPlace, token: str = TOKEN) -> MapWriter:
    return place.writer(token, FORM, FACTS, pytest.fail, Path(tempfile.gettempdir()))


def written(place: MapPlace, cuts: list[int] | None = None, order: list[int] | None = None) -> WrittenFile:
    """Writes the words, cut at places, piece by piece in an order."""
    edges = [0, *sorted({cut for cut in cuts or [] if 0 < cut < len(WORDS)}), len(WORDS)]
    pieces = list(pairwise(edges))
    ranks = order or [0]
    with begun(place) as writer:
        for first, last in sorted(pieces, key=lambda piece: ranks[pieces.index(piece) % len(ranks)]):
            writer.write(first, WORDS[first:last].tobytes())
        found = writer.finish(2)
        writer.publish()
    return found


def opened(place: MapPlace, found: WrittenFile) -> MapPages:
    return MapPages(place.source(found.name), found.bytes, found.checksum)


@given(
    cuts=st.lists(st.integers(1, FORM.words - 1), max_size=8),
    order=st.lists(st.integers(), min_size=9, max_size=9),
)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_order_of_writing_does_not_show(
    maps: MapPlace, kept: Contents, cuts: list[int], order: list[int]
) -> None:
    whole = written(maps)
    contents = [kept.read(name) for name in kept.names()]
    found = written(maps, cuts, order)
    assert (found.bytes, found.checksum, found.sections) == (whole.bytes, whole.checksum, whole.sections)
    assert [kept.read(name) for name in kept.names()] == contents
    assert sum(map(len, contents)) == whole.bytes
    pages = opened(maps, found)
    assert (pages.form, pages.facts) == (FORM, FACTS)
    assert not pages.words.any()
    pages.load_all()
    numpy.testing.assert_array_equal(pages.words, WORDS)
    pages.close()


def test_words_that_are_missing_or_written_twice_are_told(maps: MapPlace, kept: Contents) -> None:
    for pieces in (
        [(0, 10)],
        [(0, len(WORDS) - 1)],
        [(0, len(WORDS)), (4, 6)],
        [(1, len(WORDS))],
    ):
        with begun(maps) as writer:
            for first, last in pieces:
                writer.write(first, WORDS[first:last].tobytes())
            with pytest.raises(StorageError, match="were not written once each"):
                writer.finish()
        assert not kept.names()
    with begun(maps) as writer, pytest.raises(ValueError, match="outside"):
        writer.write(len(WORDS), b"12345678")


def test_a_map_that_is_not_published_is_removed(maps: MapPlace, kept: Contents) -> None:
    with begun(maps) as writer:
        writer.write(0, WORDS.tobytes())
        name = writer.finish().name
    assert not kept.names()
    with pytest.raises(DamagedMapError, match="cannot be opened"):
        maps.source(name)


def test_what_a_killed_writer_leaves_is_removed_by_the_next(maps: MapPlace, kept: Contents) -> None:
    with begun(maps, OTHER) as other:
        other.write(0, WORDS.tobytes())
        left = other.finish().name
        other.publish()
    of_other = kept.names()
    killed = begun(maps)  # neither published nor closed
    killed.write(0, WORDS.tobytes())
    killed.finish()
    assert len(kept.names()) == 2 * len(of_other)
    assert written(maps).name != left
    assert len(kept.names()) == 2 * len(of_other)
    maps.remove(TOKEN)
    assert kept.names() == of_other
    maps.remove(OTHER)
    assert not kept.names()


def test_pages_are_read_once_and_given_back(maps: MapPlace) -> None:
    pages = opened(maps, written(maps))
    pages.load(numpy.array([3, 1, 3]))
    assert pages.held == 2 * PAGE
    numpy.testing.assert_array_equal(numpy.flatnonzero(pages.present), [1, 3])
    numpy.testing.assert_array_equal(pages.words[512:1024], WORDS[512:1024])
    assert not pages.words[1024:1536].any()
    pages.forget()
    assert (pages.held, bool(pages.words.any())) == (0, False)
    pages.load(numpy.arange(250, 270))  # across two pieces
    numpy.testing.assert_array_equal(pages.words[250 * 512 : 270 * 512], WORDS[250 * 512 : 270 * 512])
    pages.load_all()
    numpy.testing.assert_array_equal(pages.words, WORDS)


def test_a_map_that_is_cut_short(maps: MapPlace, kept: Contents) -> None:
    found = written(maps)
    for name in kept.names():
        whole = kept.read(name)
        for size in sorted({0, 10, 4095, 4096, 5000, len(whole) - 1}):
            if size < len(whole):
                kept.write(name, whole[:size])
                with pytest.raises(DamagedMapError, match="bytes, expected"):
                    opened(maps, found)
        kept.write(name, whole)
    opened(maps, found).load_all()


def test_a_map_that_is_cut_short_or_removed_while_it_is_read(maps: MapPlace, kept: Contents) -> None:
    found = written(maps)
    name = kept.names()[len(kept.names()) // 2]
    whole = kept.read(name)
    pages = opened(maps, found)
    kept.write(name, whole[:6000])
    with pytest.raises(DamagedMapError, match="cut short"):
        pages.load_all()


def test_a_map_that_was_altered(maps: MapPlace, kept: Contents) -> None:
    found = written(maps)
    for name in kept.names():
        whole = kept.read(name)
        for place in (0, len(whole) // 2, len(whole) - 1):
            changed = bytearray(whole)
            changed[place] ^= 1
            kept.write(name, bytes(changed))
            with pytest.raises(DamagedMapError, match="the map file is damaged"):
                opened(maps, found).load_all()
        kept.write(name, whole)
    opened(maps, found).load_all()


def test_a_map_of_which_something_is_missing(maps: MapPlace, kept: Contents) -> None:
    found = written(maps)
    for name in kept.names():
        whole = kept.read(name)
        kept.write(name, None)
        with pytest.raises(DamagedMapError, match=r"cannot be opened|is missing|bytes, expected"):
            opened(maps, found)
        kept.write(name, whole)
    opened(maps, found).load_all()


def test_a_place_that_can_be_used(maps: MapPlace, kept: Contents) -> None:
    maps.check()
    assert not kept.names()
