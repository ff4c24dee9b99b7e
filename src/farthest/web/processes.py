"""Processes that the server starts for its readers: how they begin, and how they end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from farthest.environment import DATABASE_URL

if TYPE_CHECKING:
    from collections.abc import Iterable

STOP_SECONDS = 10.0

Process = subprocess.Popen[bytes]


def started(url: str | None, program: str, *words: str) -> Process:
    """A Python program with these arguments, whose output is a pipe. ``url``: of the database, as for
    ``open_database``, handed on in the environment, which others cannot read."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        env={**os.environ, **({DATABASE_URL.name: url} if url else {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in the server's terminal is for the server
    )


def end(processes: Iterable[Process]) -> None:
    """Lets each store what it has and end; what has not ended after ``STOP_SECONDS`` is killed."""
    running = list(processes)
    for process in running:
        process.send_signal(signal.SIGINT)
    for process in running:
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
