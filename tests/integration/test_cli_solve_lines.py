"""`farthest solve PUZZLE -`: boards of standard input."""

import json
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import farthest
from farthest.cli.search_progress import TerminalListReporter
from farthest.heuristics.registry import open_heuristic
from farthest.puzzles import board_sets
from farthest.search.deepening import Iteration
from integration.conftest import COMMAND, Run

HARDEST = "867254301"
LINES = f"123456780\n\n 123/456/708 \n123456870\n{HARDEST}\n"
PARITY = "parity: where all pieces are distinct, only half of the boards can be reached"


def test_a_line_for_each_board(run: Run, folder: Path) -> None:
    lines = run("solve", "8-puzzle", "-", stdin=LINES).stdout.splitlines()
    assert lines[0] == "123/456/780: 0 moves, 0 nodes, 0 s"
    assert re.fullmatch(r"123/456/708: 1 move, 3 nodes, [0-9.e-]+ s: 8-7", lines[1])
    assert lines[2].startswith(f"123/456/870: unsolvable: {PARITY}")
    assert lines[3].startswith("867/254/301: 31 moves, ")
    assert len(lines[3].rpartition(": ")[2].split()) == 31
    assert len(lines) == 4
    assert run("solve", "8-puzzle", "-", stdin="\n").stdout == ""
    assert list(folder.iterdir()) == []


def test_an_object_for_each_board(run: Run) -> None:
    result = run("solve", "8-puzzle", "-", "--all", "--limit", "2", "--json", stdin=LINES)
    found: list[dict[str, Any]] = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one["length"] for one in found] == [0, 1, None, 31]
    assert [one["board"] for one in found][1:3] == ["123/456/708", "123/456/870"]
    assert set(found[2]) == {"puzzle", "board", "target", "length", "reason", "line"}
    assert [one["line"] for one in found] == [1, 3, 4, 5]
    assert found[2]["reason"].startswith(PARITY)
    alone = json.loads(run("solve", "8-puzzle", HARDEST, "--all", "--limit", "2", "--json").stdout)
    assert (found[3]["solutions"], len(found[3]["paths"]), found[3]["reason"]) == (40, 2, None)
    assert found[3]["digest"] == alone["digest"]
    assert set(found[3]) == {*alone, "reason", "line"}


def test_the_progress_of_a_list(run: Run) -> None:
    boards = f"scramble: 8 7\n\nmoves: U\n{HARDEST}\n"
    result = run("solve", "8-puzzle", "-", "--progress", stdin=boards, status=1)
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["123/456/078:", "867/254/301:"]
    told = [line.split() for line in result.stderr.splitlines()]
    assert [line[1] for line in told if line[0] == "board"] == ["line=1", "line=3", "line=4"]
    wrong = next(line for line in result.stderr.splitlines() if line.startswith("Error: "))
    assert wrong.startswith("Error: line 3: puzzle 8-puzzle: moves 'U': move 1, 'U': ")
    assert result.stderr.splitlines()[-1] == "Error: 1 line could not be searched: 3"
    result = run("solve", "8-puzzle", "-", "--progress", stdin=LINES)
    last = dict(word.split("=") for word in result.stderr.splitlines()[-1].split()[1:])
    assert (last["boards"], last["unsolvable"], last["wrong"]) == ("4", "1", "0")
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


def test_boards_of_one_coset(run: Run, folder: Path) -> None:
    asked = ("solve", "cube-2x2x2-htm<U,R2,F2>", "-", "--subgroup", "<U,R2>")
    boards = "moves: U R2 U' R2 U\nmoves: R2 U\nmoves: F2\nmoves: Q\n"
    result = run(*asked, "--progress", stdin=boards, status=1)
    first, second, third = result.stdout.splitlines()
    assert re.search(r": 5 moves, [0-9,]+ nodes, \S+ s: U' R2 U R2 U'$", first)
    assert second.endswith(": U' R2")
    assert ": 1 move, " in third
    assert "<U,R2>: 2 boards of 1 coset; 1 board alone in a coset" in result.stderr
    assert "Error: line 4: " in result.stderr
    assert "iteration bound=4 " in result.stderr
    told = json.loads(run(*asked, "--json", stdin=boards, status=1).stdout.splitlines()[0])
    assert (told["algorithm"], told["heuristic"], told["moves"]) == ("cosets", "<U,R2>", first.split()[-5:])
    assert (told["length"], told["optimal"], told["iterations"], told["line"]) == (5, True, [], 1)
    for option in (("--all",), ("--store",), ("--to", "start")):
        assert "--subgroup solves several boards" in run(*asked, *option, stdin=boards, status=2).stderr
    assert "--subgroup solves several boards" in run(*asked[:2], "goal", *asked[3:], status=2).stderr
    assert list(folder.iterdir()) == []


