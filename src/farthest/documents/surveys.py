"""What is told of surveys: by `farthest survey`, `cosets` and `surveys`, and by the web, as JSON and as tables."""

from __future__ import annotations

import csv
import io
import json
from itertools import zip_longest
from operator import mul
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from farthest.documents import filled
from farthest.queries.output_files import text_cell
from farthest.starts import NOTHING, BlockBoards, Component, Counts, RushHour, RushHourBoards, Starts
from farthest.wording import counted, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from farthest.cosets import CosetRow
    from farthest.models.surveys import StoredSurvey, Surveys
    from farthest.puzzles.puzzle import Puzzle
    from farthest.queries.coset_estimates import CosetEstimates, Estimate, LayerEstimate


class PiecesDocument(TypedDict):
    """The components whose boards have so many pieces."""

    pieces: Annotated[int, "how many pieces these boards have"]
    starts: Annotated[int, "boards from which components were looked for"]
    components: int
    solvable: int
    minimal: Annotated[
        int | None,
        "components; those in which a goal can be reached; of these, those whose hardest board is minimal, "
        "of a puzzle null",
    ]
    states: int
    solvable_states: int
    minimal_states: Annotated[int | None, "the states of these"]
    moves: Annotated[int, "of the hardest board"]


class ComponentDocument(TypedDict):
    """A component that is kept."""

    pieces: Annotated[int, "how many pieces its boards have"]
    states: Annotated[int, "how many boards it has"]
    moves: Annotated[int | None, "of its hardest board; null where no goal can be reached"]
    minimal: Annotated[bool | None, "whether that board is minimal; of a puzzle null"]
    board: Annotated[str, "the hardest board, or without a goal the one that it was found from"]
    layers: Annotated[list[int], "states at each distance from the nearest goal"]


class CosetDocument(TypedDict):
    """A coset that has been enumerated."""

    coset: Annotated[str, "a sequence of moves that it is named by"]
    distance: Annotated[int, "the moves from there to the subgroup"]
    representative: Annotated[
        str,
        "a shortest sequence to the first of the cosets that symmetries of puzzle and subgroup take it to",
    ]
    weight: Annotated[int, "how many these are: all have the same counts"]
    layers: Annotated[
        list[int], "positions at each distance, exact; it ends at the depth, or where all are found"
    ]
    bounds: Annotated[list[int], "further positions at each distance beyond the depth, at most"]
    unreached: Annotated[int, "positions of which no bound is known"]
    farthest: Annotated[int | None, "no position is farther; null where some are unreached"]
    sequences: Annotated[int, "that were listed"]
    seconds: Annotated[float, "that it took: a thread, or all of a process where the subgroup is large"]
    digest: Annotated[str, "SHA-256 of the counts `[layers, bounds, unreached]`"]


class _Surveyed(TypedDict):
    """What is told of every survey."""

    survey: Annotated[int, "its number, for `farthest surveys`"]
    name: Annotated[str, "the set, and what tells it from others of that name"]
    parts: int
    done: Annotated[
        int, "into how many parts it is divided, a coset each or many boards, and how many are stored"
    ]
    seconds: Annotated[float, "of all these parts together"]
    digest: Annotated[
        str, "equal for equal results, however the survey was divided and whoever did the parts"
    ]


class CosetsDocument(_Surveyed):
    """Cosets of a subgroup, as far as they are enumerated."""

    starts_of: Annotated[
        dict[str, Any],
        "what decides the cosets: `kind`, the definition `puzzle`, `subgroup`, `depth`, and `cosets`: null for all, "
        "`random` and `seed`, or a list of sequences",
    ]
    layers: Annotated[
        list[int] | None,
        "with all cosets, when all are done: positions of the puzzle at each distance, up to the depth",
    ]
    cosets: Annotated[list[CosetDocument], "those that are stored"]


class LayerEstimateDocument(TypedDict):
    """How many positions of a puzzle are at a distance, estimated."""

    distance: int
    mean: Annotated[float, "the distance, and how many positions a coset has at it on average"]
    positions: Annotated[float, "that the puzzle has there: the mean times the number of cosets"]
    error: Annotated[
        float | None,
        "its standard error; 0 where it is exact, null where it is not known: all these cosets have the same count",
    ]
    regression: Annotated[
        float | None, "the positions by regression on known layers; null where none was made"
    ]
    regression_error: Annotated[
        float | None, "its standard error; null also where these cosets have exactly the fitted counts"
    ]
    controls: Annotated[list[int], "the distances of these layers"]
    known: Annotated[int | None, "the layer where it is known, published or by `--known`"]


