"""The spool, and the moves of layers into it."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from farthest.errors import LostStateError, NoRoomError, StorageError
from farthest.stores.blobs.spool import Spool
from farthest.stores.redis.gather_attempt import GatherAttempt
from run_cases import advance
from store_cases import case

FULL = "/dev/full"

full_device = pytest.mark.skipif(
    not os.path.exists(FULL), reason="the system has no device that is always full"
)


def fill(spool: Spool) -> None:
    """Puts a disk without room under a spool."""
    spool._file.close()
    spool._file = open(FULL, "r+b", buffering=0)  # noqa: SIM115 - closed with the spool


def test_what_was_put_is_found_until_it_is_cleared(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    blobs = {
        (depth, block): bytes([depth, block]) * (depth * 1000 + 1) for depth in range(4) for block in range(3)
    }
    spool.put(list(blobs.items())[:5])
    spool.put(list(blobs.items())[5:])
    assert all(spool.get(*place) == blob for place, blob in blobs.items())
    assert (3, 2) in spool
    assert (4, 0) not in spool
    with pytest.raises(LostStateError, match="the blob of block 7 at depth 2 is not in the spool"):
        spool.get(2, 7)
    spool.clear()
    assert (3, 2) not in spool
    assert os.fstat(spool._file.fileno()).st_size == 0
    spool.put([((1, 1), b"again")])
    assert spool.get(1, 1) == b"again"
    assert list(tmp_path.iterdir()) == []  # it has no name
    spool.close()
    spool.close()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(StorageError, match=f"{missing}: .*No such file.*FARTHEST_SPOOL"):
        Spool(str(missing))
    monkeypatch.setenv("FARTHEST_SPOOL", str(missing))
    with pytest.raises(StorageError, match=str(missing)):
        Spool()
    monkeypatch.delenv("FARTHEST_SPOOL")

    def nowhere() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", nowhere)
    with pytest.raises(StorageError, match="No usable temporary directory"):
        Spool()


@full_device
def test_a_disk_without_room_is_told_at_once() -> None:
    """Not when the file is closed: then nobody could do anything about it."""
    spool = Spool()
    fill(spool)
    with pytest.raises(NoRoomError, match=r"cannot be kept there \(No space left on device\); make room, or"):
        spool.put([((1, 1), b"small")])
    assert (1, 1) not in spool
    spool.close()


def test_writes_that_are_done_in_part_are_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool()
    real = spool._file

    class Slow:
        def write(self, data: memoryview) -> int:
            return real.write(data[:3])

        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

    spool._file = Slow()  # type: ignore[assignment]
    spool.put([((1, 1), b"0123456789"), ((1, 2), b"abc")])
    assert (spool.get(1, 1), spool.get(1, 2)) == (b"0123456789", b"abc")
    real.close()


@full_device
def test_a_run_whose_layers_cannot_be_moved_says_so(begin: Callable[..., GatherAttempt]) -> None:
    of = case("two colours", 2)
    run = begin(of)
    advance(run, 1, 2)
    assert run._older._spool is not None
    fill(run._older._spool)
    advance(run, 3, 3)
    with pytest.raises(NoRoomError, match="make room"):
        run.keys(3, 1)
    run.begin(4, range(run.kernel.shards))
    with pytest.raises(NoRoomError, match="make room"):
        list(run.chunks(3, 100))


def test_a_blob_that_is_missing_when_its_layer_is_moved_is_noticed(
    begin: Callable[..., GatherAttempt],
) -> None:
    of = case("two colours", 2)
    run = begin(of)
    advance(run, 1, 2)
    for client in run.nodes.clients:
        for name in client.keys("*:b:0:*"):
            client.delete(name)
    advance(run, 3, 3)
    with pytest.raises(LostStateError, match=r"the blob of block \d+ at depth 0 is missing"):
        list(run.chunks(3, 100))
