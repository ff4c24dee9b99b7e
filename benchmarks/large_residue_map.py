"""Random states of a large residue map against walks, searches and flipped bits.

    .venv/bin/python benchmarks/large_residue_map.py ask JOB DATABASE
    .venv/bin/python benchmarks/large_residue_map.py flip JOB DATABASE
    .venv/bin/python benchmarks/large_residue_map.py forge PUZZLE FOLDER

ask: 10,000 random states. The distance of each by the map; that of a random neighbour, by the moves of the proof's
plain model, which has to differ by exactly one (at most one where moves do not change colours); of the 200 nearest to
the origin what a search finds. Prints the median of single look-ups, with pages in memory, and from a disk that has
to read them anew (200 of them; the file's pages are given up with posix_fadvise before each).

flip: flips each of 100 random bits of the map file, header and checksums too, which `verify` has to refuse; each is
flipped back. forge: makes a residue map of the puzzle, and flips each of 5 random bits of its words and makes all
checksums of the file and its row right again, which the proof of large maps has to refuse.
"""

from __future__ import annotations

import os
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING

import numpy as np

import farthest
from farthest.errors import DamagedMapError
from farthest.map_files.form import CHECKSUM, PAGE, file_checksum, header_bytes
from farthest.models.maps import MapFiles
from farthest.verify.models import model_of

if TYPE_CHECKING:
    from farthest.queries.distance_map import DistanceMap

STATES, SEARCHED, COLD, FLIPPED, FORGED = 10_000, 200, 200, 100, 5


def map_file(opened: DistanceMap) -> Path:
    """The job's map file."""
    files = MapFiles(opened.database)
    return Path(files.place.where, files.get(opened.job).name)


def ask(job: int, database: str) -> None:
    """See the module."""
    rng = np.random.default_rng(1)
    with farthest.open_map(job, database) as opened:
        puzzle = opened.puzzle
        keys = rng.integers(0, opened.record.keys or 0, STATES).astype(np.uint64)
        opened.lookup(keys[:1])
        warm = {"read": [0.0], "again": [0.0]}
        for times in warm.values():
            times.clear()
            for at in range(STATES):
                begun = time.perf_counter()
                opened.lookup(keys[at : at + 1])
                times.append(1e3 * (time.perf_counter() - begun))
        for name, times in warm.items():
            print(
                f"look-up, pages {name}: median {median(times):.3f} ms, 99 % {quantiles(times, n=100)[98]:.3f} ms"
            )
        distances = opened.lookup(keys)
        model = model_of(puzzle, opened.origin, opened.record.layout)
        rows, after = model.successors(model.boards(keys))
        codes, by_state = model.codes(after), np.argsort(rows, kind="stable")
        counts = np.bincount(rows, minlength=STATES)
        chosen = by_state[np.cumsum(counts) - counts + rng.integers(0, counts)]
        differences = np.abs(opened.lookup(codes[chosen]) - distances)
        told = dict(zip(*(part.tolist() for part in np.unique(differences, return_counts=True)), strict=True))
        print(f"{STATES:,} states, differences to a random neighbour and how many: {told}")
        nearest = np.argsort(distances, kind="stable")[:SEARCHED]
        boards = puzzle.definition.texts(model.boards(keys[nearest]))
    cold(job, database, keys)
    begun = time.perf_counter()
    wrong = 0
    for board, distance in zip(boards, distances[nearest].tolist(), strict=True):
        wrong += farthest.solve(puzzle, board, store=False).length != distance
    seconds = time.perf_counter() - begun
    print(
        f"{SEARCHED} searches, distances {distances[nearest[0]]} to {distances[nearest[-1]]}: {wrong} differ, "
        f"{seconds:.1f} s"
    )


def cold(job: int, database: str, keys: np.ndarray) -> None:
    """Look-ups in a map that was just opened, whose file's pages are not in memory."""
    times = []
    for at in range(COLD):
        with farthest.open_map(job, database) as opened:
            opened.lookup(np.zeros(1, dtype=np.uint64))  # what is read and compiled once
            file = os.open(map_file(opened), os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)
            begun = time.perf_counter()
            opened.lookup(keys[at : at + 1])
            times.append(1e3 * (time.perf_counter() - begun))
    print(f"look-up, pages on the disk: median {median(times):.2f} ms, the longest {max(times):.2f} ms")


def flip_bit(path: Path, place: int) -> None:
    """Flips one bit of a file."""
    with path.open("r+b") as file:
        file.seek(place // 8)
        byte = file.read(1)[0]
        file.seek(place // 8)
        file.write(bytes([byte ^ 1 << place % 8]))


def flip(job: int, database: str) -> None:
    """See the module."""
    with farthest.open_map(job, database) as opened:
        path = map_file(opened)
    rng = np.random.default_rng(2)
    refused, begun = 0, time.perf_counter()
    for place in rng.integers(0, 8 * path.stat().st_size, FLIPPED).tolist():
        flip_bit(path, place)
        try:
            with farthest.open_map(job, database) as opened:
                opened.verify()
        except DamagedMapError:
            refused += 1
        finally:
            flip_bit(path, place)
    print(f"{refused} of {FLIPPED} flipped bits refused in {time.perf_counter() - begun:.0f} s")


def forge(name: str, folder: str) -> None:
    """See the module."""
    database = Path(folder) / "forged.db"
    with farthest.enumerate(name, database=database, map="residues") as opened:
        job, path = opened.job, map_file(opened)
    rng = np.random.default_rng(3)
    begun = time.perf_counter()
    with farthest.open_map(job, database) as opened:
        print(
            f"{name}: {'proved' if opened.verify().ok else 'DISPROVED'} in {time.perf_counter() - begun:.1f} s"
        )
        files = MapFiles(opened.database)
        row = files.get(job)
        with path.open("rb") as file:
            header = header_bytes(file.read(64))
        data = 8 * opened.residue_bits().form.words
        for place in rng.integers(0, 8 * data, FORGED).tolist():
            flip_bit(path, 8 * header + place)
            with path.open("r+b") as file:
                page = place // 8 // PAGE
                file.seek(header + page * PAGE)
                found = zlib.crc32(file.read(min(PAGE, data - page * PAGE)))
                file.seek(header + data + page * CHECKSUM)
                file.write(found.to_bytes(CHECKSUM, "little"))
                file.seek(header + data)
                sums = file.read()
                file.seek(0)
                checksum = file_checksum(file.read(header), sums)
            files.put(job, replace(row, checksum=checksum))
            failed = sorted(check.name for check in opened.verify().failures)
            print(
                f"bit {place} flipped, all checksums right: {'refused by ' + ', '.join(failed) if failed else 'PROVED'}"
            )
            flip_bit(path, 8 * header + place)
            with path.open("r+b") as file:
                file.seek(header + page * PAGE)
                found = zlib.crc32(file.read(min(PAGE, data - page * PAGE)))
                file.seek(header + data + page * CHECKSUM)
                file.write(found.to_bytes(CHECKSUM, "little"))


def main() -> None:
    what, job, place = sys.argv[1:4]
    {"ask": ask, "flip": flip}[what](int(job), place) if what != "forge" else forge(job, place)


if __name__ == "__main__":
    main()
