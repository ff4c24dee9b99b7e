"""Towers of Hanoi by name: ``hanoi-4-9``, ``hanoi-cyclic-3-5``, with published answers."""

from __future__ import annotations

import re

from farthest.errors import PuzzleError
from farthest.families.hanoi.definition import MAX_DISCS, MAX_PEGS, Hanoi
from farthest.families.hanoi.variants import variant_arcs
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.wording import counted, shown

_NAME = re.compile(r"hanoi-(?:(cyclic|adjacent)-)?([0-9]+)-([0-9]+)")
_FOUR_PEGS = (0, 1, 3, 5, 9, 13, 17, 25, 33, 41, 49, 65, 81, 97, 113)


def hanoi_by_name(name: str) -> Puzzle | None:
    """The puzzle from all discs on peg 0 to all on the last peg; None where the name has another form. Raises
    PuzzleError for a size that cannot be."""
    match = _NAME.fullmatch(name)
    if not match:
        return None
    variant, numbers = match[1] or "standard", [text.lstrip("0") or "0" for text in match.groups()[1:]]
    pegs, discs = (int(text) if len(text) <= 3 else 1000 for text in numbers)
    if not 2 <= pegs <= MAX_PEGS or not 1 <= discs <= MAX_DISCS:
        raise PuzzleError(
            f"{shown(name)}: expected 2 to {MAX_PEGS} pegs and 1 to {MAX_DISCS} discs; choose such numbers"
        )
    title = {
        "standard": "",
        "cyclic": ", each disc to the next peg only",
        "adjacent": ", between neighbours only",
    }
    return Puzzle(
        name="-".join(["hanoi", *([] if variant == "standard" else [variant]), str(pegs), str(discs)]),
        title=f"Tower of Hanoi, {counted(pegs, 'peg')} and {counted(discs, 'disc')}{title[variant]}",
        source="É. Lucas 1883; variants as in OEIS A007664, A005665, A160002",
        family="hanoi",
        metric="move",
        origin=Origin(),
        known=_known(variant, pegs, discs),
        definition=Hanoi(pegs, discs, variant_arcs(variant, pegs), ((pegs - 1,) * discs,), (0,) * discs),
    )


def _known(variant: str, pegs: int, discs: int) -> tuple[KnownAnswer, ...]:
    if variant == "standard" and pegs == 3:
        layers = tuple(2 ** distance.bit_count() for distance in range(2**discs)) if discs <= 16 else None
        source = "A. M. Hinz, The Tower of Hanoi (1989): 2^b states at distance d, b the ones of d in binary"
        return (KnownAnswer(3**discs, 2**discs - 1, layers, None, source),)
    if variant == "standard" and pegs == 4 and discs < len(_FOUR_PEGS):
        source = (
            "OEIS A007664, proven by T. Bousch 2014; up to 14 discs no state is farther (R. E. Korf 2004)"
        )
        return (KnownAnswer(4**discs, _FOUR_PEGS[discs], None, None, source),)
    if variant == "adjacent" and pegs == 3:
        layers = (1,) * 3**discs if discs <= 9 else None
        source = "R. S. Scorer, P. M. Grundy, C. A. B. Smith 1944: all states in one line, 3^n - 1 moves"
        return (KnownAnswer(3**discs, 3**discs - 1, layers, None, source),)
    return ()
