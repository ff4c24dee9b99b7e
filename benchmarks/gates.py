"""Gates: the times of one commit beside those of another, in one run.

    python benchmarks/gates.py OLD NEW [--runs 5] [--only NAME]
    python benchmarks/gates.py --loaded [CHECKOUT]

OLD and NEW are folders of checkouts. A checkout runs in its own ``.venv`` with the farthest that is installed there;
where it has none, in this environment, with its ``src`` in PYTHONPATH. The two take turns, so that a machine whose
speed drifts slows both alike. Printed are medians of the wall time, the ratios of the medians and of the least times,
the ratio of the least processor times (without those of servers; better on a machine that others use), and each gate
whose median is more than 3 % above the old one; the exit status is 1 where there is one.

``--loaded`` says how many of our own modules, and lines of them, some commands load.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent.parent
ALLOWED = 1.03
PROGRAM = "from farthest.cli.entry import main; main()"
TELLING = f"""
import atexit, os, sys

file, leave = sys.argv.pop(1), os._exit

def tell(*status):
    ours = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "farthest"]
    with open(file, "w") as said:
        said.writelines(f"{{module.__file__}}\\n" for module in ours if str(module.__file__).endswith(".py"))
    if status:
        leave(*status)

atexit.register(tell)
os._exit = tell
{PROGRAM}
"""
"""The program that writes to a file, at its end, which of its own modules it has loaded."""

FIELDS = ("seconds=", '{"puzzle"')
"""How the line begins in which a benchmark tells its time: else the time of the whole process counts."""

LOADED = (
    ("distance", "3-puzzle", "21/30"),
    ("enumerate", "8-puzzle"),
    ("solve", "8-puzzle", "867254301"),
    ("verify", "3-puzzle"),
    ("jobs",),
    ("puzzles", "klotski"),
)


@dataclass(frozen=True)
class Gate:
    """Words of a command of farthest, or a benchmark and its words; ``times``: how often a turn runs it."""

    name: str
    words: tuple[str, ...]
    benchmark: str = ""
    times: int = 1


GATES = (
    Gate("start of --help", ("--help",), times=10),
    Gate("start of jobs", ("jobs", "--database", "MAPS"), times=10),
    Gate(
        "start of distance",
        ("distance", "1", "--database", "MAPS", "1 2 3 4 / 5 6 7 8 / 9 10 0 11"),
        times=10,
    ),
    Gate("3x4 by threads", ("enumerate", "sliding-3x4", "--map", "none")),
    Gate("3x4 map by threads", ("enumerate", "sliding-3x4")),
    Gate(
        "3x4 from files",
        ("enumerate", "sliding-3x4", "--map", "none", "--memory", "110MiB", "--scratch", "."),
    ),
    Gate("3x4 by Celery, two processes", ("sliding-3x4",), "through_workers.py"),
    Gate("dense scatter", ("enumerate", "hanoi-4-11", "--map", "none")),
    Gate("sparse scatter", ("enumerate", "15-puzzle", "--max-depth", "22", "--map", "none")),
    Gate("proof of 3x4", ("verify", "1", "--database", "MAPS")),
    Gate("proof of a residue map", ("verify", "2", "--database", "MAPS")),
    Gate("state page", ("MAPS", "1"), "state_page.py"),
)


class Checkout:
    """One of the two that are compared."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        own = self.folder / ".venv" / "bin" / "python"
        self.python = str(own) if own.exists() else sys.executable
        self.environment = {
            name: text for name, text in os.environ.items() if not name.startswith("FARTHEST_")
        }
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if not own.exists():
            self.environment["PYTHONPATH"] = str(self.folder / "src")
        else:
            self.environment.pop("PYTHONPATH", None)

    def run(self, words: tuple[str, ...], folder: Path, benchmark: str = "") -> str:
        """What a command, or a benchmark, prints."""
        program = [str(self.folder / "benchmarks" / benchmark)] if benchmark else ["-c", PROGRAM]
        done = subprocess.run(
            [self.python, *program, *words],
            cwd=folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode and not benchmark:
            raise SystemExit(
                f"{self.folder}: {' '.join(words)}: status {done.returncode}\n{done.stderr[-2000:]}"
            )
        return done.stdout

    def seconds(self, gate: Gate, maps: Path) -> tuple[float, float]:
        """The wall time and the processor time of one turn."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall = self._wall(gate, maps)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def _wall(self, gate: Gate, maps: Path) -> float:
        words = tuple(str(maps) if word == "MAPS" else word for word in gate.words)
        with tempfile.TemporaryDirectory(dir=maps.parent) as folder:
            begun = time.perf_counter()
            for _ in range(gate.times):
                said = self.run(words, Path(folder), gate.benchmark)
            elapsed = (time.perf_counter() - begun) / gate.times
        if not gate.benchmark:
            return elapsed
        told = [line for line in said.splitlines() if line.startswith(FIELDS)]
        if not told:
            raise SystemExit(f"{self.folder}: {gate.benchmark} told no time:\n{said[-2000:]}")
        if told[-1].startswith("seconds="):
            return float(told[-1].removeprefix("seconds="))
        return float(json.loads(told[-1])["wall"])

    def loaded(self, words: tuple[str, ...], folder: Path) -> tuple[int, int]:
        """How many of our own modules a command loads, and their lines."""
        found = folder / "loaded"
        subprocess.run(
            [self.python, "-c", TELLING, str(found), *words],
            cwd=folder,
            env=self.environment,
            capture_output=True,
            check=True,
        )
        files = [Path(line) for line in found.read_text().splitlines()]
        return len(files), sum(len(file.read_bytes().splitlines()) for file in files)


def compared(old: Checkout, new: Checkout, gates: list[Gate], runs: int) -> int:
    """Prints a table; the number of gates that are above what is allowed."""
    with tempfile.TemporaryDirectory() as folder:
        # A newer one brings a database to its own schema, which the old one cannot read.
        maps = [Path(folder) / name / "maps.db" for name in ("old", "new")]
        maps[0].parent.mkdir()
        for more in ((), ("--map", "residues")):
            puzzle = "sliding-3x4" if not more else "pancake-9"
            old.run(("enumerate", puzzle, *more, "--database", str(maps[0])), maps[0].parent)
        shutil.copytree(maps[0].parent, maps[1].parent)
        above = []
        print(f"{'gate':32} {'old':>9} {'new':>9} {'medians':>8} {'least':>8} {'processor':>9}")
        for gate in gates:
            times: tuple[list[float], list[float]] = ([], [])
            processor: tuple[list[float], list[float]] = ([], [])
            for turn in range(runs + 1):
                for at, checkout in enumerate((old, new)):
                    wall, busy = checkout.seconds(gate, maps[at])
                    if turn:
                        times[at].append(wall)
                        processor[at].append(busy)
            before, after = map(median, times)
            least, busy = (min(pair[1]) / min(pair[0]) for pair in (times, processor))
            over = after / before > ALLOWED
            above += [gate.name] * over
            print(
                f"{gate.name:32} {before:9.4f} {after:9.4f} {after / before:8.3f} {least:8.3f} {busy:9.3f}"
                f"{' above' if over else ''}",
                flush=True,
            )
    print(f"above {ALLOWED}: {', '.join(above) or 'none'}")
    return len(above)


def tell_loaded(checkout: Checkout) -> None:
    """Prints what some commands load."""
    print(f"{'command':32} {'modules':>8} {'lines':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        checkout.run(("enumerate", "3-puzzle"), folder)
        for words in LOADED:
            modules, lines = checkout.loaded(words, folder)
            print(f"{' '.join(words):32} {modules:8} {lines:8,}")


def main() -> int:
    """Compares two checkouts, or says what commands load."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", nargs="*", type=Path, metavar="CHECKOUT")
    parser.add_argument(
        "--runs", type=int, default=5, help="counted turns of each gate, after one that is not"
    )
    parser.add_argument("--only", default="", help="gates whose name holds this")
    parser.add_argument("--loaded", action="store_true", help="say what commands load")
    given = parser.parse_args()
    if given.loaded:
        for one in given.checkouts or [HERE]:
            tell_loaded(Checkout(one))
        return 0
    if len(given.checkouts) != 2:
        parser.error("name two checkouts: OLD NEW")
    old, new = map(Checkout, given.checkouts)
    return int(compared(old, new, [gate for gate in GATES if given.only in gate.name], given.runs) > 0)


if __name__ == "__main__":
    sys.exit(main())
