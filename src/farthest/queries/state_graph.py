"""A map as a graph of networkx: states and moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.errors import JobError, ResourceError
from farthest.queries.data_frames import optional
from farthest.queries.states import state_blocks

if TYPE_CHECKING:
    from farthest.queries.stored_map import StoredMap

MOST_STATES = 100_000


def state_graph(opened: StoredMap) -> Any:
    """A ``networkx.DiGraph``: a node for each state, the text of its board, with its ``distance``; an edge for each two
    states that a move joins, in the player's direction, with the moves in ``moves``, separated by commas.

    Raises MissingLibraryError, JobError for an additive pattern, ResourceError for more than ``MOST_STATES`` states.
    """
    if opened.states > MOST_STATES:
        raise ResourceError(
            f"job {opened.job}: {opened.states:,} states, a graph has at most {MOST_STATES:,}; enumerate with a depth "
            "limit, or write the states to a file with export"
        )
    if not opened.puzzle.definition.has_moves:
        raise JobError(
            f"job {opened.job} ({opened.record.name}) is an additive pattern, whose boards no moves join"
        )
    networkx = optional("networkx", "graph", "a graph")
    graph = networkx.DiGraph(name=opened.record.name)
    space, definition = opened.space, opened.puzzle.definition
    played = opened.origin.direction == "to"  # the player moves toward the origin
    for block in state_blocks(opened):
        texts = definition.texts(block.labels)
        graph.add_nodes_from(
            (text, {"distance": distance})
            for text, distance in zip(texts, block.distances.tolist(), strict=True)
        )
    for block in state_blocks(opened):
        texts = definition.texts(block.labels)
        for name, rows, after in space.neighbours(block.labels, toward=played):
            move = name if isinstance(name, str) else f"{name[0]}-{name[1]}"
            known = opened.lookup(space.encode(after)) >= 0
            for row, text, reached in zip(
                rows.tolist(), definition.texts(after), known.tolist(), strict=True
            ):
                if not reached:
                    continue
                here = texts[row]
                if graph.has_edge(here, text):
                    graph[here][text]["moves"] += f", {move}"
                else:
                    graph.add_edge(here, text, moves=move)
    return graph
