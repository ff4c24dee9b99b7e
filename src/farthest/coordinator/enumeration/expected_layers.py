"""The layers of a space before it is enumerated: the published ones, else an assumption that says so."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, erf, sqrt
from typing import TYPE_CHECKING

from farthest.spaces.known_states import known_states
from farthest.wording import counted

if TYPE_CHECKING:
    from farthest.spaces.contract import Space

LARGEST_SHARE = {True: 0.19, False: 0.4}
"""Of the keys that a layer's states can be at, what the largest layer has at most where no layers are published; by
whether the layers are of two colours, as those of sliding boards (0.18 of a
colour at most from 10 cells on), or not, as those of pancakes (0.36)."""


FEW_STATES = 2**13
"""Of so many states the first layers are found to see how they grow: some hundredths of a second."""

MOST_STATES = 2**62
"""Larger layers are not worked out."""


@dataclass(frozen=True, slots=True)
class ExpectedLayers:
    """``states[d]``: at depth d. ``published``: counted by others; else assumed. ``source``: who has counted them, or
    what is assumed."""

    states: tuple[int, ...]
    published: bool
    source: str


def published_layers(space: Space, max_depth: int) -> tuple[int, ...]:
    """The layers up to a depth, or up to the last one where that is sooner; empty where not all are published."""
    if space.origin != space.puzzle.origin:
        return ()
    for known in space.puzzle.known:
        if known.layers or len(known.first_layers or ()) > max_depth:
            return (known.layers or known.first_layers or ())[: max_depth + 1]
    return ()


def layers_by_growth(space: Space, max_depth: int) -> tuple[int, ...]:
    """About as many layers as are asked for: the first ones, which are found here, and the next as if they grew as the
    last of these did. In most spaces layers grow less and less, so there are rarely more."""
    import numpy as np

    boards = np.array(space.origins, dtype=np.uint8)
    seen = np.unique(space.encode(boards))
    layers = [seen.size]
    while len(layers) <= max_depth and boards.size and seen.size < FEW_STATES:
        moved = np.concatenate([found for *_, found in space.neighbours(boards, toward=False)])
        codes, first = np.unique(space.encode(moved), return_index=True)
        new = ~np.isin(codes, seen)
        boards, seen = moved[first[new]], np.concatenate([seen, codes[new]])
        layers.append(len(boards))
    growth = layers[-1] / layers[-2] if len(layers) > 1 else 1.0
    while len(layers) <= max_depth and 0 < layers[-1] < MOST_STATES:
        layers.append(ceil(layers[-1] * growth))
    return tuple(layers)


def expected_layers(space: Space, *, keys: int, in_place: bool, max_depth: int | None) -> ExpectedLayers:
    """The layers of a space with so many keys. ``in_place``: those of one parity have one colour of keys."""
    known = max(
        (answer for answer in space.puzzle.known if answer.layers and space.origin == space.puzzle.origin),
        key=lambda answer: len(answer.layers or ()),
        default=None,
    )
    end = None if max_depth is None else max_depth + 1
    if known is not None and known.layers:
        return ExpectedLayers(known.layers[:end], True, f"published: {known.source}")
    share = LARGEST_SHARE[in_place]
    reached, _ = known_states(space) or (keys, "")
    states = _bell(min(reached, keys), share / 2 if in_place else share)[:end]
    named = "of one colour" if in_place else "of all"
    return ExpectedLayers(
        tuple(states),
        False,
        f"assumed: no layers are published; the largest has {share:.0%} {named} keys, "
        f"the others fall off like a bell, in {counted(len(states), 'layer')}",
    )


def _bell(keys: int, share: float) -> list[int]:
    """Layers of a normal distribution whose largest has that share of all keys."""
    width = 1 / (share * 2.5066)
    reach = ceil(6 * width)
    layers: list[int] = []
    below = 0.0
    for depth in range(2 * reach + 1):
        upto = (1 + erf((depth - reach + 0.5) / width / sqrt(2))) / 2
        layers.append(max(1, round((upto - below) * keys)))
        below = upto
    return layers
