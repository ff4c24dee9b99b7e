"""Jobs of sparse spaces: checkpoints that are resumed, and what a finished job keeps."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import toy
from farthest.coordinator.enumeration.record import Found, JobRecorder
from farthest.coordinator.settings import Settings
from farthest.models.chunks import Chunk, digest_of
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.spaces import compile_space

CODES = ["numbers", "strings"]


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Database]:
    toy.install(monkeypatch)
    with open_database(str(tmp_path / "maps.db"), create=True) as opened:
        yield opened


def begin(database: Database, codes: str, depth: int, **settings: Any) -> tuple[JobRecorder, Any, list[int]]:
    """A job of the toy, the store of its map up to a depth, and its layers."""
    puzzle = toy.toy(codes)
    found = toy.distances(puzzle, max_depth=depth)
    space: Any = compile_space(puzzle)
    recorder = JobRecorder.begin(database, Settings(**settings), space, lambda text: None)
    layers = [list(found.values()).count(at) for at in range(depth + 1)]
    return recorder, toy.ToyStore(space, found, 7, "uint8"), layers


def found(codes: str, store: Any, layers: list[int]) -> Found:
    return Found(compile_space(toy.toy(codes)), store, layers, [0.5] * len(layers), [None] * len(layers), 1)


def pieces(store: Any) -> list[Chunk]:
    return list(store.chunks(0, 0))


@pytest.mark.parametrize("codes", CODES)
def test_a_checkpoint_is_resumed(database: Database, codes: str) -> None:
    recorder, store, layers = begin(database, codes, 4)
    space: Any = compile_space(toy.toy(codes))
    assert recorder.last_checkpoint(space) is None
    recorder.checkpoint(found(codes, store, layers))
    last = recorder.last_checkpoint(space)
    assert last is not None
    assert [layer.states for layer in last.layers] == layers
    assert last.map_bytes == sum(
        len(bytes(piece.codes)) + len(bytes(piece.distances)) for piece in pieces(store)
    )
    recorder.restore(last, store, 1, lambda share: None)
    assert store.restored == pieces(store)


@pytest.mark.parametrize("codes", CODES)
def test_the_older_checkpoint_can_be_read_while_the_newer_is_written(database: Database, codes: str) -> None:
    recorder, older, layers = begin(database, codes, 3)
    bases: list[Any] = []
    older.stored = lambda depth, base: bases.append(base)
    recorder.checkpoint(found(codes, older, layers))
    _, newer, layers = begin(database, codes, 4)

    class Merging(toy.ToyStore):
        """Reads the older map only when the newer is nearly written."""

        def chunks(self, depth: int, size: int, threads: int = 1) -> Iterator[Any]:
            del depth, size, threads
            *most, last = pieces(newer)
            yield from most
            number, read = 0, []
            while number < len(older.codes):
                read.append(bases[0](number))
                number = read[-1].last + 1
            assert read == pieces(older)
            yield last

    merging: Any = Merging.__new__(Merging)
    recorder.checkpoint(found(codes, merging, layers))
    assert list(Maps(database).chunks(recorder.job)) == pieces(newer)


@pytest.mark.parametrize("codes", CODES)
def test_a_finished_job(database: Database, codes: str) -> None:
    recorder, store, layers = begin(database, codes, 4, max_depth=4)
    digest = recorder.finish(found(codes, store, layers))
    job = Jobs(database).get(recorder.job)
    assert digest == job.digest == digest_of(layers, store.chunks(0, 0))
    assert (job.keys, job.states, job.unit, job.layout) == (
        sum(layers),
        sum(layers),
        "uint8",
        {"version": 1, "codes": codes},
    )
    rows = list(Maps(database).states(recorder.job))
    assert [row.key for row in rows] == list(range(sum(layers)))
    assert [row.distance for row in rows] == store.distances.tolist()


@pytest.mark.parametrize("codes", CODES)
def test_a_job_without_a_map_numbers_the_last_layer(database: Database, codes: str) -> None:
    recorder, store, layers = begin(database, codes, 4, histogram_only=True, max_depth=4)
    recorder.finish(found(codes, store, layers))
    rows = list(Maps(database).states(recorder.job))
    assert [(row.key, row.distance) for row in rows] == [(number, 4) for number in range(layers[-1])]
    assert len({row.board for row in rows}) == layers[-1]
    assert Jobs(database).get(recorder.job).keys is None
