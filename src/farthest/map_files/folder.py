"""A folder of map files."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from farthest.map_files.writer import MapFileWriter, remove_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from farthest.map_files.file import FileSource
    from farthest.map_files.form import ResidueForm


class FolderMaps:
    """``MapPlace`` in a folder, which is made for the first file. ``beside``: it is that beside a database's file, and
    removed with its last file."""

    def __init__(self, folder: Path, *, beside: bool = False) -> None:
        self.where = str(folder)
        self._folder = folder
        self._beside = beside

    def check(self) -> None:
        """See MapPlace: whether files can be made shows when the first one is."""

    def writer(
        self,
        token: str,
        form: ResidueForm,
        facts: dict[str, Any],
        told: Callable[[str], None],
        scratch: Path,
    ) -> MapFileWriter:
        """See MapPlace."""
        return MapFileWriter(self._folder, token, form, facts)

    def path(self, name: str) -> Path:
        """Where a file is."""
        return self._folder / name

    def source(self, name: str) -> FileSource:
        """See MapPlace."""
        from farthest.map_files.file import FileSource

        return FileSource(self.path(name))

    def remove(self, token: str) -> None:
        """See MapPlace."""
        remove_files(self._folder, token)
        if self._beside:
            with suppress(OSError):
                self._folder.rmdir()

    def free(self) -> int:
        """See MapPlace: where the folder is, or will be."""
        status = os.statvfs(self.existing())
        return status.f_bavail * status.f_frsize

    def existing(self) -> Path:
        """The folder, or the first one above it that is there."""
        folder = self._folder
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        return folder
