"""Surveys of Rush Hour: compared with a model that places all pieces and moves them one by one; published figures."""

import json
import re
import threading
from collections.abc import Iterator
from itertools import combinations, zip_longest
from pathlib import Path
from typing import NamedTuple

import pytest

import farthest
from cluster import until
from families import PUZZLES
from farthest.coordinator.survey import SurveyProgress, survey_by_threads
from farthest.cosets import cosets_named
from farthest.errors import BoardError, FarthestError, JobError, ResourceError, SettingError, StorageError
from farthest.families.blocks.space import BlockSpace
from farthest.models.database import Database, open_database
from farthest.models.surveys import StoredSurvey, Surveys, digest_of
from farthest.puzzles.catalogue import load
from farthest.starts import (
    STARTS_IN_A_PART,
    TABLES,
    BlockBoards,
    Component,
    Counts,
    Keep,
    Part,
    RushHour,
    RushHourBoards,
    Starts,
    starts_named,
    starts_of,
)


class Piece(NamedTuple):
    """``line``: its row, or column; ``first``: its first cell there."""

    upright: bool
    line: int
    first: int
    length: int

    def cells(self) -> set[tuple[int, int]]:
        along = range(self.first, self.first + self.length)
        return {(at, self.line) if self.upright else (self.line, at) for at in along}


Board = frozenset[Piece]


Walls = frozenset[tuple[int, int]]


def boards_of(size: int, row: int, pieces: int, walls: Walls) -> Iterator[Board]:
    """All boards of at most so many pieces, the one that leaves wherever it may be left of no wall."""
    places = [
        Piece(upright, line, first, length)
        for upright in (False, True)
        for line in range(size)
        for length in (2, 3)
        for first in range(size - length + 1)
        if upright or line != row
    ]

    def placed(board: list[Piece], taken: set[tuple[int, int]], at: int) -> Iterator[Board]:
        full = any(
            sum(each.length for each in board if (each.upright, each.line) == line)
            + sum(y == line[1] for y, _ in walls if not line[0])
            >= size
            for line in {(each.upright, each.line) for each in board} | {(False, y) for y in range(size)}
        )
        if full:
            return
        yield frozenset(board)
        for number in range(at, len(places) if len(board) < pieces else 0):
            cells = places[number].cells()
            if not cells & taken:
                yield from placed([*board, places[number]], taken | cells, number + 1)

    for first in range(size - 1):
        leaving = Piece(False, row, first, 2)
        if not any(y == row and x >= first for y, x in walls):
            yield from placed([leaving], leaving.cells() | walls, 0)


def moved(board: Board, size: int, walls: Walls) -> Iterator[Board]:
    for piece in board:
        others = walls | {cell for each in board - {piece} for cell in each.cells()}
        for step in (-1, 1):
            other = piece
            while True:
                other = other._replace(first=other.first + step)
                if not 0 <= other.first <= size - other.length or other.cells() & others:
                    break
                yield board - {piece} | {other}


def solved(board: Board, size: int, row: int) -> bool:
    return Piece(False, row, size - 2, 2) in board


def layers_from(starts: set[Board], size: int, walls: Walls) -> list[set[Board]]:
    seen, layers = set(starts), [starts]
    while layers[-1]:
        layers.append({after for board in layers[-1] for after in moved(board, size, walls)} - seen)
        seen |= layers[-1]
    return layers[:-1]


def moves_of(board: Board, size: int, row: int, walls: Walls) -> int | None:
    return next(
        (
            depth
            for depth, layer in enumerate(layers_from({board}, size, walls))
            if any(solved(each, size, row) for each in layer)
        ),
        None,
    )


def mask(board: Board, size: int) -> tuple[int, int]:
    return tuple(  # type: ignore[return-value]
        sum(1 << y * size + x for piece in board if piece.upright == upright for y, x in piece.cells())
        for upright in (False, True)
    )


def drawn(board: Board, size: int, row: int, walls: Walls) -> str:
    def order(piece: Piece) -> tuple[bool, tuple[int, int]]:
        return piece[:2] != (False, row), min(piece.cells())

    names = {
        cell: chr(65 + number)
        for number, piece in enumerate(sorted(board, key=order))
        for cell in piece.cells()
    }
    names |= dict.fromkeys(walls, "x")
    return "".join(names.get((y, x), "o") for y in range(size) for x in range(size))


