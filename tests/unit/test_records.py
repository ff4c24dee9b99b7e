"""docs/records.md: its table says what the files of docs/runs say, and these what the catalogue publishes."""

import json
import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from cases import for_each
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.cosets import CosetRow
from farthest.models.database import Database, open_database
from farthest.models.surveys import StoredSurvey, Surveys
from farthest.puzzles.catalogue import load
from farthest.queries.coset_estimates import estimates, known_layers
from farthest.starts import Counts, RushHour, starts_of

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


KNOWN = DOCS.parent / "tests/known_answers/cosets.json"
COSETS = DOCS / "runs/surveys"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(tmp_path / "f.db", create=True) as opened:
        yield opened


def stored_again(database: Database, name: str) -> tuple[dict[str, Any], StoredSurvey, list[CosetRow]]:
    """A file of cosets, and what it says stored as a survey, which has the file's digest."""
    run = json.loads((COSETS / f"{name}.json").read_text())
    names = CosetRow.__struct_fields__
    rows = [CosetRow(**{field: each[field] for field in names}) for each in run["cosets"]]
    surveys = Surveys(database)
    begun = surveys.begin(starts_of(run["starts_of"]), None)
    surveys.store(begun.id, [(part, row, run["cosets"][part]["seconds"]) for part, row in enumerate(rows)])
    stored = surveys.get(begun.id)
    assert stored.finished
    assert surveys.digest(stored.id) == run["digest"]
    return run, stored, rows


def table(first: str) -> list[list[str]]:
    """The rows of the table of docs/records.md whose first column is called that."""
    text = (DOCS / "records.md").read_text().partition(f"| {first} |")[2].partition("\n\n")[0]
    return [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]


@pytest.mark.parametrize("name", [f"cube-3x3x3-cosets-to-{depth}" for depth in (15, 17, 18)])
def test_cosets(database: Database, name: str) -> None:
    """Their counts are the published ones, and no bound is below a published distance."""
    known = {each["coset"]: each["layers"] for each in json.loads(KNOWN.read_text())}
    run, _, rows = stored_again(database, name)
    for row in rows:
        published = known[row.coset]
        depth = len(row.layers)
        assert row.layers == published[:depth]
        at_most = [*accumulate([*row.layers, *row.bounds])]
        assert all(ours <= theirs for ours, theirs in zip(at_most, accumulate(published), strict=False))
        assert sum(row.layers) + sum(row.bounds) == sum(published)
    shown = table("coset")
    for row, each in zip(rows, run["cosets"], strict=True):
        last = [f"{count:,}" for count in row.layers[13:]]
        name = f"`{row.coset}`" if row.coset else "solved"
        assert [name, *last, *[""] * (6 - len(last)), str(row.farthest), f"{each['seconds']:,.0f}"] in shown


def test_cosets_at_random(database: Database) -> None:
    """Published layers are within two standard errors, and the table is that of `--estimate`."""
    _, stored, _ = stored_again(database, "cube-3x3x3-cosets-at-random")
    found = estimates(Surveys(database), stored, known_layers([], stored, database))
    lines = []
    for layer in found.layers[12:]:
        assert layer.regression is not None
        assert layer.known is not None
        off = [
            abs(each.positions - layer.known) / (each.error or 0) for each in (layer.plain, layer.regression)
        ]
        assert max(off) < 2
        told = (f"{each.positions:.5g}, {each.error:.2g}" for each in (layer.plain, layer.regression))
        lines.append([str(layer.distance), *told, f"{layer.known:,}", *(f"{each:.1f}" for each in off)])
    assert table("distance") == lines
