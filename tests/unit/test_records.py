"""docs/records.md: its table says what the files of docs/runs say, and these what the catalogue publishes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cases import for_each
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.puzzles.catalogue import load
from farthest.starts import Counts, RushHour

DOCS = Path(__file__).parents[2] / "docs"
RUNS = sorted((DOCS / "runs").glob("*.json"))


def rows() -> dict[str, list[str]]:
    """The cells of each row after its name, by the file that the name leads to."""
    lines = re.findall(
        r"^\| \[(.+?)\]\(runs/(.+?)\) \|(.*)\|$", (DOCS / "records.md").read_text(), re.MULTILINE
    )
    assert all(file == f"{name}.json" for name, file, _ in lines)
    return {file: [cell.strip() for cell in cells.split("|")] for _, file, cells in lines}


def most(run: dict[str, Any], figure: str) -> int:
    return max(int(layer[figure]) for layer in run["figures"])


def test_each_run_has_one_row() -> None:
    assert sorted(rows()) == [file.name for file in RUNS]


@for_each("file", RUNS)
def test_a_row_says_what_its_file_says(file: Path) -> None:
    run = json.loads(file.read_text())
    _, states, farthest, published, _, seconds, memory, disk = rows()[file.name]
    assert states == f"{run['states']:,}"
    assert farthest == (str(run["eccentricity"]) if run["complete"] else "")
    assert seconds == f"{run['seconds']:,.1f}"
    assert sum(run["layers"]) == run["states"]
    if run.get("figures"):
        assert memory == f"{most(run, 'memory') / 2**30:.1f} GiB"
        assert disk == f"{most(run, 'disk') / 1e9:.1f} GB"
    for depth, last in re.findall(r"(\d+) moves, (\d+) farthest", published):
        assert (run["eccentricity"], run["layers"][-1]) == (int(depth), int(last))
    for total in re.findall(r"sum of all distances, ([\d,]+)", published):
        distances = sum(depth * states for depth, states in enumerate(run["layers"]))
        assert total == f"{distances:,}"


@for_each("file", RUNS)
def test_the_layers_are_those_that_are_published(file: Path) -> None:
    run = json.loads(file.read_text())
    own = file.with_suffix(".toml")
    puzzle = load(own if own.exists() else run["puzzle"])
    assert puzzle.name == run["puzzle"]
    layers = tuple(run["layers"])
    for known in puzzle.known:
        first = known.layers or known.first_layers or layers
        depth = min(len(first), len(layers))
        assert first[:depth] == layers[:depth]
        assert not run["complete"] or known.states in (None, run["states"])
    published = rows()[file.name][3]
    most = max((len(known.layers or known.first_layers or ()) for known in puzzle.known), default=0)
    assert all(int(told) <= most for told in re.findall(r"(\d+) layers", published))
    assert not ("new" in published and most)


@pytest.mark.slow
def test_the_smallest_is_found_again() -> None:
    run = json.loads((DOCS / "runs/rubiks-square-6.json").read_text())
    found = enumerate_puzzle(load(DOCS / "runs/rubiks-square-6.toml"), None, Settings(histogram_only=True))
    assert (list(found.layers), found.digest) == (run["layers"], run["digest"])


def test_the_table_of_a_survey() -> None:
    """It says what the file says; the rows that are published of few pieces are all there are."""
    run = json.loads((DOCS / "runs/surveys/rush-hour-6x6.json").read_text())
    text = (DOCS / "records.md").read_text().partition("## Surveys")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in re.findall(r"^\| \d.*", text, re.MULTILINE)]
    names = ("pieces", "starts", "components", "solvable", "minimal", "states", "moves")
    assert [row[:-1] for row in rows] == [[f"{each[name]:,}" for name in names] for each in run["totals"]]
    assert sum(each["minimal"] for each in run["totals"]) == run["kept"]
    assert f"{sum(each['starts'] for each in run['totals']):,}" in text
    published = [int(row[-1]) for row in rows]
    assert f"{sum(published):,} are of boards without walls" in text
    assert all(found <= each["minimal"] for found, each in zip(published, run["totals"], strict=True))
    few = RushHour(6, 3, 3, "minimal").survey(0, 1).totals
    for each in run["totals"][:3]:
        assert few[each["pieces"]] == Counts(**{name: each[name] for name in Counts.__struct_fields__})
