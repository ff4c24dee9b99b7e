"""Makes the data of test_net.py: databases, map files and interrupted runs, and what commands answer to them.

Run in an environment that has the version of farthest whose data are wanted, from the repository's root:

    FARTHEST_PUZZLE_MODULES=python_spaces PYTHONPATH=tests python tests/net/make.py

Without data.tar.xz it makes that first. The names imported below are those of today's version; the version of the data
had ``Interrupted`` in ``farthest.coordinator.interrupts``.

The tests keep the data of the version that tests/net/README.md names. Making them again is only for new kinds of data:
the point of the others is that an older version has made them.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from contextlib import chdir, suppress
from pathlib import Path

from alembic import command
from sqlalchemy import create_engine

from farthest import load_puzzle
from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.models import migrations
from farthest.models.database import open_database
from integration.conftest import forge_digests
from net.answers import ANSWERS, ARCHIVE, UNFINISHED, answered, commands_of, in_full
from stopping import StoppedAt

MAPS: tuple[tuple[str, ...], ...] = (
    ("3-puzzle",),
    ("roundabout",),
    ("red-and-white",),
    ("lozenge",),
    ("sliding-2x3",),
    ("sliding-2x3-slide",),
    ("sliding-2x3", "--max-depth", "7"),
    ("sliding-2x3", "--from", "451230"),
    ("arcs.toml",),
    ("blanks.toml",),
    ("pancake-5",),
    ("lrx-5",),
    ("burnt-pancake-3",),
    ("coxeter-h3",),
    ("cube-3x3x3-slices",),
    ("hanoi-4-3",),
    ("hanoi-cyclic-3-3",),
    ("lights-2x3-c3",),
    ("jugs-8-5-3",),
    ("corner-step.toml",),
    ("corner-slide.toml",),
    ("corner-move.toml",),
    ("pennant",),
    ("pegs-triangle-15", "--max-depth", "5"),
    ("plus-jump.toml",),
    ("plus-chain.toml",),
    ("doubling.toml",),
    ("oneway.toml",),
    ("words.toml",),
    ("wide.toml",),
    ("parallel.toml",),
    ("8-puzzle@1-3",),
    ("sliding-2x3", "--map", "residues"),
    ("red-and-white", "--map", "residues"),
    ("pancake-5", "--map", "residues"),
    ("cube-3x3x3-slices", "--map", "residues", "--max-depth", "4"),
    ("sliding-2x3", "--map", "none"),
    ("hanoi-4-3", "--map", "none"),
)
"""A job each, in maps.db."""

SEARCHES: tuple[tuple[str, ...], ...] = (
    ("8-puzzle", "867254301", "--algorithm", "ida"),
    ("sliding-2x3", "451230", "--algorithm", "ida", "--all"),
    ("8-puzzle", "123456078", "--algorithm", "iddfs"),
    ("pancake-5", "3 1 5 2 4", "--algorithm", "bfs"),
    ("red-and-white", "--algorithm", "astar"),
    ("cube-3x3x3", "moves: R U F"),
)
"""The same in searches.db."""

OLDER: tuple[tuple[str, ...], ...] = (("3-puzzle",), ("red-and-white",), ("jugs-8-5-3",), ("pennant",))

STOPPED = """
import os, signal, sys
from sqlalchemy import Engine, event

kind, left = sys.argv.pop(1), int(sys.argv.pop(1))

def count(*_):
    global left
    left -= 1
    if left == 0:
        signal.raise_signal(signal.SIGINT)

if kind == "pieces":
    event.listen(Engine, "commit", count)
else:
    sync = os.fdatasync
    def fdatasync(file):
        sync(file)
        count()
    os.fdatasync = fdatasync
if kind == "pieces":
    import small_pieces
    from farthest.coordinator.search import solve
    small_pieces.cut(small_pieces.FEWER)
    solve.COMMIT_SECONDS = 0.0
