"""Patterns of permutation puzzles: the pieces outside are alike, and their orientations do not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import distinct
from farthest.families.permutation.definition import Permutation
from farthest.puzzles.definition import Board
from farthest.puzzles.pattern_maker import others_token

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.puzzles.definition import PuzzleDefinition


class PermutationPatterns:
    """See PatternMaker."""

    def tokens(self, definition: PuzzleDefinition) -> tuple[str, ...]:
        """See PatternMaker."""
        return cast(Permutation, definition).tokens

    def make(
        self, definition: PuzzleDefinition, metric: str, labels: tuple[int, ...], place: str, *, plain: bool
    ) -> tuple[Permutation, tuple[int, ...]]:
        """See PatternMaker: all are plain."""
        del metric, plain
        own = cast(Permutation, definition)
        return _derived(own, labels, others_token(own.tokens), place)

    def boards(
        self, pattern: PuzzleDefinition, relabel: NDArray[np.uint8], boards: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """See PatternMaker."""
        import numpy

        own = cast(Permutation, pattern)
        held = relabel[boards[:, : own.slots]]
        if not own.oriented:
            return held
        counted = ~numpy.array(own.ignore)[held] & (numpy.array(own.slot_moduli) > 1)
        turns = numpy.where(counted, boards[:, own.slots :], 0).astype(numpy.uint8)
        return numpy.concatenate([held, turns], axis=1)


def _derived(
    definition: Permutation, labels: tuple[int, ...], others: str, place: str
) -> tuple[Permutation, tuple[int, ...]]:
    """The definition with the pieces ``others`` in place of those that are not in the pattern, and for each label of
    the puzzle that of the pattern. An orbit without pieces of the pattern has no orientations any more."""
    if len(labels) == len(definition.tokens):
        raise PuzzleError(
            f"{place}: the pattern has all pieces, so none are alike; leave some out, or enumerate the puzzle itself"
        )
    relabel = [0] * len(definition.tokens)
    tokens: list[str] = []
    counts: list[int] = []
    label_orbit: list[int] = []
    ignore: list[bool] = []
    moduli: list[int] = []
    for orbit, modulus in enumerate(definition.moduli):
        members = [label for label, of in enumerate(definition.label_orbit) if of == orbit]
        turned = any(label in labels and not definition.ignore[label] for label in members)
        moduli.append(modulus if turned else 1)
        kept = [label for label in members if label in labels]
        spare = [label for label in members if label not in labels]
        for alike in [*([label] for label in kept), *([spare] if spare else [])]:
            for label in alike:
                relabel[label] = len(tokens)
            tokens.append(others if alike is spare else definition.tokens[alike[0]])
            counts.append(sum(definition.counts[label] for label in alike))
            label_orbit.append(orbit)
            ignore.append(moduli[-1] > 1 and (alike is spare or definition.ignore[alike[0]]))
    modulus_of = {
        slot: modulus for orbit, modulus in zip(definition.orbits, moduli, strict=True) for slot in orbit
    }
    oriented = any(modulus > 1 for modulus in moduli)

    def changed(board: Board) -> Board:
        held = tuple(relabel[label] for label in board[: definition.slots])
        if not oriented:
            return held
        turns = board[definition.slots :]
        return (
            *held,
            *(
                0 if ignore[label] or modulus_of[slot] == 1 else turn
                for slot, (label, turn) in enumerate(zip(held, turns, strict=True))
            ),
        )

    moves = distinct(definition.generators, modulus_of)
    if not moves:
        raise PuzzleError(f"{place}: no move moves any piece of the pattern; name others")
    made = Permutation(
        slots=definition.slots,
        orbit_names=definition.orbit_names,
        orbits=definition.orbits,
        moduli=tuple(moduli),
        tokens=tuple(tokens),
        counts=tuple(counts),
        label_orbit=tuple(label_orbit),
        ignore=tuple(ignore),
        generators=moves,
        goals=tuple(dict.fromkeys(map(changed, definition.goals))),
        start=None if definition.start is None else changed(definition.start),
    )
    return made, tuple(relabel)
