"""Jobs: `farthest jobs` and `show`, and the same in the web.

Searches have more fields, see ``documents.searches``.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from farthest.documents import filled
from farthest.errors import FarthestError
from farthest.models.records import FINISHED, QUEUED, RUNNING, SEARCH, Progress, Verification
from farthest.puzzles.origin import names_of, where_text
from farthest.wording import counted, rate_text, seconds_text, times

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from farthest.models.records import JobRecord, LayerRecord


Rows = list[tuple[str, str]]
"""What people read of a thing, on a terminal or a page: names, each with its value."""


class JobDocument(TypedDict):
    """What lists of jobs say of each."""

    job: int
    puzzle: str
    kind: Annotated[Literal["enumeration", "search"], "number, puzzle's name, `enumeration` or `search`"]
    status: Annotated[
        Literal["queued", "running", "interrupted", "cancelled", "finished", "failed"],
        "`queued` (for a coordinator), `running`, `finished`, `interrupted` (to be resumed), `cancelled` or `failed`",
    ]
    parameters: Annotated[
        dict[str, Any],
        "what decides the result: `direction`, `where`, `max_depth`, `histogram_only`, perhaps `symmetry`, and `map` "
        "(`residues`) of a residue map; of a search `board`, `target`, `algorithm`, `heuristic`, `all`, `limit`",
    ]
    states: int | None
    eccentricity: int | None
    complete: Annotated[bool, "as for `enumerate`; null, or false, before it is finished"]
    has_map: Annotated[bool, "whether distances are kept"]
    depth: Annotated[
        int | None,
        "the last layer that is known; of a search the bound that it has reached, in the end the length of the "
        "solutions",
    ]
    seconds: float | None
    digest: Annotated[str | None, "as for `enumerate`; null before it is finished"]
    created: datetime
    started: datetime | None
    finished: Annotated[datetime | None, "times"]
    error: Annotated[str | None, "why it stopped, or was handed back to the queue; or null"]
    not_before: Annotated[
        datetime | None, "of a queued job that there was no room for: when it is tried again; else null"
    ]
    submitted: Annotated[bool, "whether it is for coordinators"]
    progress: Annotated[
        Progress | None,
        "what its owner said last while it ran, or null: those of `depth`, `files_depth` (of the last layer in files, "
        "which stay when it is stopped), `states`, `states_at_most`, `layer_states`, "
        "`states_a_second` (of the last ten seconds), `seconds_left` (at most), `layers` (the states at each depth "
        "until now, up to 300 of them), `blocks`, `blocks_done`, `blocks_leased` (that processes work on), "
        "`waiting_since` (when the oldest of the others was sent, in seconds since 1970), `workers`, `resent` and "
        "`seconds` that are known; "
        "`set_back`, `set_back_depth`: how often in a row there was no room for it, and the depth of its checkpoint "
        "then (-1: none); `taken_over`, `taken_over_depth`: how often in a row it was taken over from a coordinator "
        "that ended without a word, and the depth of its checkpoint then (after more than five it fails); of a search "
        "`bound`, `nodes`, `nodes_a_second`, `pieces_waiting`, `blocks_leased`, `waiting_since`, `workers`, `resent`",
    ]
    result: Annotated[
        dict[str, Any] | None,
        "of a finished search `length` (null: it is proven that there is no solution), `solutions`, `optimal`, "
        "`nodes`, `expanded`; of an enumeration `machine` (`cores`, `threads`, and `workers`: `threads` or `celery`), "
        "and where they are known `goal`, `from_start` and `figures`, as for `enumerate`; else null",
    ]
    version: Annotated[
        str | None,
        "of the program that finished it; null before that, and where an older version stored the job",
    ]
    verified: Annotated[
        Verification | None,
        "the last proof by `farthest verify`, if it is one of what is stored now, else null: `made` (when), `version` "
        "(of the program), `seconds`, and `checks`, a list of objects with `name`, `proves` and `checked`, the number "
        "of states or values",
    ]


class EnumerationDocument(JobDocument):
    """One enumeration with its layers."""

    puzzle_digest: Annotated[str, "of the puzzle"]
    layout: Annotated[dict[str, Any], "what keys mean ([key-layout.md](key-layout.md))"]
    keys: int | None
    unit: Annotated[str | None, "length of the map, type of a distance"]
    layers: list[int]
    layers_digest: Annotated[
        str | None, "SHA-256 of the layers alone: equal whatever is kept; null without layers"
    ]
    layer_seconds: Annotated[list[float | None], "states at each depth, and how long each layer took"]
    classes: Annotated[
        list[int | None] | None,
        "of states that symmetries take to each other, at each depth, null for layers of which they were not counted; "
        "null where they were of none",
    ]


class JobsDocument(TypedDict):
    """A page of the list of jobs, as the web tells it."""

    jobs: list[JobDocument]
    older: int | None
    damaged: list[str]


def origin_text(record: JobRecord) -> str:
    """Where moves are counted from or to, in one line; of a search its board and target. What a damaged row lacks is
    left out."""
    asked = record.parameters
    if "board" in asked:
        return f"{asked['board']} to {where_text(str(asked.get('target', 'goal')))}"
    return f"{asked.get('direction', '')} {where_text(str(asked.get('where', '')))}"


def map_text(record: JobRecord) -> str:
    """What is kept of a job's distances."""
    if record.status != FINISHED:
        if record.keys is not None:
            return f"a checkpoint at depth {record.depth}"
        depth = (record.progress or {}).get("files_depth")
        return "none yet" if depth is None else f"none yet; the layers 0 to {depth} are in files"
    if not record.has_map:
        return "none: only layers and farthest boards were kept"
    kept = record.layout.get("symmetries")
    of_classes = "" if kept is None else f" of representatives of {kept} symmetries"
    return f"{record.keys or 0:,} keys{of_classes}" + (
        ", residues in a file" if record.keeps_residues else ""
    )