def test_what_a_line_tells_of_the_options(run: Run) -> None:
    asked = ("solve", "8-puzzle", "-")
    assert ": 31 moves, 40 optimal solutions, " in run(*asked, "--all", stdin=HARDEST).stdout
    assert run(*asked, "--all", "--limit", "0", stdin=HARDEST).stdout.endswith(" s\n")
    greedy = run(*asked, "--heuristic", "misplaced+manhattan", stdin=HARDEST).stdout
    assert ", not proven shortest, " in greedy


def test_a_board_that_the_search_proves_unsolvable(run: Run) -> None:
    definition = farthest.load_puzzle("pegs-triangle-15").definition
    board = [0] * definition.cells
    board[0] = board[-1] = 1
    said = run("solve", "pegs-triangle-15", "-", stdin=definition.format_board(board)).stdout
    assert ": unsolvable: " in said


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_bad_line_is_told_and_the_others_are_solved(run: Run, options: list[str]) -> None:
    result = run("solve", "8-puzzle", "-", *options, stdin=f"{LINES}12345678\n123456780\n", status=1)
    assert result.stderr.startswith("Error: line 6: board '12345678' for 8-puzzle: ")
    assert result.stderr.endswith("Error: 1 line could not be searched: 6\n")
    if options:
        found = [json.loads(line) for line in result.stdout.splitlines()]
        assert [one["line"] for one in found] == [1, 3, 4, 5, 6, 7]
        assert (found[4]["text"], "12345678" in found[4]["error"]) == ("12345678", True)
    else:
        assert result.stdout.count("\n") == 5
    result = run("solve", "8-puzzle", "-", stdin=b"\xff\xfe\n123456780\n", status=1)
    assert (": 0 moves" in result.stdout, "line 1: " in result.stderr) == (True, True)


def test_a_search_that_needs_too_much_memory_names_its_line(run: Run) -> None:
    result = run("solve", "8-puzzle", "-", "--algorithm", "bfs", "--memory", "1kB", stdin=LINES, status=1)
    assert ": 0 moves, " in result.stdout
    assert "line 5: " in result.stderr
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
    assert run(*asked, stdin=LINES * 2).stdout.count(": 31 moves, ") == 2
    assert loaded == ["@1-4+@5-8"]


@pytest.fixture
def small_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The easiest of Korf's hundred, and one with a wrong length."""
    whole = board_sets.board_set("korf-100")
    easy = whole.boards[11]
    assert (easy.number, easy.length) == (12, 45)
    made = replace(whole, boards=(easy, replace(easy, number=13, length=43)))
    monkeypatch.setattr("farthest.cli.batches.board_set", lambda name: made)


@pytest.mark.usefixtures("small_set")
def test_a_published_set(run: Run) -> None:
    """It is of another puzzle than the one asked, which differs in how boards are written."""
    result = run("solve", "15-puzzle", "--set", "korf-100", status=1)
    first, second = result.stdout.splitlines()
    assert first.startswith("12: 14 1 9 6 / 4 8 12 5 / 7 2 3 0 / 10 11 13 15: 45 moves as published, ")
    assert ": 45 moves, 43 published, " in second
    assert "Note: korf-100 is a set of boards of 15-puzzle-blank-first" in result.stderr
    assert result.stderr.endswith("Error: 1 board not as long as published: 13\n")
    found = json.loads(
        run("solve", "15-puzzle", "--set", "korf-100", "--json", status=1).stdout.splitlines()[0]
    )
    assert (found["line"], found["length"], found["published"]) == (12, 45, 45)


def test_sets_of_other_puzzles(run: Run) -> None:
    wrong = run("solve", "24-puzzle", "--set", "korf-100", status=2).stderr
    assert "of 15-puzzle-blank-first, expected one of sliding-5x5; its sets are 'korf-felner-50'" in wrong
    assert "did you mean 'korf-100'?" in run("solve", "15-puzzle", "--set", "korf100", status=2).stderr
    some = run("solve", "15-puzzle", "--set", "korf-100:12,42", "--heuristic", "linear-conflict").stdout
    assert [line.partition(":")[0] for line in some.splitlines()] == ["12", "42"]
    wrong = run("solve", "15-puzzle", "--set", "korf-100:12,101", status=2).stderr
    assert "boards '101', expected numbers from 1 to 100; write korf-100:12,30-33" in wrong
    assert "it has none" in run("solve", "8-puzzle", "--set", "korf-100", status=2).stderr
    assert "leave BOARD out" in run("solve", "15-puzzle", "start", "--set", "korf-100", status=2).stderr
    assert "korf-felner-50: R. Korf and A. Felner's fifty" in run("puzzles", "24-puzzle").stdout
    assert "korf-100        15-puzzle-blank-first     100" in run("puzzles").stdout
    for words in ("korf", "korf-100"):
        assert "\nkorf-100 " in run("puzzles", words).stdout


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
        assert running.stdout.readline().startswith("123/456/708: 1 move, ")
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 130
        assert running.stderr.read() == "Interrupted; the same command starts from the beginning.\n"
        running.stdin.close()
