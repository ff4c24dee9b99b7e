"""A puzzle whose faces have other colours: pieces that then look alike are alike.

Which stickers a piece has, the net tells. A piece may look as it did after a turn: where all its stickers of a ring are
alike, its orientation does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import Held, Kind, with_kinds
from farthest.families.permutation.net import FIXED, MOST_RINGS, Net, piece_colours

if TYPE_CHECKING:
    from farthest.families.permutation.definition import Permutation
    from farthest.puzzles.definition import Board

_Look = tuple[tuple[str, ...], ...]
"""The colours of a piece: by ring, and then by sticker, as many as it has orientations."""


def recoloured(definition: Permutation, colours: Mapping[str, str]) -> Permutation:
    """The puzzle with the colours ``colours[colour]`` in place of those that are named.

    Raises PuzzleError where the net does not show all of a piece, or a piece looks the same after some turns and not
    after others.
    """
    assert definition.net is not None
    if definition.guards:
        raise PuzzleError("some of its moves cannot be made on every board")
    looks = _looks(definition, definition.net, colours)
    relabel, turned = [0] * len(looks), [0] * len(looks)
    kinds: list[Kind] = []
    moduli: list[int] = []
    for orbit, modulus in enumerate(definition.moduli):
        found: dict[int, int] = {}  # the first label of each class, and the class
        members = definition.labels_of(orbit)
        for label in members:
            fixed = definition.ignore[label]
            for first, number in found.items():
                turn = _turn(looks[first], looks[label], 1 if fixed else modulus)
                if turn is not None and definition.ignore[first] == fixed:
                    relabel[label], turned[label] = number, turn
                    break
            else:
                found[label] = relabel[label] = len(kinds) + len(found)
        ignored = {
            first: definition.ignore[first] or _looks_turned(definition, first, looks[first], modulus)
            for first in found
        }
        moduli.append(1 if all(ignored.values()) else modulus)
        for first, number in found.items():
            count = sum(definition.counts[label] for label in members if relabel[label] == number)
            kinds.append(Kind(definition.tokens[first], count, orbit, ignored[first]))

    def changed(board: Board) -> Held:
        labels = board[: definition.slots]
        turns = board[definition.slots :] or (0,) * definition.slots
        after = [
            (turn - turned[label]) % modulus
            for label, turn, modulus in zip(labels, turns, definition.slot_moduli, strict=True)
        ]
        return [relabel[label] for label in labels], after

    made = with_kinds(definition, moduli, kinds, changed)
    net = _net(definition, made, colours)
    return replace(made, net=net, turns=definition.turns if made.moduli == definition.moduli else None)


def _looks(definition: Permutation, net: Net, colours: Mapping[str, str]) -> list[_Look]:
    """Of each label the colours of its piece."""
    moduli = definition.slot_moduli
    shown = piece_colours(net, moduli, definition.goals[0])
    found = []
    for label, orbit in enumerate(definition.label_orbit):
        rings = 1 + max((ring for of, ring, _ in shown if definition.label_orbit[of] == orbit), default=0)
        names = [
            [shown.get((label, ring, number)) for number in range(definition.moduli[orbit])]
            for ring in range(rings)
        ]
        if any(name is None for ring in names for name in ring):
            raise PuzzleError(f"the net does not show all of {definition.tokens[label]}")
        found.append(tuple(tuple(colours.get(name, name) for name in ring if name) for ring in names))
    return found


def _turn(first: _Look, look: _Look, modulus: int, least: int = 0) -> int | None:
    """The least turn, from ``least`` on, after which a piece that looks like ``first`` looks like the other."""
    for turn in range(least, modulus):
        if all(one[turn:] + one[:turn] == other for one, other in zip(first, look, strict=True)):
            return turn
    return None


def _looks_turned(definition: Permutation, label: int, look: _Look, modulus: int) -> bool:
    """Whether a piece looks the same however it is turned."""
    turn = _turn(look, look, modulus, 1)
    if turn is not None and turn > 1:
        raise PuzzleError(
            f"{definition.tokens[label]} looks the same after a turn by {turn} of {modulus}, and not after each turn; "
            "such pieces are not supported"
        )
    return turn == 1


def _net(definition: Permutation, made: Permutation, colours: Mapping[str, str]) -> Net | None:
    """None: it would have too many rings."""
    assert definition.net is not None
    moduli, now = definition.slot_moduli, made.slot_moduli
    stickers = []
    for sticker in definition.net.stickers:
        sticker = replace(sticker, colour=colours.get(sticker.colour, sticker.colour))
        if sticker.slot != FIXED and now[sticker.slot] != moduli[sticker.slot]:
            ring = sticker.ring * moduli[sticker.slot] + sticker.place
            if ring >= MOST_RINGS:
                return None
            sticker = replace(sticker, place=0, ring=ring)
        stickers.append(sticker)
    return Net(tuple(stickers))
