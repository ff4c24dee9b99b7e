"""`farthest solve PUZZLE -`: boards of standard input."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import farthest
from farthest.cli.search_progress import TerminalListReporter
from farthest.heuristics.registry import open_heuristic
from farthest.search.deepening import Iteration
from integration.conftest import COMMAND, Run

HARDEST = "867254301"
LINES = f"123456780\n\n 123/456/708 \n123456870\n{HARDEST}\n"
PARITY = "parity: all pieces are distinct"


def test_a_line_for_each_board(run: Run, folder: Path) -> None:
    lines = run("solve", "8-puzzle", "-", stdin=LINES).stdout.splitlines()
    assert lines[:2] == ["0 moves", "1 move: 8-7"]
    assert lines[2].startswith(f"unsolvable: {PARITY}")
    assert lines[3].startswith("31 moves: ")
    assert len(lines[3].split()) == 33
    assert len(lines) == 4
    assert run("solve", "8-puzzle", "-", stdin="\n").stdout == ""
    assert list(folder.iterdir()) == []


def test_an_object_for_each_board(run: Run) -> None:
    result = run("solve", "8-puzzle", "-", "--all", "--limit", "2", "--json", stdin=LINES)
    found: list[dict[str, Any]] = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one["length"] for one in found] == [0, 1, None, 31]
    assert [one["board"] for one in found][1:3] == ["123/456/708", "123/456/870"]
    assert set(found[2]) == {"puzzle", "board", "target", "length", "reason"}
    assert found[2]["reason"].startswith(PARITY)
    alone = json.loads(run("solve", "8-puzzle", HARDEST, "--all", "--limit", "2", "--json").stdout)
    assert (found[3]["solutions"], len(found[3]["paths"]), found[3]["reason"]) == (40, 2, None)
    assert found[3]["digest"] == alone["digest"]
    assert set(found[3]) == {*alone, "reason"}


def test_the_progress_of_a_list(run: Run) -> None:
    boards = f"scramble: 8 7\n\nmoves: U\n{HARDEST}\n"
    result = run("solve", "8-puzzle", "-", "--progress", stdin=boards, status=2)
    assert result.stdout == "2 moves: 7-6 8-7\n"
    told = [line.split() for line in result.stderr.splitlines()]
    assert [line[1] for line in told if line[0] == "board"] == ["line=1", "line=3"]
    assert result.stderr.splitlines()[-1].startswith(
        "Error: line 3: puzzle 8-puzzle: moves 'U': move 1, 'U': "
    )
    result = run("solve", "8-puzzle", "-", "--progress", stdin=LINES)
    last = dict(word.split("=") for word in result.stderr.splitlines()[-1].split()[1:])
    assert (last["boards"], last["unsolvable"]) == ("4", "1")
    assert result.stdout.count("\n") == 4


def test_a_terminal_is_told_every_few_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("farthest.cli.search_progress.time.monotonic", lambda: now[0])
    reporter = TerminalListReporter()

    def search(line: int, length: int | None, seconds: float) -> str:
        reporter.board(line)
        reporter.begun(None, 21)
        now[0] += seconds
        reporter.iteration(Iteration(21, 5, 0, 1, 0.1))
        reporter.answered(length, 1000)
        return capsys.readouterr().err

    assert search(2, 31, 0.5) == ""
    assert search(4, None, 6) == "1 board, 1,000 nodes, 6.50 s; line 4, after bound 21\n"
    assert search(5, 0, 4) == ""
    reporter.ended()
    assert capsys.readouterr().err == "3 boards, 1 of them unsolvable, 3,000 nodes, 10.5 s\n"


def test_what_a_line_tells_of_the_options(run: Run) -> None:
    asked = ("solve", "8-puzzle", "-")
    assert run(*asked, "--all", stdin=HARDEST).stdout.startswith("31 moves, 40 optimal solutions: ")
    assert run(*asked, "--all", "--limit", "0", stdin=HARDEST).stdout == "31 moves, 40 optimal solutions\n"
    greedy = run(*asked, "--heuristic", "misplaced+manhattan", stdin=HARDEST).stdout
    assert ", not proven shortest: " in greedy


def test_a_board_that_the_search_proves_unsolvable(run: Run) -> None:
    definition = farthest.load_puzzle("pegs-triangle-15").definition
    board = [0] * definition.cells
    board[0] = board[-1] = 1
    said = run("solve", "pegs-triangle-15", "-", stdin=definition.format_board(board)).stdout
    assert said.startswith("unsolvable: ")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_what_is_before_a_bad_line_is_solved(run: Run, options: list[str]) -> None:
    result = run("solve", "8-puzzle", "-", *options, stdin=f"{LINES}12345678\n123456780\n", status=2)
    assert result.stdout.count("\n") == 4
    assert result.stderr.startswith("Error: line 6: board '12345678' for 8-puzzle: ")
    result = run("solve", "8-puzzle", "-", stdin=b"123456780\n\xff\xfe\n", status=2)
    assert (result.stdout, "line 2: " in result.stderr) == ("0 moves\n", True)


def test_a_search_that_needs_too_much_memory_names_its_line(run: Run) -> None:
    result = run("solve", "8-puzzle", "-", "--algorithm", "bfs", "--memory", "1kB", stdin=LINES, status=2)
    assert result.stdout.startswith("0 moves\n")
    assert "line 3: " in result.stderr or "line 5: " in result.stderr
    assert "--memory" in result.stderr


def test_what_is_wrong_for_all_lines_names_none(run: Run) -> None:
    for options in (["--heuristic", "manhatten"], ["--to", "nowhere"], ["--algorithm", "bfs", "--all"]):
        said = run("solve", "8-puzzle", "-", *options, stdin="oops", status=2).stderr
        assert "Error: " in said
        assert "line 1" not in said


def test_tables_are_loaded_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for pattern in ("8-puzzle@1-4", "8-puzzle@5-8"):
        farthest.enumerate(pattern).close()
    loaded = []

    def counted(*arguments: Any) -> Any:
        loaded.append(arguments[0])
        return open_heuristic(*arguments)

    monkeypatch.setattr("farthest.coordinator.search.solve.open_heuristic", counted)
    asked = ("solve", "8-puzzle", "-", "--heuristic", "@1-4+@5-8")
    assert run(*asked, stdin=LINES * 2).stdout.count("31 moves: ") == 2
    assert loaded == ["@1-4+@5-8"]


@pytest.mark.slow
def test_answers_come_before_the_next_line_and_stay_at_ctrl_c(folder: Path) -> None:
    command = [*COMMAND, "solve", "8-puzzle", "-", "--threads", "1"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write("123456708\n")
        running.stdin.flush()
        assert running.stdout.readline() == "1 move: 8-7\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 130
        assert running.stderr.read() == ""
        running.stdin.close()
