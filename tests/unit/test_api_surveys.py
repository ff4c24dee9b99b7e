"""`farthest.survey`, and the questions to a stored survey."""

import csv
import json
from pathlib import Path
from typing import Any, cast

import pytest

import farthest
from families import PUZZLES
from farthest.coordinator.survey import survey_by_threads
from farthest.cosets import cosets_named
from farthest.models.database import open_database
from farthest.starts import NOTHING, Counts


def test_a_survey_and_its_questions(tmp_path: Path) -> None:
    file = tmp_path / "f.db"
    with farthest.survey("rush-hour-4x4", parts=3, database=file) as found:
        assert found.totals == Counts(1349, 880, 493, 32, 9304, 6892, 514, 7)
        assert sum(found.by_pieces.values(), NOTHING) == found.totals
        assert (found.finished, found.left, found.number) == (True, 0, 1)
        (hardest,) = found.top()
        assert (hardest.moves, hardest.board) == (7, "BBoCAAoCDEEEDoFF")
        assert found.top(2, by="states", pieces=5)[0].states >= found.top(pieces=5)[0].states
        assert len(list(found.components())) == 32
        assert found.cosets() == []
        assert (
            repr(found)
            == "<Survey 1: rush-hour-4x4: any number of pieces, row 2; kept: minimal; 3 of 3 parts>"
        )
        assert [each.name for each in farthest.surveys(file)] == [
            "rush-hour-4x4: any number of pieces, row 2; kept: minimal"
        ]
        shown = found._repr_html_()
        assert "<td" in shown
        assert "Hardest boards: 7 moves, 34 states" in shown
        digest = found.digest
    with farthest.survey("rush-hour-4x4", threads=1, database=file, progress=False) as again:
        assert (again.number, again.digest) == (1, digest)
    assert [each.id for each in farthest.surveys(file)] == [1]
    with farthest.open_survey(1, file) as opened:
        assert opened.export(tmp_path / "all.jsonl") == opened.export(str(tmp_path / "all.csv")) == 32
        lines = (tmp_path / "all.jsonl").read_text().splitlines()
        with (tmp_path / "all.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert [json.loads(line)["board"] for line in lines] == [row["board"] for row in rows]
        opened.delete()
        with pytest.raises(farthest.JobError, match="has no survey 1"):
            _ = opened.totals
    with pytest.raises(farthest.JobError, match="has no survey 1"):
        farthest.open_survey(1, file)


def test_cosets(tmp_path: Path) -> None:
    file, subgroup = tmp_path / "f.db", "<U>"
    puzzle = farthest.load_puzzle("pyraminx<U,L>")
    with farthest.survey_cosets(puzzle, subgroup="<U,L>", depth=30, threads=2, database=file) as found:
        assert [sum(row.layers) for row in found.cosets()] == [540]
    with farthest.survey_cosets(
        puzzle, subgroup=subgroup, depth=30, cosets=["L U", "L"], database=file
    ) as some:
        assert [row.coset for row in some.cosets()] == ["L U", "L"]
    with farthest.survey_cosets(
        puzzle, subgroup=subgroup, depth=30, random=12, seed=1, database=file
    ) as drawn:
        assert drawn.estimates().sampled == 12
        with pytest.raises(TypeError, match="known: expected a dict"):
            drawn.estimates(known=cast("Any", [1]))
    with pytest.raises(farthest.SettingError, match="random 181: there are 180 cosets"):
        farthest.survey_cosets(puzzle, subgroup=subgroup, depth=3, random=181, database=file)
    with pytest.raises(farthest.SettingError, match="give one of them"):
        farthest.survey_cosets(puzzle, subgroup=subgroup, depth=3, random=2, cosets=["L"], database=file)
    none, wrong = tmp_path / "none.db", cast("Any", 5)
    with pytest.raises(farthest.SettingError, match="cosets: none are given"):
        farthest.survey_cosets(puzzle, subgroup=subgroup, depth=3, cosets=[], database=none)
    with pytest.raises(farthest.SettingError, match="seed: it is for random"):
        farthest.survey_cosets(puzzle, subgroup=subgroup, depth=3, seed=1, database=none)
    with pytest.raises(TypeError, match="depth: expected a whole number"):
        farthest.survey_cosets(puzzle, subgroup=subgroup, depth=None, database=none)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cosets: expected texts, got int"):
        farthest.survey_cosets(puzzle, subgroup=subgroup, depth=3, cosets=[wrong], database=none)
    with pytest.raises(TypeError, match="subgroup: expected a text such as"):
        farthest.solve_many(puzzle, ["moves: U"], subgroup=wrong)
    with pytest.raises(farthest.SettingError, match="would take centuries"):
        farthest.survey_cosets("cube-3x3x3-htm", subgroup="<U,D,R2,L2,F2,B2>", depth=3, database=none)
    with pytest.raises(TypeError, match="expected a list of sequences"):
        farthest.survey_cosets(puzzle, subgroup=subgroup, depth=3, cosets="L U", database=file)
    assert not none.exists()


def test_boards_of_a_puzzle_of_ones_own(tmp_path: Path) -> None:
    """As on the command line, but the puzzle is an object, and boards are what boards may be."""
    puzzle = PUZZLES["blocks, move"]()
    start = puzzle.definition.origin_boards[1]
    assert start is not None
    with farthest.survey(puzzle, boards=["start", start], database=tmp_path / "f.db") as found:
        with farthest.survey(puzzle, boards="start", database=tmp_path / "f.db") as same:
            assert same.number == found.number
        assert found.totals.starts == found.totals.components == 1
        (component,) = found.components()
        with farthest.enumerate(puzzle, database=tmp_path / "f.db", origin="from start") as opened:
            assert component.states == opened.states
        assert component.moves is None
        assert found.totals.minimal is None
        assert "minimal" not in found._repr_html_()
        assert found.top() == []
        assert "<img" not in found._repr_html_()


def test_a_survey_of_cosets(tmp_path: Path) -> None:
    with open_database(tmp_path / "f.db", create=True) as database:
        asked = cosets_named("pyraminx<U,L>", "<U>", 3, ("L", ""))
        survey_by_threads(asked, database, threads=1, watch=lambda _: None)
    with farthest.open_survey(1, tmp_path / "f.db") as found:
        assert [row.coset for row in found.cosets()] == ["L", ""]
        assert "parts" in found._repr_html_()
        assert found.export(tmp_path / "cosets.jsonl") == found.export(tmp_path / "cosets.csv") == 2
        (first, _) = map(json.loads, (tmp_path / "cosets.jsonl").read_text().splitlines())
        with (tmp_path / "cosets.csv").open(newline="") as stream:
            row, _ = csv.DictReader(stream)
        assert (row["coset"], row["layers"]) == (first["coset"], " ".join(map(str, first["layers"])))
        for ask in (found.top, lambda: list(found.components()), lambda: found.totals):
            with pytest.raises(farthest.JobError, match="survey 1 is of cosets"):
                ask()


def test_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "f.db"
    wrong: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        ("rush-hour-4x5", {}, farthest.SettingError, "expected a square"),
        ("rush-hour-4x4", {"pieces": "3"}, TypeError, "pieces: expected a whole number"),
        ("rush-hour-4x4", {"row": 5}, farthest.SettingError, "row 5: expected 1 to 4"),
        ("rush-hour-4x4", {"workers": "me"}, ValueError, "workers: expected threads or celery"),
        ("8-puzzle", {}, farthest.SettingError, "only sliding blocks are surveyed"),
        ("pennant", {"boards": ["start", "AA"]}, farthest.BoardError, "board 2: "),
        ("pennant", {"boards": 5}, TypeError, "boards: expected a text or a list of boards, got 5"),
        ("pennant", {"boards": [5]}, TypeError, "board: expected a text"),
        (7, {}, TypeError, "puzzle: expected a name"),
        ("rush-hour-3x3", {"parts": 0}, farthest.SettingError, "parts 0: expected 1 to 10,000,000"),
        ("rush-hour-3x3", {"parts": 10**12}, farthest.SettingError, "parts 1000000000000: expected"),
        ("rush-hour-3x3", {"threads": -1}, farthest.SettingError, "threads -1: expected 1 to 4,096"),
        ("rush-hour-3x3", {"threads": 1, "workers": "celery"}, farthest.SettingError, "leave them out"),
        ("pennant", {"keep": "foo"}, farthest.SettingError, "keep foo: expected solvable or all"),
    ]
    for starts, options, kind, message in wrong:
        with pytest.raises(kind, match=message):
            farthest.survey(starts, database=file, **options)
    assert not file.exists()
    with farthest.survey("rush-hour-3x3", database=file) as found:
        with pytest.raises(ValueError, match="by: expected moves or states"):
            found.top(by="layers")  # type: ignore[arg-type]  # what is tested
        for count, pieces in ((2**70, 1), (-1, 1), (1, 2**70)):
            with pytest.raises(farthest.SettingError, match="expected 0 to 2,147,483,647"):
                found.top(count, pieces=pieces)
    with pytest.raises(farthest.JobError, match="has no survey"):
        farthest.open_survey(2**80, file)
    with pytest.raises(TypeError, match="number: expected a whole number, got '1'"):
        farthest.open_survey("1", file)  # type: ignore[arg-type]  # what is tested