def naive(size: int, row: int, pieces: int, most_walls: int) -> list[tuple[Component, bool]]:
    """All components; of one without a solution no board is told. And whether the hardest board is minimal."""
    cells = [(y, x) for y in range(size) for x in range(size)]
    sets = [frozenset(each) for count in range(most_walls + 1) for each in combinations(cells, count)]
    return [found for walls in sets for found in naive_round(size, row, pieces, walls)]


def naive_round(size: int, row: int, pieces: int, walls: Walls) -> Iterator[tuple[Component, bool]]:
    """Of boards with these walls."""
    seen = set[Board]()
    for start in boards_of(size, row, pieces, walls):
        if start in seen:
            continue
        component = {board for layer in layers_from({start}, size, walls) for board in layer}
        seen |= component
        layers = layers_from({board for board in component if solved(board, size, row)}, size, walls)
        if not layers:
            yield Component(len(start), len(component), None, False, "", []), False
            continue
        hardest = min(layers[-1], key=lambda board: mask(board, size))
        moves = len(layers) - 1
        without = [(hardest - {piece}, walls) for piece in hardest if piece[:2] != (False, row)]
        without += [(hardest, walls - {wall}) for wall in walls]
        minimal = all(moves_of(board, size, row, others) != moves for board, others in without)
        text = drawn(hardest, size, row, walls)
        counts = [len(layer) for layer in layers]
        yield Component(len(start), len(component), moves, minimal, text, counts), minimal


@pytest.mark.parametrize(
    ("size", "row", "pieces", "walls"),
    [
        *((3, 1, 18, 0), (3, 2, 18, 2), (4, 1, 3, 0)),
        *(pytest.param(4, row, 4, 0, marks=pytest.mark.slow) for row in (2, 4)),
        pytest.param(4, 2, 3, 1, marks=pytest.mark.slow),
        *(pytest.param(4, row, 18, 0, marks=pytest.mark.night) for row in (1, 2, 4)),
    ],
)
def test_as_the_model(size: int, row: int, pieces: int, walls: int) -> None:
    """Also the components of all their boards, given as texts, and in parts."""
    expected = [each for each, _ in naive(size, row - 1, pieces, walls)]
    starts = RushHour(size, row, pieces, "all", walls)
    found = starts.survey(0, 1)
    parted = [each for part in range(29) for each in starts.survey(part, 29).components]
    assert sorted(parted, key=repr) == sorted(found.components, key=repr)
    own = RushHourBoards(size, row, tuple(each.board for each in found.components), "all")
    again = [*own.survey(0, 2).components, *own.survey(1, 2).components]
    assert sorted(again, key=repr) == sorted(found.components, key=repr)
    told = [each if each.layers else each._replace(board="") for each in found.components]
    assert sorted(told, key=repr) == sorted(expected, key=repr)
    for pieces, counts in found.totals.items():
        of_pieces = [each for each in expected if each.pieces == int(pieces)]
        solvable = [each for each in of_pieces if each.layers]
        minimal = [each for each in solvable if each.minimal]
        assert counts.components == len(of_pieces)
        assert (counts.solvable, counts.minimal) == (len(solvable), len(minimal))
        assert counts.states == sum(each.states for each in of_pieces)
        assert counts.solvable_states == sum(each.states for each in solvable)
        assert counts.minimal_states == sum(each.states for each in minimal)
        assert counts.moves == max((each.moves or 0 for each in solvable), default=0)


