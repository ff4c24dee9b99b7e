"""What is told of surveys: `farthest survey` and `farthest surveys`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from farthest.documents import filled

if TYPE_CHECKING:
    from farthest.cosets import CosetRow
    from farthest.models.surveys import StoredSurvey, Surveys
    from farthest.queries.coset_estimates import CosetEstimates, Estimate
    from farthest.survey import Component


class PiecesDocument(TypedDict):
    """The components whose boards have so many pieces."""

    pieces: Annotated[int, "how many pieces these boards have"]
    starts: Annotated[int, "boards from which components were looked for"]
    components: int
    solvable: int
    minimal: Annotated[
        int,
        "components; those in which a goal can be reached; of these, those whose hardest board is minimal",
    ]
    states: int
    solvable_states: int
    minimal_states: Annotated[int, "the states of these"]
    moves: Annotated[int, "of the hardest board"]


class ComponentDocument(TypedDict):
    """A component that is kept."""

    pieces: Annotated[int, "how many pieces its boards have"]
    states: Annotated[int, "how many boards it has"]
    moves: Annotated[int | None, "of its hardest board; null where no goal can be reached"]
    minimal: Annotated[bool | None, "whether that board is minimal"]
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
    seconds: Annotated[float, "of a thread"]
    digest: Annotated[str, "SHA-256 of the counts `[layers, bounds, unreached]`"]


class CosetsDocument(TypedDict):
    """Cosets of a subgroup, as far as they are enumerated."""

    survey: Annotated[int, "its number, for `farthest surveys`"]
    name: Annotated[str, "the puzzle and the subgroup"]
    starts_of: Annotated[
        dict[str, Any],
        "what decides the cosets: `kind`, the definition `puzzle`, `subgroup`, `depth`, and `cosets`: null for all, "
        "`random` and `seed`, or a list of sequences",
    ]
    parts: int
    done: Annotated[int, "how many cosets are asked for, and how many are stored"]
    seconds: Annotated[float, "of all these together"]
    digest: Annotated[str, "equal for equal results, whoever enumerated the cosets"]
    layers: Annotated[
        list[int] | None,
        "with all cosets, when all are done: positions of the puzzle at each distance, up to the depth",
    ]
    cosets: Annotated[list[CosetDocument], "those that are stored"]


class EstimateDocument(TypedDict):
    """How many positions of a puzzle are at a distance, estimated."""

    distance: int
    mean: Annotated[float, "the distance, and how many positions a coset has at it on average"]
    positions: Annotated[float, "that the puzzle has there: the mean times the number of cosets"]
    error: Annotated[float, "its standard error; 0 where it is exact"]
    regression: Annotated[
        float | None, "the positions by regression on known layers; null where none was made"
    ]
    regression_error: Annotated[float | None, "its standard error"]
    controls: Annotated[list[int], "the distances of these layers"]
    known: Annotated[int | None, "the layer where it is known, published or by `--known`"]


class EstimatesDocument(TypedDict):
    """A puzzle's layers, estimated from cosets at random."""

    survey: Annotated[int, "its number"]
    name: Annotated[str, "the puzzle and the subgroup"]
    cosets: Annotated[int, "how many there are"]
    sampled: Annotated[int, "from how many the layers are estimated"]
    exact: Annotated[bool, "whether these are all, and the layers exact"]
    within: Annotated[int | None, "the most moves to any position that has a bound"]
    bounded: Annotated[int, "the cosets, of those sampled, of which each position has a bound"]
    estimates: Annotated[list[EstimateDocument], "a distance each, from 0 to the depth"]


class SurveyDocument(TypedDict):
    """A survey, and what it has found so far."""

    survey: Annotated[int, "its number"]
    name: Annotated[str, "the set of starts"]
    starts_of: Annotated[
        dict[str, Any],
        "what decides the set: `kind`, `keep`, of rush-hour `size`, `row`, `pieces`, of a puzzle its definition "
        "`puzzle` and `boards`, a list or null",
    ]
    parts: int
    done: Annotated[int, "into how many parts it is divided, and how many are stored"]
    seconds: Annotated[float, "of all these parts together"]
    kept: Annotated[int, "components that have a row"]
    digest: Annotated[
        str, "equal for equal results, however the survey was divided and whoever did the parts"
    ]
    totals: Annotated[list[PiecesDocument], "counts for each number of pieces"]


def survey_document(surveys: Surveys, stored: StoredSurvey) -> SurveyDocument:
    """The JSON object."""
    totals = surveys.totals(stored.id)
    return {
        "survey": stored.id,
        "name": stored.record.name,
        "starts_of": stored.starts.fields(),
        "parts": stored.record.parts,
        "done": stored.done,
        "seconds": stored.seconds,
        "kept": stored.components,
        "digest": surveys.digest(stored.id),
        "totals": [{"pieces": pieces, **counts} for pieces, counts in totals.items()],  # type: ignore[typeddict-item]
    }


def cosets_document(surveys: Surveys, stored: StoredSurvey) -> CosetsDocument:
    """The JSON object of a survey of cosets."""
    rows = surveys.cosets(stored.id)
    layers = None
    if stored.starts.fields()["cosets"] is None and stored.finished:
        longest = max(len(row.layers) for row, _ in rows)
        layers = [
            sum(row.weight * row.layers[at] for row, _ in rows if at < len(row.layers))
            for at in range(longest)
        ]
    return {
        "survey": stored.id,
        "name": stored.record.name,
        "starts_of": stored.starts.fields(),
        "parts": stored.record.parts,
        "done": stored.done,
        "seconds": stored.seconds,
        "digest": surveys.digest_of_cosets(rows),
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
            EstimateDocument,
            each,
            positions=each.plain.positions,
            error=each.plain.error,
            **of(each.regression),
        )
        for each in found.layers
    ]
    return filled(EstimatesDocument, found, survey=stored.id, name=stored.record.name, estimates=rows)


def component_document(component: Component) -> ComponentDocument:
    """The JSON object."""
    return component._asdict()  # type: ignore[return-value]
