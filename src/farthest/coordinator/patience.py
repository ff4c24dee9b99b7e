"""Waiting a little for servers that start together with this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from farthest.errors import UnavailableError

Result = TypeVar("Result")

START_SECONDS = 10.0
PAUSE_SECONDS = 0.5


def patiently(action: Callable[[], Result], seconds: float = START_SECONDS) -> Result:
    """What ``action`` returns; where it raises UnavailableError it is tried again, for ``seconds``."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return action()
        except UnavailableError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(PAUSE_SECONDS)
