"""Jobs as JSON objects: `farthest jobs`, `farthest show`, and the web."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from farthest.models.records import QUEUED, RUNNING, SEARCH
from farthest.stores.redis.connections import RedisNodes
from farthest.wording import rate_text, seconds_text, times
from farthest.worker.app import queue_length
from farthest.worker.registry import list_workers, memory_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from farthest.models.records import JobRecord, LayerRecord, Verification
    from farthest.models.searches import Searches
    from farthest.worker.registry import NodeMemory, WorkerRecord


def origin_text(record: JobRecord) -> str:
    """Where moves are counted from or to, in one line; of a search its board and target. What a damaged row lacks is
    left out."""
    from farthest.puzzles.origin import where_text

    asked = record.parameters
    if "board" in asked:
        return f"{asked['board']} to {where_text(str(asked.get('target', 'goal')))}"
    return f"{asked.get('direction', '')} {where_text(str(asked.get('where', '')))}"


def job_summary(record: JobRecord) -> dict[str, Any]:
    """What lists of jobs say of each."""
    return {
        "job": record.id,
        "puzzle": record.name,
        "kind": record.kind,
        "status": record.state_now,
        "parameters": record.parameters,
        "states": record.states,
        "eccentricity": record.eccentricity,
        "complete": record.complete,
        "has_map": record.has_map,
        "depth": record.depth,
        "seconds": record.seconds,
        "digest": record.digest,
        "created": _iso(record.created),
        "started": _iso(record.started),
        "finished": _iso(record.finished),
        "error": record.error,
        "not_before": _iso(record.not_before),
        "submitted": record.submitted,
        "progress": record.progress,
        "result": record.result,
        "version": record.version,
        "verified": _verified(record.verified),
    }


def enumeration_document(record: JobRecord, layers: Sequence[LayerRecord]) -> dict[str, Any]:
    """One enumeration with its layers."""
    return {
        **job_summary(record),
        "puzzle_digest": record.puzzle_digest,
        "layout": record.layout,
        "keys": record.keys,
        "unit": record.unit,
        "layers": [layer.states for layer in layers],
        "layer_seconds": [layer.seconds for layer in layers],
    }


def search_document(record: JobRecord, searches: Searches) -> dict[str, Any]:
    """One search with its iterations and listed solutions. Raises StorageError where they are not what was stored."""
    return {
        **job_summary(record),
        "puzzle_digest": record.puzzle_digest,
        "engine": record.layout,
        "iterations": [asdict(one) for one in searches.iterations(record.id)],
        "paths": search_paths(record, searches, None),
    }


def search_paths(record: JobRecord, searches: Searches, limit: int | None) -> list[Any]:
    """The listed solutions of a search, at most ``limit``, as moves: each piece keeps its name. Raises StorageError."""
    from farthest.models.sealing import damaged
    from farthest.models.stored_job import puzzle_of
    from farthest.search.contract import way_of
    from farthest.search.expansion import named_moves

    puzzle, paths = puzzle_of(record), searches.solutions(record.id, limit)
    if not puzzle.definition.names_swap:
        return paths
    board = puzzle.definition.parse_board(record.parameters["board"], name=puzzle.name)
    try:
        return list(named_moves(puzzle, board, map(way_of, paths)))
    except (TypeError, ValueError) as error:
        raise damaged("solution", f"of job {record.id}", f"column moves: {error}", record.id) from None


def _verified(found: Verification | None) -> dict[str, Any] | None:
    return None if found is None else {**asdict(found), "made": _iso(found.made)}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")


# --- What a job that waits or runs has told last, as people read it: `farthest show`, and the web.

Row = tuple[str, str]


def progress_rows(record: JobRecord) -> list[Row]:
    """Names and values, the most important first; any may be missing. Empty for a job that has ended."""
    known = record.progress
    if not known or record.state_now not in (QUEUED, RUNNING):
        return []
    rows = _of_search(known) if record.kind == SEARCH else _of_enumeration(known)
    return [*rows, *_of_both(known)]


def _of_enumeration(known: Mapping[str, Any]) -> Iterator[Row]:
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
        yield "states a second", rate_text(known["states_a_second"])
    if known.get("blocks"):
        yield "blocks done", f"{known.get('blocks_done') or 0:,} of {known['blocks']:,}"
    if "seconds_left" in known and not whole:
        yield "time left", f"at most {seconds_text(known['seconds_left'])}"
    if "seconds" in known:
        yield "time of the layers", seconds_text(known["seconds"])


def _of_search(known: Mapping[str, Any]) -> Iterator[Row]:
    for name, title in (("bound", "bound"), ("nodes", "nodes"), ("pieces_waiting", "pieces waiting")):
        if name in known:
            yield title, f"{known[name]:,}"
    if "nodes_a_second" in known:
        yield "nodes a second", rate_text(known["nodes_a_second"])


def _of_both(known: Mapping[str, Any]) -> Iterator[Row]:
    if "workers" in known:
        yield "workers", f"{known['workers']:,}"
    if known.get("resent"):
        yield "sent again", f"{known['resent']:,}"
    if known.get("set_back"):
        yield "handed back for lack of room", times(known["set_back"])
    if known.get("taken_over"):
        yield "taken over from a coordinator that had ended", times(known["taken_over"])


# --- The workers as Redis tells of them: `farthest workers`, and the web.


@dataclass(frozen=True, slots=True)
class LivingWorkers:
    """``waiting``: steps that no worker has begun. ``memory``: of each Redis server."""

    records: Sequence[WorkerRecord]
    waiting: int
    memory: Sequence[NodeMemory]

    def document(self) -> dict[str, Any]:
        """The object of `farthest workers --json`."""
        return {
            "workers": [asdict(record) for record in self.records],
            "queue": self.waiting,
            "redis": [asdict(node) for node in self.memory],
        }


def living_workers() -> LivingWorkers:
    """Raises StorageError where Redis cannot be reached."""
    nodes = RedisNodes.from_environment()
    return LivingWorkers(list_workers(nodes), queue_length(nodes), memory_of(nodes))
