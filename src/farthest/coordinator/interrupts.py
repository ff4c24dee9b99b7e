"""Ctrl-C and SIGTERM during a run: noted, and acted on at the next layer boundary, where a checkpoint can be taken."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequest:
    """Whether the user has asked the run to stop."""

    def __init__(self) -> None:
        self.wanted = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """The signal handler: the first signal is noted, a second one stops at once (the last checkpoint remains)."""
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Catches SIGINT and SIGTERM meanwhile; does nothing outside the main thread, where no signals arrive."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
