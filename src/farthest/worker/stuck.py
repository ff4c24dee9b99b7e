"""What ends a process that is stuck: one whose work neither ends nor uses the processor.

Its lease is renewed by a thread of its own, so nobody else would ever take the work over. Its pool starts another
process, and the coordinator sends the work again; what is stuck again and again ends the job
(coordinator/outstanding.py).
"""

from __future__ import annotations

import faulthandler
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0
LOOKS = 6
"""So many looks in a row must find that no processor time was used. No wait in between is that long: those for servers
have limits of their own. Looks are counted, as time passes while the whole process stands still too."""


@contextmanager
def ended_if_stuck(name: str) -> Iterator[None]:
    """Meanwhile this process ends, with the stacks of its threads on standard error, where the calling thread is
    stuck. ``name``: what the log calls the work."""
    if not hasattr(time, "pthread_getcpuclockid"):  # macOS
        yield
        return
    done = threading.Event()
    clock = time.pthread_getcpuclockid(threading.get_ident())
    threading.Thread(target=_watch, args=(done, clock, name), name="farthest-stuck", daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _watch(done: threading.Event, clock: int, name: str) -> None:
    used, looks = time.clock_gettime(clock), 0
    while not done.wait(LOOK_SECONDS):
        before, used = used, time.clock_gettime(clock)
        looks = looks + 1 if used == before else 0
        if looks >= LOOKS:
            log.critical(
                "%s is stuck: for %g s it has used no processor; ending this process",
                name,
                looks * LOOK_SECONDS,
            )
            faulthandler.dump_traceback()
            os._exit(os.EX_SOFTWARE)
