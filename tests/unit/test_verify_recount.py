"""The proof of large residue maps by moves of whole blocks, on small ones, beside the proof by the plain model."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import farthest
from farthest.errors import ResourceError, StorageError
from farthest.map_files.form import SECTION
from farthest.queries.distance_map import DistanceMap
from farthest.verify import recount as block_moves
from farthest.verify.local import Means
from farthest.verify.models import Codes, Model, model_of
from farthest.verify.recount import BASE_BYTES, BitOrder, NoTablesError, block_size, block_tables
from farthest.verify.report import Report, Stored
from farthest.verify.residues import verify_residues
from farthest.verify.rows import Facts

PLENTY = 2**30


class Words:
    """A map's words in memory, for whom all checksums are right."""

    def __init__(self, fields: dict[str, Any], words: NDArray[np.uint64]) -> None:
        self.fields = fields
        self.words = words
        self.released = 0

    def load_all(self) -> NDArray[np.uint64]:
        return self.words

    def mapped(self, scratch: Path, threads: int) -> NDArray[np.uint64]:
        return self.words

    def release(self) -> None:
        self.released += 1

    def sections(self, threads: int) -> Iterator[bytes]:
        for at in range(0, len(self.words), SECTION // 8):
            yield self.words[at : at + SECTION // 8].tobytes()


class Case:
    """A stored residue map, and its proofs."""

    def __init__(self, opened: DistanceMap, scratch: Path) -> None:
        self.opened = opened
        self.scratch = scratch
        with_file = opened.residue_bits()
        self.words = Words(with_file.fields, with_file.load_all().copy())
        with_file.close()

    def prove(self, *, by_blocks: bool = True, memory: int = PLENTY) -> Report:
        opened, record = self.opened, self.opened.record
        rows = [(key, opened.depth, opened.text(labels)) for key, labels in self._last]
        stored = Stored(
            opened.puzzle,
            record.layout,
            opened.origin,
            layers=opened.layers,
            digest=opened.digest,
            depth=None if opened.complete else opened.depth,
            facts=Facts(record.states, record.eccentricity, record.depth, record.unit),
            rows=rows,
        )
        means = Means(memory, self.scratch, 2, plain_keys=0 if by_blocks else 2**62)
        return verify_residues(stored, self.words, means)

    @property
    def _last(self) -> list[tuple[int, tuple[int, ...]]]:
        keys = np.arange(self.opened.record.keys or 0, dtype=np.uint64)
        last = keys[self.opened.lookup(keys) == self.opened.depth]
        boards = self.opened.space.decode(last)
        return [(int(key), tuple(map(int, board))) for key, board in zip(last, boards, strict=True)]


def made(folder: Path, name: str, **more: Any) -> Case:
    return Case(farthest.enumerate(name, database=folder / f"{name}.db", map="residues", **more), folder)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_moves, "MOST_WORDS", 2)


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("sliding-2x4", {}),
        ("8-puzzle", {"max_depth": 17}),
        pytest.param("8-puzzle-slide", {}, marks=pytest.mark.night),
        pytest.param("two-blanks", {}, marks=pytest.mark.night),
        pytest.param("eight-kinds", {}, marks=pytest.mark.night),
        ("lozenge", {}),
        ("pancake-7", {}),
        ("pancake-7", {"max_depth": 4}),
        ("burnt-pancake-4", {}),
        pytest.param("pyraminx", {"max_depth": 5}, marks=pytest.mark.night),
    ],
)
def test_both_proofs_say_the_same(tmp_path: Path, name: str, more: dict[str, Any]) -> None:
    case = made(tmp_path, name, **more)
    plain, blocks = case.prove(by_blocks=False), case.prove()
    for report in (plain, blocks):
        assert report.ok, report.failures
    assert (plain.layers, plain.digest, plain.states) == (blocks.layers, blocks.digest, blocks.states)
    assert "blocks" in {check.name for check in blocks.checks}
    assert "blocks" not in {check.name for check in plain.checks}


