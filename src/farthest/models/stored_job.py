"""The puzzle, the origin and the space of a job's row, its parameters and its result. Only this module leads from
stored text to the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar, cast

from farthest.models.records import (
    SEARCH,
    Answers,
    EnumerationParameters,
    SearchParameters,
    SearchResult,
    fields_of,
)
from farthest.models.sealing import check_values, damaged, json_object
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.wording import shown

if TYPE_CHECKING:
    from farthest.models.records import JobRecord
    from farthest.spaces.contract import Space

Declared = TypeVar("Declared", EnumerationParameters, SearchParameters, SearchResult)


def puzzle_of(record: JobRecord) -> Puzzle:
    """The definition, as it was when the job was stored. Raises StorageError where it does not match its digest,
    PuzzleError where this version of the program, or its settings, do not accept it."""
    json_object(record.puzzle_json, "puzzle", record.puzzle_id, "definition", record.id)
    puzzle = Puzzle.from_json(record.puzzle_json)
    if puzzle.digest != record.puzzle_digest:
        raise damaged("puzzle", record.puzzle_id, "column digest: not that of the definition", record.id)
    return puzzle


def enumeration_parameters(record: JobRecord) -> EnumerationParameters:
    """Raises StorageError where they are not those of an enumeration."""
    return _declared(EnumerationParameters, record, "parameters")


def search_parameters(record: JobRecord) -> SearchParameters:
    """Raises StorageError where they are not those of a search."""
    return _declared(SearchParameters, record, "parameters")


def search_result(record: JobRecord) -> SearchResult | None:
    """None of a job that is no search or not finished. Raises StorageError where it is not one of a search."""
    if record.kind != SEARCH or record.result is None:
        return None
    return _declared(SearchResult, record, "result")


def stored_answers(record: JobRecord) -> Answers:
    """What an enumeration keeps of its map to tell at once. Raises StorageError where that cannot have been stored."""
    if record.kind == SEARCH or record.result is None:
        return {}
    import msgspec

    from farthest.typed import convert

    try:
        return convert(record.result, Answers)
    except msgspec.ValidationError as error:
        raise damaged("job", record.id, f"column result: {error}", record.id) from None


def _declared(kind: type[Declared], record: JobRecord, column: Literal["parameters", "result"]) -> Declared:
    held, fields = getattr(record, column), fields_of(cast("type", kind))
    values = [held.get(one.name) for one in fields]
    check_values(kind, "job", values, record.id, record.id, f"{column}.")
    return kind(*values)


def origin_of(record: JobRecord) -> Origin:
    """The origin of an enumeration. Raises StorageError where there is none."""
    asked = enumeration_parameters(record)
    if asked.direction not in ("to", "from"):
        what = f"column parameters.direction: {shown(asked.direction)}, expected to or from"
        raise damaged("job", record.id, what, record.id)
    return Origin(cast("Literal['to', 'from']", asked.direction), asked.where)


def space_of(record: JobRecord, puzzle: Puzzle | None = None) -> Space:
    """The space of an enumeration's map, with the stored layout. Raises StorageError where the layout is not one of the
    puzzle's, or does not have the map's number of keys, and as ``compile_space`` does."""
    from farthest.spaces import compile_space

    try:
        space = compile_space(puzzle or puzzle_of(record), origin_of(record), record.layout)
        keys = space.keys
        same = space.layout_fields() == record.layout
        if space.engine == "gather":
            space.kernel  # type: ignore[attr-defined] # noqa: B018 - made now, so that it raises for a wrong layout
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        what = f"column layout: not a layout of the puzzle ({error})"
        raise damaged("job", record.id, what, record.id) from None
    if not same:
        raise damaged("job", record.id, "column layout: not a layout of the puzzle", record.id)
    if keys is not None and record.has_map and record.keys != keys:
        raise damaged("job", record.id, f"column keys: {record.keys}, where the layout has {keys}", record.id)
    return space
