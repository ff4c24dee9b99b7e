"""`farthest serve` as a process: it listens, answers, runs small jobs, and ends."""

from __future__ import annotations

import json
import shutil
import signal
import socket
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


def test_a_database_that_is_not_there_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["serve", "--port", "0", "--database", str(tmp_path / "none.db")])
    assert result.exit_code == 2
    assert "none.db" in result.output
    assert "http://" not in result.output


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
