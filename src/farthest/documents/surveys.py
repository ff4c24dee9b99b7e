"""What is told of surveys: `farthest survey` and `farthest surveys`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

if TYPE_CHECKING:
    from farthest.models.surveys import StoredSurvey, Surveys
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


def component_document(component: Component) -> ComponentDocument:
    """The JSON object."""
    return component._asdict()  # type: ignore[return-value]
