"""Pages in Chromium, where one is installed: the scripts run, and the browser has nothing to complain of."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from explorer.conftest import BLOCKS, KINDS, SEARCH
from explorer.test_server import Served
from farthest.web.addresses import state_page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed (Debian: apt install chromium)"),
]


def looked_at(server: Served, address: str, profile: Path) -> tuple[str, list[str]]:
    """The page after its scripts have run, and what the browser's console says."""
    assert BROWSER is not None
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        f"--user-data-dir={profile}",
        "--virtual-time-budget=2000",
        "--dump-dom",
        f"{server.address.rstrip('/')}{address}",
    ]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=True)
    return done.stdout, re.findall(r'CONSOLE.*?\] "(.*)"', done.stderr)


@pytest.mark.parametrize(
    ("address", "holds"),
    [
        ("/", 'class="catalogue"'),
        (f"/jobs/{KINDS}", 'class="chart"'),
        (state_page(KINDS, "┘│└/─□─/┐│┌"), 'aria-label="Step of the path"'),
        (state_page(BLOCKS, "start"), 'class="moves"'),
        (f"/jobs/{SEARCH}", 'aria-label="Step of the path"'),
    ],
)
def test_a_page_in_a_browser(stored: Path, tmp_path: Path, address: str, holds: str) -> None:
    shutil.copy(stored, tmp_path / "maps.db")
    server = Served(tmp_path)
    try:
        page, complaints = looked_at(server, address, tmp_path / "profile")
    finally:
        server.process.kill()
        server.process.wait()
        assert server.process.stdout is not None
        server.process.stdout.close()
    assert complaints == []
    assert holds in page
    if "Step of the path" in holds:  # the player shows one board of the path at a time
        assert page.count('class="shown"') == 1
    loaded = set(re.findall(r'(?:src|href)="(https?:[^"]*)"', page))
    assert not loaded
