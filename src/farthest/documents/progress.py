"""What a job that waits or runs has told last, as people read it: `farthest show`, and the web."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.models.records import QUEUED, RUNNING, SEARCH
from farthest.wording import rate_text, seconds_text, times

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from farthest.models.records import JobRecord

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
