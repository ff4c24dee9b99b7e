"""A residue map against a full map and none: seconds to enumerate, bytes kept, and look-ups of random states.

    .venv/bin/python benchmarks/residue_maps.py [PUZZLE [FOLDER]]

enumerates the puzzle (default sliding-3x4) with each kind of map, five times in turn, and prints the median; then
asks the residue map, in the folder (default: one for temporary files), for 10,000 random keys one by one, twice: with
pages that have to be read from the system's cache, and with pages in memory.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

import numpy

import farthest
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.models.database import open_database
from farthest.models.maps import MapFiles
from farthest.puzzles.catalogue import load

KINDS = {
    "none": Settings(histogram_only=True),
    "residues": Settings(residues=True),
    "full": Settings(residues=False),
}
ROUNDS = 5
LOOKUPS = 10_000


def whole_runs(name: str, folder: Path) -> None:
    """Enumerates in turn, and prints for each kind the seconds of the search and of the whole run."""
    seconds: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
    for number in range(ROUNDS):
        for kind, settings in KINDS.items():
            with open_database(folder / f"{kind}-{number}.db", create=True) as database:
                begun = time.perf_counter()
                outcome = enumerate_puzzle(load(name), database, settings)
                seconds[kind].append((outcome.seconds, time.perf_counter() - begun))
            if number:
                remove(folder / f"{kind}-{number}.db")
    for kind, found in seconds.items():
        search, whole = (median(one) for one in zip(*found, strict=True))
        print(f"{name} {kind}: search {search:.3f} s, whole {whole:.3f} s")


def remove(file: Path) -> None:
    """Removes a database and what is beside it."""
    for path in sorted(file.parent.glob(f"{file.name}*"), reverse=True):
        for inside in path.iterdir() if path.is_dir() else ():
            inside.unlink()
        path.rmdir() if path.is_dir() else path.unlink()


def lookups(file: Path) -> None:
    """Prints what single look-ups take."""
    with farthest.open_map(1, file) as opened:
        files = MapFiles(opened.database)
        size = Path(files.place.where, files.get(1).name).stat().st_size
        print(f"map file: {size:,} bytes for {opened.record.keys:,} keys")
        rng = numpy.random.default_rng(1)
        keys = rng.integers(0, opened.record.keys or 0, LOOKUPS).astype(numpy.uint64)
        for what in ("pages not in memory", "pages in memory"):
            found = []
            for at in range(LOOKUPS):
                begun = time.perf_counter()
                opened.lookup(keys[at : at + 1])
                found.append(1e3 * (time.perf_counter() - begun))
            print(f"{what}: median {median(found):.3f} ms, 99 % {quantiles(found, n=100)[98]:.3f} ms")
        begun = time.perf_counter()
        opened.lookup(keys)
        print(f"{LOOKUPS:,} at once: {time.perf_counter() - begun:.3f} s")


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "sliding-3x4"
    place = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(prefix="residues-", dir=place) as folder:
        whole_runs(name, Path(folder))
        lookups(Path(folder) / "residues-0.db")


if __name__ == "__main__":
    main()
