"""How fast states are found, and what is told of it while a job runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import farthest
from farthest.coordinator.attempt import OwnedJob
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.reporter import Pace
from farthest.coordinator.settings import Settings
from farthest.models.database import open_database
from kernels import compiled


def test_a_pace() -> None:
    now = 0.0
    pace = Pace(1000, lambda: now)
    assert (pace.rate(), pace.share, pace.seconds_left()) == (0, 0, None)
    pace.reach(1)
    assert (pace.rate(), pace.seconds_left()) == (0, None)
    now = 2.0
    pace.reach(11)
    assert (pace.rate(), pace.seconds_left()) == (5, None)  # too few to predict the rest
    now = 4.0
    pace.reach(201)
    assert pace.rate() == 50
    assert pace.seconds_left() == pytest.approx(15.98)
    now = 6.0  # in the layer that follows
    assert pace.rate() == 50
    assert pace.seconds_left() == pytest.approx(13.98)
    now = 15.0
    pace.reach(311)  # the first two are too long ago
    assert (pace.rate(), pace.share) == (10, 0.311)
    now = 500.0
    assert pace.seconds_left() == 0


def test_what_a_running_job_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that people see of it is in its row, as numbers; a block belongs to one layer."""
    told: list[dict[str, Any]] = []
    progress = OwnedJob.progress

    def told_too(self: OwnedJob, **known: Any) -> None:
        progress(self, **known)
        told.append(self._progress)

    monkeypatch.setattr(OwnedJob, "progress", told_too)
    # Each call of the kernel counts as a long one: shards are stepped one by one.
    monkeypatch.setattr("farthest.coordinator.enumeration.executors._fitting", lambda *_: 1)
    with open_database(str(tmp_path / "maps.db"), create=True) as database, compiled(shard_classes=4):
        enumerate_puzzle(farthest.load_puzzle("eight-kinds"), database, Settings(threads=1))
    seen = [one for one in told if "blocks" in one]
    assert seen
    assert all(0 < one["blocks_done"] < one["blocks"] for one in seen)
    assert all(one["states_at_most"] == 90720 for one in seen)
    late = [one for one in told if one.get("states", 0) > 20_000]
    assert late
    assert all(one["states_a_second"] > 0 for one in late)
    assert all(one["seconds_left"] >= 0 for one in late[:-1])
    begun = [one for one, last in zip(told[1:], told, strict=False) if one["depth"] != last["depth"]]
    assert len(begun) == 30
    assert all("blocks" not in one for one in begun)