from farthest.cli.entry import main
main()
"""


def run(folder: Path, *arguments: str, stop: str = "") -> str:
    """Runs farthest in a folder; ``stop``: when it is interrupted."""
    program = [STOPPED, *stop.split()] if stop else ["from farthest.cli.entry import main; main()"]
    done = subprocess.run(
        [sys.executable, "-c", *program, *in_full(arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != (130 if stop else 0):
        raise SystemExit(
            f"{arguments}: status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )
    return done.stdout


def older(folder: Path, revision: str) -> None:
    """The same jobs as a version with the tables of a revision had them."""
    file = folder / "farthest.db"
    plain = sqlite3.connect(file)
    if revision < "0006":
        rows = run(folder, "export", "1", "--format", "csv", "-").splitlines()[1:]
        distances = bytes(int(row.split(",")[-1]) for row in rows)
        counts = plain.execute("SELECT states FROM layer WHERE job_id = 1 ORDER BY depth").fetchall()
        (unit,) = plain.execute("SELECT unit FROM job WHERE id = 1").fetchone()
        head = f"farthest map 1\n{' '.join(str(one) for (one,) in counts)}\n{unit}\n"
        digest = hashlib.sha256(head.encode() + distances).hexdigest()
        plain.execute("UPDATE job SET digest = ? WHERE id = 1", (digest,))
    if revision < "0003":  # no maps of codes
        plain.execute("DELETE FROM job WHERE id IN (SELECT job_id FROM chunk WHERE lead IS NOT NULL)")
    if revision < "0004":
        plain.execute("DELETE FROM job WHERE kind = 'search'")
    plain.execute("UPDATE job SET version = NULL")
    plain.commit()
    plain.close()
    with chdir(folder):
        forge_digests()
    engine = create_engine(f"sqlite:///{file}")
    with engine.begin() as connection:
        command.downgrade(migrations.configuration(connection), revision)
    engine.dispose()
    plain = sqlite3.connect(file)
    plain.execute("VACUUM")
    plain.execute("PRAGMA journal_mode = DELETE")
    plain.close()


def made(top: Path) -> None:
    """All data, in folders of ``top``."""
    for name, jobs in (("maps", MAPS), ("searches", SEARCHES)):
        folder = top / name
        folder.mkdir()
        for given in jobs:
            if name == "maps":
                run(folder, "enumerate", *given)
            else:
                run(folder, "solve", *given, "--store")
        if name == "maps":
            run(folder, "submit", "wilson-theta", "--max-depth", "3")
    for number in range(1, 9):
        revision = f"{number:04}"
        folder = top / f"revision-{revision}"
        folder.mkdir()
        for given in OLDER:
            run(folder, "enumerate", *given)
        run(folder, "solve", *SEARCHES[0], "--store")
        older(folder, revision)
    for name, (stop, *job) in UNFINISHED.items():
        folder = top / f"unfinished-{name}"
        folder.mkdir()
        if stop.startswith("layer"):
            stop_at(folder, int(stop.split()[1]), job)
        else:
            run(folder, *job, stop=stop)


def stop_at(folder: Path, depth: int, job: list[str]) -> None:
    """Begins an enumeration, and interrupts it after a layer."""
    kind = job[-1] if "--map" in job else "full"
    settings = Settings(histogram_only=kind == "none", residues=kind == "residues")
    with open_database(folder / "farthest.db", create=True) as database, suppress(Interrupted):
        enumerate_puzzle(load_puzzle(in_full(job)[1]), database, settings, StoppedAt(depth))


def main() -> None:
    """Makes the archive unless it is there, and the answers to it."""
    with tempfile.TemporaryDirectory() as place:
        top = Path(place)
        if not ARCHIVE.exists():
            made(top)
            for left in [*top.rglob("*-wal"), *top.rglob("*-shm"), *top.rglob("*.beat")]:
                left.unlink()
            with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
                for one in sorted(top.iterdir()):
                    archive.add(one, one.name)
        else:
            with tarfile.open(ARCHIVE) as archive:
                archive.extractall(top, filter="data")
        answers = {
            one.name: [[given, answered(one, given)] for given in commands_of(one)]
            for one in sorted(top.iterdir())
        }
    ANSWERS.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{ARCHIVE}: {ARCHIVE.stat().st_size:,} bytes, {sum(map(len, answers.values()))} answers")


if __name__ == "__main__":
    main()
