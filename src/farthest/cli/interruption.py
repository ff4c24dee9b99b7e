"""Ctrl-C: each process of the command line ends with status 130, and never with a traceback.

While a command runs, Ctrl-C is a KeyboardInterrupt, which commands may catch. Before and after it nothing can catch it,
and the process ends at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from farthest.cli import INTERRUPTED

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

RAISED_AGAIN_SECONDS = 0.01
SHOW_CURSOR = "\033[?25h"


def leave_at_interrupts() -> None:
    """From now on Ctrl-C ends the process at once, unless the process was told to ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
        sys.unraisablehook = _raise_again


@contextmanager
def interrupts_raised() -> Iterator[None]:
    """During the block Ctrl-C is a KeyboardInterrupt; nothing changes in a process that does not
    ``leave_at_interrupts``."""
    if signal.getsignal(signal.SIGINT) is not _leave:
        yield
        return
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        signal.signal(signal.SIGINT, _leave)


def restore_terminal() -> None:
    """Shows the cursor again, which a display that was cut off may have left hidden."""
    if "rich" in sys.modules and sys.stderr is not None and sys.stderr.isatty():
        with suppress(OSError):
            sys.stderr.write(SHOW_CURSOR)
            sys.stderr.flush()


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _raise_again(lost: UnraisableHookArgs) -> None:
    """Python drops exceptions that are raised while an object is destroyed; a Ctrl-C at that time is raised again
    afterwards."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return

    def raise_soon() -> None:
        time.sleep(RAISED_AGAIN_SECONDS)
        os.kill(os.getpid(), signal.SIGINT)

    with suppress(RuntimeError):  # no thread can be started while Python ends
        threading.Thread(target=raise_soon, daemon=True).start()
