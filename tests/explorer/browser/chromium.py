"""The Chromium that is installed on this machine; none is ever downloaded."""

from __future__ import annotations

import shutil
import subprocess

from playwright.sync_api import Browser, Playwright

# The first is the browser without its windows: it starts in a third of the time.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Nothing but the pages that a test opens goes over the network; root has no sandbox.
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def program() -> str | None:
    """Where it is; None where none is installed, or only one that does not start, as Ubuntu's without its snap."""
    for found in filter(None, map(shutil.which, PROGRAMS)):
        if subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0:
            return found
    return None


def launched(playwright: Playwright, executable: str) -> Browser:
    """A browser without a window; it ends with its ``with`` block."""
    return playwright.chromium.launch(executable_path=executable, args=OPTIONS)
