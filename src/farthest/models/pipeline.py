"""Applies a function to the items of a stream in two threads, with the results in the order of the stream.

zstd and SHA-256 release the interpreter's lock, so two threads compress while the caller reads or writes the
database.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 2
AHEAD = 4
"""Most items taken from the stream before their results are used: it bounds the memory."""


def in_order(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yields ``function(item)`` for each item, in order; raises the first exception of the function or the stream."""
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(THREADS, thread_name_prefix="farthest-chunk") as executor:
        try:
            for item in items:
                pending.append(executor.submit(function, item))
                if len(pending) > AHEAD:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
