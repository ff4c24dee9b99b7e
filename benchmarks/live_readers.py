"""What many readers of one running job cost the server: processor time of `farthest serve` while a job runs.

    .venv/bin/python benchmarks/live_readers.py [--readers 200] [--puzzle sliding-3x4] [--share 0.1]

It makes a database in a folder of its own, starts the server and an enumeration as processes, and follows the job by so
many connections. The enumeration runs for ``--share`` of the time and is stopped for the rest, so that it lasts. It
tells events and bytes, and the server's processor time as a share of one processor: for the connections to be made, and
from then to the job's end. Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SLICE = 0.05
COMMAND = [sys.executable, "-c", "from farthest.cli.entry import main; main()"]


class Reader:
    """One connection: it reads events until the job's end."""

    def __init__(self) -> None:
        self.events = 0
        self.bytes = 0
        self.ended = False
        self.begun = asyncio.Event()

    async def follow(self, port: int, job: int) -> None:
        stream, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /api/jobs/{job}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        while line := await stream.readline():
            self.bytes += len(line)
            self.events += line.startswith(b"event:")
            self.begun.set()
            self.ended |= line.startswith(b"event: end")
            if self.ended and line == b"\n":
                break
        writer.close()


def processor_seconds(process: int) -> float:
    """What a process has used until now."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def followed(port: int, readers: int, server: int) -> None:
    """Follows job 1 to its end, and tells what that took."""
    those = [Reader() for _ in range(readers)]
    before = processor_seconds(server)
    following = asyncio.gather(*(one.follow(port, 1) for one in those))
    for one in those:
        await one.begun.wait()
    first = processor_seconds(server) - before
    before, begun = processor_seconds(server), time.monotonic()
    await following
    seconds, used = time.monotonic() - begun, processor_seconds(server) - before
    assert all(one.ended for one in those), "a reader was not told of the end"
    events, size = sum(one.events for one in those), sum(one.bytes for one in those)
    print(f"{readers} readers, {seconds:.1f} s, {events:,} events, {size / 2**20:.1f} MiB")
    print(f"processor time of the server: {first:.2f} s for the connections to be made")
    print(f"and then {used:.2f} s, {used / seconds:.1%} of one processor")


def slow_down(process: subprocess.Popen[bytes], share: float) -> None:
    """Lets the process run for a share of the time, in slices, until it ends."""
    while process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
            time.sleep(SLICE)
            process.send_signal(signal.SIGSTOP)
            time.sleep(SLICE / share - SLICE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--puzzle", default="sliding-3x4")
    parser.add_argument("--share", type=float, default=0.1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        database = ["--database", str(Path(folder) / "maps.db")]
        run = stack.enter_context(
            subprocess.Popen(
                [*COMMAND, "enumerate", asked.puzzle, "--threads", "1", *database],
                stdout=subprocess.DEVNULL,
            )
        )
        while subprocess.run([*COMMAND, "show", "1", *database], capture_output=True, check=False).returncode:
            time.sleep(0.2)
        server = stack.enter_context(
            subprocess.Popen(
                [*COMMAND, "serve", "--port", "0", *database],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        )
        assert server.stdout is not None
        try:
            threading.Thread(target=slow_down, args=(run, asked.share), daemon=True).start()
            port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
            asyncio.run(followed(port, asked.readers, server.pid))
        finally:
            server.terminate()
            run.kill()


if __name__ == "__main__":
    main()
