"""What is told where a job is given up."""

from farthest.coordinator.runner import lost_again
from farthest.errors import LostStateError


def test_how_often_redis_was_restarted() -> None:
    told = [str(lost_again(LostStateError("gone"), "since then", 6, restarts)) for restarts in (0, 1, 6)]
    assert "restarted" not in told[0]
    assert "gone; this is the 6th loss since then, and Redis was restarted once: see its log." in told[1]
    assert "restarted 6 times: see its log." in told[2]
