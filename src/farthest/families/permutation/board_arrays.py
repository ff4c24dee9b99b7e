"""Many boards of a permutation puzzle at once, with numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from farthest.families.permutation.boards import layout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.families.permutation.fields import PermutationFields


def first_wrong(definition: PermutationFields, boards: NDArray[np.integer]) -> int | None:
    """The first of the rows (boards, cells) that is not a board of the puzzle, or None."""
    labels = boards[:, : definition.slots]
    right = numpy.ones(len(boards), dtype=bool)
    for orbit, slots in enumerate(definition.orbits):
        held = [label for label, of in enumerate(definition.label_orbit) if of == orbit]
        pieces = numpy.repeat(held, [definition.counts[label] for label in held])
        right &= (numpy.sort(labels[:, slots], axis=1) == pieces).all(axis=1)
    if definition.oriented:
        turns = boards[:, definition.slots :]
        ignored = numpy.array([*definition.ignore, *[False] * (256 - len(definition.ignore))])
        right &= ((turns >= 0) & (turns < numpy.array(layout(definition).modulus))).all(axis=1)
        right &= ((turns == 0) | ~ignored[labels.astype(numpy.uint8)]).all(axis=1)
    wrong = numpy.flatnonzero(~right)
    return int(wrong[0]) if wrong.size else None


def texts(definition: PermutationFields, boards: NDArray[np.uint8]) -> list[str]:
    """The canonical texts of boards: uint8, shape (boards, cells)."""
    pieces = [
        [f"{token}+{turn}" if turn else token for turn in range(definition.moduli[orbit])]
        for token, orbit in zip(definition.tokens, definition.label_orbit, strict=True)
    ]
    if not definition.oriented:
        named = [each[0] for each in pieces].__getitem__
        spans = [slice(row.slots.start, row.slots.stop) for row in layout(definition).rows]
        return [" / ".join([" ".join(map(named, row[span])) for span in spans]) for row in boards.tolist()]
    ends = {row.slots[-1] for row in layout(definition).rows[:-1]}
    after = [" / " if slot in ends else " " for slot in range(definition.slots)]
    after[-1] = ""
    turns = boards[:, definition.slots :]
    return [
        "".join([pieces[label][turn] + end for label, turn, end in zip(row, turned, after, strict=True)])
        for row, turned in zip(boards[:, : definition.slots].tolist(), turns.tolist(), strict=True)
    ]
