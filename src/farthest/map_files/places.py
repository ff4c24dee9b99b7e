"""Where the map files of a database are: what FARTHEST_MAPS says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from farthest.environment import MAPS
from farthest.errors import SettingError
from farthest.locations import Bucket, folder_or_bucket
from farthest.map_files.folder import FolderMaps
from farthest.passwords import hide_password

if TYPE_CHECKING:
    from farthest.map_files.place import MapPlace


def map_place(database: Path | None) -> MapPlace:
    """The place of the map files of a database; ``database``: its file, None where a server keeps it.

    Raises SettingError where FARTHEST_MAPS is needed, or names something else.
    """
    text = MAPS.text()
    if not text:
        if database is None:
            raise SettingError(
                f"{MAPS.name} is not set, and the database is kept by a server: set it to a folder or an object store "
                "for the map files, the same for all who ask them"
            )
        return FolderMaps(database.with_name(database.name + ".maps"), beside=True)
    found = folder_or_bucket(text)
    if found is None and "://" not in text and not text.startswith("file:"):
        found = Path(text).expanduser()
    if isinstance(found, Path):
        return FolderMaps(found)
    if isinstance(found, Bucket):
        from farthest.map_files.objects import ObjectMaps

        return ObjectMaps(found)
    raise SettingError(
        f"{MAPS.name} is {hide_password(text)!r}; expected a folder, also as file:///FOLDER, or an object store as "
        "s3://bucket/prefix"
    )
