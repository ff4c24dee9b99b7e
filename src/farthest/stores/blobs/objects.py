"""An object store as a place for blobs.

Each blob is an object PREFIX/farthest-attempt-NAME/FILE, made by a conditional request: only where there is none of
that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from farthest.environment import BLOBS
from farthest.errors import AccessError, SettingError, UnavailableError
from farthest.object_store import ObjectStore, RefusedError, StoredObject, TakenError
from farthest.stores.blobs.place import (
    ATTEMPT_FOLDER,
    FILE,
    BlobName,
    BlobPart,
    NameTakenError,
    attempt_in,
    probe,
)

if TYPE_CHECKING:
    from farthest.locations import Bucket


class ObjectPlace:
    """``BlobPlace`` in a bucket. A process that has used one must not be forked. Raises SettingError where the package
    for it is missing, or a value cannot be used."""

    def __init__(self, bucket: Bucket) -> None:
        self.url = bucket.url
        self._objects = ObjectStore(bucket, BLOBS)

    def check(self) -> None:
        try:
            probe(self)
        except (AccessError, RefusedError) as error:
            raise SettingError(str(error)) from error

    def put(self, blobs: Mapping[BlobName, bytes]) -> None:
        self._objects.for_each(lambda item: self._put(*item), blobs.items())

    def _put(self, name: BlobName, blob: bytes) -> None:
        try:
            self._objects.create(_path(name), blob)
        except TakenError as error:
            # A request whose answer was lost is sent again.
            found = self._read(BlobPart(name, 0, len(blob) + 1))
            if not found:
                raise UnavailableError(str(error)) from error
            if found != blob:
                raise NameTakenError(
                    f"{self.url}/{_path(name)}: there is another blob of that name"
                ) from None

    def read(self, parts: Sequence[BlobPart]) -> list[bytes]:
        return self._objects.for_each(self._read, parts)

    def _read(self, part: BlobPart) -> bytes:
        return self._objects.read(_path(part.name), part.first, part.size)

    def remove(self, names: Iterable[BlobName]) -> None:
        self._objects.delete([_path(name) for name in names])

    def drop(self, attempt: str) -> None:
        self._objects.delete([one.path for one in self._files(attempt)])

    def _files(self, attempt: str) -> list[StoredObject]:
        folder = f"{ATTEMPT_FOLDER}{attempt}"
        return [
            one for one in self._objects.files(folder) if FILE.fullmatch(one.path.removeprefix(f"{folder}/"))
        ]

    def attempts(self) -> list[str]:
        names = [name for name in map(attempt_in, self._objects.folders()) if name is not None]
        # There are stores that list the folders of objects that are gone.
        files = self._objects.for_each(self._files, names)
        return [name for name, found in zip(names, files, strict=True) if found]

    def silence(self, attempt: str) -> float:
        written = [one.written for one in self._files(attempt)]
        return (datetime.now(UTC) - max(written)).total_seconds() if written else 0.0

    def free(self) -> int | None:
        """An object store does not say."""
        return None


def _path(name: BlobName) -> str:
    return f"{ATTEMPT_FOLDER}{name.attempt}/{name.file}"
