"""Guards: on which boards a move of a permutation puzzle can be made, for bandaged and shape-shifting puzzles.

A move may have several guards, and can be made on a board where all of them hold. A guard looks at where pieces stand,
never at how they are turned.

* An *illegal* place, as twsearch has them: a piece that may not stand in a slot. No board with one is a state. A move
  is refused where it leads to such a board, and on such a board itself: so a move back has the same boards.
* A *block*, as ksolve has them: pieces that are joined. A move moves all of them or none. The slots that a move moves
  are those whose contents go elsewhere or turn, even if how they are turned does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.families.permutation.fields import PermutationFields
    from farthest.families.permutation.moves import Move


@dataclass(frozen=True, slots=True, order=True)
class Guard:
    """None of the pieces with these ``labels`` stands in one of ``slots``; or, where they are ``joined``, all of them
    do or none. Labels and slots ascend."""

    labels: tuple[int, ...]
    slots: tuple[int, ...]
    joined: bool

    def taken_back(self, to: Sequence[int]) -> Guard:
        """The guard that holds after a move where this one holds before it. ``to``: of that move."""
        return Guard(self.labels, tuple(sorted(to[slot] for slot in self.slots)), self.joined)

    def holds(self, boards: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """On which boards, labels (N, slots), it holds."""
        import numpy as np

        held: NDArray[np.int64] = np.isin(boards[:, list(self.slots)], self.labels).sum(axis=1)
        none: NDArray[np.bool_] = held == 0
        if not self.joined:
            return none
        all_: NDArray[np.bool_] = held == np.isin(boards, self.labels).sum(axis=1)
        return none | all_

    def holds_on(self, labels: Sequence[int]) -> bool:
        """Whether it holds on one board, the labels of its slots."""
        there = {slot for slot, label in enumerate(labels) if label in self.labels}
        return not there & {*self.slots} or (self.joined and there <= {*self.slots})


MoveGuards = tuple[Guard, ...]


def possible(guards: Iterable[Guard], boards: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """On which boards, labels (N, slots), all guards hold."""
    import numpy as np

    found = np.ones(len(boards), dtype=bool)
    for guard in guards:
        found &= guard.holds(boards)
    return found


Illegal = tuple[int, str]
"""A slot, and a token of pieces that may not stand there."""

Block = Sequence[tuple[Sequence[int], str]]
"""Pieces that are joined: of each the slots of its set, and its token."""


def piece_problem(pieces: Sequence[str], token: str, *, slot: int | None) -> str | None:
    """Why a piece of a set, of which these are the pieces in their slots, can be no part of a block, or cannot be
    illegal in a slot of the set; None: it can."""
    if token not in pieces:
        return f"there is no piece {token}; name pieces of the solved state"
    if slot is None:
        return (
            None
            if pieces.count(token) == 1
            else f"{pieces.count(token)} pieces are called {token}; a block joins "
            "pieces that are like no other, give them different names"
        )
    return f"piece {token} is there in the solved state; leave it out" if pieces[slot] == token else None


def guards_of(
    definition: PermutationFields,
    moves: Sequence[Move],
    illegal: Iterable[Illegal],
    blocks: Iterable[Block],
    turned: Mapping[object, Set[int]],
) -> tuple[MoveGuards, ...]:
    """The guards of the definition's moves. ``moves``: the same and perhaps more, before what does not count of their
    turns was left out. ``turned``: for effects of these the slots whose contents turn too, though nothing shows it."""
    moved = {
        move.name: {slot for slot, to in enumerate(move.to) if to != slot or move.delta[slot]}
        | turned.get(move.effect, set())
        for move in moves
    }
    label_of = {
        (orbit, token): label
        for label, (orbit, token) in enumerate(zip(definition.label_orbit, definition.tokens, strict=True))
    }
    refused: dict[int, set[int]] = {}
    for slot, token in illegal:
        illegal_label = label_of.get((definition.slot_orbits[slot], token))
        if illegal_label is not None:  # else no move brings it there
            refused.setdefault(illegal_label, set()).add(slot)
    joined = [
        sorted(
            {
                label_of[definition.slot_orbits[slot], token]
                for slots, token in block
                for slot in slots
                if (definition.slot_orbits[slot], token) in label_of
            }
        )
        for block in blocks
    ]
    found = []
    for move in definition.generators:
        by_slots: dict[tuple[int, ...], list[int]] = {}
        for label, slots in sorted(refused.items()):
            there = tuple(slot for slot, to in enumerate(move.to) if slot in slots or to in slots)
            by_slots.setdefault(there, []).append(label)
        guards = [Guard(tuple(labels), slots, False) for slots, labels in by_slots.items()]
        for block_labels in joined:
            orbits = {definition.label_orbit[label] for label in block_labels}
            there = tuple(sorted(slot for slot in moved[move.name] if definition.slot_orbits[slot] in orbits))
            if there and len(block_labels) > 1:
                guards.append(Guard(tuple(block_labels), there, True))
        found.append(tuple(sorted(guards)))
    return tuple(found)
