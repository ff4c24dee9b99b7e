"""Coset enumeration: compared with a walk over all elements; published layers; wrong input."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cases import for_each
from farthest.coordinator.survey import survey_by_threads
from farthest.cosets import CosetRow, Drawn, cosets_named
from farthest.documents.surveys import cosets_document
from farthest.errors import FarthestError, ResourceError, SettingError, StorageError
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.groups import Element, Points, product
from farthest.machine import memory_limit
from farthest.models.database import Database, open_database
from farthest.models.surveys import Surveys
from farthest.puzzles.catalogue import load
from farthest.starts import TABLES, starts_of
from farthest.subgroups import Subgroup, Tables

SMALL = "pyraminx<U,L>"
SUBGROUP = "<U>"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(tmp_path / "f.db", create=True) as opened:
        yield opened


def distances(moves: list[Element]) -> dict[Element, int]:
    unit = tuple(range(len(moves[0])))
    found, queue = {unit: 0}, [unit]
    for each in queue:
        for move in moves:
            after = product(each, move)
            if after not in found:
                found[after] = found[each] + 1
                queue.append(after)
    return found


def elements(name: str) -> dict[str, Element]:
    definition = permutation(load(name))
    points = Points(definition.slot_moduli)
    return {move.name: points.element(*move.effect) for move in definition.generators}


def test_rows_are_those_of_a_walk_over_all_elements() -> None:
    moves = elements(SMALL)
    inside = distances([moves["U"], moves["U'"]]).keys()
    whole = distances(list(moves.values()))
    chosen = ("L", "L U L'", "U L")
    asked = cosets_named(SMALL, SUBGROUP, 20, chosen)
    for part, text in enumerate(chosen):
        r = tuple(range(len(moves["U"])))
        for name in text.split():
            r = product(r, moves[name])
        wanted = Counter(moved for w, moved in whole.items() if product(r, w) in inside)
        row = asked.survey(part, 3)
        assert {at: new for at, new in enumerate(row.layers) if new} == wanted
        assert (row.coset, row.distance, row.farthest) == (text, min(wanted), max(wanted))
        assert (row.bounds, row.unreached) == ([], 0)


def test_all_cosets_add_up(database: Database) -> None:
    asked = cosets_named(SMALL, "<U'>", 30, None)
    stored = survey_by_threads(asked, database, threads=2, watch=lambda _: None)
    surveys = Surveys(database)
    document = cosets_document(surveys, stored)
    counted = Counter(distances(list(elements(SMALL).values())).values())
    assert document["layers"] == [counted[at] for at in range(len(counted))]
    assert document["name"] == f"{SMALL} by <U>: all cosets, listed to depth 30"
    rows = [row for row, _ in surveys.cosets(stored.id)]
    assert sum(row.weight for row in rows) == asked.of.cosets
    assert len(rows) == stored.record.parts
    assert {row.coset for row in rows} == {row.representative for row in rows}


def test_seconds_are_without_those_of_tables(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.coordinator.survey.TELL_SECONDS", 0.05)
    make = Subgroup.tables

    def slowly(subgroup: Subgroup) -> Tables:
        time.sleep(0.3)
        return make(subgroup)

    monkeypatch.setattr(Subgroup, "tables", slowly)
    told: list[str] = []
    asked = cosets_named("pyraminx<U,R>", "<R>", 5, Drawn(3, 1))
    stored = survey_by_threads(asked, database, threads=2, watch=lambda progress: told.append(str(progress)))
    assert 0 < stored.seconds < 0.3
    assert f"0 of 3 parts; at {TABLES}" in told


def test_bounds() -> None:
    exact = cosets_named(SMALL, SUBGROUP, 30, ("L U L",)).survey(0, 1)
    for depth in range(len(exact.layers)):
        row = cosets_named(SMALL, SUBGROUP, depth, ("L U L",)).survey(0, 1)
        assert row.layers == exact.layers[: depth + 1]
        assert sum(row.layers) + sum(row.bounds) + row.unreached == sum(exact.layers)
        reached = known = sum(row.layers)
        for at, more in enumerate(row.bounds, depth + 1):
            reached += more
            known += exact.layers[at] if at < len(exact.layers) else 0
            assert reached <= known
    assert exact.farthest == len(exact.layers) - 1
    far = cosets_named(SMALL, SUBGROUP, 0, ("L U L",)).survey(0, 1)
    assert (far.layers, far.bounds, far.unreached, far.farthest) == ([0], [], sum(exact.layers), None)


def test_stages_are_the_distances() -> None:
    asked = cosets_named(SMALL, SUBGROUP, 30, ("L U L",))
    *stages, (row, share) = asked.stages(0, 1)
    assert (row, share) == (asked.survey(0, 1), 0.0)
    for at, (before, _) in enumerate(stages, 1):
        assert before.layers == row.layers[:at]
        assert sum(before.layers) + before.unreached == sum(row.layers)


def test_cosets_at_random() -> None:
    asked = cosets_named(SMALL, SUBGROUP, 30, Drawn(5, 7))
    rows = [asked.survey(part, 5) for part in range(5)]
    again = cosets_named(SMALL, SUBGROUP, 30, Drawn(3, 7))
    assert rows[:3] == [again.survey(part, 3) for part in range(3)]
    assert len({row.coset for row in rows}) > 1
    for row in rows:
        symmetric = cosets_named(SMALL, SUBGROUP, 30, (row.representative,)).survey(0, 1)
        assert (symmetric.digest, symmetric.weight) == (row.digest, row.weight)


def test_sequences_to_one_position_are_one_coset() -> None:
    asked = cosets_named("cube-2x2x2-htm", "<U,R2,F2>", 3, ("R U F'", "R", "R U F3", "R", "R R'"))
    assert asked.chosen == ("R U F'", "R", "R R'")
    assert str(asked) == "cosets R U F'; R; R R', listed to depth 3"


def test_fields() -> None:
    for chosen in (None, Drawn(3, 1), ("L", "L U2")):
        asked = cosets_named(SMALL, SUBGROUP, 5, chosen)
        assert starts_of(asked.fields()) == asked
    fields = asked.fields()
    for wrong in ({"depth": "5"}, {"cosets": 3}, {"cosets": {"random": 0, "seed": 1}}, {"puzzle": "{}"}):
        with pytest.raises(ValueError):
            starts_of({**fields, **wrong})


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = cosets_named("pyraminx<U,L>", "<L>", 5, None)
    needs = asked.of.needs
    assert asked.bytes == needs.table_bytes + needs.coset_bytes
    assert asked.shares(3) == (3, 1)
    limit = needs.table_bytes + 2 * needs.coset_bytes
    monkeypatch.setattr("farthest.cosets.memory_limit", lambda asked: limit)
    assert asked.shares(3) == (2, 1)
    monkeypatch.setattr("farthest.cosets.memory_limit", lambda asked: needs.table_bytes)
    with pytest.raises(ResourceError, match="which is more than is free"):
        asked.shares(1)
    monkeypatch.setattr("farthest.cosets.UNCHECKED_BYTES", 0)
    with pytest.raises(ResourceError, match="which is more than is free"):
        asked.survey(0, 1)
    monkeypatch.setattr("farthest.cosets.memory_limit", lambda asked: needs.coset_bytes)
    with pytest.raises(ResourceError, match="which is more than is free"):
        asked.shares(1)
    assert asked.parts  # its tables are made: from now on they are no part of what is free
    assert asked.shares(1) == (1, 1)
    assert asked.survey(0, 1).unreached == 0


def test_memory_that_tables_of_another_set_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker holds those of the survey before."""
    others, asked = (cosets_named("pyraminx<U,L>", subgroup, 5, None) for subgroup in ("<L>", "<U>"))
    assert others.parts
    monkeypatch.setattr("farthest.cosets.UNCHECKED_BYTES", 0)
    monkeypatch.setattr("farthest.cosets.memory_limit", lambda _: 0 if others.made else asked.bytes)
    assert asked.survey(0, 1).unreached == 0
    assert not others.made


