"""Residue maps answer as full maps do: every distance of small puzzles of all forms, and every question."""

from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import farthest
from families import python_class
from farthest.errors import PuzzleError
from farthest.map_files.form import HIGH, LOW, PAGE
from farthest.models.maps import MapFiles
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.queries import residues as residue_reader
from farthest.queries import states as random_module
from farthest.queries.distance_map import DistanceMap
from farthest.queries.residues import ResidueLayers, ResidueReader
from farthest.queries.states import random_states, sampled_states
from farthest.random_source import RandomSource
from farthest.spaces import compile_space
from farthest.spaces.contract import gather
from strategies import puzzles

COLOURED = [
    ("sliding-2x3", Origin("from", "goal"), None),
    ("red-and-white", None, None),
]
"""Moves join keys of two colours."""
PARTLY_REACHED = [("lozenge", None, None), ("wilson-theta", None, None)]
UNCOLOURED = [
    ("sliding-2x3-slide", None, None),
    ("burnt-pancake-4", None, None),
    ("pyraminx@UL=UR=UB.turns:edges", None, None),
    ("hanoi-3-4", None, None),
    ("lights-3x3", None, None),
]
CUT_OFF = [("sliding-2x3", None, depth) for depth in (0, 5)] + [("pancake-6", None, 4)]
LARGER = [
    pytest.param(name, None, depth, marks=mark)
    for name, depth, mark in (
        ("eight-kinds", None, pytest.mark.night),
        ("eight-kinds", 9, pytest.mark.night),
        ("lights-4x4", None, pytest.mark.slow),  # a sixteenth of the keys is reached
        ("first-row", None, pytest.mark.night),  # 120 origins
        ("two-blanks", None, pytest.mark.night),
        ("reves-puzzle", None, pytest.mark.night),
        ("8-puzzle-slide", None, pytest.mark.night),
        ("pyraminx", None, pytest.mark.night),
        ("pancake-9", None, pytest.mark.night),
    )
]
CASES = [*COLOURED, *PARTLY_REACHED, *UNCOLOURED, *CUT_OFF, *LARGER]


class Pair:
    """A full map and a residue map of the same puzzle."""

    def __init__(self, folder: Path, name: str | Puzzle, origin: Origin | None, depth: int | None) -> None:
        def made(kind: str) -> DistanceMap:
            file = folder / f"{kind}.db"
            return farthest.enumerate(name, database=file, origin=origin, max_depth=depth, map=kind)  # type: ignore[arg-type]

        self.full, self.residues = made("full"), made("residues")
        assert isinstance(self.residues._reader, ResidueReader)

    def close(self) -> None:
        self.full.close()
        self.residues.close()


@pytest.mark.parametrize(("name", "origin", "depth"), CASES)
def test_every_distance_is_that_of_the_full_map(
    tmp_path: Path, name: str, origin: Origin | None, depth: int | None
) -> None:
    compare(Pair(tmp_path, name, origin, depth))


def compare(pair: Pair) -> None:
    full, residues = pair.full, pair.residues
    assert (residues.layers, residues.states, residues.unit) == (full.layers, full.states, full.unit)
    assert residues.digest != full.digest
    keys, expected = full.codes(), full.array()
    walked = residues.lookup(keys)
    numpy.testing.assert_array_equal(walked, numpy.where(expected == 255, -1, expected.astype(numpy.int32)))
    numpy.testing.assert_array_equal(residues.array(), expected)
    report = residues.verify()
    assert report.ok, report.failures
    assert report.layers == full.layers
    # Without the kernel's walks.
    again = DistanceMap(residues.database, residues.record)
    again._reader.__dict__["_compiled"] = None
    numpy.testing.assert_array_equal(again.lookup(keys[:4000]), walked[:4000])
    numpy.testing.assert_array_equal(again.array(), expected)
    with pytest.MonkeyPatch.context() as large:
        large.setattr(residue_reader, "TOLD_KEYS", 0)
        again = DistanceMap(residues.database, residues.record)
        reader = again._reader
        assert isinstance(reader, ResidueReader)
        assert (reader._layers(0) is None) == (reader._compiled is None)
        numpy.testing.assert_array_equal(again.array(), expected)
    pair.close()


