"""What the build needs is told in one line each before anything is compiled; what failed is shown in full."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = ROOT / ".ci" / "check-needs"
COMPILE = ROOT / ".ci" / "compile.py"
PROGRAMS = ROOT / ".ci" / "programs"


def check(python: str | Path = sys.executable, **environment: str) -> tuple[int, list[str]]:
    """The exit status and the lines of the check."""
    done = subprocess.run(
        [CHECK, python], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert not done.stdout
    return done.returncode, done.stderr.splitlines()


def program(path: Path, text: str) -> Path:
    """A shell script that does what the text says."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def tools(folder: Path, *names: str) -> str:
    """A PATH on which there are only these programs."""
    folder.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return str(folder)


@pytest.mark.slow
def test_nothing_is_told_where_nothing_is_missing() -> None:
    assert check() == (0, [])


@pytest.mark.parametrize("names", [("make",), ("sh",)])
def test_a_missing_program_is_one_line(tmp_path: Path, names: tuple[str, ...]) -> None:
    status, lines = check(PATH=tools(tmp_path / "bin", *names), CXX="")
    assert status == 1
    assert "a C++20 compiler is missing" in lines[-1]
    assert all(word in lines[-1] for word in ("apt install g++", "dnf install gcc-c++", "xcode-select"))
    assert ["make is missing" in line for line in lines[:-1]] == [True] * ("make" not in names)


def test_programs_that_cannot_be_had_are_told_and_are_no_failure(tmp_path: Path) -> None:
    environment = {"PATH": tools(tmp_path / "bin", "sh", "id", "grep")}
    done = subprocess.run([PROGRAMS], env=environment, capture_output=True, text=True, check=True)
    for line, name in zip(
        done.stderr.splitlines()[-2:], ("chromium-headless-shell", "prometheus"), strict=True
    ):
        assert line.startswith(f"farthest: {name} is not installed: its tests will be skipped")


def test_an_old_compiler_is_one_line() -> None:
    status, lines = check(CXX="/bin/false")
    assert (status, len(lines)) == (1, 1)
    assert lines[0].startswith("farthest: /bin/false does not compile C++20, which takes GCC 11 or Clang 14")


@pytest.mark.slow
# Each line of Python that the check runs imports what it looks for.
@pytest.mark.parametrize(
    ("fails", "told"),
    [
        ("*version_info*", "Python 3.11 or newer is needed"),
        ("*ensurepip*", "the module venv or ensurepip of"),
        ("*Python.h*", "the headers of"),
    ],
)
def test_what_a_python_lacks_is_one_line(tmp_path: Path, fails: str, told: str) -> None:
    python = program(tmp_path / "python", f'case "$2" in {fails}) exit 1;; esac\nexec {sys.executable} "$@"')
    status, lines = check(python, CXX="/bin/true")
    assert (status, len(lines)) == (1, 1)
    assert told in lines[0]
    assert all(word in lines[0] for word in ("apt install python3", "dnf install python3", "brew install"))


def compiling(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, COMPILE, "the kernel", *command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_progress_is_shown_and_a_success_is_quiet(tmp_path: Path) -> None:
    command = program(
        tmp_path / "ninja", 'echo "[1/7] Building CXX object a.o"; echo "told -j$CMAKE_BUILD_PARALLEL_LEVEL"'
    )
    done = compiling(command, JOBS="3")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "== compiling the kernel (7 steps, 3 at a time)\n"


def test_a_failure_is_shown_in_full(tmp_path: Path) -> None:
    command = program(
        tmp_path / "ninja", 'echo "[1/7] Building CXX object a.o"; echo "a.cpp:3: error"; exit 2'
    )
    done = compiling(command)
    assert done.returncode == 2
    assert "a.cpp:3: error\n" in done.stderr


def test_fewer_compilers_run_where_memory_is_small(tmp_path: Path) -> None:
    command = program(tmp_path / "ninja", 'echo "[1/7] Building CXX object a.o"')
    limited = f'ulimit -v 1500000; exec {sys.executable} {COMPILE} "the kernel" {command}'
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("JOBS", "CMAKE_BUILD_PARALLEL_LEVEL")
    }
    done = subprocess.run(["sh", "-c", limited], env=environment, capture_output=True, text=True, check=False)
    if len(os.sched_getaffinity(0)) > 1:
        assert "1 at a time: 1.4 GB of memory are free, and each takes 1 GB" in done.stdout
    small = limited.replace("1500000", "400000")
    done = subprocess.run(["sh", "-c", small], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("farthest: 0.4 GB of memory are free, and compiling takes 1 GB")
    assert done.stderr.count("\n") == 1


def test_a_number_of_jobs_that_is_none_is_told() -> None:
    done = compiling("true", JOBS="many")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "JOBS=many: expected a number" in done.stderr
