"""A server as a process of the tests: started, stopped, killed, frozen, and gone when the tests are gone."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

START_SECONDS = 60.0
STOP_SECONDS = 10.0

# Run as another Python, because it changes what the new process is before the server takes its place: who it runs as,
# and that the kernel ends it with its parent. (Popen's preexec_fn would do, but not in a process that has threads.)
LAUNCHER = """
import ctypes, os, sys
sign, parent, user, *command = sys.argv[1:]
libc = ctypes.CDLL(None)
if int(user) != os.geteuid():
    os.setgroups([])
    os.setgid(int(user))
    os.setuid(int(user))
if sys.platform == "linux":
    libc.prctl(1, int(sign))
    if os.getppid() != int(parent):
        sys.exit(1)
os.execv(command[0], command)
"""


def free_port() -> int:
    """A port that nothing listens on, and that the system gives to no outgoing connection while its server is down."""
    while True:
        port = random.SystemRandom().randrange(10_240, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Server:
    """A server process, its port and its folder. What differs between kinds of servers is in the subclasses."""

    end_signal: signal.Signals
    """What the server gets when the process of the tests has ended."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.folder = folder
        self._may_move = port is None
        self.take_ports(port)
        self.user = os.geteuid()
        self.environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
        self.process: subprocess.Popen[bytes] | None = None
        self._thaw: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def url(self) -> str:
        raise NotImplementedError

    @property
    def pid(self) -> int:
        assert self.process is not None, "the server does not run"
        return self.process.pid

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def take_ports(self, port: int | None = None) -> None:
        """Chooses the ports; `port` is the first of them."""
        self.port = port or free_port()

    def start(self) -> None:
        """Starts the server and waits until it answers.

        Another process may take a port before the server does, which then ends. A server that nobody has seen yet takes
        other ports; later ones keep theirs.
        """
        assert self.process is None, "the server runs already"
        self.process = self.launch(self.command())
        limit = time.monotonic() + START_SECONDS
        while not self.answers():
            ended = self.process.poll() is not None
            if ended and self._may_move and "address already in use" in self.log.read_text().lower():
                self.log.unlink()
                self.take_ports()
                self.process = self.launch(self.command())
            elif ended or time.monotonic() > limit:
                self.kill()
                raise RuntimeError(f"{self.command()[0]} did not start:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.01)
        self._may_move = False

    def stop(self) -> None:
        """Ends the server as an administrator would; one that does not end in time is killed."""
        if self.process is None:
            return
        self.thaw()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process = None

    def kill(self) -> None:
        """Kills all processes of the server at once (kill -9)."""
        if self.process is not None and self.process.poll() is None:
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
        self.process = None
        self.thaw()

    def restart(self, *, keep_data: bool = True) -> None:
        """Ends the server and starts it again at the same port."""
        self.stop()
        if not keep_data:
            self.forget()
        self.start()

    def freeze(self) -> None:
        """Stops all processes of the server (SIGSTOP): connections stay open, nothing answers."""
        assert self._thaw is None, "the server is frozen already"
        pids = [str(pid) for pid in self.processes()]
        # Sends SIGCONT when its input is closed: by thaw, or because this process has ended.
        script = 'read _; kill -CONT "$@" 2> /dev/null; true'
        self._thaw = subprocess.Popen(["sh", "-c", script, "thaw", *pids], stdin=subprocess.PIPE)

    def thaw(self) -> None:
        """Lets a frozen server go on."""
        if self._thaw is not None:
            self._thaw.communicate()
            self._thaw = None

    def close(self) -> None:
        """Ends the server and removes its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def processes(self) -> list[int]:
        """The server's processes, the first of them stopped (SIGSTOP), so that it can start no more."""
        assert self.process is not None
        os.kill(self.pid, signal.SIGSTOP)
        return [self.pid]

    def launch(self, command: list[str]) -> subprocess.Popen[bytes]:
        arguments = [str(int(self.end_signal)), str(os.getpid()), str(self.user), *command]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-ISc", LAUNCHER, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,  # so that Ctrl-C in a terminal reaches the tests alone
                env=self.environment,
            )

    def command(self) -> list[str]:
        raise NotImplementedError

    def answers(self) -> bool:
        """Whether the server is ready."""
        raise NotImplementedError

    def forget(self) -> None:
        """Removes what the server that does not run has stored."""
        raise NotImplementedError
