"""`farthest serve` as a process: it listens, answers, runs small jobs, and ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from explorer.conftest import KINDS, QUEUED, TOKEN
from explorer.served import Served
from farthest.cli.app import cli


@pytest.fixture
def folder(stored: Path, tmp_path: Path) -> Path:
    shutil.copy(stored, tmp_path / "maps.db")
    return tmp_path


@pytest.fixture
def started(folder: Path) -> Iterator[list[Served]]:
    servers: list[Served] = []
    yield servers
    for server in servers:
        server.kill()


@pytest.mark.slow
def test_a_server_from_start_to_end(folder: Path, started: list[Served]) -> None:
    server = Served(folder)
    started.append(server)
    assert server.address == f"http://127.0.0.1:{server.port}/"
    with pytest.raises(ConnectionRefusedError):  # it listens at one address of this machine alone
        socket.create_connection(("127.0.0.2", server.port), timeout=5)
    status, headers, body = server.ask("GET", "/", headers={"Accept-Encoding": "gzip"})
    assert (status, headers["content-encoding"]) == (200, "gzip")
    assert len(body) < 60_000
    assert server.ask("GET", "/", headers={"Host": "evil.example"})[0] == 421
    assert json.loads(server.ask("GET", f"/api/jobs/{KINDS}")[2])["states"] == 90720
    assert server.end(signal.SIGTERM) == 0
    log = (folder / "log").read_text()
    assert "GET / 200" in log
    assert "Traceback" not in log


@pytest.mark.slow
def test_jobs_are_run_cancelled_and_followed(folder: Path, started: list[Served]) -> None:
    """A small job is run by a process of the server's own; who follows it is told of its end."""
    server = Served(folder, "--allow-jobs", FARTHEST_WEB_TOKEN=TOKEN)
    started.append(server)
    bearer = {"Authorization": f"Bearer {TOKEN}"}

    def changed(path: str, body: Any = None) -> Any:
        status, _, answer = server.ask("POST", path, json.dumps(body).encode(), headers=bearer)
        assert status in (200, 201), answer
        return json.loads(answer)

    assert changed(f"/api/jobs/{QUEUED}/cancel")["status"] == "cancelled"
    number = changed("/api/jobs", {"puzzle": "8-puzzle"})["job"]
    status, headers, events = server.ask("GET", f"/api/jobs/{number}/events", headers=bearer)
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    last = events.decode().strip().split("\n\n")[-1]
    assert last.startswith("event: end\n")
    found = json.loads(last.partition("data: ")[2])
    assert (found["status"], found["states"], found["eccentricity"]) == ("finished", 181440, 31)
    large = changed("/api/jobs", {"puzzle": "sliding-3x5"})
    assert large["status"] == "queued"
    assert server.end(signal.SIGINT) == 130
    log = (folder / "log").read_text()
    assert TOKEN not in log
    assert "Traceback" not in log


def test_a_port_that_is_taken_is_told(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = CliRunner().invoke(
            cli, ["serve", "--port", str(port), "--database", str(folder / "maps.db")]
        )
    assert result.exit_code == 2
    assert f"--port {port}: cannot listen there" in result.output


def test_the_public_cannot_make_a_database(tmp_path: Path) -> None:
    options = ["serve", "--port", "0", "--public", "--database", str(tmp_path / "none.db")]
    result = CliRunner().invoke(cli, options)
    assert result.exit_code == 2
    assert "none.db" in result.output
    assert "http://" not in result.output


@pytest.mark.slow
def test_an_empty_folder_and_the_user_of_this_machine(tmp_path: Path, started: list[Served]) -> None:
    """Who has started the server needs no token; a small job shows its result at once; a board is solved. Others, and
    what another program passes on, change nothing."""
    folder = tmp_path / "empty"
    folder.mkdir()
    server = Served(folder)
    started.append(server)
    here = {"Origin": server.address.rstrip("/")}
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    body = b"puzzle=3-puzzle"
    for refused in (
        {},
        {"Origin": "http://evil.example"},
        {**here, "X-Forwarded-For": "203.0.113.7"},
        {"Origin": f"http://192.0.2.1:{server.port}", "Host": f"192.0.2.1:{server.port}"},
    ):
        assert server.ask("POST", "/jobs", body, form | refused)[0] == 403
    if os.geteuid() == 0:
        asked = subprocess.run(
            [sys.executable, "-c", OTHER_USER, str(server.port)], capture_output=True, text=True, check=True
        )
        assert asked.stdout.strip() == "403"
        subprocess.run([sys.executable, "-c", WHO_LEAVES, str(server.port)], check=True)
    assert b"no jobs yet" in server.ask("GET", "/jobs")[2]
    status, headers, _ = server.ask("POST", "/jobs", body, form | here)
    assert (status, headers["location"]) == (303, "/jobs/1")
    assert json.loads(server.ask("GET", "/api/jobs/1")[2])["status"] == "finished"
    status, headers, _ = server.ask("POST", "/puzzles/8-puzzle/solve", b"board=867254301", form | here)
    assert (status, headers["location"]) == (303, "/puzzles/8-puzzle/867/254/301")
    for _ in range(100):
        page = server.ask("GET", headers["location"])[2].decode()
        if "the fewest possible" in page:
            break
        time.sleep(0.1)
    assert "<strong>31 moves</strong>" in page
    assert page.count("<li><a href=") >= 1 + 31
    assert server.end(signal.SIGINT) == 130
    assert "Traceback" not in (folder / "log").read_text()


OTHER_USER = """
import encodings.idna, http.client, os, sys
os.setuid(65534)
port = int(sys.argv[1])
asked = http.client.HTTPConnection("127.0.0.1", port)
asked.request("POST", "/jobs", b"puzzle=3-puzzle", {"Origin": f"http://127.0.0.1:{port}"})
print(asked.getresponse().status)
"""
WHO_LEAVES = """
import encodings.idna, os, socket, sys
os.setuid(65534)
port = int(sys.argv[1])
FORM = "Content-Type: application/x-www-form-urlencoded\\r\\n"
for _ in range(20):  # Linux says that a connection whose other end is closed is root's
    with socket.create_connection(("127.0.0.1", port)) as asked:
        head = f"POST /jobs HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nOrigin: http://127.0.0.1:{port}\\r\\n"
        asked.sendall(f"{head}{FORM}Content-Length: 15\\r\\n\\r\\npuzzle=3-puzzle".encode())
"""


@pytest.mark.slow
def test_slow_headers_do_not_stop_others(folder: Path, started: list[Served]) -> None:
    server = Served(folder)
    started.append(server)
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
    for connection in slow:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-")
    assert server.ask("GET", "/api/openapi.json")[0] == 200
    for connection in slow:
        connection.close()
