"""Places for blobs in tests: each kind that FARTHEST_BLOBS may name, and its contents, seen past farthest."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from farthest.stores.redis.connections import RedisNodes

OUTSIDE = ("folder", pytest.param("objects", marks=pytest.mark.slow))
"""The places outside of Redis. The server of the object store takes seconds to start."""


class Contents:
    """What a place holds: bytes by name, the names as paths below the place, or as keys.

    ``nodes``: where the place is Redis.
    """

    def __init__(self, url: str, nodes: RedisNodes | None = None) -> None:
        self._nodes = nodes
        self._url = urlsplit(url)
        self._root = Path(unquote(self._url.path))

    def names(self) -> list[str]:
        if self._url.scheme == "file":
            # Folders may be removed meanwhile, which os.walk passes over and Path.rglob does not.
            return sorted(
                os.path.relpath(os.path.join(folder, name), self._root)
                for folder, _, names in os.walk(self._root)
                for name in names
            )
        if self._url.scheme == "s3":
            import obstore

            return sorted(one["path"] for some in obstore.list(self._bucket()) for one in some)
        assert self._nodes is not None
        found = (name.decode() for client in self._nodes.clients for name in client.scan_iter())
        return sorted(name for name in found if name.startswith("farthest:attempt:") and name.count(":") == 6)

    def read(self, name: str) -> bytes:
        """The bytes of a blob. Raises FileNotFoundError where it has been removed since it was listed."""
        if self._url.scheme == "file":
            return (self._root / name).read_bytes()
        if self._url.scheme == "s3":
            import obstore

            return bytes(obstore.get(self._bucket(), name).bytes())
        blob = self._client(name).get(name)
        if blob is None:
            raise FileNotFoundError(name)
        assert isinstance(blob, bytes)
        return blob

    def write(self, name: str, blob: bytes | None) -> None:
        """Puts a blob in the place of another; None: removes it."""
        if self._url.scheme == "file":
            path = self._root / name
            path.parent.mkdir(exist_ok=True)
            path.unlink() if blob is None else path.write_bytes(blob)
        elif self._url.scheme == "s3":
            import obstore

            bucket = self._bucket()
            obstore.delete(bucket, name) if blob is None else obstore.put(bucket, name, blob)
        elif blob is None:
            self._client(name).delete(name)
        else:
            self._client(name).set(name, blob)

    def _client(self, name: str) -> Any:
        assert self._nodes is not None
        return self._nodes.node(int(name.split(":")[5]))

    def _bucket(self) -> Any:
        from obstore.store import S3Store

        return S3Store(
            self._url.netloc,
            prefix=self._url.path.strip("/"),
            client_options={"allow_http": True, "timeout": "5s"},
        )


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """An empty folder, in memory where the system has that: synchronizing a disk takes 10 ms, a thousand times."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="farthest-tests-", dir=memory) as folder:
        yield Path(folder)


def url_of(kind: str, request: pytest.FixtureRequest) -> str:
    """What FARTHEST_BLOBS says of an empty place of a kind."""
    if kind == "folder":
        folder = Path(request.getfixturevalue("scratch")) / "the blobs"
        folder.mkdir()
        return folder.as_uri()
    return str(request.getfixturevalue("objects_url")) if kind == "objects" else "redis"


@pytest.fixture(params=["redis", *OUTSIDE])
def blobs_url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What FARTHEST_BLOBS says: each test that asks for it is run with each kind of place."""
    url = url_of(request.param, request)
    monkeypatch.setenv("FARTHEST_BLOBS", url)
    return url


@pytest.fixture(params=OUTSIDE)
def outside_url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same with places outside of Redis alone."""
    url = url_of(request.param, request)
    monkeypatch.setenv("FARTHEST_BLOBS", url)
    return url