class EstimatesDocument(TypedDict):
    """A puzzle's layers, estimated from cosets at random."""

    survey: Annotated[int, "its number"]
    name: Annotated[str, "the puzzle, the subgroup and the cosets"]
    cosets: Annotated[int, "how many there are"]
    sampled: Annotated[int, "from how many the layers are estimated"]
    exact: Annotated[bool, "whether these are all, and the layers exact"]
    within: Annotated[int | None, "the most moves to any position that has a bound"]
    bounded: Annotated[int, "the cosets, of those sampled, of which each position has a bound"]
    all_seconds: Annotated[
        float, "for all cosets one after another, of symmetric ones one, as long as these took"
    ]
    estimates: Annotated[list[LayerEstimateDocument], "a distance each, from 0 to the depth"]


class SurveyDocument(_Surveyed):
    """A survey, and what it has found so far."""

    starts_of: Annotated[
        dict[str, Any],
        "what decides the set: `kind`, `keep`, of rush-hour `size`, `row`, `pieces`, `walls` if there are any, or "
        "`boards`, of a puzzle its definition `puzzle` and `boards`, a list or null",
    ]
    kept: Annotated[int, "components that have a row"]
    totals: Annotated[list[PiecesDocument], "counts for each number of pieces"]


def _surveyed(stored: StoredSurvey, digest: str) -> _Surveyed:
    return filled(_Surveyed, stored, survey=stored.id, parts=stored.record.parts, digest=digest)


def document_of(surveys: Surveys, stored: StoredSurvey) -> SurveyDocument | CosetsDocument:
    """The JSON object of any survey."""
    return cosets_document(surveys, stored) if stored.of_cosets else survey_document(surveys, stored)


def survey_document(surveys: Surveys, stored: StoredSurvey) -> SurveyDocument:
    """The JSON object."""
    totals, digest = surveys.totals_and_digest(stored.id)
    return {
        **_surveyed(stored, digest),
        "starts_of": stored.starts.fields(),
        "kept": stored.components,
        "totals": [filled(PiecesDocument, counts, pieces=pieces) for pieces, counts in totals.items()],
    }


def cosets_document(surveys: Surveys, stored: StoredSurvey) -> CosetsDocument:
    """The JSON object of a survey of cosets."""
    rows = [*surveys.cosets(stored.id)]
    layers = None
    if stored.starts.fields()["cosets"] is None and stored.finished:
        longest = max(len(row.layers) for row, _ in rows)
        layers = [
            sum(row.weight * row.layers[at] for row, _ in rows if at < len(row.layers))
            for at in range(longest)
        ]
    return {
        **_surveyed(stored, surveys.digest_of_cosets(row for row, _ in rows)),
        "starts_of": stored.starts.fields(),
        "layers": layers,
        "cosets": [coset_document(*each) for each in rows],
    }


def coset_document(row: CosetRow, seconds: float) -> CosetDocument:
    """The JSON object."""
    return filled(CosetDocument, row, seconds=seconds)


def estimates_document(stored: StoredSurvey, found: CosetEstimates) -> EstimatesDocument:
    """The JSON object."""

    def of(estimate: Estimate | None) -> dict[str, Any]:
        return {
            "regression": None if estimate is None else estimate.positions,
            "regression_error": None if estimate is None else estimate.error,
            "controls": [] if estimate is None else list(estimate.controls),
        }

    rows = [
        filled(
            LayerEstimateDocument,
            each,
            positions=each.plain.positions,
            error=each.plain.error,
            **of(each.regression),
        )
        for each in found.layers
    ]
    return filled(EstimatesDocument, found, survey=stored.id, name=stored.name, estimates=rows)


def component_document(component: Component) -> ComponentDocument:
    """The JSON object."""
    return component._asdict()  # type: ignore[return-value]


def exported(surveys: Surveys, stored: StoredSurvey, form: str) -> Iterator[str]:
    """All components that are kept, or all cosets, as parts of a file, one each, and a head of the form ``.csv``; of
    ``.jsonl`` each is an object on a line."""
    fields = (CosetDocument if stored.of_cosets else ComponentDocument).__annotations__
    rows: Iterable[Mapping[str, Any]] = map(component_document, surveys.components(stored.id))
    if stored.of_cosets:
        rows = (coset_document(*each) for each in surveys.cosets(stored.id))
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    if form == ".csv":
        yield ",".join(fields) + "\n"
    for row in rows:
        if form == ".jsonl":
            yield json.dumps(row) + "\n"
            continue
        writer.writerow(_cell(row[name]) for name in fields)
        yield line.getvalue()
        line.seek(line.truncate(0))


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return text_cell(value) if isinstance(value, str) else value


COUNTS = ("starts", "components", "solvable", "minimal", "states", "moves")
"""Of totals, what tables have."""


