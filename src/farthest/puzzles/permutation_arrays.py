"""Many boards of a permutation puzzle at once, with numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.puzzles.permutation_boards import layout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.permutation import Permutation


def first_wrong(body: Permutation, boards: NDArray[np.integer]) -> int | None:
    """The first of the rows (boards, cells) that is not a board of the puzzle, or None."""
    labels = boards[:, : body.slots]
    right = numpy.ones(len(boards), dtype=bool)
    for orbit, slots in enumerate(body.orbits):
        held = [label for label, of in enumerate(body.label_orbit) if of == orbit]
        pieces = numpy.repeat(held, [body.counts[label] for label in held])
        right &= (numpy.sort(labels[:, slots], axis=1) == pieces).all(axis=1)
    if body.oriented:
        turns = boards[:, body.slots :]
        ignored = numpy.array([*body.ignore, *[False] * (256 - len(body.ignore))])
        right &= ((turns >= 0) & (turns < numpy.array(layout(body).modulus))).all(axis=1)
        right &= ((turns == 0) | ~ignored[labels.astype(numpy.uint8)]).all(axis=1)
    wrong = numpy.flatnonzero(~right)
    return int(wrong[0]) if wrong.size else None


def texts(body: Permutation, boards: NDArray[np.uint8]) -> list[str]:
    """The canonical texts of boards: uint8, shape (boards, cells)."""
    pieces = [
        [f"{token}+{turn}" if turn else token for turn in range(body.moduli[orbit])]
        for token, orbit in zip(body.tokens, body.label_orbit, strict=True)
    ]
    ends = {row.slots[-1] for row in layout(body).rows[:-1]}
    after = [" / " if slot in ends else " " for slot in range(body.slots)]
    after[-1] = ""
    turns = (
        boards[:, body.slots :]
        if body.oriented
        else numpy.zeros((len(boards), body.slots), dtype=numpy.uint8)
    )
    return [
        "".join([pieces[label][turn] + end for label, turn, end in zip(row, turned, after, strict=True)])
        for row, turned in zip(boards[:, : body.slots].tolist(), turns.tolist(), strict=True)
    ]
