"""Groups whose elements are numbered: what a successor takes, and the whole enumeration.

    python benchmarks/numbered.py GENERATORS [THREADS]

GENERATORS: a file or a text as `farthest enumerate` reads it, of a group on more than 64 points. First successors
alone, on one thread, of ascending keys: ``density`` is the share of the keys that are expanded. Then all layers.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import farthest
from farthest import _kernel
from farthest.families.permutation.group_spaces import ChainSpace
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space

STATES = 1 << 19
BATCH = 512
"""States that the engine expands at a time."""


def successors(space: ChainSpace, density: float) -> float:
    """Nanoseconds that a successor takes."""
    rng = np.random.default_rng(0)
    span = min(space.keys, int(STATES / density))
    keys = np.unique(rng.integers(0, span, int(span * density), dtype=np.uint64))
    begun = time.process_time()
    bytes_made = 0
    for first in range(0, keys.size, BATCH):
        bytes_made += len(_kernel.expand_codes(space.expander, keys[first : first + BATCH], 1))
    return (time.process_time() - begun) * 1e9 / (bytes_made / 8)


def main() -> None:
    puzzle = load(sys.argv[1])
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    space = compile_space(puzzle)
    if not isinstance(space, ChainSpace):
        raise SystemExit(f"{sys.argv[1]}: its elements are not numbered; take a group on more than 64 points")
    for density in (1, 0.1, 0.03, 0.01, 0.001):
        print(f"density={density} nanoseconds={successors(space, density):.1f}")
    begun, used = time.monotonic(), time.process_time()
    found = farthest.histogram(puzzle, threads=threads)
    print(
        f"states={found.states} eccentricity={found.eccentricity} seconds={time.monotonic() - begun:.1f} "
        f"processor_seconds={time.process_time() - used:.1f}"
    )


if __name__ == "__main__":
    main()
