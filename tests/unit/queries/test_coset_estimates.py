"""Estimates of layers from cosets at random: beside the exact layers; which cosets are a sample; wrong input."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy
import pytest
from sqlalchemy import update

from farthest import enumerate as enumerate_puzzle
from farthest import load_puzzle, open_survey
from farthest.coordinator.survey import survey_by_threads
from farthest.cosets import Chosen, Drawn, cosets_named
from farthest.documents.surveys import estimates_facts, estimates_table
from farthest.errors import FarthestError, JobError
from farthest.models.database import Database, open_database
from farthest.models.surveys import Done, StoredSurvey, Surveys
from farthest.models.tables import survey_part
from farthest.puzzles.puzzle import Origin
from farthest.queries.coset_estimates import (
    CosetEstimates,
    Estimate,
    LayerEstimate,
    estimates,
    known_layers,
)
from farthest.random_source import RandomSource
from farthest.starts import RushHour

PUZZLE, SUBGROUP, DEPTH = "pyraminx<U,L,R>", "<U,L>", 7


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(tmp_path / "f.db", create=True) as opened:
        yield opened


def stored(
    database: Database, chosen: Chosen, puzzle: str = PUZZLE, subgroup: str = SUBGROUP, depth: int = DEPTH
) -> StoredSurvey:
    asked = cosets_named(puzzle, subgroup, depth, chosen)
    return survey_by_threads(asked, database, threads=1, watch=lambda _: None)


def found(database: Database, survey: StoredSurvey, *known: str) -> CosetEstimates:
    return estimates(Surveys(database), survey, known_layers(known, survey, database))


def test_all_cosets_are_exact_and_others_are_near(database: Database) -> None:
    whole = found(database, stored(database, None))
    # One coset has no position within 7 moves.
    assert (whole.exact, whole.sampled, whole.bounded, whole.within) == (True, 292, 291, 15)
    layers = [each.plain.positions for each in whole.layers]
    assert layers == [1, 6, 24, 96, 384, 1508, 5724, 20318]
    assert all(each.plain.error == 0 and each.regression is None for each in whole.layers)
    told = "in 291 of 292 cosets that are not symmetric each position is within 15 moves"
    assert estimates_facts(whole)[-1] == ("bound", told)
    known = [f"{at}={count}" for at, count in enumerate(layers)]
    drawn = found(database, stored(database, Drawn(60, 7)), *known)
    assert (drawn.exact, drawn.sampled, drawn.cosets) == (False, 60, whole.cosets)
    assert whole.all_seconds == pytest.approx(sum(each.seconds for each in Surveys(database).all()[:1]))
    assert whole.all_seconds / 10 < drawn.all_seconds < 10 * whole.all_seconds
    for at in range(4, DEPTH + 1):  # before, most cosets have no position
        plain, regression = drawn.layers[at].plain, drawn.layers[at].regression
        assert plain.error is not None
        assert abs(plain.positions - layers[at]) < 3 * plain.error
        assert drawn.layers[at].known == layers[at]
        if at > 5:
            assert regression is not None
            assert regression.error is not None
            assert regression.controls == tuple(range(at - 1, max(at - 4, 4), -1))
            assert abs(regression.positions - layers[at]) < 3 * regression.error
            assert regression.error < plain.error / 2


def test_figures_are_those_of_a_mean_and_of_a_fit(database: Database) -> None:
    survey = stored(database, Drawn(12, 3))
    rows = [row.layers for row, _ in Surveys(database).cosets(survey.id)]
    last = found(database, survey, "6=5,724").layers[7]
    before, counts = (numpy.array([row[at] for row in rows], dtype=float) for at in (6, 7))
    assert last.plain.positions == pytest.approx(576 * counts.mean())
    assert last.plain.error == pytest.approx(576 * counts.std(ddof=1) / sqrt(12))
    slope, level = numpy.polyfit(before - 5724 / 576, counts, 1)
    assert last.regression is not None
    assert last.regression.controls == (6,)
    assert last.regression.positions == pytest.approx(576 * level)
    left = counts - level - slope * (before - 5724 / 576)
    spread = 1 / 12 + (before.mean() - 5724 / 576) ** 2 / (12 * before.var())
    assert last.regression.error == pytest.approx(576 * sqrt((left @ left) / 10 * spread))
    assert found(database, stored(database, Drawn(11, 3)), "6=5724").layers[7].regression is None


def test_off_is_told_of_the_estimate_with_the_smaller_error() -> None:
    layer = LayerEstimate(7, 1.0, Estimate(110.0, 5.0), Estimate(140.0, 20.0, (6,)), 100)
    _, (cells,) = estimates_table(CosetEstimates(10, 12, False, None, 0, 1.0, [layer]))
    assert cells[-1] == "2.0"


def test_the_error_of_a_fit_that_leaves_nothing_is_not_known(database: Database) -> None:
    """Each position is within two moves. Two are in a coset: as many are two moves away as are not one move away, but
    for the solved one, which is not in the sample. So the fit is exact, and wrong."""
    moves = "; ".join(f"m{by}={[(at + by) % 24 + 1 for at in range(24)]}" for by in (1, 2, 3, 4, 12))
    survey = stored(database, Drawn(12, 6), moves, "<m12>", 2)
    estimated = found(database, survey, "1=9", "2=14")
    assert estimated.layers[2].regression == Estimate(pytest.approx(15), None, (1,))  # type: ignore[arg-type]
    _, (*_, cells) = estimates_table(estimated)
    assert cells[4:] == ("15", "", "1", "14", "")


def test_each_coset_has_the_same_chance() -> None:
    asked = cosets_named("pyraminx<U,L>", "<U>", 0, None)
    tables, whole, cosets, draws = asked.tables, asked.of.whole, asked.of.cosets, 900
    times = Counter(tables.sequence(whole.random(RandomSource(7 << 32 | part))) for part in range(draws))
    expected = draws / cosets
    squares = sum(
        (drawn - expected) ** 2 / expected for drawn in [*times.values(), *[0] * (cosets - len(times))]
    )
    assert abs(squares - (cosets - 1)) < 3 * sqrt(2 * (cosets - 1))


def test_layers_that_are_known(database: Database, tmp_path: Path) -> None:
    survey = stored(database, Drawn(3, 1), "cube-2x2x2-htm", "<U,R2,F2>", 2)
    assert list(known_layers((), survey, database).values())[:4] == [1, 9, 54, 321]
    own = stored(database, Drawn(3, 1), "pyraminx<U,L>", "<U>", 2)
    assert known_layers((), own, database) == {0: 1}
    assert known_layers(("2=1_0",), own, database) == {0: 1, 2: 10}
    outcome = enumerate_puzzle("pyraminx<U,L>", database=tmp_path / "f.db")
    assert known_layers((str(outcome.job),), own, database) == dict(enumerate(outcome.layers))
    several = enumerate_puzzle(
        "cube-2x2x2-htm", origin=Origin("to", "goal\nmoves: R"), max_depth=1, database=tmp_path / "f.db"
    )
    for text, said in (
        (str(outcome.job), "is of pyraminx<U,L>, not of cube-2x2x2-htm"),
        (str(several.job), "counts from 2 boards"),
        ("15", "there is no job 15"),
        ("15=many", "expected DEPTH=COUNT"),
        ("-1=5", "expected DEPTH=COUNT"),
        ("3=321", "the survey has no distance 3; it is to 2"),
        ("2=3674161", "only 3,674,160 positions"),
        ("2=55", "there are 54, as is published"),
    ):
        with pytest.raises(FarthestError, match=said):
            known_layers((text,), survey, database)


def test_what_is_no_sample(database: Database) -> None:
    def surveyed(chosen: Chosen) -> StoredSurvey:
        return Surveys(database).begin(cosets_named(PUZZLE, SUBGROUP, 2, chosen), None)

    for survey, said in (
        (surveyed(("R", "R L")), "is of cosets R; R L, listed to depth 2; estimates need cosets at random"),
        (surveyed(None), "or all of them, done"),
        (surveyed(Drawn(4, 1)), "0 cosets done, expected at least 2"),
        (Surveys(database).begin(RushHour(3, 2, 18, "all"), 1), "only cosets give estimates"),
    ):
        with pytest.raises(JobError, match=said):
            found(database, survey)


def test_in_python(database: Database, tmp_path: Path) -> None:
    survey = stored(database, Drawn(30, 7))
    with open_survey(survey.id, database=tmp_path / "f.db") as opened:
        assert opened.estimates({6: 5724}) == found(database, survey, "6=5724")
        with pytest.raises(TypeError, match="known: expected a whole number, got 'x'"):
            opened.estimates({6: "x"})  # type: ignore[dict-item]
        # Distance 0 is exact; no coset of the sample has a position at distance 1.
        first, second, *_ = opened.estimates().layers
        assert (first.plain.positions, first.plain.error) == (1, 0)
        assert (second.plain.positions, second.plain.error) == (0, None)


def test_the_time_of_all_cosets(database: Database) -> None:
    """Each took a second: there are as many classes as seconds."""
    asked = cosets_named(PUZZLE, SUBGROUP, 2, Drawn(200, 2))
    begun = Surveys(database).begin(asked, None)
    Surveys(database).store(begun.id, [(part, asked.survey(part, 200), 1.0) for part in range(200)])
    assert found(database, begun).all_seconds == pytest.approx(292, rel=0.1)


def test_a_sample_ends_before_the_first_coset_that_is_missing(database: Database) -> None:
    asked = cosets_named(PUZZLE, SUBGROUP, 6, Drawn(6, 2))
    begun = Surveys(database).begin(asked, None)
    done: list[Done] = [(part, asked.survey(part, 6), 0.1) for part in (5, 0, 3, 1)]
    Surveys(database).store(begun.id, done)
    assert found(database, begun).sampled == 2


def test_more_cosets_of_a_seed_take_over_those_that_are_done(database: Database) -> None:
    fewer = stored(database, Drawn(5, 2), depth=6)
    surveys = Surveys(database)
    more = surveys.begin(cosets_named(PUZZLE, SUBGROUP, 6, Drawn(8, 2)), None)
    assert (more.done, surveys.missing(more.id)) == (5, [5, 6, 7])
    assert [*surveys.cosets(more.id)] == [*surveys.cosets(fewer.id)]
    assert stored(database, Drawn(3, 2), depth=6).done == 3
    with database.write() as connection:
        connection.execute(update(survey_part).where(survey_part.c.part == 2).values(totals="{}"))
    assert surveys.missing(surveys.begin(cosets_named(PUZZLE, SUBGROUP, 6, Drawn(7, 2)), None).id) == [
        2,
        5,
        6,
    ]
    for other in (Drawn(8, 3), ("L",), None):
        assert surveys.begin(cosets_named(PUZZLE, SUBGROUP, 6, other), None).done == 0
    assert surveys.begin(cosets_named(PUZZLE, SUBGROUP, 7, Drawn(8, 2)), None).done == 0


def test_another_title_takes_over_what_is_done(database: Database) -> None:
    """Titles, sources and known figures of catalogue puzzles change with versions of the program."""
    surveys = Surveys(database)
    renamed = replace(load_puzzle(PUZZLE), title="another", known=())
    for chosen in (("L", "L R"), Drawn(2, 4), None):
        asked, again = (cosets_named(puzzle, SUBGROUP, 2, chosen) for puzzle in (PUZZLE, renamed))
        first = surveys.begin(asked, None)
        surveys.store(first.id, [(1, asked.survey(1, 2), 1.0)])
        second = surveys.begin(again, None)
        assert second.id != first.id
        assert [*surveys.cosets(second.id)] == [*surveys.cosets(first.id)]
