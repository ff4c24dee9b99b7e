"""Ends a process that is stuck: one whose work neither ends nor uses the processor.

A separate thread renews its lease, so no other process would ever take the work over. The main process starts another
process, and the coordinator sends the work again; work that is stuck again and again ends the job
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
from dataclasses import dataclass
from functools import cache

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0
LOOKS = 6
"""So many checks in a row must find that no processor time was used. No regular wait is that long: waits for servers
have their own limits. Checks are counted instead of seconds, because time also passes while the whole process is
stopped."""


@contextmanager
def ended_if_stuck(name: str) -> Iterator[None]:
    """During the block, if the calling thread is stuck, this process ends, with the stacks of its threads on standard
    error. ``name``: the name of the work in the log."""
    if not hasattr(time, "pthread_getcpuclockid"):  # macOS
        yield
        return
    thread = threading.get_ident()
    under_way = _watch(os.getpid()).under_way
    under_way[thread] = _Work(name, time.pthread_getcpuclockid(thread))
    try:
        yield
    finally:
        del under_way[thread]


@dataclass(eq=False, slots=True)
class _Work:
    """The work of a thread. ``clock``: of its processor time; ``used``: at the last check; ``looks``: the checks in a
    row that found no more time used."""

    name: str
    clock: int
    used: float = -1.0
    looks: int = 0


class _Watch:
    """Checks the threads of this process, from a thread of its own."""

    def __init__(self) -> None:
        self.under_way: dict[int, _Work] = {}
        threading.Thread(target=self._run, name="farthest-stuck", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            for work in list(self.under_way.values()):
                try:
                    before, work.used = work.used, time.clock_gettime(work.clock)
                except OSError:  # its thread has ended
                    continue
                work.looks = work.looks + 1 if work.used == before else 0
                if work.looks >= LOOKS:
                    self._end(work)

    def _end(self, work: _Work) -> None:
        seconds = work.looks * LOOK_SECONDS
        log.critical("%s is stuck: no processor used for %g s; ending this process", work.name, seconds)
        faulthandler.dump_traceback()
        os._exit(os.EX_SOFTWARE)


@cache
def _watch(pid: int) -> _Watch:
    return _Watch()
