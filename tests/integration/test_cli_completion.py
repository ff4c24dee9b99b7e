"""What shells complete: through click's own protocol, and in bash itself."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from farthest.cli.app import cli
from farthest.puzzles import catalogue
from integration.conftest import COMMAND, Run, alter

Completed = dict[str, "str | None"]


def complete(*words: str) -> Completed:
    """The words that may stand in the place of the last one, with what is said of them."""
    *before, incomplete = words
    found = ShellComplete(cli, {}, "farthest", "_FARTHEST_COMPLETE").get_completions(before, incomplete)
    return {item.value if item.type == "plain" else item.type: item.help for item in found}


def wanted(parameter: click.Parameter) -> bool:
    """Whether a shell can know what the parameter may be."""
    if isinstance(parameter, click.Option) and (
        parameter.is_flag or parameter.name in ("name", "cors_origin")
    ):
        return False
    if parameter.name in (
        "boards",
        "board",
        "path_of",
        "allow_module",
        "generators",
        "subgroup",
        "sequences",
    ):
        return False
    return not isinstance(parameter.type, click.IntRange | click.FloatRange) and parameter.metavar != "SIZE"


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_parameter_completes(name: str, run: Run, folder: Path) -> None:
    run("enumerate", "3-puzzle")
    command = cli.commands[name]
    for parameter in command.params:
        if wanted(parameter):
            found = parameter.shell_complete(click.Context(command, info_name=name), "")
            assert found, f"{name} {parameter.name}"


def test_puzzles_and_their_files(folder: Path) -> None:
    for name in ("mine.toml", "cubes.gap", "cube.csv", "cu be.toml", "cu\x1b.toml"):
        (folder / name).touch()
    found = complete("enumerate", "cu")
    assert list(found) == [*(each for each in catalogue.names() if each.startswith("cu")), "cubes.gap"]
    assert found["cuboid-1x3x3"] == "1x3x3 cuboid (Floppy Cube)"
    assert {*catalogue.names(), "mine.toml", "cubes.gap"} == complete("draw", "").keys()
    assert list(complete("solve", "./")) == ["file"]


def test_jobs(place: str, run: Run) -> None:
    assert complete("distance", "") == {}
    run("enumerate", "3-puzzle")
    run("enumerate", "3-puzzle", "--from", "start")
    run("submit", "8-puzzle")
    assert complete("show", "") == {
        "3": "8-puzzle, queued",
        "2": "3-puzzle, finished",
        "1": "3-puzzle, finished",
        "8-puzzle": "newest: job 3, queued",
        "3-puzzle": "newest: job 2, finished",
    }
    assert list(complete("show", "3")) == ["3", "3-puzzle"]
    assert complete("cancel", "--database", "nothing.db", "") == {}


def test_completion_leaves_the_database_as_it_is(run: Run, folder: Path) -> None:
    run("enumerate", "3-puzzle")
    before = sorted(os.listdir())
    assert complete("show", "1")
    assert sorted(os.listdir()) == before


def test_what_a_database_holds_steers_no_shell(run: Run) -> None:
    run("enumerate", "3-puzzle")
    alter("UPDATE job SET name = 'a' || char(27) || '[2J' || char(10) || 'plain,rm'")
    environment = {
        **os.environ,
        "_FARTHEST_COMPLETE": "zsh_complete",
        "COMP_WORDS": "farthest show ",
        "COMP_CWORD": "2",
    }
    result = subprocess.run(COMMAND, capture_output=True, env=environment, check=True)
    assert result.stdout.decode().splitlines() == ["plain", "1", "a\\u001b[2J plain,rm, finished"]
    assert result.stderr == b""


def test_heuristics_and_lists() -> None:
    assert "manhattan" in complete("solve", "8-puzzle", "--heuristic", "")
    assert "gap" in complete("solve", "pancake-7", "--heuristic", "")
    assert "gap" not in complete("solve", "8-puzzle", "--heuristic", "")
    assert list(complete("compare", "8-puzzle", "--heuristic", "zero,sym:man")) == ["zero,sym:manhattan"]
    assert list(complete("heuristic", "1", "--heuristic", "misplaced+man")) == ["misplaced+manhattan"]
    assert list(complete("compare", "8-puzzle", "--algorithms", "bfs,a")) == ["bfs,astar"]


@pytest.mark.parametrize(("words", "at_most"), [("enumerate ", set()), ("show ", {"sqlite3"})])
def test_completion_imports_little(words: str, at_most: set[str], run: Run) -> None:
    run("enumerate", "3-puzzle")
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules))\n"
        "from farthest.cli.app import cli\n"
        "cli(prog_name='farthest')\n"
    )
    environment = {
        **os.environ,
        "_FARTHEST_COMPLETE": "bash_complete",
        "COMP_WORDS": f"farthest {words}",
        "COMP_CWORD": "2",
    }
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", env=environment, check=True
    ).stdout
    heavy = {"numpy", "sqlalchemy", "sqlite3", "psycopg", "rich", "farthest._kernel"}
    assert heavy & set(output.splitlines()[-1].split()) == at_most


@pytest.mark.slow
@pytest.mark.parametrize("silent", [True, False])
def test_a_server_that_does_not_answer(silent: bool, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if not silent:
            server.close()  # who connects is refused
        url = f"postgresql://user:secret@127.0.0.1:{port}/x"
        environment = {
            **os.environ,
            "FARTHEST_DATABASE_URL": url,
            "_FARTHEST_COMPLETE": "bash_complete",
            "COMP_WORDS": "farthest show ",
            "COMP_CWORD": "2",
        }
        begun = time.monotonic()
        result = subprocess.run(COMMAND, capture_output=True, env=environment, timeout=30, check=True)
        assert time.monotonic() - begun < 10
    assert (result.stdout.strip(), result.stderr) == (b"", b"")


@pytest.mark.slow
def test_bash(run: Run, folder: Path) -> None:
    run("enumerate", "3-puzzle")
    programs = folder / "bin"
    programs.mkdir()
    (programs / "farthest").write_text(
        f'#!/bin/sh\nexec {sys.executable} {" ".join(map(repr, COMMAND[1:]))} "$@"\n'
    )
    (programs / "farthest").chmod(0o755)
    script = (
        'eval "$(farthest completion bash)"\n'
        'ask() { COMP_WORDS=(farthest "$@"); COMP_CWORD=$#; _farthest_completion farthest; echo "${COMPREPLY[@]}"; '
        "COMPREPLY=(); }\n"
        "ask enumerate cuboid-2; ask show 1; ask resume --h; ask completion z\n"
    )
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    result = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=environment, check=True
    )
    assert result.stdout.splitlines() == ["cuboid-2x2x3", "1", "--here --help", "zsh"]
    assert result.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(run: Run, shell: str) -> None:
    assert f"_FARTHEST_COMPLETE={shell}_complete" in run("completion", shell).stdout
