"""What only a process of its own shows: exit statuses, pipes, signals, streams, and what is imported."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from integration.conftest import COMMAND, Process

COMMANDS = (
    "puzzles",
    "enumerate",
    "submit",
    "watch",
    "cancel",
    "resume",
    "jobs",
    "show",
    "delete",
    "distance",
    "path",
    "states",
    "export",
    "plot",
    "verify",
    "worker",
    "workers",
    "coordinator",
    "migrate",
)


def test_help_names_the_commands(process: Process) -> None:
    result = process("--help")
    assert result.returncode == 0
    for command in COMMANDS:
        assert f"\n  {command} " in result.stdout
    assert process("-h").stdout == result.stdout


def test_version(process: Process) -> None:
    name, version = process("--version").stdout.split()
    assert name == "farthest"
    assert version[0].isdigit()


@pytest.mark.slow
def test_statuses(process: Process) -> None:
    assert process("jobs").returncode == 2
    assert process("nothing").returncode == 2
    assert process("enumerate", "3-puzzle").returncode == 0


@pytest.mark.slow
def test_an_enumeration_imports_no_more_than_it_needs(folder: Path) -> None:
    code = (
        "import sys\n"
        "from farthest.cli.app import cli\n"
        "cli(['enumerate', 'eight-kinds', '--json'], standalone_mode=False)\n"
        "print(*sys.modules)\n"
    )
    command = [COMMAND[0], "-c", code]
    output = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    imported = output.splitlines()[-1].split()
    assert "sqlalchemy" in imported
    unwanted = {"numpy", "rich", "alembic", "sqlalchemy.orm", "matplotlib", "pyarrow", "farthest.queries"}
    unwanted |= {"celery", "kombu", "redis", "psycopg"}
    assert unwanted.isdisjoint(imported)


def test_help_imports_click_alone() -> None:
    code = "import sys\nfrom farthest.cli.app import cli\nprint(*sys.modules)"
    imported = subprocess.run(
        [COMMAND[0], "-c", code], capture_output=True, encoding="utf-8", check=True
    ).stdout
    unwanted = {"numpy", "rich", "sqlalchemy", "farthest._kernel", "farthest.puzzles", "farthest.queries"}
    assert unwanted.isdisjoint(imported.split())


@pytest.mark.slow
def test_a_reader_that_goes_away(process: Process) -> None:
    process("enumerate", "8-puzzle")
    for arguments in (["states", "1", "--depth", "24"], ["states", "1", "--depth", "24", "--json"]):
        with subprocess.Popen(
            [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            running.stdout.read(1)
            running.stdout.close()
            assert running.stderr.read() == b""
            assert running.wait(60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_standard_output_that_is_full(process: Process) -> None:
    with open("/dev/full", "w") as full:
        result = process("puzzles", stdout=full)
    assert result.returncode == 2
    assert result.stderr.startswith("Error: standard output: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_messages_that_cannot_be_written_change_no_status(process: Process) -> None:
    for arguments, status in (
        (["enumerate", "3-puzzle", "--progress"], 0),
        (["verify", "99"], 2),
        (["verify", "1", "--bogus"], 2),
        (["puzzles", "nix"], 2),
    ):
        with open("/dev/full", "w") as full:
            assert process(*arguments, stderr=full).returncode == status, arguments


def test_standard_output_that_cannot_show_a_board(process: Process) -> None:
    result = process("puzzles", "eight-kinds", env={"PYTHONIOENCODING": "latin-1"})
    assert result.returncode == 2
    assert "PYTHONIOENCODING=utf-8" in result.stderr
    assert "Traceback" not in result.stderr
    result = process("puzzles", "eight-kinds", "--json", env={"PYTHONIOENCODING": "latin-1"})
    assert json.loads(result.stdout)["start"] == "┘│└/─□─/┐│┌"


@pytest.mark.slow
def test_interrupt_of_an_enumeration(folder: Path, process: Process) -> None:
    command = [*COMMAND, "enumerate", "sliding-3x4", "--progress"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith("layer depth=20"):
                running.send_signal(signal.SIGINT)
                break
        said = running.stderr.read()
        assert running.wait(120) == 130
    assert "Traceback" not in said
    assert "Stopping after this layer" in said
    kept = re.search(
        r"Interrupted; farthest.db keeps the layers up to (\d+). The same command continues", said
    )
    assert kept is not None
    assert int(kept[1]) >= 20
    jobs = json.loads(process("jobs", "--json").stdout)["jobs"]
    assert [job["status"] for job in jobs] == ["interrupted"]
    error = process("distance", "sliding-3x4", "0").stderr
    assert "farthest enumerate sliding-3x4" in error


@pytest.mark.slow
def test_closed_streams_are_told_or_left_alone(folder: Path) -> None:
    def shell(line: str) -> subprocess.CompletedProcess[str]:
        command = f"{shlex.join(COMMAND)} {line}"
        return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)

    assert shell("enumerate 3-puzzle").returncode == 0
    for line, status in (
        ("distance 1 - <&-", 2),
        ("states 1 --farthest --json >&-", 0),
        ("export 1 --format csv - >&-", 2),
        ("--help > /dev/full", 2),
        ("--version > /dev/full", 2),
        ("show \"$(printf '\\377')\"", 2),
    ):
        result = shell(line)
        assert result.returncode == status, line
        assert "Traceback" not in result.stderr, line
        assert result.stderr.count("\n") == (0 if status == 0 else 1), line


@pytest.mark.slow
def test_results_that_contradict_the_file_are_pointed_out(folder: Path, process: Process) -> None:
    text = (
        'name = "small"\ntitle = "t"\nsource = "s"\nfamily = "sliding"\nmetric = "step"\n'
        '[sliding]\ngoal = "1 2 0"\n[[known]]\nsource = "hearsay"\nstates = 7\neccentricity = 2\n'
    )
    (folder / "small.toml").write_text(text)
    result = process("enumerate", "./small.toml")
    assert result.returncode == 0
    assert result.stderr == (
        "Warning: small: states known from 'hearsay': 7, found: 3; check the puzzle's file, or its source.\n"
    )


@pytest.mark.slow
def test_signals_that_are_ignored_stay_ignored(process: Process) -> None:
    command = ["nohup", *COMMAND, "enumerate", "sliding-3x4", "--max-depth", "26", "--progress"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith("layer depth=20"):
                running.send_signal(signal.SIGHUP)
                break
        assert "Stopping" not in running.stderr.read()
        assert running.wait(120) == 0


@pytest.mark.slow
def test_interrupt_while_reading(process: Process) -> None:
    process("enumerate", "3-puzzle")
    with subprocess.Popen(
        [*COMMAND, "distance", "1", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        time.sleep(1.5)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert running.stderr is not None
        assert running.stderr.read() == b"Interrupted; the same command starts from the beginning.\n"


@pytest.mark.slow
def test_a_terminal_sees_what_is_needed(folder: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "enumerate", "3-puzzle", "--json"], stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as running:
        os.close(theirs)
        assert running.stdout is not None
        assert json.loads(running.stdout.read())["states"] == 12
    assert b"at most 12 states; needs " in os.read(ours, 10_000)
    os.close(ours)


@pytest.mark.slow
def test_a_terminal_is_not_given_what_is_not_text(process: Process) -> None:
    assert process("enumerate", "3-puzzle").returncode == 0
    ours, theirs = pty.openpty()
    for form, status, shown in (("npz", 2, b""), ("csv", 0, b"key,board,distance")):
        result = subprocess.run(
            [*COMMAND, "export", "1", "--format", form, "-"],
            stdout=theirs,
            stderr=subprocess.PIPE,
            check=False,
        )
        assert result.returncode == status
        assert (b"is a terminal" in result.stderr) == (status == 2)
        if shown:
            assert os.read(ours, 10_000).startswith(shown)
    os.close(theirs)
    os.close(ours)
