"""Times and peak memory of the main jobs, as medians of processes of their own.

    python benchmarks/run.py [--runs 5] [--only NAME] [--json FILE] [--beside NAME=COMMAND ...]

Every case is a fresh process, so that nothing is warm that would not be for a user. The cases, and the commands
given with --beside (other programs, to compare in the same run), take turns: a machine whose speed drifts slows
all of them alike. Seconds are what the case reports of itself where it does (a line ``seconds=...``), else the
whole process; memory is the process's peak resident set.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
MIB = 2**20


@dataclass(frozen=True)
class Case:
    """A command, and what it should reach: seconds and MiB, None where nothing is demanded."""

    name: str
    command: list[str]
    seconds: float | None = None
    mebibytes: float | None = None


@dataclass(frozen=True)
class Run:
    """One finished process."""

    seconds: float
    mebibytes: float


def cases() -> Iterator[Case]:
    """The project's own cases; limits are for two cores."""

    def inside(job: str, *arguments: str) -> list[str]:
        return [sys.executable, str(HERE / "inside.py"), job, *arguments]

    def boards(job: str, *arguments: str) -> list[str]:
        return [sys.executable, str(HERE / "boards.py"), job, *arguments]

    def command(*arguments: str) -> list[str]:
        # The program of this environment, with a database that does not exist yet.
        program = Path(sys.executable).with_name("farthest")
        return [str(program), *arguments]

    yield Case("eight-kinds, in process", inside("enumerate", "eight-kinds"), 0.003)
    yield Case("eight-kinds, command", command("enumerate", "eight-kinds"), 0.5)
    yield Case("3x4 histogram", inside("histogram", "sliding-3x4"), 0.5, 0.4 * 1024)
    yield Case("3x4 histogram, portable", inside("histogram", "sliding-3x4", "portable"))
    yield Case("3x4 byte map in memory", inside("map", "sliding-3x4"), 0.8, 0.8 * 1024)
    yield Case("3x4 command", command("enumerate", "sliding-3x4"), 4.0, 1.2 * 1024)
    yield Case("3x4 slide histogram", inside("histogram", "sliding-3x4-slide"))
    yield Case("2x6 histogram", inside("histogram", "sliding-2x6"))
    yield Case("pancake-11 histogram", inside("histogram", "pancake-11"), 0.2)
    yield Case("pancake-12 histogram", inside("histogram", "pancake-12"), 2.0)
    yield Case("2x2x2 histogram", inside("histogram", "cube-2x2x2-htm"), 0.015)
    yield Case("English pegs histogram", inside("histogram", "pegs-english"), 1.5, 200)
    # 1,814,400 states: 300,000 a second.
    yield Case("Python class, batches", inside("run", str(HERE / "two-rows.toml")), 6.0)
    # 290,126,816 successors: 40 million a second.
    yield Case("English pegs, board by board", inside("boards", "pegs-english", "15"), 7.25)
    yield Case("Lights Out 5x5", inside("run", "lights-5x5"))
    yield Case("Hanoi, 4 pegs, 11 discs", inside("run", "hanoi-4-11"))
    # 100,803,036 and 7,618,438 states in the last two layers, 16 bytes each; 116,238,056 and 65,135,623.
    for puzzle, depth, mebibytes in (("cube-3x3x3", 7, 1654), ("15-puzzle", 27, 2767)):
        limited = command("enumerate", puzzle, "--max-depth", str(depth), "--histogram-only")
        yield Case(f"{puzzle} to depth {depth}", limited, 60.0, mebibytes)
    # On one thread.
    yield Case("pancake-20 by gaps", boards("walk", "pancake-20", "gap", "2"))
    yield Case("2x2x2 by misplaced corners", boards("walk", "cube-2x2x2-htm", "misplaced", "7"))
    yield Case("8-puzzle, 100 boards breadth first", boards("bfs", "8-puzzle", "100"), 3.0)
    yield Case("distance, cold", inside("cold", "sliding-3x4"), 0.005)
    yield Case("100,000 distances", inside("bulk", "sliding-3x4"), 1.0)


def run(command: list[str], folder: str) -> Run:
    """Runs a command in a folder of its own."""
    with tempfile.TemporaryDirectory(dir=folder) as work:
        begun = time.perf_counter()
        with subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, env=_environment(folder)) as process:
            assert process.stdout is not None
            output = process.stdout.read().decode()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        elapsed = time.perf_counter() - begun
    if process.returncode != 0:
        raise SystemExit(f"{shlex.join(command)}: exit status {process.returncode}")
    own = [line.removeprefix("seconds=") for line in output.splitlines() if line.startswith("seconds=")]
    return Run(float(own[-1]) if own else elapsed, usage.ru_maxrss * 1024 / MIB)


def _environment(folder: str) -> dict[str, str]:
    outside = {name: value for name, value in os.environ.items() if name != "FARTHEST_DATABASE_URL"}
    return outside | {"FARTHEST_BENCHMARK_DATABASE": str(Path(folder) / "shared.db")}


def revision() -> str:
    """The commit that is measured, ``-dirty`` if the sources differ from it."""
    answer = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() or "unknown"


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=int, default=5, help="counted runs of each case, after one that is not"
    )
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--beside", action="append", default=[], metavar="NAME=COMMAND")
    arguments = parser.parse_args()
    chosen = [case for case in cases() if arguments.only in case.name]
    for text in arguments.beside:
        name, _, command = text.partition("=")
        chosen.append(Case(name, shlex.split(command)))
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, list[Run]] = {case.name: [] for case in chosen}
        for turn in range(arguments.runs + 1):
            for case in chosen:
                result = run(case.command, folder)
                if turn > 0:
                    runs[case.name].append(result)
    print(f"revision {revision()}, {platform.machine()}, {os.cpu_count()} cores, medians of {arguments.runs}")
    print(f"{'case':34} {'seconds':>9} {'(min':>9} {'max)':>9} {'wanted':>8} {'MiB':>7} {'wanted':>7}")
    figures = []
    for case in chosen:
        times = [result.seconds for result in runs[case.name]]
        memory = statistics.median(result.mebibytes for result in runs[case.name])
        figures.append(
            {"case": case.name, "seconds": statistics.median(times), "runs": times, "mebibytes": memory}
        )
        print(
            f"{case.name:34} {statistics.median(times):9.4f} {min(times):9.4f} {max(times):9.4f} "
            f"{case.seconds or '':>8} {memory:7.0f} {case.mebibytes or '':>7}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps({"revision": revision(), "figures": figures}, indent=1))


if __name__ == "__main__":
    main()
