"""The files by which coordinators are known to live, in a folder where others may put files too."""

import os
from pathlib import Path

import pytest

from farthest.coordinator.heartbeat import PREFIX, alive, beating
from farthest.models.database import open_database
from farthest.models.leases import owner_token


def test_what_others_put_into_the_folder_holds_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    host, pid, start = owner_token().rsplit("/", 2)
    os.mkfifo(folder / f"{PREFIX}pipe")
    (folder / f"{PREFIX}folder").mkdir()
    (folder / f"{PREFIX}bytes").write_bytes(b"\xff\xfe" * 2**20)
    (folder / f"{PREFIX}digits").write_text(f"{host}/{'9' * 5000}/1.{start.partition('.')[2]}")
    dead = folder / f"{PREFIX}dead"
    dead.write_text(f"{host}/{pid}/1.{start.partition('.')[2]}")
    others = set(folder.iterdir()) - {dead}
    with (
        open_database(tmp_path / "a.db", create=True) as database,
        open_database(tmp_path / "another.db", create=True) as another,
        beating(database),
    ):
        assert alive()
        assert alive(database)
        assert not alive(another)
        assert not dead.exists()
    assert set(folder.iterdir()) == others


def test_a_coordinator_of_another_host_is_not_this_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers may share the folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    host, process = owner_token().split("/", 1)
    signed = tmp_path / f"{PREFIX}shared"
    for name, known in (host, True), (f"another-{host}", False):
        signed.write_text(f"{name}/{process}")
        assert alive() == known
