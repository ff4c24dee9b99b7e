"""The ``[permutation.turns]`` table of a definition: how a puzzle that a piece holds may be turned as a whole.

held = [3]                            # of each held piece the number of orientations; in slots behind the others
y    = "(1 2 3 4)(5 6 8 7)"           # turns that make all, as generators are written; here 8 is the held piece's slot
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from farthest.errors import PuzzleError
from farthest.families.permutation.cycles import NotationError, read_cycles
from farthest.families.permutation.fields import MAX_MODULUS, MAX_SLOTS
from farthest.families.permutation.moves import Move
from farthest.families.permutation.turns import Turns
from farthest.wording import shown

if TYPE_CHECKING:
    from farthest.families.permutation.definition import Permutation
    from farthest.puzzles.source import Source

TABLE = "permutation.turns"


def with_turns(table: Mapping[str, Any], source: Source, definition: Permutation) -> Permutation:
    """The definition with the turns in ``[permutation]``, ``table``. Raises PuzzleError naming the line, what was
    expected and a mend."""

    def fail(key: str, problem: str) -> PuzzleError:
        return source.error(TABLE, key, problem)

    told = table["turns"]
    if not isinstance(told, dict):
        raise source.error(
            "permutation", "turns", f"expected a table, got {shown(told)}; write [{TABLE}] and keys below"
        )
    held = told.get("held")
    if (
        not isinstance(held, list)
        or not 1 <= len(held) <= MAX_SLOTS
        or any(type(modulus) is not int or not 1 <= modulus <= MAX_MODULUS for modulus in held)
    ):
        raise fail(
            "held",
            f"expected the number of orientations of each held piece, got {shown(held)}; write held = [3]",
        )
    moduli = (*definition.slot_moduli, *held)
    first = table.get("numbering", 1)
    moves = []
    for name, value in told.items():
        if name == "held":
            continue
        if not isinstance(value, str):
            raise fail(name, f'expected cycles, got {shown(value)}; write {name} = "(1 2 3 4)"')
        try:
            to, delta = read_cycles(value, len(moduli), first)
        except NotationError as error:
            raise fail(name, str(error)) from None
        turned = tuple(turn % modulus for turn, modulus in zip(delta, moduli, strict=True))
        moves.append(Move(name, tuple(to), turned))
    if not moves:
        raise fail("", "no turns; correct the turns")
    try:
        return replace(definition, turns=Turns(tuple(held), tuple(moves)))
    except PuzzleError as error:
        problem = str(error).removeprefix("permutation puzzle: ")
        raise fail("", f"{problem}; correct the turns") from None
