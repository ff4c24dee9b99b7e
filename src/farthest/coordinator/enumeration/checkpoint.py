"""The last checkpoint of a job, and whether it is read or its layers are found again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from farthest.models.records import LayerRecord

READ_BYTES = 125e6
"""Bytes of an unpacked map that are read and restored a second: half of what was measured on 4 cores, for slower disks
and busy machines. Dense, in memory and in Redis alike: sliding-3x4 at depth 30 240e6 to 320e6, pegs-english at depth 14
310e6, pancake-11 at depth 8 200e6. Sparse: benchmarks/two-rows.toml at depth 45 160e6."""

LITTLE_SECONDS = 0.1
"""A checkpoint that takes no longer is read in any case."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a job can go on from. ``map_bytes``: of its map, unpacked."""

    depth: int
    layers: Sequence[LayerRecord]
    map_bytes: int

    @property
    def seconds(self) -> float | None:
        """What its layers took, as far as that is known of each."""
        known = [layer.seconds for layer in self.layers if layer.seconds is not None]
        return sum(known) if len(known) == len(self.layers) else None

    @property
    def reading_seconds(self) -> float:
        """What reading it is expected to take."""
        return self.map_bytes / READ_BYTES

    @property
    def is_worth_reading(self) -> bool:
        """Whether that is less than its layers took: else they are found again, from depth 0 on."""
        reading = self.reading_seconds
        return reading <= LITTLE_SECONDS or self.seconds is None or reading < self.seconds
