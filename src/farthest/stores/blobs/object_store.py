"""An object store as a place for blobs: S3, or a server that speaks as S3 does.

Each blob is an object PREFIX/farthest-attempt-NAME/FILE, made by a conditional request: only where there is none of
that name. The server, the region and the credentials come from the variables that all programs for S3 read
(AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, ...).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from farthest.environment import BLOBS
from farthest.errors import AccessError, NoRoomError, SettingError, StorageError, UnavailableError
from farthest.passwords import hide_password
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
    from obstore.store import S3Store

Item = TypeVar("Item")
Result = TypeVar("Result")

REQUESTS = 16
"""Under way at a time, of one process."""
REMOVED_AT_ONCE = 1000

CONNECT_SECONDS = 5
ANSWER_SECONDS = 30
"""Of a whole request, the blob included; below the time after which a worker's process counts as stuck."""

_STATUS = re.compile(r"status code: (\d{3})")
_RANGE_BEYOND_THE_END = 416
_NOT_ALLOWED = (401, 403)
_NO_ROOM = (507,)
_BUSY = (408, 409, 425, 429)
"""Answers after which the same request may succeed later, besides those from 500 on."""

_ENDPOINT = re.compile(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(:\d{1,5})?(/[A-Za-z0-9_./-]*)?")
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")


_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")
_FOLDER = re.compile(r"(?!\.\.?$)[A-Za-z0-9_.=-]+")
"""Of a prefix, which has such parts between slashes: of characters that no program writes in another way."""


class ObjectPlace:
    """``BlobPlace`` in a bucket, below ``prefix``. A process that has used one must not be forked. Raises SettingError
    where the package for it is missing, or a value cannot be used."""

    def __init__(self, bucket: str, prefix: str) -> None:
        try:
            from obstore.exceptions import BaseError
            from obstore.store import S3Store
        except ImportError:
            raise SettingError(
                f"{BLOBS.name} is s3://{bucket}: this needs the package obstore; pip install 'farthest[s3]'"
            ) from None
        self.url = "/".join(part for part in (f"s3://{bucket}", prefix) if part)
        self._endpoint = _endpoint()
        if not _BUCKET.fullmatch(bucket) or not all(
            map(_FOLDER.fullmatch, prefix.split("/") if prefix else ())
        ):
            raise SettingError(
                f"{BLOBS.name} is {self.url!r}; expected a bucket and a prefix of letters, digits and _.=-, such as "
                "s3://bucket/farthest"
            )
        try:
            self._store: S3Store = S3Store(
                bucket,
                prefix=prefix or None,
                client_options={
                    "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                    "timeout": timedelta(seconds=ANSWER_SECONDS),
                    **({"allow_http": True} if self._endpoint.startswith("http:") else {}),
                },
                # Who calls tries again for longer.
                retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=CONNECT_SECONDS)},
            )
        except (BaseError, ValueError) as error:
            raise SettingError(
                f"{BLOBS.name} is {self.url}: {_said(error)}; see the variables AWS_... of this process"
            ) from error
        self._threads = ThreadPoolExecutor(REQUESTS, "farthest-objects")

    def check(self) -> None:
        """See BlobPlace."""
        try:
            probe(self)
        except (AccessError, _RefusedError) as error:
            raise SettingError(str(error)) from error

    def put(self, blobs: Mapping[BlobName, bytes]) -> None:
        """See BlobPlace."""
        self._for_each(lambda item: self._put(*item), blobs.items())

    def _put(self, name: BlobName, blob: bytes) -> None:
        import obstore
        from obstore.exceptions import AlreadyExistsError

        with self._errors():
            try:
                obstore.put(self._store, _path(name), blob, mode="create", use_multipart=False)
            except AlreadyExistsError as error:
                # A request whose answer was lost is sent again.
                found = self._read(BlobPart(name, 0, len(blob) + 1))
                if not found:
                    raise UnavailableError(f"{self._place}: {_said(error)}") from error
                if found != blob:
                    raise NameTakenError(
                        f"{self.url}/{_path(name)}: there is another blob of that name"
                    ) from None

    def read(self, parts: Sequence[BlobPart]) -> list[bytes]:
        """See BlobPlace."""
        return self._for_each(self._read, parts)

    def _read(self, part: BlobPart) -> bytes:
        import obstore
        from obstore.exceptions import BaseError

        with self._errors():
            try:
                return bytes(
                    obstore.get_range(self._store, _path(part.name), start=part.first, length=part.size)
                )
            except FileNotFoundError:
                return b""
            except BaseError as error:
                if _status(error) == _RANGE_BEYOND_THE_END:
                    return b""
                raise

    def remove(self, names: Iterable[BlobName]) -> None:
        """See BlobPlace."""
        self._delete([_path(name) for name in names])

    def drop(self, attempt: str) -> None:
        """See BlobPlace."""
        self._delete([path for path, _ in self._files(attempt)])

    def _delete(self, paths: list[str]) -> None:
        import obstore

        for start in range(0, len(paths), REMOVED_AT_ONCE):
            with self._errors():
                obstore.delete(self._store, paths[start : start + REMOVED_AT_ONCE])

    def _files(self, attempt: str) -> list[tuple[str, datetime]]:
        """The objects of an attempt: path and moment of writing each."""
        import obstore

        with self._errors():
            listed: Any = obstore.list(self._store, prefix=f"{ATTEMPT_FOLDER}{attempt}")
            objects = [one for some in listed for one in some]
        folder = f"{ATTEMPT_FOLDER}{attempt}/"
        return [
            (one["path"], one["last_modified"])
            for one in objects
            if one["path"].startswith(folder) and FILE.fullmatch(one["path"].removeprefix(folder))
        ]

    def attempts(self) -> list[str]:
        """See BlobPlace."""
        import obstore

        with self._errors():
            folders = obstore.list_with_delimiter(self._store)["common_prefixes"]
        names = [name for name in map(attempt_in, folders) if name is not None]
        # There are stores that list the folders of objects that are gone.
        files = self._for_each(self._files, names)
        return [name for name, found in zip(names, files, strict=True) if found]

    def silence(self, attempt: str) -> float:
        """See BlobPlace."""
        written = [moment for _, moment in self._files(attempt)]
        return (datetime.now(UTC) - max(written)).total_seconds() if written else 0.0

    def free(self) -> int | None:
        """See BlobPlace: an object store does not say."""
        return None

    def _for_each(self, action: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """What the action gives for each item, several at a time."""
        wanted = list(items)
        return list(map(action, wanted) if len(wanted) < 2 else self._threads.map(action, wanted))

    @property
    def _place(self) -> str:
        at = f" at {hide_password(self._endpoint)}" if self._endpoint else ""
        return f"{BLOBS.name} is {self.url}{at}"

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turns what obstore says meanwhile into errors for people."""
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            yield
        except FileNotFoundError as error:  # not of an object: those are written, or looked for in vain
            raise _RefusedError(
                f"{self._place}: there is no such bucket ({_said(error)}); make it, or name another one"
            ) from error
        except BaseError as error:
            status, said = _status(error), f"({_said(error)})"
            if isinstance(error, PermissionDeniedError | UnauthenticatedError) or status in _NOT_ALLOWED:
                raise AccessError(
                    f"{self._place}: the object store refuses the credentials, or this user {said}; see "
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                ) from error
            if status in _NO_ROOM:
                raise NoRoomError(f"{self._place}: the object store is full {said}") from error
            if status is None or status in _BUSY or status >= 500:
                raise UnavailableError(
                    f"{self._place}: the object store cannot be reached, or does not serve now {said}"
                ) from error
            raise _RefusedError(f"{self._place}: the object store refused {said}") from error


class _RefusedError(StorageError):
    """The object store will not do what it was asked for, now or later."""


def _endpoint() -> str:
    """The URL of the server that the variables name; empty: that of Amazon's region. Raises SettingError."""
    name = next((name for name in ENDPOINTS if os.environ.get(name)), "")
    endpoint = os.environ.get(name, "")
    if endpoint and not _ENDPOINT.fullmatch(endpoint):
        raise SettingError(
            f"{name} is {hide_password(endpoint)!r}; expected the URL of an object store, such as "
            "https://s3.example:8333"
        )
    return endpoint


def _path(name: BlobName) -> str:
    return f"{ATTEMPT_FOLDER}{name.attempt}/{name.file}"


def _said(error: Exception) -> str:
    """The first line of what obstore says of an error; more lines follow it, for its authors."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _status(error: Exception) -> int | None:
    """The status of the answer that an error tells of; None where there was none."""
    found = _STATUS.search(_said(error))
    return int(found[1]) if found else None
