"""The page of a state of a stored map, as a server answers it: gate, question, drawing and compression.

    python benchmarks/state_page.py [DATABASE [JOB]] [--boards 100] [--api] [--profile]

Without a database: sliding-3x4 (239,500,800 states) is enumerated into one of its own. The pages of random boards are
asked once, which warms all caches, and then once more, each timed: the wall time, and the processor time of this
process. It prints the medians beside the bound, and ``seconds=`` for the median of the wall time; the exit status is 1
where that is above the bound. The application is called in this process, without a socket.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import farthest
from farthest.models.database import open_database
from farthest.web.app import application
from farthest.web.gate import WebSettings
from farthest.web.page import state_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.web.gate import Gate

BOUND = 0.030
"""Seconds of wall time: the goal for a state page of sliding-3x4."""

HEADERS = [(b"host", b"127.0.0.1"), (b"accept-encoding", b"gzip")]


def main() -> int:
    """Measures one map."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("database", nargs="?")
    parser.add_argument("job", nargs="?", type=int, default=1)
    parser.add_argument("--boards", type=int, default=100)
    parser.add_argument("--api", action="store_true", help="the JSON of the states instead of their pages")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = wanted.database
        if file is None:
            file = str(Path(folder) / "maps.db")
            farthest.enumerate("sliding-3x4", database=file).close()
        return asyncio.run(_measured(file, wanted))


async def _measured(file: str, wanted: argparse.Namespace) -> int:
    with farthest.open_map(wanted.job, database=file) as opened:
        pages = [state_page(wanted.job, board) for board in opened.random(wanted.boards, seed=1)]
        print(f"{opened.record.name}: {opened.states:,} states, {len(pages)} random boards")
    if wanted.api:
        pages = [f"/api{page}" for page in pages]
    app = application(open_database(file, create=False), WebSettings(database=file))
    receive, sent = await _started(app)
    for page in pages:
        await _asked(app, page)
    profile = cProfile.Profile()
    if wanted.profile:
        profile.enable()
    wall, processor, sizes = [], [], []
    for page in pages:
        began, busy = time.perf_counter(), time.process_time()
        sizes.append(await _asked(app, page))
        wall.append(time.perf_counter() - began)
        processor.append(time.process_time() - busy)
    profile.disable()
    await receive.put({"type": "lifespan.shutdown"})
    while (await sent.get())["type"] != "lifespan.shutdown.complete":
        pass
    if wanted.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(30)
    for name, seconds in (("wall", wall), ("processor", processor)):
        print(f"{name} time: {_told(seconds)}")
    print(f"over the wire: median {median(sizes) / 1000:.1f} kB")
    print(f"bound: median of the wall time {1000 * BOUND:.0f} ms")
    print(f"seconds={median(wall)}")
    return int(median(wall) > BOUND)


def _told(seconds: Sequence[float]) -> str:
    return (
        f"median {1000 * median(seconds):.1f} ms, 9 of 10 within {1000 * quantiles(seconds, n=10)[-1]:.1f} ms"
    )


async def _started(app: Gate) -> tuple[asyncio.Queue[Any], asyncio.Queue[Any]]:
    """The queues to and from the application's lifespan, which has begun."""
    receive: asyncio.Queue[Any] = asyncio.Queue()
    sent: asyncio.Queue[Any] = asyncio.Queue()
    await receive.put({"type": "lifespan.startup"})
    task = asyncio.ensure_future(
        app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive.get, sent.put)
    )
    assert (await sent.get())["type"] == "lifespan.startup.complete"
    receive.task = task  # type: ignore[attr-defined]  # or it would be collected
    return receive, sent


async def _asked(app: Gate, address: str) -> int:
    """The bytes of the body of the answer."""
    path, _, query = address.partition("?")
    answered = asyncio.Event()
    size = status = 0

    async def receive() -> dict[str, Any]:
        await answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal size, status
        status = message.get("status", status)
        size += len(message.get("body", b""))

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": HEADERS,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    await app(scope, receive, send)
    answered.set()
    if status != 200:
        sys.exit(f"{address}: status {status}")
    return size


if __name__ == "__main__":
    sys.exit(main())
