"""A connection to a server that can be cut: a port that hands bytes on."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading

RESET = struct.pack("ii", 1, 0)
"""SO_LINGER of 0 seconds: closing ends a connection with RST, as a lost one ends."""


class Line:
    """Hands what comes at ``port`` of 127.0.0.1 on to another port there, and back."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self._listener: socket.socket | None = None
        self.port = 0
        self.mend()

    def mend(self) -> None:
        """Takes connections, at the same port as before."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self) -> None:
        """Ends all connections, and refuses new ones."""
        assert self._listener is not None
        # close() alone leaves a thread in accept(), and with it the port open.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for end in self._ends:
                with contextlib.suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    end.shutdown(socket.SHUT_RDWR)
                end.close()
            self._ends.clear()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                reader, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server_port))
                with self._lock:
                    self._ends += [reader, server]
                for source, target in ((reader, server), (server, reader)):
                    threading.Thread(target=_hand_on, args=(source, target), daemon=True).start()


def _hand_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
