"""What is told where a job is given up."""

import pytest

from farthest.coordinator.attempt import Losses
from farthest.errors import LostStateError, StorageError


def test_how_often_redis_was_restarted() -> None:
    told = []
    for restarts in (0, 1, 6):
        losses = Losses(5, "since then")
        for number in range(5):
            losses.add(LostStateError("gone"), restarted=number < restarts)
        with pytest.raises(StorageError) as caught:
            losses.add(LostStateError("gone"), restarted=restarts > 5)
        told.append(str(caught.value))
    assert "restarted" not in told[0]
    assert "gone; lost 6 times since then, and Redis was restarted once: see its log." in told[1]
    assert "restarted 6 times: see its log." in told[2]