def test_layers_that_the_map_contradicts_are_noticed(tmp_path: Path) -> None:
    pair = Pair(tmp_path, "pancake-5", None, None)
    reader = pair.residues._reader
    assert isinstance(reader, ResidueReader)
    reader._pages.load_all()
    kernel, words = gather(pair.residues.space).kernel, reader._pages.words
    for word in (0, len(words) // 2, len(words) - 1):
        changed = words.copy()
        changed[word] ^= numpy.uint64(1)
        for held, right in ((words, True), (changed, False)):
            layers = ResidueLayers(kernel, reader._pages.form, held, [0], reader._depth)
            (found,) = layers.chunks("uint8", 1)
            assert (found is not None and (found.distance_array() == pair.full.array()).all()) == right
    pair.close()


@pytest.mark.slow
@given(data=st.data())
@settings(deadline=None)
def test_random_puzzles(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Graphs and grids, one-way passages, several blanks, goals with wildcards."""
    puzzle = data.draw(puzzles(most=1500))
    depth = data.draw(st.none() | st.integers(0, 9))
    folder = tmp_path_factory.mktemp("random")
    if gather(compile_space(puzzle)).kernel.reversible:
        compare(Pair(folder, puzzle, None, depth))
    else:
        with pytest.raises(PuzzleError, match="not every move can be taken back"):
            Pair(folder, puzzle, None, depth)


def test_a_class_of_ones_own(tmp_path: Path) -> None:
    compare(Pair(tmp_path, python_class("Ring"), None, None))


@pytest.fixture(scope="module", params=[("sliding-2x3", None), ("lozenge", None), ("pancake-6", 5)])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    name, depth = request.param
    return Pair(tmp_path_factory.mktemp("pair"), name, None, depth)


@pytest.mark.slow
def test_every_question_has_the_same_answer(pair: Pair, tmp_path: Path) -> None:
    full, residues = pair.full, pair.residues
    assert residues.farthest() == full.farthest()
    for depth in range(full.depth + 1):
        assert list(residues.states_at(depth)) == list(full.states_at(depth))
    board = full.farthest(1)[0]
    assert residues.distance(board) == full.distance(board) == full.depth
    assert residues.path(board) == full.path(board)
    assert residues.count_solutions(board) == full.count_solutions(board)
    assert list(residues.solutions(board, 20)) == list(full.solutions(board, 20))
    for at in (None, 3):
        drawn = [list(random_states(one, 20, RandomSource(1), at)) for one in (full, residues)]
        assert drawn[0] == drawn[1]
    files = [tmp_path / name for name in ("full.csv", "residues.csv")]
    for one, file in zip((full, residues), files, strict=True):
        assert one.export(file) == full.states
    assert files[0].read_bytes() == files[1].read_bytes()
    found = [one.heuristics("zero")[0] for one in (full, residues)]
    assert (found[0].states, found[0].exact, found[0].mean) == (
        found[1].states,
        found[1].exact,
        found[1].mean,
    )


def test_a_map_that_ends_at_a_depth_has_the_number_0_beyond_it(tmp_path: Path) -> None:
    for depth in range(4):
        with farthest.enumerate(
            "3-puzzle", database=tmp_path / f"{depth}.db", max_depth=depth, map="residues"
        ) as made:
            form = made._reader._pages.form  # type: ignore[union-attr]
            assert form.ones == (LOW if depth in (1, 2) else HIGH)
            assert form.number(depth + 1) == 0


def test_a_word_of_one_bit_a_state_is_what_the_distances_say(tmp_path: Path) -> None:
    """The file itself, read by docs/map-files.md alone."""
    with farthest.enumerate("3-puzzle", database=tmp_path / "a.db", map="residues") as made:
        files = MapFiles(made.database)
        row = files.get(made.job)
        data = Path(files.place.where, row.name).read_bytes()
        distances = made.array()
    line, text, _ = data.split(b"\n", 2)
    size = int(line.split()[-1])
    assert (line.startswith(b"farthest residues 1 "), size % 4096, len(data)) == (True, 0, row.bytes)
    assert b'"modulus":4' in text
    words = numpy.frombuffer(data[size:-4], dtype="<u8")
    bits = [
        int(words[key // 3]) >> key % 3 & 1 for key in range(12)
    ]  # three arrangements of one parity to a word
    assert bits == [int(distance % 4 >= 2) for distance in distances]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lozenge", "pancake-6"])
def test_states_of_large_maps_are_found_without_reading_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pair = Pair(tmp_path, name, None, None)
    monkeypatch.setattr(residue_reader, "SMALL_PART", 1)
    monkeypatch.setattr(random_module, "SCANNED_KEYS", 10)
    monkeypatch.setattr(random_module, "WORTH", 0)
    monkeypatch.setattr(ResidueReader, "chunks", None)
    for depth in range(6):
        assert list(pair.residues.states_at(depth)) == list(pair.full.states_at(depth))
    drawn = list(random_states(pair.residues, 20, RandomSource(1), 5))
    assert len(drawn) == 20
    assert set(drawn) <= set(pair.full.states_at(5))
    sample = sampled_states(pair.residues, 100, RandomSource(1))
    assert sample.flags.writeable
    assert len(set(map(bytes, sample))) == 100
    anywhere = list(random_states(pair.residues, 100, RandomSource(1)))
    assert (pair.full.distances(anywhere) >= 0).all()
    pair.close()


@pytest.mark.slow
def test_scans_that_do_not_fit_in_memory_give_the_same_answers(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunk by chunk, some keys at a time, and without the pages of those before."""
    small = DistanceMap(pair.residues.database, pair.residues.record)
    notes: list[str] = []
    small.told = notes.append
    monkeypatch.setattr(small._reader, "_cache_bytes", 100)
    monkeypatch.setattr(ResidueReader, "_together", 64)
    monkeypatch.setattr("farthest.queries.residues.CHUNK_KEYS", 100)
    monkeypatch.setattr("farthest.queries.residues.TOLD_KEYS", 100)
    numpy.testing.assert_array_equal(small.array(), pair.full.array())
    for depth in range(pair.full.depth + 1):
        assert list(small.states_at(depth)) == list(pair.full.states_at(depth))
    drawn = [list(random_states(one, 20, RandomSource(1), pair.full.depth)) for one in (pair.full, small)]
    assert drawn[0] == drawn[1]
    assert "_all" not in small._reader.__dict__
    assert notes[0] == f"the question scans all {pair.full.record.keys:,} keys of the residue map"


@pytest.mark.slow
def test_pages_beyond_the_cache_are_given_up(tmp_path: Path) -> None:
    pair = Pair(tmp_path, "8-puzzle", None, None)
    reader = pair.residues._reader
    assert isinstance(reader, ResidueReader)
    reader._cache_bytes = 5 * PAGE  # the map has six pages; a step reads at most five
    keys = numpy.random.default_rng(3).integers(0, pair.full.record.keys or 0, 500, dtype=numpy.uint64)
    numpy.testing.assert_array_equal(pair.residues.lookup(keys), pair.full.lookup(keys))
    assert reader._pages.held <= 6 * PAGE
    pair.close()
