"""The codec of bitmaps beside zstd, on layers of a sliding puzzle and on random bitmaps.

    python benchmarks/codec.py [--puzzle sliding-3x4] [--runs 5] [--unit 1048576] [--isa ISA]

A table of bitmaps by density p, the share of ones. Bytes are relative to the entropy of independent bits with this
p; real layers have less, since their states stand in clusters. GB/s are bytes of the bitmap by processor time of one
thread, which other processes on the machine still slow down: medians of --runs, in which the codecs take turns. Each
bitmap is coded in units of --unit bytes.
"""

from __future__ import annotations

import argparse
import math
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthest import _kernel
from farthest.frames import LEVEL, frame_of, unpacked
from farthest.machine import cores
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.spaces.contract import gather

DENSITIES = (0.001, 0.003, 0.01, 0.03, 0.06, 0.09, 0.12, 0.17, 0.2)

Bitmap = NDArray[np.uint8]


@dataclass(frozen=True)
class Codec:
    """``encode`` gives the blob of a unit; ``decode`` fills a unit from one."""

    name: str
    encode: Callable[[memoryview], bytes]
    decode: Callable[[bytes, Bitmap], None]


def codecs_of(isa: str) -> list[Codec]:
    """The kernel's own, and zstd as the stores use it."""
    return [
        Codec(
            "own",
            lambda unit: _kernel.encode_bitmap(unit, isa),
            lambda blob, out: _kernel.decode_bitmap(blob, out, isa),
        ),
        Codec(f"zstd-{LEVEL}", frame_of, _unpack),
    ]


def _unpack(blob: bytes, out: Bitmap) -> None:
    out[:] = np.frombuffer(unpacked(blob, len(out), len(out)), dtype=np.uint8)


def layers(name: str) -> Iterator[tuple[str, Bitmap]]:
    """Each layer of a puzzle in which all moves change the colour: the bitmap of the shards of its colour."""
    space = gather(compile_space(load(name)))
    kernel = space.compile_kernel()
    kernel.prepare(range(kernel.shards), cores())
    words, flags = np.zeros(kernel.words, np.uint64), np.zeros(kernel.lines, np.uint8)
    layer = _kernel.Layer(kernel, words, flags, 0, kernel.shards)
    origins = space.keys_of(space.origins)
    for key in origins:
        _kernel.insert(kernel, layer, key)
    colour, depth, states = kernel.colours[origins[0] // (kernel.keys // kernel.shards)], 0, len(origins)
    while states:
        depth += 1
        shards = [shard for shard in range(kernel.shards) if kernel.colours[shard] == colour ^ (depth & 1)]
        states = sum(_kernel.step(kernel, shards, [layer], [layer], [[layer]], [], cores()))
        bitmap = words.reshape(kernel.shards, -1)[shards].reshape(-1).view(np.uint8)
        yield f"layer {depth}", np.concatenate([bitmap, np.zeros(-len(bitmap) % 64, np.uint8)])


def density(bitmap: Bitmap) -> float:
    """The share of ones."""
    return int(np.bitwise_count(bitmap).sum()) / (8 * len(bitmap))


def random_bitmaps(size: int) -> Iterator[tuple[str, Bitmap]]:
    """Independent bits."""
    rng = np.random.default_rng(1)
    for wanted in DENSITIES:
        parts = [rng.random(8 * min(2**20, size - at)) < wanted for at in range(0, size, 2**20)]
        yield "random", np.packbits(np.concatenate(parts), bitorder="little")


def chosen(bitmaps: Iterator[tuple[str, Bitmap]]) -> list[tuple[str, Bitmap]]:
    """For each of DENSITIES the bitmap that is nearest to it; none twice."""
    nearest: dict[float, tuple[float, str, Bitmap]] = {}
    for name, bitmap in bitmaps:
        p = density(bitmap)
        if p == 0:
            continue
        for wanted in DENSITIES:
            off = abs(math.log(p / wanted))
            if wanted not in nearest or off < nearest[wanted][0]:
                nearest[wanted] = off, name, bitmap
    return list({name: (name, bitmap) for _, name, bitmap in nearest.values()}.values())


def entropy(bitmap: Bitmap) -> float:
    """Bytes that independent bits of this density have."""
    p = density(bitmap)
    return -len(bitmap) * (p * math.log2(p) + (1 - p) * math.log2(1 - p))


def measure(codec: Codec, bitmap: Bitmap, unit: int) -> tuple[int, float, float]:
    """One run: the bytes of all blobs, the seconds there and back."""
    size, encoding, decoding = 0, 0.0, 0.0
    memory = np.zeros(unit, np.uint8)
    for at in range(0, len(bitmap), unit):
        one = bitmap[at : at + unit]
        out = memory[: len(one)]
        begun = time.process_time()
        blob = codec.encode(one.data)
        encoded = time.process_time()
        codec.decode(blob, out)
        decoding += time.process_time() - encoded
        encoding += encoded - begun
        size += len(blob)
        assert np.array_equal(out, one)
    return size, encoding, decoding


def row(bitmap: Bitmap, runs: list[tuple[int, float, float]]) -> str:
    """Bytes by entropy, and the medians of GB/s each way."""
    speeds = [len(bitmap) / statistics.median(run[way] for run in runs) / 1e9 for way in (1, 2)]
    return f"{runs[0][0] / entropy(bitmap):10.3f} {speeds[0]:7.2f} {speeds[1]:7.2f}"


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--puzzle", default="sliding-3x4")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--unit", type=int, default=2**20, help="bytes, a multiple of 64")
    parser.add_argument("--isa", default=_kernel.available_isas()[-1])
    arguments = parser.parse_args()
    codecs = codecs_of(arguments.isa)
    real = chosen(layers(arguments.puzzle))
    size = max(len(bitmap) for _, bitmap in real)
    print(f"{arguments.puzzle}, {arguments.isa}, {platform.machine()}, units of {arguments.unit:,} bytes")
    heads = [f"{codec.name + ' / H':>10} {'GB/s in':>7} {'out':>7}" for codec in codecs]
    print(" | ".join([f"{'':9} {'p':>8}", *heads]))
    for name, bitmap in [*real, *random_bitmaps(size)]:
        turns = [
            [measure(codec, bitmap, arguments.unit) for codec in codecs] for _ in range(arguments.runs + 1)
        ]
        rows = [row(bitmap, list(runs)) for runs in zip(*turns[1:], strict=True)]  # the first one warms up
        print(" | ".join([f"{name:9} {density(bitmap):8.4f}", *rows]))


if __name__ == "__main__":
    main()
