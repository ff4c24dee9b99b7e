"""Patterns of permutation puzzles: classes of alike pieces, whose orientations matter or not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from farthest.arrays import np
from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import Held, Kind, distinct, with_kinds
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.net import FIXED, MOST_RINGS, Net, piece_colours
from farthest.puzzles.definition import Board, PuzzleDefinition
from farthest.puzzles.grid import others_token
from farthest.puzzles.patterns import PLACES, Choice, Names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


_UNTOLD = ("grey", "black", "brown", "pink", "cyan")
"""Colours for pieces that are in no class."""


def pattern_net(puzzle: Permutation, pattern: Permutation, relabel: Sequence[int], others: str) -> Net | None:
    """The net of a pattern whose definition is whole but for it; None where it would have too many rings. ``relabel``:
    for each label of the puzzle that of the pattern; ``others``: how pieces are written that are in no class.

    Pieces that are alike are drawn as the first of them; pieces that are in no class are grey, and where it matters how
    these are turned, their first sticker is black. Where the puzzle itself has such a colour, another is taken.
    """
    assert puzzle.net is not None
    moduli, now = puzzle.slot_moduli, pattern.slot_moduli
    goal, made = puzzle.goals[0], pattern.goals[0]
    first = {relabel[label]: label for label in reversed(range(len(puzzle.tokens)))}
    colours = piece_colours(puzzle.net, moduli, goal)
    used = {sticker.colour for sticker in puzzle.net.stickers}
    plain, turned = [*(colour for colour in _UNTOLD if colour not in used), *_UNTOLD][:2]
    stickers = []
    for sticker in puzzle.net.stickers:
        if sticker.slot == FIXED:
            stickers.append(sticker)
            continue
        slot, modulus = sticker.slot, moduli[sticker.slot]
        label = made[slot]
        turn = goal[puzzle.slots + slot] if puzzle.oriented else 0
        number = (sticker.place - turn) % modulus
        counted = now[slot] > 1 and not pattern.ignore[label]
        if pattern.tokens[label] != others:
            colour = colours.get((first[label], sticker.ring, number), plain)
        else:
            colour = turned if counted and number == sticker.ring == 0 else plain
        if now[slot] == modulus:
            place, ring = (sticker.place if counted else number), sticker.ring
        else:
            place, ring = 0, sticker.ring * modulus + number
        if ring >= MOST_RINGS:
            return None
        stickers.append(replace(sticker, place=place, ring=ring, colour=colour))
    return Net(tuple(stickers))


class PermutationPatterns:
    adds_up = False

    def names(self, definition: PuzzleDefinition) -> Names:
        own = cast(Permutation, definition)
        sets: dict[str, list[int]] = {}
        for label, orbit in enumerate(own.label_orbit):
            sets.setdefault(own.orbit_names[orbit], []).append(label)
        turned = tuple(
            own.moduli[orbit] > 1 and not ignored
            for orbit, ignored in zip(own.label_orbit, own.ignore, strict=True)
        )
        return Names(own.tokens, own.label_orbit, turned, sets)

    def make(
        self, definition: PuzzleDefinition, metric: str, choice: Choice, place: str
    ) -> tuple[Permutation, tuple[int, ...]]:
        """One label for each class, and ``others`` in place of the pieces that are in none. An orbit in which no
        orientation matters has none any more. All patterns are plain, and without guards: each
        move can always be made, so distances are at most as large."""
        del metric
        definition = cast(Permutation, definition)
        others = others_token(definition.tokens)
        relabel = [0] * len(definition.tokens)
        kinds: list[Kind] = []
        moduli: list[int] = []
        for orbit, modulus in enumerate(definition.moduli):
            members = definition.labels_of(orbit)
            spare = tuple(label for label in members if label not in choice.labels)
            alikes = [*(one for one in choice.classes if one[0] in members), *([spare] if spare else [])]
            all_turned = definition.orbit_names[orbit] in choice.turned
            turned = [
                modulus > 1
                and (all_turned or (alike != spare and not set(alike) & choice.unturned))
                and _is_turned(definition, alike, place)
                for alike in alikes
            ]
            moduli.append(modulus if any(turned) else 1)
            for alike, counts in zip(alikes, turned, strict=True):
                for label in alike:
                    relabel[label] = len(kinds)
                token = others if alike == spare else definition.tokens[alike[0]]
                kinds.append(Kind(token, sum(definition.counts[label] for label in alike), orbit, not counts))
        ignore = tuple(kind.ignored and moduli[kind.orbit] > 1 for kind in kinds)
        if len(kinds) == len(definition.tokens) and (tuple(moduli), ignore) == (
            definition.moduli,
            definition.ignore,
        ):
            raise PuzzleError(
                f"{place}: the pattern has all pieces, so none are alike; leave some out, or enumerate the puzzle "
                "itself"
            )

        def changed(board: Board) -> Held:
            turns = board[definition.slots :] or (0,) * definition.slots
            return [relabel[label] for label in board[: definition.slots]], turns

        if not distinct(
            definition.generators, {slot: moduli[of] for slot, of in enumerate(definition.slot_orbits)}
        ):
            raise PuzzleError(f"{place}: no move moves any piece of the pattern; name others")
        made = with_kinds(definition, moduli, kinds, changed)
        if definition.net is not None:
            made = replace(made, net=pattern_net(definition, made, relabel, others))
        return made, tuple(relabel)

    def boards(
        self, pattern: PuzzleDefinition, relabel: NDArray[np.uint8], boards: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        own = cast(Permutation, pattern)
        held = relabel[boards[:, : own.slots]]
        if not own.oriented:
            return held
        counted = ~np.array(own.ignore)[held] & (np.array(own.slot_moduli) > 1)
        turns = np.where(counted, boards[:, own.slots :], 0).astype(np.uint8)
        return np.concatenate([held, turns], axis=1)


def _is_turned(definition: Permutation, alike: tuple[int, ...], place: str) -> bool:
    """Whether the puzzle tells how the pieces of a class are turned. Raises PuzzleError where it does of some only."""
    ignored = [label for label in alike if definition.ignore[label]]
    if ignored and len(ignored) < len(alike):
        turned = next(label for label in alike if label not in ignored)
        raise PuzzleError(
            f"{place}: the puzzle tells how {definition.tokens[turned]} is turned, and of "
            f"{definition.tokens[ignored[0]]} it does not, so they cannot be alike and turned; separate them, or write "
            f"{PLACES} before them"
        )
    return not ignored
