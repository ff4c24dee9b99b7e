"""Lines to servers that can be cut, refused, slowed down or stalled: a TCP proxy in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator

from server_process import free_port

CHUNK = 1 << 16


class Line:
    """A port of 127.0.0.1 that leads to another. Used in a `with` block."""

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._ends: set[asyncio.StreamWriter] = set()
        self._refusing = False
        self._seconds = 0.0
        self._open = asyncio.Event()
        self._open.set()

    def __enter__(self) -> Line:
        self._thread.start()
        listening = asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self._server = asyncio.run_coroutine_threadsafe(listening, self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._server.close)
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def cut(self) -> None:
        """Ends all connections at once; new ones are made as ever."""
        self._loop.call_soon_threadsafe(self._abort)

    @contextlib.contextmanager
    def refused(self) -> Iterator[None]:
        """All connections end, and new ones end as soon as they are made."""
        self._refusing = True
        self.cut()
        try:
            yield
        finally:
            self._refusing = False

    @contextlib.contextmanager
    def slow(self, seconds: float) -> Iterator[None]:
        """Whatever is sent comes later."""
        self._seconds = seconds
        try:
            yield
        finally:
            self._seconds = 0.0

    @contextlib.contextmanager
    def stalled(self) -> Iterator[None]:
        """Connections stay, and nothing that is sent comes through until the end."""
        self._loop.call_soon_threadsafe(self._open.clear)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._open.set)

    def _abort(self) -> None:
        for end in self._ends:
            end.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            writer.transport.abort()
            return
        self._ends.add(writer)
        try:
            there = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            self._ends.discard(writer)
            return
        self._ends.add(there[1])
        both = (self._pump(reader, there[1]), self._pump(there[0], writer))
        await asyncio.gather(*both, return_exceptions=True)
        self._ends -= {writer, there[1]}

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(CHUNK):
                await self._open.wait()
                if self._seconds:
                    await asyncio.sleep(self._seconds)
                writer.write(data)
                await writer.drain()
        except OSError:
            writer.transport.abort()
        finally:
            writer.close()
