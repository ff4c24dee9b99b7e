"""The soak itself: one round of it, with few strikes, ends as it should and leaves nothing behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
WORDS = "--rounds 1 --seed 3 --strikes 2 2 --only kill_worker,empty_redis --workloads topspin,8-puzzle-slide,hanoi-4-8"


@pytest.mark.night
def test_a_round_of_a_soak(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = [*WORDS.split(), "--json", str(report), "--evidence", str(tmp_path / "evidence")]
    done = subprocess.run(
        [sys.executable, "-m", "soak", *words],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(report.read_text())
    assert (told["jobs"], told["right"]) == (5, 5)
    assert told["strikes"] == 2
    assert told["left_at_end"] == []
    assert not Path(told["folder"]).exists()
    assert not (tmp_path / "evidence").exists()
