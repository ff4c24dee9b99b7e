"""Files of other programs as they were published, with the counts of these programs and of their documents.

The files are not in this repository, as their licences are others. ``FARTHEST_PUBLISHED_FILES`` names a folder that
holds them, at any depth; ``published_files.json`` tells where they come from, and who counted.
"""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.families.permutation.foreign import read_foreign
from farthest.puzzles.catalogue import load

FOLDER = os.environ.get("FARTHEST_PUBLISHED_FILES", "")
QUICK_STATES = 100_000
ENTRIES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "published_files.json").read_text(encoding="utf-8")
)


def cases() -> list[Any]:
    return [
        pytest.param(
            entry,
            metric,
            id=f"{entry['file']}-{metric}",
            marks=[pytest.mark.slow] if entry["states"] > QUICK_STATES else [],
        )
        for entry in ENTRIES
        for metric in ("power", "generator")
        if metric in entry or metric == "power"
    ]


@pytest.mark.parametrize(("entry", "metric"), cases())
@pytest.mark.skipif(not FOLDER, reason="FARTHEST_PUBLISHED_FILES names no folder")
def test_counts_are_those_of_the_program_it_was_written_for(entry: dict[str, Any], metric: str) -> None:
    path = next(Path(FOLDER).rglob(entry["file"]), None)
    assert path, f"{entry['file']} is not in {FOLDER}; it comes from {entry['from']}"
    puzzle = load(path)
    assert puzzle.metric == "power"
    if metric == "generator":
        definition = read_foreign(path.read_bytes(), str(path), metric)[1]
        puzzle = replace(puzzle, metric=metric, definition=definition)
    outcome = enumerate_puzzle(puzzle, None, Settings(histogram_only=True))
    assert outcome.states == entry["states"]
    assert metric not in entry or list(outcome.layers) == entry[metric]


def test_entries_are_whole() -> None:
    assert len({entry["file"] for entry in ENTRIES}) == len(ENTRIES) >= 10
    for entry in ENTRIES:
        assert entry["from"]
        assert entry["source"]
        assert all(
            sum(entry[metric]) == entry["states"] for metric in ("power", "generator") if metric in entry
        )
