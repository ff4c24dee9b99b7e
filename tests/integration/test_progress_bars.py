"""Progress bars of Python's functions, in IPython's own display machinery and in a terminal."""

import os
import pty
import re
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import farthest
from farthest.api import bars
from farthest.cli.printing import note
from farthest.safe_text import safe_streams


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bars show everything at once."""
    monkeypatch.setattr(bars, "PATIENCE", 0.0)
    monkeypatch.setattr(bars.Bar, "apart", 0.0)
    monkeypatch.setattr(bars.LineBar, "apart", 0.0)


def in_notebook(code: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The outputs that a cell shows, each update of one as one more."""
    shell: Any = InteractiveShell.instance()
    monkeypatch.setattr(shell, "kernel", "a kernel", raising=False)
    try:
        with capture_output() as captured:
            shell.run_cell(f"import farthest\n{code}").raise_error()
    finally:
        InteractiveShell.clear_instance()
    return list(captured.outputs)


@pytest.mark.usefixtures("eager")
def test_a_notebook_shows_a_bar_and_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = in_notebook("farthest.histogram('8-puzzle');", monkeypatch)
    texts = [output.data["text/plain"] for output in shown]
    assert any(text.startswith("depth 30 · 221 new · 181,438 states") for text in texts)
    assert "value=" in shown[-2].data["text/html"]
    assert texts[-1] == "" == shown[-1].data["text/html"]
    assert not in_notebook("farthest.histogram('8-puzzle', progress=False);", monkeypatch)


def test_what_is_quickly_done_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not in_notebook("farthest.histogram('3-puzzle');", monkeypatch)


def read_all(terminal: int, parts: list[bytes]) -> None:
    with suppress(OSError):  # nobody writes there any more
        while part := os.read(terminal, 65536):
            parts.append(part)


Streams = Callable[[], AbstractContextManager[None]]


def on_a_terminal(act: Callable[[], object], streams: Streams, monkeypatch: pytest.MonkeyPatch) -> str:
    """What comes there."""
    ours, theirs = pty.openpty()
    parts: list[bytes] = []
    reader = threading.Thread(target=read_all, args=(ours, parts))
    reader.start()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with streams():
            act()
    reader.join()
    os.close(ours)
    return b"".join(parts).decode()


@pytest.mark.parametrize("streams", [nullcontext, safe_streams], ids=["Python", "command"])
@pytest.mark.usefixtures("eager")
def test_a_terminal_shows_a_line(streams: Streams, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_a_terminal(lambda: farthest.histogram("3-puzzle"), streams, monkeypatch)
    assert "depth 6" in shown
    assert "12 states" in shown
    assert "\x1b[?25h" in shown  # the cursor is there again
    assert "\\u" not in shown  # what steers the terminal is no text


@pytest.mark.parametrize("streams", [nullcontext, safe_streams], ids=["Python", "command"])
@pytest.mark.usefixtures("eager")
def test_a_message_has_a_line_of_its_own(streams: Streams, monkeypatch: pytest.MonkeyPatch) -> None:
    def act() -> None:
        before = sys.stderr
        with bars.progress_bar(None) as bar:
            bar.tell("1 of 2", 0.5)
            note("no worker is alive")
            bar.tell("2 of 2", 1.0)
        assert sys.stderr is before

    shown = on_a_terminal(act, streams, monkeypatch)
    assert re.search(r"\r(\x1b\[[0-9;]*[A-Za-z])*Note: no worker is alive\.\r?\n", shown)
    assert "2 of 2" in shown[shown.index("Note") :]


@pytest.mark.usefixtures("eager")
def test_elsewhere_lines_are_shown_where_they_are_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    farthest.histogram("3-puzzle")
    assert capfd.readouterr().err == ""
    farthest.histogram("3-puzzle", progress=True)
    assert "100%: depth 6 · 1 new · 12 states" in capfd.readouterr().err


@pytest.mark.usefixtures("eager")
def test_many_boards_are_solved(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    boards = ["867254301", "213456780", "123456780"]  # of the second no moves lead to the goal
    found = farthest.solve_many("8-puzzle", boards, database=tmp_path / "none.db", progress=True)
    assert [outcome and outcome.length for outcome in found] == [31, None, 0]
    assert "67%: 2 of 3 boards" in capfd.readouterr().err
    assert not list(tmp_path.iterdir())
    farthest.compare("8-puzzle", boards[2:], algorithms="bfs,ida", progress=True)
    assert "50%: 1 of 2 searches" in capfd.readouterr().err
