"""Whether a connection from this machine is one of the user who runs this process.

Linux tells whose each TCP socket is, in ``/proc/net/tcp`` and ``tcp6`` (man 5 proc): a line for each, with the address
of its own end (column 2), that of the other (3), the state (4) and the user's number (8). Addresses are hexadecimal, in
words of four bytes, each in the machine's byte order.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Scope

_TABLES = {4: Path("/proc/net/tcp"), 6: Path("/proc/net/tcp6")}
_OF_PROXIES = (b"forwarded", b"via", b"x-forwarded-", b"x-real-ip")
"""How headers begin that proxies add."""
_OPEN = "01"


def told() -> bool:
    """Whether this system tells whose connections are."""
    return _TABLES[4].exists()


def is_own(scope: Scope) -> bool:
    """Whether an HTTP request came straight from a process of this user on this machine. False where that cannot be
    said, and where a header says that another program has passed it on."""
    if any(name.startswith(_OF_PROXIES) for name, _ in scope["headers"]):
        return False
    client, server = scope.get("client"), scope.get("server")
    if client is None or server is None:
        return False
    try:
        address = ipaddress.ip_address(client[0])
        if not address.is_loopback:
            return False
        ends = _hexadecimal(*client), _hexadecimal(*server)
        lines = _TABLES[address.version].read_text(encoding="ascii").splitlines()[1:]
    except (OSError, ValueError, TypeError):
        return False
    # Linux writes 0 for the user of a connection whose other end is closed: only an open one tells its user.
    mine = (*ends, _OPEN, str(os.getuid()))
    return any((row[1], row[2], row[3], row[7]) == mine for row in map(str.split, lines))


def _hexadecimal(host: str, port: int) -> str:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    packed = socket.inet_pton(family, host)
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return f"{''.join(f'{int.from_bytes(word, sys.byteorder):08X}' for word in words)}:{port:04X}"
