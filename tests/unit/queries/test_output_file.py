"""Files that are written whole or not at all."""

import os
from pathlib import Path

import pytest

from farthest.queries.output_files import written_file


def test_a_link_of_a_name_that_can_be_guessed_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("kept")
    (tmp_path / f".layers.{os.getpid()}.csv").symlink_to(other)
    file = tmp_path / "layers.csv"
    with written_file(file, force=False) as part:
        assert part.is_file()
        part.write_text("new")
    assert (file.read_text(), other.read_text()) == ("new", "kept")


def test_the_file_has_the_permissions_of_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with written_file(tmp_path / "layers.csv", force=False) as part:
        part.write_text("new")
    assert (tmp_path / "layers.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_nothing_is_left_of_what_failed(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), written_file(tmp_path / "layers.csv", force=False):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
