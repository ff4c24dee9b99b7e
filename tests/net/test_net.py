"""Databases, map files and interrupted runs of an older version: opened, asked, proved, finished and deleted.

What that version answered is in answers.json; see README.md.
"""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from net.answers import ANSWERS, ARCHIVE, answered, said

EXPECTED: dict[str, list[tuple[list[str], Any]]] = json.loads(ANSWERS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("net")
    with tarfile.open(ARCHIVE) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # in Python 3.11 from 3.11.4 on
        packed.extractall(place)
    return place


@pytest.fixture
def folder(archive: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a folder with a database, as the working directory."""
    copy = shutil.copytree(archive / name, tmp_path / name)
    monkeypatch.chdir(copy)
    monkeypatch.delenv("FARTHEST_DATABASE_URL", raising=False)
    return copy


BETWEEN = [f"revision-000{number}" for number in range(2, 8)]
"""Schemas of which the databases of the first and the newest show the same."""


QUICK = ("revision-0008", "searches")
"""The newest schema of the first versions, and what is no map; the rest is slow."""
MARKS = dict.fromkeys(set(EXPECTED) - {*QUICK, *BETWEEN}, pytest.mark.slow) | dict.fromkeys(
    BETWEEN, pytest.mark.night
)


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in EXPECTED])
def test_what_an_older_version_left_is_as_good_as_ever(folder: Path, name: str) -> None:
    kept = {path.name for path in folder.glob("farthest-*")}
    assert bool(kept) == ("files" in name)
    for given, expected in EXPECTED[name]:
        assert answered(folder, given) == expected, given
    assert not list(folder.glob("farthest-*"))  # layers of a run that was finished
    for job in json.loads(said(folder, ["jobs", "--json"]))["jobs"]:
        assert json.loads(said(folder, ["delete", str(job["job"]), "--json"]))
    assert not json.loads(said(folder, ["jobs", "--json"]))["jobs"]
    assert {path.name for path in folder.rglob("*") if path.is_file()} <= {"farthest.db"}


def test_the_data_are_small() -> None:
    assert ARCHIVE.stat().st_size + ANSWERS.stat().st_size < 2_000_000