def test_starts_that_are_published() -> None:
    """What Fogleman's program says of its boards: without walls, with at most one, two and three."""
    for size, row, counts in (
        (4, 2, (1349, 9804, 33_953, 76_838)),
        (5, 3, (268_109, 2_988_670)),
    ):
        for walls, count in enumerate(counts):
            starts = RushHour(size, row, 18, "all", walls)
            assert 0.5 <= starts.parts / (count // STARTS_IN_A_PART + 1) <= 2
            assert starts._kernel.starts() == count


ROWS = """
60 IBBxooIooLDDJAALooJoKEEMFFKooMGGHHHM 2332
58 BBoKMxDDDKMoIAALooIoJLEEooJFFNoGGoxN 9192
55 ooBBMxDDDKMoAAJKoNooJEENIFFLooIGGLox 9712
08 ooxCCCoHxooLoHJAALoIJEEEoIFFKooGGoKo 84
"""
"""Rows of his database of 6 by 6 with walls."""


def components_of(starts: Starts) -> list[Component]:
    """Of all of them in one part."""
    found = starts.survey(0, 1)
    assert isinstance(found, Part)
    return found.components


def test_boards_of_a_file() -> None:
    """Each is as published, and minimal; of a component that is given twice one is told."""
    starts = starts_named("rush-hour-6x6", boards=ROWS.split("\n"))
    assert starts == starts_of(starts.fields())
    found = components_of(starts)
    rows = sorted(line.split() for line in ROWS.split("\n") if line)
    assert sorted((f"{each.moves:02}", str(each.states)) for each in found) == [
        (moves, states) for moves, _, states in rows
    ]
    assert all(each.minimal for each in found)
    twice = starts_named("rush-hour-4x4", boards=["BBoCAAoCDEEEDoFF", "BB.C.AACDEEED.FF"])
    assert [(each.moves, each.board) for each in components_of(twice)] == [(7, "BBoCAAoCDEEEDoFF")]
    full = starts_named("rush-hour-4x4", boards=["BBCCAAoooooooooo"])
    assert components_of(full)[0].states == 3
    assert starts_named("rush-hour-4x4", boards="BBoCAAoCDEEEDoFF\n\n 7 BB.C.AACDEEED.FF 34\n") == twice
    for boards, said in (
        (
            ["BBoCAAoCDEEEDoFF", "AAB"],
            "board 2: got 'AAB', 3 characters; expected a board of 4x4 cells, 16 characters",
        ),
        ("BBoCAAoCDEEEDoFF\nAABooooooooooooo", r"line 2: car B \(row 1, column 3\) has one cell"),
        (["ooooooooAAoooooo"], "board 1: car A is not 2 cells in row 2, by which it is to leave"),
        (["ooooAABBoooooooo"], "board 1: car A is not the only one that lies in row 2"),
        (["BBBBAAoooooooooo"], "board 1: car B is not 2 or 3 cells in a line"),
        (
            ["BBoCAAoCDEEEDoFF AAoo"],
            "board 1: got 'BBoCAAoCDEEEDoFF AAoo', 16 and 4 characters; expected a board",
        ),
        (
            ["oooAAoooo"],
            "board 1: got 'oooAAoooo', 9 characters; expected a board of 4x4 cells, 16 characters",
        ),
        ([], "no boards: expected 1 to 200,000, one on each line"),
    ):
        with pytest.raises(BoardError, match=said):
            starts_named("rush-hour-4x4", boards=boards)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(tmp_path / "f.db", create=True) as opened:
        yield opened


def surveyed(database: Database, starts: Starts, parts: int | None = None, threads: int = 2) -> StoredSurvey:
    return survey_by_threads(starts, database, threads=threads, parts=parts, watch=lambda _: None)


def sums(surveys: Surveys, number: int) -> dict[str, int]:
    totals = surveys.totals(number).values()
    return {
        name: sum(getattr(each, name) for each in totals)
        for name in ("starts", "components", "solvable", "minimal")
    }


def test_all_boards_of_four_rows(database: Database) -> None:
    """What Fogleman's program counts; and the same in one part as in three or seven, by one thread or three."""
    surveys = Surveys(database)
    one = surveyed(database, RushHour(4, 2, 18, "minimal"), parts=1)
    counted = {"starts": 1349, "components": 880, "solvable": 493, "minimal": 32}
    assert sums(surveys, one.id) == counted
    (hardest,) = surveys.top(one.id, "moves", 1)
    assert (hardest.moves, hardest.states, hardest.board) == (7, 34, "BBoCAAoCDEEEDoFF")
    found, totals, digest = sorted(surveys.components(one.id)), surveys.totals(one.id), surveys.digest(one.id)
    before = one
    for parts, threads in ((7, 3), (7, 1), (3, 2)):
        surveys.delete(before.id)
        again = surveyed(database, RushHour(4, 2, 18, "minimal"), parts, threads)
        assert sorted(surveys.components(again.id)) == found
        assert (surveys.totals(again.id), surveys.digest(again.id)) == (totals, digest)
        assert again.id > before.id
        assert surveys.all() == [again]
        before = again


@pytest.mark.slow
def test_all_boards_of_five_rows(database: Database) -> None:
    """What Fogleman's program counts."""
    stored = surveyed(database, RushHour(5, 3, 18, "minimal"))
    surveys = Surveys(database)
    counted = {"starts": 268_109, "components": 130_299, "solvable": 62_106, "minimal": 1730}
    assert sums(surveys, stored.id) == counted
    assert [(each.moves, each.states) for each in surveys.top(stored.id, "moves", 3)] == [
        (20, 299),
        (20, 299),
        (18, 154),
    ]


PUBLISHED = """
01 ooooooooooooAAoooooooooooooooooooooo 5
02 ooooooooBoooAABooooooooooooooooooooo 21
03 ooBooCooBooCAABooCoooooooooooooooooo 44
"""
"""Rows of Fogleman's database of 6 by 6, rush.txt: moves, board, states."""


def test_boards_of_six_rows_that_are_published() -> None:
    found = RushHour(6, 3, 3, "minimal").survey(0, 1)
    told = {f"{each.moves:02} {each.board} {each.states}" for each in found.components}
    assert set(PUBLISHED.split("\n")) - {""} <= told


def test_those_with_the_most_states(database_url: str) -> None:
    """Components without a goal are behind those with one; of equal ones the first that was found is first."""
    with open_database(database_url, create=True) as database:
        surveys = Surveys(database)
        stored = surveyed(database, RushHour(4, 2, 3, "all"), parts=2)
        found = list(surveys.components(stored.id))
        expected = sorted(found, key=lambda each: (-each.states, each.moves is None, -(each.moves or 0)))
        assert surveys.top(stored.id, "states", len(found)) == expected
        assert any(each.moves is None for each in expected)


@pytest.mark.parametrize("keep", ["minimal", "solvable", "all"])
def test_what_is_kept(keep: Keep) -> None:
    found = RushHour(4, 2, 18, keep).survey(0, 1)
    kept = {"minimal": 32, "solvable": 493, "all": 880}[keep]
    assert len(found.components) == kept
    assert sum(counts.components for counts in found.totals.values()) == 880


def test_a_survey_goes_on(database: Database) -> None:
    """Parts that are stored are not done again; what another process stores meanwhile counts once."""
    surveys = Surveys(database)
    starts = RushHour(4, 2, 4, "minimal")
    begun = surveys.begin(starts, 5)
    assert surveys.missing(begun.id) == [0, 1, 2, 3, 4]
    part = starts.survey(3, 5)
    assert surveys.store(begun.id, [(3, part, 1.5)]) == {3}
    assert surveys.store(begun.id, [(3, part, 2.5)]) == set()
    assert surveys.missing(begun.id) == [0, 1, 2, 4]
    assert surveys.begin(starts, 9) == surveys.get(begun.id)
    assert not surveys.get(begun.id).finished
    ended = surveyed(database, starts)
    assert ended.finished
    assert (ended.id, ended.record.parts) == (begun.id, 5)
    assert ended.seconds > 1.5
    assert surveys.begin(RushHour(4, 2, 5, "minimal"), 1).id != begun.id


def test_damage_is_told(database: Database) -> None:
    stored = surveyed(database, RushHour(4, 2, 18, "minimal"), parts=2)
    surveys = Surveys(database)
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE component SET states = states + 1 WHERE part = 1 AND number = 0")
    with pytest.raises(StorageError, match="table survey_part, row 1 of survey 1: it is not what was stored"):
        list(surveys.components(stored.id))
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE component SET layers = 'x' WHERE part = 1 AND number = 0")
    with pytest.raises(StorageError, match="table component"):
        list(surveys.components(stored.id))
    counts = dict.fromkeys(Counts.__struct_fields__, 1)
    wrong: list[object] = [[], {"a": counts}, {"1": {"moves": 1}}, {"1": {**counts, "moves": -1}}]
    for totals in wrong:
        with database.write() as connection:
            connection.exec_driver_sql(
                f"UPDATE survey_part SET totals = '{json.dumps(totals)}' WHERE part = 1"
            )
        for ask in (surveys.totals, surveys.digest):
            with pytest.raises(
                StorageError, match=r"column totals: .*`farthest surveys 1 --delete`, and survey again"
            ):
                ask(stored.id)
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE survey_part SET digest = 'x' WHERE part = 0")
        connection.exec_driver_sql("UPDATE survey SET parts = 0")
    with pytest.raises(StorageError, match="column parts: 0"):
        surveys.begin(stored.starts, None)
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE survey SET starts_of = '{}'")
    with pytest.raises(StorageError, match="column digest"):
        surveys.digest(stored.id)
    with pytest.raises(StorageError, match="column starts_of"):
        _ = surveys.get(stored.id).starts


def test_a_survey_that_is_gone(database: Database) -> None:
    surveys = Surveys(database)
    begun = surveys.begin(RushHour(4, 2, 2, "all"), 2)
    surveys.delete(begun.id)
    for act in (
        lambda: surveys.get(begun.id),
        lambda: surveys.delete(begun.id),
        lambda: surveys.missing(begun.id),
        lambda: surveys.store(begun.id, [(0, Part({}, []), 0.0)]),
    ):
        with pytest.raises(JobError, match="survey 1"):
            act()


def test_sets_of_starts() -> None:
    assert starts_named("rush-hour-6x6", None, None, "minimal") == RushHour(6, 3, 18, "minimal")
    assert starts_named("rush-hour-5x5", 7, 1, "all") == RushHour(5, 1, 7, "all")
    starts = RushHour(5, 3, 7, "solvable")
    assert starts_of(starts.fields()) == starts
    assert starts.parts == 9
    for name, pieces, row, said in (
        ("rush-hour-4x5", None, None, "expected a square, rush-hour-NxN, with N from 3 to 6"),
        ("rush-hour-7x7", None, None, "size 7: expected 3 to 6"),
        ("rush-hour-4x4", 19, None, "pieces 19: expected 1 to 18"),
        ("rush-hour-4x4", 3, 5, "row 5: expected 1 to 4"),
    ):
        with pytest.raises(SettingError, match=said):
            starts_named(name, pieces, row, "minimal")
    for fields in (
        {},
        {"kind": "rush-hour"},
        {**starts.fields(), "size": 99},
        {**starts.fields(), "keep": 1},
        {"kind": "rush-hour-boards", "size": 4, "row": 2, "boards": ["AA"], "keep": "all"},
    ):
        with pytest.raises(ValueError, match=r"\w"):
            starts_of(fields)


@pytest.mark.parametrize("name", ["blocks, step", "blocks, slide", "blocks, move"])
def test_all_placements_of_blocks(name: str, tmp_path: Path) -> None:
    """Compared with the map of distances to the goal, and the components of single boards."""
    puzzle = PUZZLES[name]()
    found = BlockBoards(puzzle, None, "all").survey(0, 1)
    (counts,) = found.totals.values()
    assert counts.components == len(found.components)
    assert counts.starts == counts.states == sum(each.states for each in found.components)
    solvable = [each for each in found.components if each.layers]
    assert BlockBoards(puzzle, None, "solvable").survey(0, 1).components == solvable
    with farthest.enumerate(puzzle, origin="to goal", database=tmp_path / "f.db") as opened:
        assert counts.solvable_states == opened.states
        assert counts.moves == opened.eccentricity
        layers = [sum(layer) for layer in zip_longest(*(each.layers for each in solvable), fillvalue=0)]
        assert tuple(layers) == opened.layers
        assert [opened.distance(each.board) for each in solvable] == [each.moves for each in solvable]
        for each in found.components[:20]:
            assert (each.moves is None) == (opened.distances([each.board])[0] < 0)
            (own,) = BlockBoards(puzzle, (each.board,), "all").survey(0, 1).components
            assert own == each


@pytest.mark.parametrize("step", [1, 2])
def test_blocks_in_parts(database: Database, step: int) -> None:
    """The same in any number of parts, by one thread or three: each component once, also where boards of two parts are
    in it."""
    puzzle, surveys = PUZZLES["blocks, step"](), Surveys(database)
    space = BlockSpace(puzzle, puzzle.origin, packed=False)
    boards = space.decode(space.placements(100, 0, 1))[::step].tolist()
    starts = starts_named(puzzle, boards=None if step == 1 else boards)
    whole = starts.survey(0, 1)
    assert isinstance(whole, Part)
    assert len(whole.components) == 8
    digests = set()
    for parts, threads in ((1, 1), (7, 3)):
        stored = surveyed(database, starts, parts, threads)
        assert surveys.totals(stored.id) == whole.totals
        assert sorted(surveys.components(stored.id), key=str) == sorted(whole.components, key=str)
        digests.add(surveys.digest(stored.id))
        surveys.delete(stored.id)
    assert len(digests) == 1


def test_components_of_boards() -> None:
    starts = starts_named("pennant", None, None, None, ["start", "", "AABB/AACC/12../DEFF/DEGG"])
    assert starts == BlockBoards(load("pennant"), ("AABB/AACC/12../DEFF/DEGG",), "all")
    assert starts_of(starts.fields()) == starts
    assert starts.parts == 1
    (component,) = starts.survey(0, 3).components
    assert (component.pieces, component.states, component.minimal) == (9, 1398, None)
    assert starts.survey(2, 3) == Part({}, [])


def test_wrong_sets_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, said in (
        (("8-puzzle", None, None, None), "only sliding blocks are surveyed"),
        (("pennant", 5, None, None), "a number of pieces or walls and a row are for rush-hour-NxN"),
        (("pennant", None, None, "minimal"), "keep minimal: expected solvable or all"),
        (("pennant", None, None, None, ["start", "AA"]), "board 2: "),
        (("pennant", None, None, None, [" "]), "no boards"),
        (("rush-hour-4x4", 3, None, None, ["AAoo"]), "boards are given, and a number of pieces or walls"),
        (("rush-hour-4x4", None, None, None, None, 4), "walls 4: expected 0 to 3"),
        (("pennant", None, None, None, None, 1), "are for rush-hour-NxN"),
        (("no-such-puzzle", None, None, None), "no-such-puzzle"),
        (("rush-hour", None, None, None), "'rush-hour': expected rush-hour-NxN, with N from 3 to 6"),
    ):
        with pytest.raises(FarthestError, match=said):
            starts_named(*arguments)
    monkeypatch.setattr("farthest.starts.MOST_STATES", 100)
    every, one = (BlockBoards(load("pennant"), each, "all") for each in (None, ("AABB/AACC/12../DEFF/DEGG",)))
    with pytest.raises(ResourceError, match="more than 100 placements in one of 1 part; divide"):
        every.survey(0, 1)
    for starts, parts in ((every, 1000), (one, 1)):
        with pytest.raises(ResourceError, match="more than 100 states in a component"):
            _ = [starts.survey(part, parts) for part in range(parts)]


@pytest.mark.slow
def test_the_classic_box_of_klotski() -> None:
    """65,880 placements; the hardest board takes 126 unit moves, 116 those of the usual start."""
    starts = BlockBoards(load("hakoiri-musume-step"), None, "all")
    assert starts.parts == 2
    one, other = (tuple(starts.survey(part, 2).totals.values()) for part in range(2))
    counts = one[0] + other[0]
    assert (counts.states, counts.components, counts.moves) == (65_880, 898, 126)


def test_digests_are_of_what_was_found() -> None:
    found = RushHour(3, 2, 18, "all").survey(0, 1)
    other = Part(found.totals, found.components[1:])
    assert digest_of(found) == digest_of(RushHour(3, 2, 18, "all").survey(0, 1)) != digest_of(other)


def test_an_interrupt_ends_cosets_inside(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.coordinator.survey.TELL_SECONDS", 0.0)
    told: list[str] = []

    def watch(progress: SurveyProgress) -> None:
        told.extend(each for each in progress.under_way.values() if each != TABLES)
        if told:
            assert str(progress).endswith(f"; at {told[0]}")
            raise KeyboardInterrupt

    asked = cosets_named("skewb", "<UBR,DFR>", 11, ("UFL",))
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        survey_by_threads(asked, database, threads=1, watch=watch)
    assert re.fullmatch(r"distance \d+", told[0])
    until(lambda: threading.active_count() <= before or None, 5, "its thread ends")
    (kept,) = Surveys(database).all()
    assert kept.done == 0