def asked_rows(record: JobRecord) -> Rows:
    """What was asked of a job."""
    from farthest.models.stored_job import search_parameters

    if record.kind != SEARCH:
        return [("origin", f"moves are counted {origin_text(record)}")]
    asked = search_parameters(record)
    wanted = f"all solutions, {asked.limit:,} listed at most" if asked.all else "one solution"
    return [
        ("search", f"{asked.algorithm}, heuristic {asked.heuristic}, {wanted}"),
        ("board", origin_text(record)),
    ]


def result_rows(record: JobRecord) -> Rows:
    """What a job has found; empty before its end."""
    from farthest.models.stored_job import search_result

    result = search_result(record)
    if result is not None:
        proven = "" if result.optimal else ", not proven shortest"
        if result.bound and not result.optimal:
            proven += f": {result.bound} or more are needed"
        length = (
            "none: it is proven that the board cannot be solved"
            if result.length is None
            else f"{result.length}{proven}"
        )
        found = [
            ("length", length),
            ("solutions", f"{result.solutions:,}"),
            ("nodes", f"{result.nodes:,}"),
            *([] if result.expanded is None else [("expanded", f"{result.expanded:,} boards")]),
        ]
    elif record.status == FINISHED:
        unknown = f"not known: --max-depth or the memory ended the enumeration after layer {record.depth}"
        found = [
            ("states", f"{record.states or 0:,}"),
            ("eccentricity", f"{record.eccentricity:,}{_diameter(record)}" if record.complete else unknown),
        ]
    else:
        return []
    found += [] if record.kind == SEARCH else answer_rows(record)
    return [*found, ("seconds", seconds_text(record.seconds or 0.0)), ("digest", record.digest or "")]


def _diameter(record: JobRecord) -> str:
    """Whether the eccentricity is the diameter too: where the states are the elements of a group, each is as far from
    the others as the origin is."""
    from farthest.models.stored_job import origin_of, puzzle_of

    try:
        definition, where = puzzle_of(record).definition, origin_of(record).where
    except FarthestError:  # the result is told also where the puzzle cannot be read here
        return ""
    several = len(names_of(where)) > 1 or (where == "goal" and len(definition.origin_boards[0]) > 1)
    return (
        "" if several or not definition.is_group else ", the diameter too: the graph is alike from each state"
    )


BOARDS_TOLD = 4


def answer_rows(record: JobRecord, between: str = ", ") -> Rows:
    """What a finished enumeration keeps of its map to tell at once: the nearest goals; what the start reaches.
    ``between``: what is between two boards."""
    from farthest.models.stored_job import stored_answers

    answers, rows = stored_answers(record), Rows()
    if "goal" in answers:
        goal = answers["goal"]
        within = "" if record.complete else f" within {record.depth} moves"
        told = f"not reached{within}"
        if goal is not None:
            boards = _boards_text(goal.boards, goal.states, between)
            told = f"first reached at depth {goal.depth}, in {boards}"
        rows.append(("goal", told))
    if "from_start" in answers:
        reached = answers["from_start"]
        part = "all" if reached.states == record.states else f"{reached.states:,} of"
        leads = f"leads to {part} the {record.states or 0:,} states"
        if reached.depth is not None:
            boards = _boards_text(reached.boards, reached.farthest, between)
            leads += f"; the farthest of these are {reached.depth} moves away, {boards}"
        rows.append(("start", leads))
    return rows


