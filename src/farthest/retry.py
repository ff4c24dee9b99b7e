"""Waiting for a server that is away: what failed for that reason is tried again for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from farthest.errors import UnavailableError

Result = TypeVar("Result")

START_SECONDS = 10.0
"""How long a process that starts waits for servers, which may start together with it. Then it fails, and names the
setting that may be wrong; what supervises services starts it again."""

PAUSE_SECONDS = 0.2


def retry_while_away(
    action: Callable[[], Result],
    seconds: Callable[[], float] = lambda: START_SECONDS,
    *,
    told: Callable[[str], None] = lambda text: None,
    while_waiting: Callable[[], None] = lambda: None,
) -> Result:
    """What ``action`` gives, which is repeated where it raises UnavailableError: for so many ``seconds`` after it has
    failed first (asked at each failure: that may change meanwhile), then the error is raised.

    ``told`` receives, once, what failed and how long it is waited for; ``while_waiting`` is called again and again, and
    may raise.
    """
    failed: float | None = None
    while True:
        try:
            return action()
        except UnavailableError as error:
            patience = seconds()
            if failed is None:
                failed = time.monotonic()
                if patience > 0:
                    told(f"{error}; waiting up to {patience:.0f} s for it")
            if time.monotonic() >= failed + patience:
                raise
            while_waiting()
        time.sleep(PAUSE_SECONDS)
