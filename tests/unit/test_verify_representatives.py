"""The proof of maps of representatives finds deliberate faults: of distances, codes, weights and symmetries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.models.database import open_database
from farthest.queries.distance_map import DistanceMap, open_map
from farthest.verify import representatives
from farthest.verify.local import Means
from farthest.verify.maps import verify_map
from farthest.verify.models.representatives import Representatives
from farthest.verify.report import Proof, Stored
from farthest.verify.representatives import prove_codes
from farthest.verify.residues import verify_residues
from symmetric_puzzles import symmetric_puzzle

MEANS = Means(2**30, Path(), 2)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DistanceMap]:
    """1,216 keys of 5,760 states, by 8 symmetries: 12 of the 19 shards have symmetries of their own."""
    puzzle, place = symmetric_puzzle(33), tmp_path_factory.mktemp("maps") / "farthest.db"
    assert puzzle is not None
    with open_database(place, create=True) as database:
        job = enumerate_puzzle(puzzle, database, Settings(symmetry=8)).job
    with open_map(job or 0, place) as found:
        yield found


def failed(opened: DistanceMap, distances: NDArray[np.unsignedinteger], **layout: int) -> set[str]:
    fields = {**opened.record.layout, **layout}
    stored = Stored(opened.puzzle, fields, opened.origin, layers=opened.layers)
    report = verify_map(stored, [(None, distances)], MEANS, unit="uint8", length=len(distances))
    return {check.name for check in report.failures}


@pytest.mark.slow
def test_wrong_distances(opened: DistanceMap) -> None:
    right = opened.array()
    assert not failed(opened, right)
    rng = np.random.default_rng(3)
    reached, kept = np.flatnonzero((right > 0) & (right < 255)), opened.reduced
    assert kept is not None
    light = kept.weights_of(reached.astype(np.uint64)) < 8
    for key in rng.choice(reached[light]), rng.choice(reached[~light]):
        wrong = right.copy()
        wrong[key] = rng.choice([right[key] + 1, right[key] - 1, 255])
        assert failed(opened, wrong) & {"origin", "nearer", "jump", "closed", "alike"}, key


@pytest.mark.slow
def test_a_class_that_is_missing(opened: DistanceMap) -> None:
    """All keys of a class of the last layer: no other state tells of them but those that they follow."""
    kept, wrong = opened.reduced, opened.array().copy()
    assert kept is not None
    last = np.flatnonzero(wrong == opened.depth).astype(np.uint64)
    wrong[kept.alike(last[:1])] = 255
    assert failed(opened, wrong) >= {"closed", "layers"}


def test_another_group(opened: DistanceMap) -> None:
    assert failed(opened, opened.array(), symmetries=4) & {"length", "layout"}
    assert failed(opened, opened.array(), symmetries=5) == {"layout"}


@dataclass
class Shifted:
    """Takes boards to others whose first two cells are exchanged."""

    def images(self, boards: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return boards[:, [1, 0, *range(2, boards.shape[1])]]


def codes_failed(opened: DistanceMap, **changes: object) -> set[str]:
    """The checks of codes that fail with a faulty space."""
    model = Representatives(opened.puzzle, opened.origin, opened.record.layout)
    for name, value in changes.items():
        setattr(model, name, value)
    proof = Proof("sample", "to goal")
    proof.arrangements = opened.puzzle.definition.arrangements()
    prove_codes(proof, model, None)
    return {check.name for check in proof.checks if not check.ok}


@pytest.mark.slow
def test_faulty_codes_and_symmetries(opened: DistanceMap) -> None:
    kept = opened.reduced
    assert kept is not None
    assert not codes_failed(opened)

    def other_shard(boards: NDArray[np.uint8]) -> NDArray[np.uint64]:
        codes = kept.encode(boards)
        codes[codes == 700] = 12
        return codes

    assert codes_failed(opened, codes=other_shard) == {"classes"}
    assert codes_failed(opened, maps=[*kept.maps[:-1], Shifted()]) >= {"symmetries"}
    assert codes_failed(opened, maps=kept.maps[:4]) == {"classes"}
    assert codes_failed(opened, states=opened.states - 1) == {"complete"}


def test_wrong_weights(opened: DistanceMap) -> None:
    """The states of each layer are counted by what symmetries make of boards."""
    fewer = np.array(opened.layers)
    fewer[3] -= 8
    stored = Stored(opened.puzzle, opened.record.layout, opened.origin, layers=fewer.tolist())
    report = verify_map(stored, [(None, opened.array())], MEANS, unit="uint8", length=opened.record.keys or 0)
    assert {check.name for check in report.failures} == {"layers"}


@pytest.mark.slow
def test_samples_of_large_maps(opened: DistanceMap, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many wrong keys are found, and one that is wrongly of the last layer; reports say what is a sample."""
    monkeypatch.setattr(representatives, "MOST_CODED", 470 * 19)
    right = opened.array()
    stored = Stored(opened.puzzle, opened.record.layout, opened.origin, layers=opened.layers)
    report = verify_map(stored, [(None, right)], MEANS, unit="uint8", length=len(right))
    assert report.ok
    for check in report.checks:
        told = f"(sampled: {check.checked:,} of {len(right):,} keys)" in check.proves
        assert told == (check.name in representatives.OF_KEYS), check.name
        assert not told or check.checked < len(right) / 2
    wrong = right.copy()
    rng = np.random.default_rng(4)
    keys = np.flatnonzero((right > 1) & (right < 255))
    swapped = rng.choice(keys, 60, replace=False)
    wrong[swapped] = wrong[np.roll(swapped, 1)]
    assert failed(opened, wrong) >= {"nearer", "jump"}
    monkeypatch.setattr(
        representatives, "MOST_CODED", 1_100 * 19
    )  # the last layer, 124 keys, is all looked at
    wrong = right.copy()
    wrong[np.flatnonzero(right == opened.depth - 3)[0]] = opened.depth
    assert failed(opened, wrong) >= {"nearer", "layers"}


@dataclass
class InMemory:
    """A residue map as its file has it."""

    fields: Mapping[str, Any]
    words: NDArray[np.uint64]

    def load_all(self) -> NDArray[np.uint64]:
        return self.words

    def sections(self, threads: int) -> Iterator[bytes]:
        yield self.words.astype("<u8").tobytes()

    def mapped(self, scratch: Path, threads: int) -> NDArray[np.uint64]:
        return self.words

    def release(self) -> None:
        pass


@pytest.mark.slow
def test_samples_of_residues(opened: DistanceMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exchanging residues of some keys is found."""
    with open_database(tmp_path / "r.db", create=True) as database:
        enumerate_puzzle(opened.puzzle, database, Settings(symmetry=8, residues=True))
    with open_map(1, tmp_path / "r.db") as job:
        assert not any("sampled" in check.proves for check in job.verify().checks)
        monkeypatch.setattr(representatives, "MOST_CODED", 20_000)
        report = job.verify()
        assert report.ok
        assert {one.name for one in report.checks if "sampled" in one.proves} == {*representatives.OF_KEYS}
        bits = job.residue_bits()
        words = bits.load_all().copy().reshape(-1, 2)
        words[::3] = words[::3, ::-1]
        stored = Stored(job.puzzle, job.record.layout, job.origin, layers=job.layers, rows=())
        wrong = verify_residues(stored, InMemory(bits.fields, words.ravel()), Means(2**30, tmp_path, 1))
    assert {check.name for check in wrong.failures} >= {"nearer", "layers"}