def totals_rows(totals: Mapping[int, Counts]) -> list[tuple[str, ...]]:
    """The number of pieces and ``COUNTS``, and at last the sums."""
    rows = [*totals.items(), ("all", sum(totals.values(), NOTHING))]
    return [(str(pieces), *(_known(getattr(counts, name)) for name in COUNTS)) for pieces, counts in rows]


def boards_of(
    starts: Starts, components: Iterable[Component]
) -> Iterator[tuple[str, Puzzle, tuple[int, ...]]]:
    """What is told of each component, and its board: the puzzle that it is one of, and its labels."""
    if isinstance(starts, RushHour | RushHourBoards | BlockBoards):  # cosets have no components
        for each in components:
            puzzle = starts.puzzle_of(each.board)
            moves = "no goal" if each.moves is None else counted(each.moves, "move")
            caption = f"{moves}, {counted(each.states, 'state')}"
            yield caption, puzzle, puzzle.definition.parse_board(each.board, name=puzzle.name)


Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Headings, and a row of texts for each line."""


def cosets_table(document: CosetsDocument, most: int) -> Table:
    """Positions at each distance, a column each: exact, or below <=5 those that are at most so far; of so many cosets
    at most, and of all together."""
    rows = document["cosets"]
    depth = document["starts_of"]["depth"]
    counts = [[*each["layers"], *each["bounds"]] for each in rows]
    first = min((next((at for at, new in enumerate(each) if new), len(each)) for each in counts), default=0)
    distances = range(first, max(map(len, counts), default=0))

    def cells(layers: list[int]) -> list[str]:
        return [f"{layers[at]:,}" if at < len(layers) else "" for at in distances]

    shown = [
        (
            each["coset"] or "(solved)",
            f"{each['weight']:,}",
            f"{each['seconds']:.1f}",
            *cells(layers),
            f"{each['unreached']:,}",
        )
        for each, layers in zip(rows[:most], counts, strict=False)
    ]
    if len(rows) > most:
        shown.append((f"{len(rows) - most:,} more: --json", *("" for _ in shown[0][1:])))
    if document["layers"] is not None:
        weights = [each["weight"] for each in rows]
        sums = [sum(map(mul, weights, column)) for column in zip_longest(*counts, fillvalue=0)]
        left = sum(each["weight"] * each["unreached"] for each in rows)
        shown.append(("all", f"{sum(weights):,}", f"{document['seconds']:.1f}", *cells(sums), f"{left:,}"))
    heads = [str(at) if at <= depth else f"<={at}" for at in distances]
    return ("coset", "weight", "seconds", *heads, "left"), shown


def estimates_table(found: CosetEstimates) -> Table:
    """The layers, exact or with standard errors."""
    if found.exact:
        return ("distance", "positions", "known"), [
            (f"{each.distance}", f"{each.plain.positions:,}", _known(each.known)) for each in found.layers
        ]
    heads = ("distance", "mean", "positions", "+-", "regression", "+-", "on", "known", "off")
    return heads, [_estimate_cells(each) for each in found.layers]


def estimates_facts(found: CosetEstimates) -> list[tuple[str, str]]:
    """Names and values: from which cosets, and what bound they prove."""
    sample = f"{found.sampled:,} at random, of {found.cosets:,}"
    which = f"{counted(found.sampled, 'coset')}{' that are not symmetric' if found.exact else ''}"
    bound = f"in {found.bounded:,} of {which} each position is within {found.within} moves"
    seconds = f"{'' if found.exact else 'about '}{seconds_text(found.all_seconds)}"
    facts = [
        ("cosets", f"all {found.cosets:,}" if found.exact else sample),
        ("all cosets", f"{seconds}, one after another"),
        ("bound", bound),
    ]
    return facts if found.bounded else facts[:-1]


def _estimate_cells(each: LayerEstimate) -> tuple[str, ...]:
    by = each.regression
    best = min([each.plain, *([by] if by else [])], key=lambda estimate: estimate.error or 0)
    off = (
        "" if each.known is None or not best.error else f"{abs(best.positions - each.known) / best.error:.1f}"
    )
    return (
        f"{each.distance}",
        f"{each.mean:,.1f}",
        *_rough(each.plain),
        *(("", "", "") if by is None else (*_rough(by), ",".join(map(str, by.controls)))),
        _known(each.known),
        off,
    )


def _rough(estimate: Estimate) -> tuple[str, str]:
    number, error = (",.0f", ",.0f") if estimate.positions < 1e9 else (".4e", ".1e")
    return format(estimate.positions, number), "" if estimate.error is None else format(estimate.error, error)


def _known(count: int | None) -> str:
    return "" if count is None else f"{count:,}"
