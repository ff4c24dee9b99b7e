"""Flower with the command of docker-compose.yml: it starts, serves its pages, and shows no password."""

from __future__ import annotations

import importlib.util
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from deployment.compose import PASSWORDS, services
from deployment.processes import Processes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("flower") is None, reason="the package flower is not installed"
    ),
]


def test_flower(tmp_path: Path) -> None:
    processes = Processes(tmp_path, services("monitoring"))
    try:
        processes.start("redis")
        processes.start("flower")
        processes.wait_until_healthy("flower")
        page = f"http://127.0.0.1:{processes.ports['127.0.0.1:5555']}"
        for path in ("/", "/workers", "/broker", "/metrics"):
            with urllib.request.urlopen(page + path, timeout=10) as answer:
                assert answer.status == 200
                assert PASSWORDS["REDIS_PASSWORD"] not in answer.read().decode()
        # Whoever reaches the page may look, and do nothing.
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{page}/api/worker/shutdown/any", data=b"", timeout=10)
        assert refused.value.code == 401
        refused.value.close()
        assert PASSWORDS["REDIS_PASSWORD"] not in processes.command_lines()
        status, _ = processes.stop("flower")
        assert status == 0, processes.log("flower")
        assert PASSWORDS["REDIS_PASSWORD"] not in processes.log("flower")
        assert processes.left_behind() == []
    finally:
        processes.close()
