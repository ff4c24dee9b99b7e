"""Layers that the coordinator's process steps itself, by a class that needs ten seconds for one: a job that is
cancelled ends soon, and so does one at Ctrl-C, with the layers before."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from farthest.coordinator.attempt import Interrupted
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.reporter import Reporter
from farthest.coordinator.settings import Settings
from farthest.errors import JobError
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.puzzles.catalogue import load

TREE = 'name = "tree"\nfamily = "python"\n[python]\nclass = "python_spaces:SlowTree"\n'
LAST_FAST = {"threads": 10, "celery": 9}
"""Depth; the layer after it needs ten seconds. Where runs are in Redis, states are expanded as soon as they are
found."""
SOON = 4.0
"""Seconds: the lease is renewed each second, and tells of the end of the job; then the states under way are done."""


class Striking(Reporter):
    """Strikes at the last layer that is found soon, from another thread a moment later."""

    def __init__(self, database: Database, depth: int, way: str) -> None:
        self._database = database
        self._depth = depth
        self._way = way
        self.struck = 0.0

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        if depth == self._depth:
            threading.Timer(0.3, self._strike).start()

    def _strike(self) -> None:
        self.struck = time.monotonic()
        if self._way == "cancel":
            Jobs(self._database).cancel(1)
        else:
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["cancel", "signal"])
@pytest.mark.parametrize("workers", ["threads", "celery"])
def test_a_slow_step_is_ended(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: str, way: str
) -> None:
    monkeypatch.setenv("FARTHEST_PUZZLE_MODULES", "python_spaces")
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    monkeypatch.setenv("FARTHEST_SMALL_LAYER_STATES", "1000000")
    (tmp_path / "tree.toml").write_text(TREE)
    with open_database(str(tmp_path / "tree.db"), create=True) as database:
        striking = Striking(database, LAST_FAST[workers], way)
        settings = Settings(workers="celery" if workers == "celery" else "threads")
        with pytest.raises(JobError if way == "cancel" else Interrupted) as raised:
            enumerate_puzzle(load(str(tmp_path / "tree.toml")), database, settings, striking)
        assert time.monotonic() - striking.struck < SOON
        if isinstance(raised.value, Interrupted):
            assert raised.value.depth == LAST_FAST[workers]
        else:
            assert "cancelled" in str(raised.value)
            assert Jobs(database).get(1).status == "cancelled"