CUBE = ("cube-3x3x3-htm", "<U,D,R2,L2,F2,B2>")


def test_a_large_subgroup(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = cosets_named(*CUBE, 15, ("R",))
    assert (asked.of.cosets, asked.of.positions) == (2_217_093_120, 19_508_428_800)
    assert len(asked.of.renamings) == 16
    assert asked.of.needs.all_threads
    monkeypatch.setattr("farthest.cosets.memory_limit", lambda asked: 2**34)
    assert asked.shares(7) == (1, 7)
    monkeypatch.setattr("farthest.cosets.memory_limit", lambda asked: 4 * 10**9)
    with pytest.raises(ResourceError, match="which is more than is free"):
        next(asked.stages(0, 1))


@pytest.mark.night
def test_rows_of_a_large_subgroup() -> None:
    """Some that are published: forum.cubeman.org, nodes 51 and 129."""
    asked = cosets_named(*CUBE, 12, ("", "R L F B R L", "L3F2R1D3U1B3U3F2U3"))
    if memory_limit(None) < asked.bytes:
        pytest.skip("too little memory is free")
    for part, layers in enumerate(
        (
            [1, 10, 67, 456, 3079, 20076, 125218, 756092],
            [0, 0, 0, 0, 0, 0, 128, 2480, 29616],
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 283, 3909, 50440],
        )
    ):
        stages = asked.stages(part, 2)
        assert next(row.layers for row, _ in stages if len(row.layers) == len(layers)) == layers
        stages.close()
    row = asked.tables.coset("L3F2R1D3U1B3U3F2U3")
    symmetric = asked.tables.coset(row.representative)
    assert (symmetric.representative, symmetric.weight) == (row.representative, row.weight)


