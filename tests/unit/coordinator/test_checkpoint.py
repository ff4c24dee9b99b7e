"""Which checkpoints are read, and of which jobs the layers are found again."""

import pytest

from cases import for_each
from farthest.coordinator.enumeration.record import LITTLE_SECONDS, READ_BYTES, Checkpoint
from farthest.models.records import LayerRecord


@for_each(
    ("seconds", "reading", "read"),
    [
        ((0.0, 0.5, 0.5), 0.9, True),
        ((0.0, 0.5, 0.5), 1.1, False),
        ((0.0, 0.0, 0.0), LITTLE_SECONDS * 0.9, True),
        ((0.0, 0.0, 0.0), LITTLE_SECONDS * 1.1, False),
        ((0.0, None, 0.5), 100.0, True),
    ],
)
def test_what_takes_longer_decides(seconds: tuple[float | None, ...], reading: float, read: bool) -> None:
    layers = [LayerRecord(depth, 1, one) for depth, one in enumerate(seconds)]
    checkpoint = Checkpoint(len(layers) - 1, layers, int(reading * READ_BYTES))
    assert checkpoint.reading_seconds == pytest.approx(reading)
    assert checkpoint.is_worth_reading == read
