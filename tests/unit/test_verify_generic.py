"""The proof of any family's map accepts what the naive model makes, and finds every kind of damage."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import toy
from farthest.errors import StorageError
from farthest.machine import cores
from farthest.models.chunks import Chunk, Unit, digest_of
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.verify import local
from farthest.verify.local import Means
from farthest.verify.maps import verify_map
from farthest.verify.models import Packed
from farthest.verify.report import Report
from farthest.verify.report import Stored as StoredJob
from farthest.verify.rows import Facts, Row

CODES = ["dense", "numbers", "strings"]


@pytest.fixture(autouse=True)
def family(monkeypatch: pytest.MonkeyPatch) -> None:
    toy.install(monkeypatch)


class Stored:
    """A map as it would be stored, open to damage."""

    def __init__(
        self, codes: str, size: int = 40, depth: int | None = None, direction: str = "from", **more: Any
    ) -> None:
        self.puzzle: Puzzle = toy.toy(codes, size=size, **more)
        self.origin = Origin(direction, "start")  # type: ignore[arg-type]
        self.depth = depth
        space: Any = toy.ToySpace(self.puzzle, self.origin, None)
        found = toy.distances(self.puzzle, self.origin, depth)
        unit: Unit = "uint8"
        store = toy.ToyStore(space, found, size, unit)
        self.layers = np.bincount(list(found.values())).tolist()
        self.digest = digest_of(self.layers, store.chunks(0, 0))
        self.codes: NDArray[Any] | None = store.codes
        self.distances = store.distances
        if codes == "dense":
            self.distances = np.full(size, 255, dtype=np.uint8)
            self.distances[store.codes] = store.distances
            self.codes = None
        last = len(self.layers) - 1
        self.facts = Facts(len(found), None if depth is not None else last, last, unit)
        places = np.flatnonzero(self.distances != 255)
        at = places.astype(np.uint64) if self.codes is None else self.codes[places]
        texts = self.puzzle.definition.texts(space.decode(at))
        self.rows: list[Row] = list(zip(places.tolist(), self.distances[places].tolist(), texts, strict=True))
        self.layout: dict[str, Any] = {"version": 1}

    def place(self, state: int) -> int:
        """The key or number of a state."""
        return next(key for key, _, text in self.rows if text == str(state))

    def renew(self) -> None:
        """Makes layers, digest, facts and rows those of the damaged map: what only the proof itself can find."""
        if self.codes is None:
            width, codes = 0, b""
        else:
            width, codes = self.codes.dtype.itemsize, self.codes.tobytes()
        whole = Chunk(0, len(self.distances) - 1, "uint8", self.distances.tobytes(), width, codes)
        reached = self.distances[self.distances != 255]
        self.layers = np.trim_zeros(np.bincount(reached), "b").tolist()
        self.digest = digest_of(self.layers, [whole])
        last = len(self.layers) - 1
        self.facts = Facts(len(reached), None if self.depth is not None else last, last, "uint8")
        self.rows = []

    def verify(self, **more: Any) -> Report:
        cut = max(1, len(self.distances) // 3)
        pieces = [
            (
                None if self.codes is None else self.codes[first : first + cut],
                self.distances[first : first + cut],
            )
            for first in range(0, len(self.distances), cut)
        ]
        stored = StoredJob(
            self.puzzle,
            self.layout,
            self.origin,
            layers=self.layers,
            digest=self.digest,
            depth=self.depth,
            facts=self.facts,
            rows=self.rows or None,
        )
        options: dict[str, Any] = {
            "unit": "uint8",
            "length": len(self.distances),
            "means": Means(2**28, Path(), 2),
        }
        return verify_map(stored, pieces, **{**options, **more})


def failed(report: Report) -> set[str]:
    return {check.name for check in report.failures}


@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("direction", ["to", "from"])
@pytest.mark.parametrize("depth", [None, 3])
def test_right_maps_are_proved(
    monkeypatch: pytest.MonkeyPatch, codes: str, direction: str, depth: int | None
) -> None:
    monkeypatch.setattr(local, "BLOCK_STATES", 16)
    stored = Stored(codes, 100, depth, direction)
    report = stored.verify()
    assert report.ok, report.failures
    assert [check.name for check in report.checks] == [
        "length", "codes", "origin", "nearer", "jump", "closed",
        *(["depth"] if depth else []), "layers", "digest", "job", "rows",
    ]  # fmt: skip
    assert (list(report.layers), report.digest) == (stored.layers, stored.digest)
    assert "states; at most 100 are possible" in report.total


@pytest.mark.parametrize("codes", CODES)
def test_any_other_distance_of_any_state_is_found(codes: str) -> None:
    right = Stored(codes, 24)
    for key, distance, _ in right.rows:
        for wrong in {0, distance - 1, distance + 1, distance + 2, 254} - {distance, -1}:
            stored = Stored(codes, 24)
            stored.distances[key] = wrong
            stored.renew()
            assert failed(stored.verify()) & {"origin", "nearer", "jump", "closed"}, (key, distance, wrong)


@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("depth", [None, 3])
def test_any_state_that_is_dropped_is_found(codes: str, depth: int | None) -> None:
    for key, _, _ in Stored(codes, 24, depth).rows:
        stored = Stored(codes, 24, depth)
        if stored.codes is None:
            stored.distances[key] = 255
        else:
            stored.codes = np.delete(stored.codes, key)
            stored.distances = np.delete(stored.distances, key)
        stored.renew()
        assert failed(stored.verify()) & {"closed", "origin"}


@pytest.mark.parametrize("codes", CODES)
def test_a_state_that_is_added_is_found(codes: str) -> None:
    """Odd states cannot be reached by doubling and adding two."""
    moves = (("double", 2, 0), ("two", 1, 2))
    space: Any = toy.ToySpace(Stored(codes, moves=moves).puzzle, Origin("from", "start"), None)
    code = space.encode(toy.boards_of([17]))
    for distance in (0, 1, 4, 9):
        stored = Stored(codes, moves=moves)
        assert stored.verify().ok
        if stored.codes is None:
            stored.distances[17] = distance
        else:
            at = int(np.searchsorted(stored.codes, code)[0])
            stored.codes = np.insert(stored.codes, at, code[0])
            stored.distances = np.insert(stored.distances, at, distance).astype(np.uint8)
        stored.renew()
        assert failed(stored.verify()) & {"origin", "nearer"}


def change_digest(stored: Stored) -> None:
    stored.digest = "0" * 64


def change_layers(stored: Stored) -> None:
    stored.layers = [*stored.layers[:-1], stored.layers[-1] + 1]


def change_states(stored: Stored) -> None:
    stored.facts = replace(stored.facts, states=3)


def change_row_distance(stored: Stored) -> None:
    key, distance, text = stored.rows[5]
    stored.rows[5] = (key, distance + 1, text)


def change_row_board(stored: Stored) -> None:
    key, distance, _ = stored.rows[5]
    stored.rows[5] = (key, distance, stored.rows[6][2])


def drop_row(stored: Stored) -> None:
    del stored.rows[5]


def add_row(stored: Stored) -> None:
    stored.rows.append((10_000, 1, "1"))


def change_layout(stored: Stored) -> None:
    stored.layout = {"version": 2}


def change_length(stored: Stored) -> None:
    stored.distances = stored.distances[:-1]


DAMAGES: dict[str, tuple[Callable[[Stored], None], str]] = {
    "digest": (change_digest, "digest"),
    "layers": (change_layers, "layers"),
    "states": (change_states, "job"),
    "row's distance": (change_row_distance, "rows"),
    "row's board": (change_row_board, "rows"),
    "row too few": (drop_row, "rows"),
    "row too many": (add_row, "rows"),
    "layout": (change_layout, "layout"),
    "length": (change_length, "length"),
}


@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_stored_beside_the_map_is_compared(codes: str, name: str) -> None:
    stored = Stored(codes)
    damage, check = DAMAGES[name]
    length = len(stored.distances)
    damage(stored)
    if name == "length" and stored.codes is not None:
        stored.codes = stored.codes[:-1]
    report = stored.verify(length=length)
    assert failed(report) == {check}
    assert not report.ok


def test_a_bad_state_is_told_with_those_that_follow_it() -> None:
    stored = Stored("numbers")
    stored.distances[stored.place(7)] = 9
    report = stored.verify()
    nearer = next(check for check in report.failures if check.name == "nearer")
    text = str(nearer.first)
    assert (
        f"key {stored.place(7)}, board 7: stored distance 9; one move farther from the origin: 14 at 2"
        in text
    )
    assert "8 at 2" in text


@pytest.mark.parametrize("codes", ["numbers", "strings"])
def test_codes_out_of_order_or_of_no_board(codes: str) -> None:
    stored = Stored(codes)
    assert stored.codes is not None
    stored.codes[[3, 4]] = stored.codes[[4, 3]]
    report = stored.verify()
    assert failed(report) == {"length"}
    assert "the code of state 4 is not greater than the one before" in report.failures[0].detail
    stored = Stored(codes)
    assert stored.codes is not None
    stored.codes[-1] = 2**64 - 2 if codes == "numbers" else b"\xff\xff\xff"
    assert "codes" in failed(stored.verify())


def test_a_map_of_another_kind() -> None:
    stored = Stored("numbers")
    stored.codes = None
    assert "no codes" in stored.verify().failures[0].detail
    stored = Stored("numbers")
    assert stored.codes is not None
    stored.codes = stored.codes.astype("S3")
    assert "codes of 3 bytes; expected 8 bytes each" in stored.verify().failures[0].detail


def test_states_beyond_the_depth_that_the_map_includes() -> None:
    stored = Stored("numbers", depth=3)
    stored.depth = 2
    assert "depth" in failed(stored.verify())


def test_known_answers_are_compared() -> None:
    right = Stored("strings")
    last = tuple(text for _, distance, text in right.rows if distance == len(right.layers) - 1)
    goal = next(distance for _, distance, text in right.rows if text == "9")
    known = KnownAnswer(len(right.rows), len(right.layers) - 1, tuple(right.layers), last, "a book", goal)
    assert Stored("strings", known=(known,)).verify().ok
    for wrong in (
        replace(known, states=1),
        replace(known, layers=(1, 2)),
        replace(known, farthest=("3",)),
        replace(known, eccentricity=99),
        replace(known, goal=goal + 1),
    ):
        report = Stored("strings", known=(wrong,)).verify()
        assert failed(report) == {"known"}
        assert "but a book has" in report.failures[0].detail


def test_a_map_that_fits_neither_in_memory_nor_in_the_folder(tmp_path: Path) -> None:
    with pytest.raises(
        StorageError, match=r"the working files of the proof, .* allow more memory with --memory"
    ):
        Stored("numbers").verify(length=2**50, means=Means(2**28, tmp_path, 2))


def test_results_that_wait_are_few() -> None:
    """Whoever takes them slowly has few in memory; all come, in order."""
    done = 0

    def work(first: int, last: int) -> int:
        nonlocal done
        done += 1
        return first

    for taken, first in enumerate(local.in_blocks(199, 2, work), 1):
        assert first == 2 * (taken - 1)
        assert done - taken < cores() + 2
    assert taken == done == 100


def test_progress_is_told_between_look_ups_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "BLOCK_STATES", 8)
    told: list[float] = []
    means = Means(2**28, Path(), 2, progress=lambda depth, share: told.append(share))
    assert Stored("numbers").verify(means=means).ok
    assert told[:5] == [0.2, 0.4, 0.6, 0.8, 1.0]


def test_no_codes_of_any_width() -> None:
    for cells in (3, 70):
        coder = Packed({"version": 1, "kind": "packed"}, [3] * cells)
        codes = coder.codes(np.zeros((0, cells), dtype=np.int64))
        assert coder.contents(codes).shape == (0, cells)


@pytest.mark.parametrize("codes", CODES)
def test_a_map_larger_than_the_memory_is_proved_from_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, codes: str
) -> None:
    """In many passes, each of many ranges; a wrong state is found, whichever range it and its successors are in."""
    monkeypatch.setattr(local, "BLOCK_STATES", 8)
    monkeypatch.setattr(local, "RANGE_STATES", 4)
    monkeypatch.setattr(local, "TOGETHER", 2)
    means, right = Means(64, tmp_path, 2), Stored(codes, 100)
    report = right.verify(means=means)
    assert report.ok, report.failures
    assert report.digest == right.digest
    in_memory = [(check.name, check.checked) for check in right.verify().checks]
    assert [(check.name, check.checked) for check in report.checks] == in_memory
    for key, distance, _ in right.rows[::7]:
        stored = Stored(codes, 100)
        stored.distances[key] = distance + 1
        stored.renew()
        found, expected = (one.failures for one in (stored.verify(means=means), stored.verify()))
        assert found == expected
        assert {check.name for check in found} & {"origin", "nearer", "jump"}
    assert not list(tmp_path.iterdir())