def test_threads_take_turns_at_a_run() -> None:
    asked = cosets_named("cube-2x2x2-htm", "<U,R>", 0, None)
    for _ in range(20):
        run = asked.tables.begin("", 1)
        found = [run.advance(True)]  # alone: at a later distance it would list sequences without end
        with ThreadPoolExecutor(4) as pool:
            found += pool.map(run.advance, [False] * 30)
        assert sum(each[0] for each in found if each) == asked.of.positions


@for_each(
    "name, subgroup, sequence, said",
    [
        ("cube-3x3x3-htm", "<U,D,R2,L2>", "R", "that one has 19,508,428,800 positions; choose a larger"),
        ("megaminx", "<A>", "A", "the puzzle has 120 places times orientations, expected at most 64"),
        ("8-puzzle", "<U>", "U", "of the family sliding; only permutation puzzles have cosets"),
        ("cube-2x2x2-htm", "U,R2", "R", "expected moves between < and >"),
        ("cube-2x2x2-htm", "<U,L>", "R", "'L': "),
        (
            "cube-2x2x2-htm",
            "<>",
            "R",
            "a move is missing: there is nothing beside a comma or another sign; write",
        ),
        ("cube-2x2x2-qtm", "<U,R2>", "R", "R2 is not a single move here; the moves are U"),
        ("cube-2x2x2-htm", "<U,A=R>", "R", "moves have no other names here"),
        ("cube-2x2x2-htm", "<U R2>", "R", "write commas between: U,R2"),
        ("cube-2x2x2-htm", "<D,R2>", "R", "other faces; the moves are U R F U2"),
        ("cube-2x2x2-htm", "<U,R2>", "R Q", "coset 'R Q': move 2, 'Q': "),
        ("cube-2x2x2-htm", "<U,R2>", "UBR URF UFL ULB DFR DLF DRB", "move 1, 'UBR': it may be of a board"),
        ("pyraminx@UL=UR", "<U>", "U", "some pieces are alike"),
        ("square-1", "<U>", "U", "some moves cannot be made on every board"),
        ("nowhere", "<U>", "U", "nowhere"),
    ],
)
def test_what_is_refused(name: str, subgroup: str, sequence: str, said: str) -> None:
    with pytest.raises(FarthestError) as error:
        cosets_named(name, subgroup, 5, (sequence,)).survey(0, 1)
    assert said in str(error.value)


def test_several_goals_are_refused(tmp_path: Path) -> None:
    """Cosets count from one solved board, all else of such a puzzle to the nearest goal."""
    file = tmp_path / "two.toml"
    file.write_text(
        'name = "two"\nfamily = "permutation"\n[permutation]\ngoals = ["a b c", "c b a"]\n'
        '[permutation.generators]\nx = "(1 2)"\ny = "(2 3)"\n'
    )
    with pytest.raises(SettingError, match="it has 2 goals; cosets are counted from one solved board"):
        cosets_named(str(file), "<x>", 3, None)


def test_what_is_stored_is_checked(database: Database) -> None:
    asked = cosets_named(SMALL, SUBGROUP, 3, ("L",))
    stored = survey_by_threads(asked, database, threads=1, watch=lambda _: None)
    (row,) = (each for each, _ in Surveys(database).cosets(stored.id))
    assert isinstance(row, CosetRow)
    with database.write() as connection:
        connection.exec_driver_sql(
            f"UPDATE survey_part SET totals = replace(totals, '\"weight\":{row.weight}', '\"weight\":99')"
        )
    with pytest.raises(StorageError, match="it is not what was stored"):
        [*Surveys(database).cosets(stored.id)]
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE survey_part SET totals = '{}'")
    with pytest.raises(StorageError, match="column totals"):
        Surveys(database).digest(stored.id)


def check_published(name: str, subgroup: str, depth: int, database: Database) -> None:
    asked = cosets_named(name, subgroup, depth, None)
    stored = survey_by_threads(asked, database, threads=2, watch=lambda _: None)
    published = next(known.layers for known in load(name).known if known.layers)
    assert cosets_document(Surveys(database), stored)["layers"] == list(published[: depth + 1])


PUBLISHED = [("cube-2x2x2-htm", "<U,R2,F2>"), ("skewb", "<UBR,DFR>"), ("pyraminx", "<U,L>")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "subgroup"), PUBLISHED)
def test_published_layers(name: str, subgroup: str, database: Database) -> None:
    check_published(name, subgroup, 8, database)


@pytest.mark.night
@pytest.mark.parametrize(("name", "subgroup"), PUBLISHED)
def test_all_published_layers(name: str, subgroup: str, database: Database) -> None:
    check_published(name, subgroup, 11, database)