def _boards_text(boards: Sequence[str], number: int, between: str) -> str:
    told = boards[:BOARDS_TOLD]
    more = [f"... and {number - len(told):,} more"] if number > len(told) else []
    return f"{counted(number, 'board')}:{between.removeprefix(',')}{between.join([*told, *more])}"


LAYER = ("depth", "states", "seconds")
"""The headings of ``layer_rows``."""


def layer_rows(layers: Iterable[LayerRecord]) -> list[tuple[str, str, str]]:
    """A row of texts for each layer."""
    return [
        (str(each.depth), f"{each.states:,}", "" if each.seconds is None else f"{each.seconds:.4f}")
        for each in layers
    ]


def progress_rows(record: JobRecord) -> Rows:
    """What a job that waits or runs has told last, as people read it: names and values, the most important first; any
    may be missing. Empty for a job that has ended."""
    known = record.progress
    if not known or record.state_now not in (QUEUED, RUNNING):
        return []
    return [*(_of_search(known) if record.kind == SEARCH else _of_enumeration(known)), *_of_both(known)]


def _of_enumeration(known: Progress) -> Iterator[tuple[str, str]]:
    states, at_most = known.get("states"), known.get("states_at_most")
    whole = bool(states and at_most and states >= at_most)
    if "depth" in known:
        yield "layer under way", "none: the map is stored" if whole else str(known["depth"] + 1)
    if states is not None:
        yield (
            "states",
            f"{states:,}" + (f" of at most {at_most:,} ({states / at_most:.1%})" if at_most else ""),
        )
    if "layer_states" in known:
        yield "in the last layer", f"{known['layer_states']:,}"
    if known.get("states_a_second"):
        yield "states per second", rate_text(known["states_a_second"])
    if known.get("blocks"):
        yield "blocks done", f"{known.get('blocks_done') or 0:,} of {known['blocks']:,}"
    if "seconds_left" in known and not whole:
        yield "time left", f"at most {seconds_text(known['seconds_left'])}"
    if "seconds" in known:
        yield "time of the layers", seconds_text(known["seconds"])


def _of_search(known: Progress) -> Iterator[tuple[str, str]]:
    if "bound" in known:
        yield "bound", f"{known['bound']:,}"
    if "nodes" in known:
        yield "nodes", f"{known['nodes']:,}"
    if "pieces_waiting" in known:
        yield "pieces waiting", f"{known['pieces_waiting']:,}"
    if "nodes_a_second" in known:
        yield "nodes per second", rate_text(known["nodes_a_second"])


def _of_both(known: Progress) -> Iterator[tuple[str, str]]:
    if "waiting_since" in known:
        waits = max(0.0, time.time() - known["waiting_since"])
        yield "oldest block that waits", seconds_text(waits)
    if "workers" in known:
        yield "workers", f"{known['workers']:,}"
    if known.get("resent"):
        yield "sent again", f"{known['resent']:,}"
    if known.get("set_back"):
        yield "handed back for lack of room", times(known["set_back"])
    if known.get("taken_over"):
        yield "taken over from a coordinator that had ended", times(known["taken_over"])


def job_fields(record: JobRecord) -> dict[str, Any]:
    """The fields of a job whose values are not the record's attributes of that name."""
    state, depth = record.state_now, record.known_depth
    return {"job": record.id, "puzzle": record.name, "status": state, "depth": depth}


def job_summary(record: JobRecord) -> JobDocument:
    """What lists of jobs say of each."""
    return filled(JobDocument, record, **job_fields(record))


def enumeration_document(record: JobRecord, layers: Sequence[LayerRecord]) -> EnumerationDocument:
    """One enumeration with its layers."""
    from farthest.models.chunks import layers_digest  # its codecs are no part of lists of jobs

    classes = [layer.classes for layer in layers]
    return filled(
        EnumerationDocument,
        record,
        **job_fields(record),
        layers=[layer.states for layer in layers],
        layers_digest=layers_digest([layer.states for layer in layers]) if layers else None,
        layer_seconds=[layer.seconds for layer in layers],
        classes=classes if any(classes) else None,
    )
