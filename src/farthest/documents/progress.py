"""The progress of an enumeration or a search, as what was told last: ``models.records.Progress``.

``EnumerationProgress`` makes it of the events of an enumeration in this process. A terminal and a notebook draw it
(``cli.progress``, ``api.bars``); `farthest show` and the web what is stored of a job (``progress_rows``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from farthest.coordinator.reporter import Pace, Reporter
from farthest.models.records import QUEUED, RUNNING, SEARCH, Progress
from farthest.wording import counted, rate_text, seconds_text, times

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from farthest.coordinator.settings import Estimate
    from farthest.models.records import JobRecord


class EnumerationProgress(Reporter):
    """What is known of an enumeration. ``at_most``: the most states that there can be; 0: not known yet. ``reading``:
    how far its checkpoint has been read, empty where none is."""

    def __init__(self, at_most: int = 0) -> None:
        self.pace = Pace(at_most)
        self.known: Progress = {}
        self.reading = ""

    def estimate(self, estimate: Estimate) -> None:
        self.pace.at_most = estimate.states_at_most

    def resuming(self, job: int, depth: int, share: float) -> None:
        self.reading = f"reading the checkpoint at depth {depth}: {share:.0%}"

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        self.layer(depth, states, total, 0.0)

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        self.reading = ""
        self.known |= {"depth": depth, "layer_states": states, "states": total}
        self.pace.reach(total)

    def progress(self, known: Mapping[str, Any]) -> None:
        self.known |= cast("Progress", known)

    def counts(self) -> list[str]:
        """The last layer, and all states."""
        known = self.known
        depth, states, total = known.get("depth", 0), known.get("layer_states", 0), known.get("states", 0)
        return [f"depth {depth}", f"{states:,} new", f"{total:,} states"]

    def blocks(self) -> list[str]:
        """How far the layer under way is, where workers step it."""
        blocks = self.known.get("blocks")
        return [f"block {self.known.get('blocks_done') or 0:,} of {blocks:,}"] if blocks else []

    def workers(self) -> list[str]:
        """Who steps it."""
        workers, resent = self.known.get("workers"), self.known.get("resent")
        return [
            *([counted(workers, "worker")] if workers else []),
            *([f"{resent:,} sent again"] if resent else []),
        ]


def progress_rows(record: JobRecord) -> list[tuple[str, str]]:
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
        yield "states a second", rate_text(known["states_a_second"])
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
        yield "nodes a second", rate_text(known["nodes_a_second"])


def _of_both(known: Progress) -> Iterator[tuple[str, str]]:
    if "workers" in known:
        yield "workers", f"{known['workers']:,}"
    if known.get("resent"):
        yield "sent again", f"{known['resent']:,}"
    if known.get("set_back"):
        yield "handed back for lack of room", times(known["set_back"])
    if known.get("taken_over"):
        yield "taken over from a coordinator that had ended", times(known["taken_over"])
