"""`farthest serve` as a process."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import time
from pathlib import Path

from integration.conftest import COMMAND


class Served:
    """A running server of ``maps.db`` in a folder: its port, its process. Its log is the folder's file ``log``."""

    def __init__(self, folder: Path, *options: str, **variables: str) -> None:
        self.folder = folder
        with (folder / "log").open("w") as log:
            self.process = subprocess.Popen(
                [*COMMAND, "serve", "--port", "0", "--database", "maps.db", *options],
                cwd=folder,
                env={**os.environ, **variables},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        self.port = int(self.address.rstrip("/").rpartition(":")[2])

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            read = b""
            begun = time.monotonic()
            while part := answer.read1(2**20):  # events may come for ever
                assert time.monotonic() - begun < 60, f"{path} does not end"
                read += part
            return answer.status, dict(answer.getheaders()), read

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(20)

    def kill(self) -> None:
        """Ends it at once, if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
