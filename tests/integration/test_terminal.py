"""Commands in a terminal of their own: Ctrl-C and changes of its size leave no traceback and no hidden cursor."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from integration.conftest import COMMAND, Run, forge

CTRL_C = b"\x03"
HIDE, SHOW = b"\x1b[?25l", b"\x1b[?25h"
LIMIT_SECONDS = 60.0
DELAYED = "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3"


@dataclass(frozen=True)
class Seen:
    """What a command has shown, and its status."""

    shown: bytes
    status: int

    def sane(self) -> bool:
        """No traceback, no control character as text, and a cursor."""
        unwanted = (b"Traceback", b"Exception ignored", b"Aborted!", b"\\u001b")
        return not any(word in self.shown for word in unwanted) and self.shown.rfind(
            SHOW
        ) >= self.shown.rfind(HIDE)

    def too_early(self) -> bool:
        """The interrupt fell into the start of Python itself, before the program's first line."""
        if b"Fatal Python error: init_" in self.shown:  # init_import_site, init_sys_streams
            return True
        return self.status == -signal.SIGINT and (self.shown == b"^C" or b"KeyboardInterrupt" in self.shown)


def in_terminal(command: list[str], *steps: tuple[str, bytes | tuple[int, int]]) -> Seen:
    """Runs a command in a terminal. A step waits until what was shown after the step before matches a pattern; then it
    types the bytes, or gives the terminal another size of rows and columns."""
    process, terminal = pty.fork()
    if process == 0:
        os.execvp(command[0], command)
    shown, looked, waiting = b"", 0, list(steps)
    end = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                some = os.read(terminal, 65536)
            except OSError:  # the command has ended
                break
            shown += some
        if waiting and re.search(waiting[0][0].encode(), shown[looked:], re.DOTALL):
            _, what = waiting.pop(0)
            looked = len(shown)
            if isinstance(what, bytes):
                os.write(terminal, what)
            else:
                fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *what, 0, 0))
    else:
        os.kill(process, 9)
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert not waiting, (waiting, shown)
    return Seen(shown, status)


def announced(*arguments: str, module: str) -> list[str]:
    """A command that says `importing` and waits a while when it imports a module."""
    code = (
        "import sys, time\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            print('importing', flush=True)\n"
        "            time.sleep(30)\n"
        "sys.meta_path.insert(0, Finder())\n"
        f"sys.argv[1:] = {list(arguments)!r}\n"
        "from farthest.cli.entry import main; main()"
    )
    return [sys.executable, "-c", code]


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        "farthest.cli.interruption",
        "farthest.cli.app",
        "sqlalchemy",
        "numpy",
    ],
)
def test_interrupt_while_modules_are_imported(module: str, run: Run) -> None:
    run("enumerate", "3-puzzle")
    seen = in_terminal(announced("verify", "1", module=module), ("importing", CTRL_C))
    assert seen.sane(), seen
    assert seen.status == 130


def test_interrupt_that_falls_into_the_end_of_an_object(folder: Path) -> None:
    code = (
        "import os, signal, sys, time\n"
        "from farthest.cli.entry import main\n"
        "from farthest.cli.app import cli\n"
        "class Held:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(0)\n"
        "def command(**options):\n"
        "    Held()\n"
        "    time.sleep(30)\n"
        "cli.commands['jobs'].callback = command\n"
        "sys.argv[1:] = ['jobs']\n"
        "main()"
    )
    seen = in_terminal([sys.executable, "-c", code])
    assert seen.sane(), seen
    assert seen.status == 130


def test_interrupt_that_does_not_end_the_read_under_way(run: Run) -> None:
    """As one that arrives just before the read begins: here another thread receives it."""
    run("enumerate", "3-puzzle")
    code = (
        "import signal, sys, threading, time\n"
        "from farthest.cli.entry import main\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\n"
        "sys.argv[1:] = ['distance', '1', '-']\n"
        "main()"
    )
    seen = in_terminal([sys.executable, "-c", code], ("", b"1203\n"), ("unreachable", CTRL_C))
    assert seen.sane(), seen
    assert seen.status == 130


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "steps"),
    [
        (["distance", "1", "-"], [("", (10, 33)), ("", b"1203\n"), ("unreachable", CTRL_C)]),
        (["random", "15-puzzle", "-n", "100000000"], [(r"\r\n.*\r\n", (10, 33)), (r"\r\n", CTRL_C)]),
        (["export", "1", "--format", "csv", "-"], [("", CTRL_C)]),
        (
            ["enumerate", "sliding-3x4-slide", "--histogram-only", "--threads", "1"],
            [("depth", (10, 33)), ("depth", CTRL_C), ("", CTRL_C)],
        ),
        (
            ["enumerate", "sliding-3x4-slide", "--histogram-only", "--threads", "1"],
            [("depth", CTRL_C + CTRL_C + CTRL_C)],
        ),
        pytest.param(
            ["solve", "15-puzzle-blank-first", DELAYED, "--algorithm", "bfs", "--memory", "1GiB"],
            [("", CTRL_C)],
            marks=pytest.mark.night,
        ),
        (["solve", "15-puzzle-blank-first", DELAYED, "--all"], [("bound 4", (10, 33)), ("bound 5", CTRL_C)]),
        pytest.param(
            ["compare", "8-puzzle", "--algorithms", "bfs", "--instances", "3000"],
            [("searches", (10, 33)), ("searches", CTRL_C)],
            marks=pytest.mark.night,
        ),
        (["survey", "rush-hour-6x6", "--pieces", "7"], [("parts", (10, 33)), ("parts", CTRL_C)]),
        (["watch", "2"], [("no room", (10, 33)), ("", CTRL_C)]),
    ],
    ids=lambda value: value[0] if isinstance(value[0], str) else None,
)
def test_interrupt_and_another_size(
    arguments: list[str],
    steps: list[tuple[str, bytes | tuple[int, int]]],
    run: Run,
) -> None:
    run("enumerate", "3-puzzle")
    run("submit", "8-puzzle")
    forge("UPDATE job SET error = 'no room' WHERE id = 2")
    seen = in_terminal([*COMMAND, *arguments], *steps)
    if steps[0] == ("", CTRL_C) and seen.too_early():
        return
    assert seen.sane(), seen
    assert seen.status == 130 or (arguments[0] == "export" and seen.status == 0), seen


@pytest.mark.slow
def test_services_end_at_an_interrupt(folder: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    for command, begun in (["worker", "--concurrency", "1"], "INFO.*INFO"), (["coordinator"], "INFO.*INFO"):
        seen = in_terminal([*COMMAND, *command], (begun, (10, 33)), ("", CTRL_C))
        assert seen.sane(), seen
        assert seen.status == 0, seen


@pytest.mark.parametrize("command", ["worker", "coordinator", "workers"])
def test_services_without_a_server(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARTHEST_REDIS_URL", "redis://127.0.0.1:1/0")
    seen = in_terminal([*COMMAND, command], ("", CTRL_C))
    assert seen.too_early() or (seen.sane() and seen.status in (0, 2, 130)), seen


@pytest.mark.parametrize(
    "arguments",
    ["puzzles", "random 15-puzzle -n 1000000 --seed 1", "solve --help"],
)
def test_a_pipe_that_is_closed(arguments: str) -> None:
    with subprocess.Popen(
        [*COMMAND, *arguments.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait(60) == 141
