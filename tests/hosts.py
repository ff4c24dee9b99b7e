"""Hosts of a network, as network namespaces of this machine that end with the tests (Linux, as root)."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

CLONE_NEWNET = 0x40000000
SERVER = "10.77.0.1"
"""The address of the first host, as all others reach it."""

# Holds a namespace until its input is closed: by `Host.close`, or because the tests have ended.
HOLDER = f"""
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare({CLONE_NEWNET}):
    sys.exit(os.strerror(ctypes.get_errno()))
print("there", flush=True)
sys.stdin.read()
"""


class NoHostsError(Exception):
    """Namespaces are not to be had here; why not."""


class Host:
    """A namespace. What is started, and which connections are made, inside of it, belong to it."""

    def __init__(self) -> None:
        self._holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._holder.stdout is not None
        if not self._holder.stdout.readline():
            _, said = self._holder.communicate()
            raise NoHostsError(f"no network namespace: {said.strip()}")
        self.pid = self._holder.pid

    @contextmanager
    def inside(self) -> Iterator[None]:
        """This thread is on the host meanwhile."""
        here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{self.pid}/ns/net", os.O_RDONLY)
        try:
            _enter(there)
            try:
                yield
            finally:
                _enter(here)
        finally:
            os.close(here)
            os.close(there)

    def ip(self, words: str) -> None:
        """Runs `ip` on the host."""
        with self.inside():
            done = subprocess.run(["ip", *words.split()], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NoHostsError(f"ip {words}: {done.stderr.strip()}")

    def close(self) -> None:
        """Ends the namespace, as soon as nothing runs in it any more."""
        self._holder.communicate()


def _enter(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


class Network:
    """One host with servers, at ``SERVER``, and others that have a link to it each."""

    def __init__(self, server: Host, others: list[Host]) -> None:
        self.server = server
        self.others = others
        server.ip("link set lo up")
        server.ip(f"address add {SERVER}/32 dev lo")
        for number, host in enumerate(others):
            near, far = f"10.77.{number + 1}.1", f"10.77.{number + 1}.2"
            server.ip(f"link add to-{number} type veth peer name uplink netns {host.pid}")
            server.ip(f"address add {near}/30 dev to-{number}")
            server.ip(f"link set to-{number} up")
            host.ip("link set lo up")
            host.ip(f"address add {far}/30 dev uplink")
            host.ip("link set uplink up")
            host.ip(f"route add {SERVER}/32 via {near}")

    def cut(self, number: int) -> None:
        """Cuts the link to one of the others: no message comes through, in either way, and nobody is told."""
        self.server.ip(f"link set to-{number} down")

    def restore(self, number: int) -> None:
        """Makes the link work again."""
        self.server.ip(f"link set to-{number} up")


@contextmanager
def network(others: int) -> Iterator[Network]:
    """Hosts, while they are needed. Raises NoHostsError where they are not to be had."""
    if sys.platform != "linux" or shutil.which("ip") is None:
        raise NoHostsError("network namespaces need Linux and the program `ip`")
    with ExitStack() as stack:
        hosts = []
        for _ in range(others + 1):
            hosts.append(Host())
            stack.callback(hosts[-1].close)
        yield Network(hosts[0], hosts[1:])
