"""The first boards of one depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htpy import a, p

from farthest.web.addresses import job_page, layer_page, random_state, state_page
from farthest.web.page import boards, page
from farthest.web.pages.job import chart_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.web.pages.job import JobFound

BOARDS_SHOWN = 60


def layer(found: JobFound, depth: int, texts: Sequence[str], scale: str) -> str:
    """``texts``: the first boards of the layer in key order."""
    record = found.record
    states = found.layers[depth].states
    return page(
        f"{record.name}: {states:,} {'state' if states == 1 else 'states'} at distance {depth}",
        p[a(href=job_page(record.id))[f"Job {record.id}: {found.puzzle.title or record.name}"]],
        p[
            a(href=layer_page(record.id, depth - 1), rel="prev")["Nearer"] if depth else None,
            " " if depth else None,
            a(href=layer_page(record.id, depth + 1), rel="next")["Farther"]
            if depth + 1 < len(found.layers)
            else None,
            " · ",
            a(href=random_state(record.id, depth), rel="nofollow")["A random one of these"],
        ],
        boards(found.puzzle, ((text, state_page(record.id, text)) for text in texts)),
        p[f"and {states - len(texts):,} more"] if states > len(texts) else None,
        chart_of(found, scale, depth, layer_page(record.id, depth) + "?"),
    )
