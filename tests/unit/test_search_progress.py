"""What a search that is not watched on a terminal says of its progress."""

import io
import sys
from collections.abc import Callable

import pytest

from farthest.cli import printing as messages
from farthest.cli.progress import LiveReporter, QuietReporter
from farthest.cli.search_progress import LineSearchReporter, QuietSearchReporter
from farthest.safe_text import safe_streams


def test_only_news_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = LineSearchReporter()
    known = {"bound": 40, "nodes": 10, "pieces_waiting": 3}
    for nodes in (10, 10, 20, 20, 10):
        known["nodes"] = nodes
        reporter.progress(known)
    told = [line.split()[2] for line in capsys.readouterr().err.splitlines()]
    assert told == ["nodes=10", "nodes=20", "nodes=10"]


@pytest.mark.parametrize("reporter", [QuietReporter(), QuietSearchReporter()])
def test_a_signal_is_told_while_a_line_is_written(
    reporter: QuietReporter | QuietSearchReporter,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A handler may run in the midst of a write, and a buffer cannot be written to twice at once."""

    class Interrupted(io.RawIOBase):
        said = b""

        def writable(self) -> bool:
            return True

        def write(self, line: object) -> int:
            reporter.stopping()
            text = bytes(line)  # type: ignore[call-overload]
            self.said += text
            return len(text)

    stream = Interrupted()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BufferedWriter(stream), encoding="utf-8"))
    reporter.notice("a server is away")
    assert stream.said == b"Note: a server is away.\n"
    assert capfd.readouterr().err.startswith("Stopping after ")


@pytest.mark.parametrize(("tell", "what"), [(messages.note, "Note"), (messages.warn, "Warning")])
def test_a_message_is_one_line(
    tell: Callable[[str], None], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tell("a server\n  is away")
    tell("it is there again.")
    assert capsys.readouterr().err == f"{what}: a server is away.\n{what}: it is there again.\n"


def test_a_message_is_a_line_of_its_own_above_the_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")

    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with safe_streams():
        before = sys.stderr
        reporter = LiveReporter(10**9)
        reporter.followed({"depth": 3}, 1.0)
        reporter.notice("a text that is longer than forty columns, \x1b[2J and steers the terminal")
        reporter.stop()
        assert sys.stderr is before
    note = "Note: a text that is longer than forty columns, \\u001b[2J and steers the terminal.\n"
    shown, _, _ = terminal.getvalue().partition(note)
    assert note in terminal.getvalue()
    assert shown.endswith(("\x1b[2K", "\x1b[?25l"))  # the live line is gone, or was not there yet
