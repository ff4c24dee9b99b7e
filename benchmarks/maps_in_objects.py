"""A residue map in an object store against one in a folder: seconds to enumerate, and look-ups of random states.

    .venv/bin/python benchmarks/maps_in_objects.py [PUZZLE]

starts SeaweedFS on this machine, enumerates the puzzle (default sliding-3x4) with its map in each place, and asks each
map for random keys: one by one, each by a map that was just opened, so that no page is in memory, and many at once.
An object store elsewhere adds its way there and back to each step of a walk.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import farthest
from object_server import BUCKET, ObjectServer

LOOKUPS = 20
TOGETHER = 1000


def measure(name: str, maps: str, file: Path) -> None:
    """Prints the times of a map in a place."""
    os.environ["FARTHEST_MAPS"] = maps
    begun = time.perf_counter()
    with farthest.enumerate(name, database=file, map="residues") as made:
        whole = time.perf_counter() - begun
        rng = numpy.random.default_rng(1)
        keys = rng.integers(0, made.record.keys or 0, TOGETHER).astype(numpy.uint64)
    opening, found = [], []
    for at in range(LOOKUPS):
        begun = time.perf_counter()
        with farthest.open_map(1, file) as opened:
            opened.lookup(keys[:0])
            opening.append(1e3 * (time.perf_counter() - begun))
            begun = time.perf_counter()
            opened.lookup(keys[at : at + 1])
            found.append(1e3 * (time.perf_counter() - begun))
    begun = time.perf_counter()
    with farthest.open_map(1, file) as opened:
        opened.lookup(keys)
    together = time.perf_counter() - begun
    print(
        f"{name} in {maps}: enumerated in {whole:.2f} s; opened in {median(opening):.1f} ms, first look-up "
        f"{median(found):.1f} ms; {TOGETHER:,} at once {together:.2f} s"
    )


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "sliding-3x4"
    with tempfile.TemporaryDirectory(prefix="maps-in-objects-") as text:
        folder = Path(text)
        (folder / "server").mkdir()
        server = ObjectServer(folder / "server")
        server.start()
        try:
            os.environ.update(server.variables())
            measure(name, str(folder / "maps"), folder / "folder.db")
            measure(name, f"s3://{BUCKET}/maps", folder / "objects.db")
        finally:
            server.close()


if __name__ == "__main__":
    main()
