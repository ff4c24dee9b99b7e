"""A run that stands still, to be looked at."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from farthest.coordinator.attempt import PROGRESS_SECONDS
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from forked import Forked


def stopped_in_its_midst(
    run: subprocess.Popen[bytes] | Forked, file: Path, job: int, states: int = 0
) -> dict[str, Any]:
    """Stops a run that has told how fast it is and that it has ``states``, and returns what it has told. It goes on for
    a tenth of a second at a time, so that it is not at its end before: it tells once a second."""
    with open_database(file, create=False) as database:
        jobs = Jobs(database)
        while jobs.get(job).status == "queued":
            assert run.poll() is None
            time.sleep(0.01)
        while True:
            run.send_signal(signal.SIGSTOP)
            known = jobs.get(job).progress or {}
            if known.get("states_a_second") and known["states"] >= states:
                return dict(known)
            time.sleep(PROGRESS_SECONDS)
            assert run.poll() is None
            run.send_signal(signal.SIGCONT)
            time.sleep(0.1)
