"""The client of an object store: S3, or a server that speaks as S3 does.

The server, the region and the credentials come from the variables that all programs for S3 read (AWS_ENDPOINT_URL,
AWS_REGION, AWS_ACCESS_KEY_ID, ...).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from farthest.errors import AccessError, NoRoomError, SettingError, StorageError, UnavailableError
from farthest.locations import Bucket, hide_password

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.environment import Setting

Item = TypeVar("Item")
Result = TypeVar("Result")

REQUESTS = 16
"""Under way at a time, of one process."""
REMOVED_AT_ONCE = 1000

CONNECT_SECONDS = 5
ANSWER_SECONDS = 30
"""Of a whole request, its data included; below the time after which a worker's process counts as stuck."""

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


class RefusedError(StorageError):
    """The object store will not do what it was asked for, now or later."""


class TakenError(StorageError):
    """There is an object of that name already."""


class StoredObject(NamedTuple):
    """An object: its name below the prefix, its bytes, when it was written."""

    path: str
    size: int
    written: datetime


class ObjectStore:
    """The objects of a bucket below a prefix, by their names there. A process that has used one must not be forked.

    ``setting``: what has named the bucket. Raises SettingError where the package for it is missing, or a value
    cannot be used. All methods raise UnavailableError where the store cannot be reached now, AccessError where it
    refuses the credentials, NoRoomError where it is full, else RefusedError. None waits; all may be repeated.
    """

    def __init__(self, bucket: Bucket, setting: Setting) -> None:
        try:
            from obstore.exceptions import BaseError
            from obstore.store import S3Store
        except ImportError:
            raise SettingError(
                f"{setting.name} is {bucket.url}: this needs the package obstore; pip install 'farthest[s3]'"
            ) from None
        self.url = bucket.url
        endpoint = _endpoint()
        at = f" at {hide_password(endpoint)}" if endpoint else ""
        self.place = f"{setting.name} is {self.url}{at}"
        folders = bucket.prefix.split("/") if bucket.prefix else ()
        if not _BUCKET.fullmatch(bucket.name) or not all(map(_FOLDER.fullmatch, folders)):
            raise SettingError(
                f"{setting.name} is {self.url!r}; expected a bucket and a prefix of letters, digits and _.=-, such as "
                "s3://bucket/farthest"
            )
        try:
            self._store: S3Store = S3Store(
                bucket.name,
                prefix=bucket.prefix or None,
                client_options={
                    "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                    "timeout": timedelta(seconds=ANSWER_SECONDS),
                    **({"allow_http": True} if endpoint.startswith("http:") else {}),
                },
                # Who calls tries again for longer.
                retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=CONNECT_SECONDS)},
            )
        except (BaseError, ValueError) as error:
            raise SettingError(
                f"{setting.name} is {self.url}: {_said(error)}; see the variables AWS_... of this process"
            ) from error
        self._threads = ThreadPoolExecutor(REQUESTS, "farthest-objects")

    def create(self, path: str, data: Buffer) -> None:
        """Makes an object. Raises TakenError where there is one of that name: this one, if an answer was lost."""
        import obstore
        from obstore.exceptions import AlreadyExistsError

        with self._errors():
            try:
                obstore.put(self._store, path, data, mode="create", use_multipart=False)
            except AlreadyExistsError as error:
                raise TakenError(f"{self.place}: {_said(error)}") from error

    def put(self, path: str, data: Buffer) -> None:
        """Makes an object, in the place of any of that name."""
        import obstore

        with self._errors():
            obstore.put(self._store, path, data, use_multipart=False)

    def read(self, path: str, first: int, size: int) -> bytes:
        """``size`` bytes of an object from its byte ``first`` on, as many as are there; none of a missing object."""
        import obstore
        from obstore.exceptions import BaseError

        with self._errors():
            try:
                return bytes(obstore.get_range(self._store, path, start=first, length=size))
            except FileNotFoundError:
                return b""
            except BaseError as error:
                if _status(error) == _RANGE_BEYOND_THE_END:
                    return b""
                raise

    def files(self, folder: str) -> list[StoredObject]:
        """The objects whose names begin with ``folder/``, in the order of their names."""
        import obstore

        with self._errors():
            listed: Any = obstore.list(self._store, prefix=folder)
            found = [
                StoredObject(one["path"], one["size"], one["last_modified"])
                for some in listed
                for one in some
            ]
        return sorted(one for one in found if one.path.startswith(f"{folder}/"))

    def folders(self) -> list[str]:
        """What names of objects begin with, up to their first slash. There are stores that list what is gone, too."""
        import obstore

        with self._errors():
            return list(obstore.list_with_delimiter(self._store)["common_prefixes"])

    def delete(self, paths: list[str]) -> None:
        """Removes those of the objects that are there."""
        import obstore

        for start in range(0, len(paths), REMOVED_AT_ONCE):
            with self._errors():
                obstore.delete(self._store, paths[start : start + REMOVED_AT_ONCE])

    def for_each(self, action: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """What the action gives for each item, several at a time. Where one raises, none is under way any more when
        that is raised: a blob that a refused call still wrote later would be left behind."""
        wanted = list(items)
        if len(wanted) < 2:
            return list(map(action, wanted))
        begun = [self._threads.submit(action, item) for item in wanted]
        try:
            return [one.result() for one in begun]
        except Exception:
            wait([one for one in begun if not one.cancel()])
            raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turns what obstore says meanwhile into errors for people."""
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            yield
        except FileNotFoundError as error:  # not of an object: those are written, or looked for in vain
            raise RefusedError(
                f"{self.place}: there is no such bucket ({_said(error)}); make it, or name another one"
            ) from error
        except BaseError as error:
            status, said = _status(error), f"({_said(error)})"
            if isinstance(error, PermissionDeniedError | UnauthenticatedError) or status in _NOT_ALLOWED:
                raise AccessError(
                    f"{self.place}: the object store refuses the credentials, or this user {said}; see "
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                ) from error
            if status in _NO_ROOM:
                raise NoRoomError(f"{self.place}: the object store is full {said}") from error
            if status is None or status in _BUSY or status >= 500:
                raise UnavailableError(
                    f"{self.place}: the object store cannot be reached, or does not serve now {said}"
                ) from error
            raise RefusedError(f"{self.place}: the object store refused {said}") from error


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


def _said(error: Exception) -> str:
    """The first line of what obstore says of an error; more lines follow it, for its authors."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _status(error: Exception) -> int | None:
    """The status of the answer that an error tells of; None where there was none."""
    found = _STATUS.search(_said(error))
    return int(found[1]) if found else None
