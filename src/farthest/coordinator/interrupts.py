"""Ctrl-C, SIGTERM and SIGHUP during an attempt: they are noted, and it stops after the layer, with a checkpoint."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """An attempt was stopped. ``depth``: of the checkpoint that its job can go on from, None if there is none;
    ``folder``: where that is, None for the database."""

    def __init__(self, depth: int | None, folder: Path | None = None) -> None:
        super().__init__()
        self.depth = depth
        self.folder = folder


class LayerGivenUp(Exception):
    """The layer under way was given up because a signal asked the attempt to stop."""


class StopRequest:
    """Whether a signal has asked the attempt to stop."""

    def __init__(self, notice: Callable[[], None]) -> None:
        self.wanted = False
        self._notice = notice

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """The signal handler: the first signal is noted; a second one gives up the checkpoint that was to be taken."""
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
        self._notice()


@contextmanager
def stop_requests(notice: Callable[[], None]) -> Iterator[StopRequest]:
    """Catches SIGINT, SIGTERM and SIGHUP during the block, and calls ``notice`` at the first. Leaves those alone that
    the process was told to ignore (``nohup``, a shell's background job). Does nothing outside the main thread, where no
    signals arrive.
    """
    request = StopRequest(notice)
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    heeded = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, request) for number in heeded}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