def test_a_space_whose_moves_are_not_those_of_blocks_is_proved_by_the_plain_model(tmp_path: Path) -> None:
    report = made(tmp_path, "hanoi-3-5").prove()
    assert report.ok
    assert "blocks" not in {check.name for check in report.checks}


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("name", "by_blocks", "most"),
    [
        ("sliding-2x3", True, 20),
        ("pancake-6", True, 20),
        pytest.param("sliding-2x3", True, 10**9, marks=pytest.mark.night),
        pytest.param("pancake-6", True, 300, marks=pytest.mark.night),
        ("sliding-2x3", False, 20),
        ("pancake-6", False, 20),
        ("lozenge", False, 10),
    ],
)
def test_every_flipped_bit_is_refused(tmp_path: Path, name: str, by_blocks: bool, most: int) -> None:
    """Also bits that belong to no key, and where all checksums are those of the wrong map."""
    case = made(tmp_path, name)
    right = case.words.words.copy()
    places = list(range(64 * len(right)))
    for place in random.Random(1).sample(places, min(most, len(places))):
        case.words.words[:] = right
        case.words.words[place // 64] ^= np.uint64(1 << place % 64)
        names = {check.name for check in case.prove(by_blocks=by_blocks).failures}
        assert names & {"origin", "residues", "unreached"}, place
        assert "digest" in names
    case.words.words[:] = right
    assert case.prove(by_blocks=by_blocks).ok


def test_residues_that_are_consistent_round_a_cycle_are_refused(tmp_path: Path) -> None:
    """The 3-puzzle's 12 states are a cycle. Numbered once round it, each has the right colour, and a neighbour that is
    one nearer."""
    case = made(tmp_path, "3-puzzle")
    model = model_of(case.opened.puzzle, case.opened.origin, case.opened.record.layout)
    at, before = int(model.codes(model.origins())[0]), -1
    right = case.words.words.copy()
    case.words.words[:] = 0
    for distance in range(12):
        place = int(BitOrder(case.words.fields).places(np.array([at]))[0])
        if distance % 4 in case.words.fields["ones"]:
            case.words.words[place // 64] |= np.uint64(1 << place % 64)
        _, after = model.successors(model.boards(np.array([at], dtype=np.uint64)))
        at, before = next(int(code) for code in model.codes(after) if code != before), at
    assert (right != case.words.words).any()
    for by_blocks in (True, False):
        names = {check.name for check in case.prove(by_blocks=by_blocks).failures}
        assert "residues" in names


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
def test_layers_are_in_a_file_where_the_memory_is_too_small(tmp_path: Path) -> None:
    case = made(tmp_path, "sliding-2x3")
    assert (case.prove().ok, case.words.released) == (True, 0)
    with pytest.raises(ResourceError, match="allow about 201MiB with --memory"):
        case.prove(memory=BASE_BYTES)
    low, high = BASE_BYTES, BASE_BYTES + 2**16
    while high - low > 1:
        middle = (low + high) // 2
        try:
            assert case.prove(memory=middle).ok
            high = middle
        except ResourceError:
            low = middle
    names = {path.name for path in tmp_path.iterdir()}
    report = case.prove(memory=high)
    assert report.ok
    assert case.words.released
    assert {path.name for path in tmp_path.iterdir()} == names
    case.scratch = tmp_path / "missing"
    with pytest.raises(StorageError, match="name another folder with --scratch"):
        case.prove(memory=high)


class Odd:
    """A model, one of whose states has its moves in another order than it should."""

    def __init__(self, model: Model, key: int) -> None:
        self._model = model
        self._key = key

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def codes(self, boards: NDArray[np.uint8]) -> Codes:
        codes: Codes = self._model.codes(boards)
        codes[codes == self._key] ^= np.uint64(1)
        return codes


@pytest.mark.usefixtures("small_blocks")
def test_moves_that_are_not_those_of_whole_blocks_are_noticed(tmp_path: Path) -> None:
    case = made(tmp_path, "sliding-2x3")
    model = model_of(case.opened.puzzle, case.opened.origin, case.opened.record.layout)
    assert model.block_sizes
    order = BitOrder(case.words.fields)
    size = block_size(model.block_sizes, order, 6)
    assert size == 60
    tables = block_tables(model, order, size, 2, lambda done, blocks: None)
    assert (tables.blocks, tables.words) == (6, 1)
    for key in (7, 100, 359):
        odd: Any = Odd(model, key)
        with pytest.raises(NoTablesError):
            block_tables(odd, order, size, 2, lambda done, blocks: None)
