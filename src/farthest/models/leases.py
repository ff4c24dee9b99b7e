"""Who runs a job: the owner's token ``host/pid/start``, and whether the process that it names is dead.

``start`` distinguishes a process from a later one with the same number: on Linux ``ticks.boot.namespace`` (clock ticks
from boot to its start, the first digits of the boot's id, the process namespace). Only from the same host, boot and
namespace can a process be known to be dead: two containers may share a host name and see different processes.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from time import monotonic

_LONGEST_PID = 19
"""Digits."""

LEASE_SECONDS = 60.0
"""How long an owner on another host, which cannot be checked, may be silent before its job may be claimed."""
SERVICE_LEASE_SECONDS = 15.0
"""The same for jobs of `farthest coordinator`. Leases of steps: worker/leases.py."""


Lease = tuple[str | None, datetime | None]
"""A job's owner and the end of its lease."""


class Silence:
    """Finds leases that were not renewed for LEASE_SECONDS by this process's own clock, whatever end they give: a
    host's clock may have been set back, or differ from another's."""

    def __init__(self) -> None:
        self._since: dict[int, tuple[Lease, float]] = {}

    def of(self, job: int, lease: Lease) -> bool:
        """Whether the lease has been the same for so long."""
        known, since = self._since.get(job, (None, 0.0))
        if known != lease:
            self._since[job] = lease, monotonic()
            return False
        return monotonic() - since > LEASE_SECONDS

    def forget_others(self, jobs: Collection[int]) -> None:
        """Forgets the leases of all other jobs."""
        self._since = {job: known for job, known in self._since.items() if job in jobs}


def owner_token() -> str:
    """The token of this process."""
    pid = os.getpid()
    ticks = _start_ticks(pid)
    start = "0" if ticks is None else f"{ticks}.{_scope()}"
    return f"{host_name()}/{pid}/{start}"


def is_of_this_host(token: str) -> bool:
    """Whether the token's process runs, or ran, on a host with this name."""
    return token.rsplit("/", 2)[0] == host_name()


def owner_is_dead(token: str) -> bool:
    """True only where it is certain that the token's process has ended; False where that cannot be known."""
    found = _process_of(token)
    if found is None or os.name != "posix":
        return False
    pid, ticks, scope = found
    if scope:
        return scope == _scope() and str(_start_ticks(pid)) != ticks
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def owner_is_alive(token: str) -> bool:
    """True only where it is certain that the token's process runs now."""
    found = _process_of(token)
    if found is None:
        return False
    pid, ticks, scope = found
    return bool(scope) and scope == _scope() and str(_start_ticks(pid)) == ticks


def _process_of(token: str) -> tuple[int, str, str] | None:
    """The number, the ticks and the scope of a token's process; None where it is not of this host."""
    host, pid, start = [*token.rsplit("/", 2), "", ""][:3]
    if host != host_name() or not pid.isdecimal() or len(pid) > _LONGEST_PID:
        return None
    ticks, _, scope = start.partition(".")
    return int(pid), ticks, scope


def host_name() -> str:
    """The name of this host in tokens and in the names of workers."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def _scope() -> str:
    """The scope of a process number: this boot of the machine and this process namespace (Linux)."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        return f"{boot}.{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _start_ticks(pid: int) -> int | None:
    """Clock ticks from boot to the start of a process; None if it is gone or a zombie, or without /proc."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (OSError, UnicodeDecodeError):
        return None
    # The second field is the command in parentheses, which may hold spaces; after it: state is 0, start time
    # is 19.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else int(fields[19])
