"""Checkpoints of cosets of a large subgroup, by real runs to the first distances.

The cosets are those of the cube whose pieces are not turned: where the edges of the middle layer are is the coset. So
their tables are made at once.
"""

import os
import resource
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from farthest import _kernel, subgroups
from farthest.arrays import np
from farthest.cosets import CosetRow, CosetSet, cosets_named
from farthest.families.permutation.groups import product
from farthest.stores.blobs import coset_bits
from farthest.stores.blobs.blob import seal, unseal
from farthest.stores.blobs.coset_bits import PREFIX, CosetCheckpoint, drop_checkpoints
from farthest.stores.blobs.folder import FolderPlace
from farthest.stores.blobs.place import ATTEMPT_FOLDER, DAY, BlobName
from farthest.subgroups import Coset

pytestmark = pytest.mark.slow

SEQUENCE = "U"


class Unturned:
    """``Tables`` of the coset of no moves."""

    def __init__(self) -> None:
        subgroup = asked_to(0).of
        moves, zeros = subgroup.moves, np.zeros(len(subgroup.moves), dtype=np.uint16)
        faces = subgroups._faces(moves)
        firsts = [moves[face[0]] for face in faces]
        self.kernel = _kernel.LargeCosets(
            [
                zeros,
                zeros,
                next(each.after for each in subgroups._coordinates(subgroup) if each.count == 495),
            ],
            [subgroups._sources(subgroup, move) for move in moves],
            list(subgroup.inside),
            faces,
            [sum((product(a, b) == product(b, a)) << at for at, b in enumerate(firsts)) for a in firsts],
            [np.arange(len(moves), dtype=np.uint16)],
            1,
        )

    def coset(self, text: str) -> Coset:
        return Coset(0, "", 1)

    def begin(self, text: str, threads: int) -> _kernel.LargeCosetRun:
        return _kernel.LargeCosetRun(self.kernel, list(range(20)), (0, 0, 0), 1)


TABLES = cache(Unturned)


def asked_to(depth: int) -> CosetSet:
    return cosets_named("cube-3x3x3-htm", "<U,D,R2,L2,F2,B2>", depth, (SEQUENCE,))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint is written whenever there can be one, of small chunks."""
    pages = coset_bits.PAGES // 10
    monkeypatch.setattr(coset_bits, "PAGES", pages)
    monkeypatch.setattr(coset_bits, "CHUNKS", range(0, coset_bits.CHUNKS.stop, pages))
    monkeypatch.setattr(coset_bits, "CHUNK_BYTES", coset_bits.CHUNK_BYTES // 10)
    monkeypatch.setattr(coset_bits, "SHARE", 0)
    monkeypatch.setenv("FARTHEST_CHECKPOINT_SECONDS", "0")
    monkeypatch.setattr(CosetSet, "ready", lambda asked: TABLES())


@pytest.fixture
def place(tmp_path: Path) -> FolderPlace:
    return FolderPlace(tmp_path, lasting=True)


def checkpoint(place: FolderPlace, told: list[str], depth: int = 9) -> CosetCheckpoint:
    return CosetCheckpoint(place, asked_to(depth), 0, told.append)


def rows(kept: CosetCheckpoint | None, distances: int, depth: int = 9) -> list[CosetRow]:
    """What comes until so many distances are done."""
    found: list[CosetRow] = []
    with closing(asked_to(depth).stages(0, 1, kept)) as stages:
        for row, _ in stages:
            found.append(row)
            if len(row.layers) == distances:
                break
    return found


def files(folder: Path, kind: str = "*") -> list[Path]:
    return sorted(folder.glob(f"{ATTEMPT_FOLDER}{PREFIX}*/{kind}"))


def test_a_coset_goes_on(place: FolderPlace, tmp_path: Path) -> None:
    told: list[str] = []
    rows(checkpoint(place, told), 3)
    assert len(files(tmp_path, "m-*")) == 1
    again = checkpoint(place, told, 10)
    found = rows(again, 4, 10)
    assert len(found[0].layers) >= 3
    assert found[-1] == rows(None, 4)[-1]
    assert again.seconds > 0
    assert told[0].startswith(f"coset {SEQUENCE} goes on at distance 3, after ")
    # What is deeper than what is asked for is left alone.
    less = checkpoint(place, told, 2)
    assert len(rows(less, 1, 2)[0].layers) <= 1
    less.drop()
    assert len(told) == len(files(tmp_path, "m-*")) == 1
    # The other one is older than a day.
    (folder,) = tmp_path.iterdir()
    os.utime(folder.rename(tmp_path / f"{ATTEMPT_FOLDER}{PREFIX}other"), (0, 0))
    assert place.silence(f"{PREFIX}other") > DAY
    again = checkpoint(place, told)
    rows(again, 1)
    assert [*tmp_path.iterdir()] == [folder]
    again.drop()
    assert not [*tmp_path.iterdir()]
    rows(again, 1)
    renamed = replace(asked_to(30), puzzle=replace(asked_to(30).puzzle, title="another"))
    drop_checkpoints(place, renamed, range(1))
    assert not [*tmp_path.iterdir()]


def test_what_is_damaged_is_not_used(place: FolderPlace, tmp_path: Path) -> None:
    def flipped(file: Path) -> None:
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)

    def cut(file: Path) -> None:
        os.truncate(file, file.stat().st_size - 1)

    def of_another(file: Path) -> None:
        number = int(file.name[2])
        _, text = unseal(coset_bits.KIND, number, 0, file.read_bytes(), coset_bits.MOST_HEAD)
        told = bytes(text).replace(b'"coset":"U"', b'"coset":"D"')
        file.write_bytes(seal(coset_bits.KIND, number, 0, 0, told))

    def of_other_counts(file: Path) -> None:
        number = int(file.name[2])
        _, text = unseal(coset_bits.KIND, number, 0, file.read_bytes(), coset_bits.MOST_HEAD)
        told = bytes(text).replace(b"[1,10]", b"[1,11]").replace(b'"mark":[2,11', b'"mark":[2,12')
        file.write_bytes(seal(coset_bits.KIND, number, 0, 0, told))

    damages: list[tuple[str, Callable[[Path], None], str]] = [
        ("v-*", flipped, "it is damaged, or missing"),
        ("v-*", Path.unlink, "it is damaged, or missing"),
        ("m-*", flipped, "is damaged"),
        ("m-*", cut, "is damaged"),
        ("m-*", of_another, "it is of another coset"),
        ("m-*", of_other_counts, "the bits of a coset do not fit"),
    ]
    for kind, damage, said in damages:
        told: list[str] = []
        kept = checkpoint(place, told)
        rows(kept, 2)
        damage(files(tmp_path, kind)[0])
        first, *_, last = rows(checkpoint(place, told), 2)
        assert len(first.layers) <= 1
        assert last.layers == [1, 10]
        (problem,) = told
        assert problem.startswith(f"{tmp_path}: the checkpoint of coset {SEQUENCE} is not used: ")
        assert said in problem
        kept.drop()


def test_a_stop_while_one_is_written(place: FolderPlace, tmp_path: Path) -> None:
    """It is told, a second signal gives that one up, and the one before is there."""

    class Signals(FolderPlace):
        def put(self, blobs: Mapping[BlobName, bytes]) -> None:
            if not kept.stopping:
                kept.stop()
                kept.given_up = True
            super().put(blobs)

    told: list[str] = []
    rows(checkpoint(place, told), 2)
    (before,) = files(tmp_path, "m-*")
    kept = checkpoint(Signals(tmp_path), told)
    rows(kept, 3)
    assert told[:3] == [
        f"coset {SEQUENCE} goes on at {(where := told[0].split(' at ')[1])}",
        f"coset {SEQUENCE}: a checkpoint is being written; the same signal again gives it up",
        f"{tmp_path} keeps coset {SEQUENCE} at {where.removesuffix(f', from {tmp_path}')}",
    ]
    assert files(tmp_path, "m-*") == [before]


def test_a_full_disk_costs_the_checkpoint_alone(place: FolderPlace, tmp_path: Path) -> None:
    told: list[str] = []
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))
    try:
        found = rows(checkpoint(place, told), 3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert found[-1].layers == [1, 10, 67]
    (problem,) = told
    assert problem.startswith(f"a checkpoint of coset {SEQUENCE} could not be written: {tmp_path}: ")
    assert not files(tmp_path)
