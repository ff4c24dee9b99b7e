"""The ``[hanoi]`` table of a definition.

pegs    = 4             # numbered from 0
discs   = 6
variant = "standard"    # or "cyclic": only from each peg to the next, the last to the first;
                        # or "adjacent": only between neighbouring pegs, in a row
edges   = [[0, 1]]      # instead of a variant: pegs between which discs move both ways
arcs    = [[1, 2]]      # and one way
start   = "000000"      # the peg of each disc, the smallest first; all on peg 0 if not given
goal    = "333333"      # or goals = [...]; * = any peg; all on the last peg if not given
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.errors import PuzzleError
from farthest.families.hanoi.definition import MAX_DISCS, MAX_PEGS, Hanoi, parse_pegs
from farthest.families.hanoi.variants import VARIANTS, variant_arcs
from farthest.puzzles.definition import Board
from farthest.puzzles.goal_keys import check_keys, read_goals, read_start, whole_number
from farthest.puzzles.grid import Passages, disconnection
from farthest.puzzles.passages import read_passages
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from farthest.puzzles.source import Source

_KEYS = ("pegs", "discs", "variant", "edges", "arcs", "start", "goal", "goals")


def read_hanoi(table: dict[str, Any], source: Source) -> Hanoi:
    """The definition. Raises PuzzleError naming key, line, what was expected and a mend."""

    def fail(key: str, problem: str) -> PuzzleError:
        return source.error("hanoi", key, problem)

    check_keys(table, _KEYS, fail)
    pegs = whole_number(table, "pegs", 2, MAX_PEGS, 3, fail)
    discs = whole_number(table, "discs", 1, MAX_DISCS, 5, fail)

    def parse(text: str, place: str, wildcards: bool) -> Board:
        return parse_pegs(text, pegs, discs, place, wildcards=wildcards)

    arcs = _read_arcs(table, pegs, fail)
    example = ("" if pegs <= 10 else " ").join([str(pegs - 1)] * discs)
    return Hanoi(
        pegs,
        discs,
        arcs,
        read_goals(table, (pegs - 1,) * discs, example, parse, fail),
        read_start(table, (0,) * discs, example, parse, fail),
    )


def _read_arcs(table: dict[str, Any], pegs: int, fail: Any) -> Passages:
    variant = table.get("variant")
    if "edges" in table or "arcs" in table:
        if variant is not None:
            raise fail(
                "variant",
                "both variant and edges or arcs are given; expected one of them, leave the variant out",
            )
        edges = read_passages("edges", table.get("edges", []), pegs, (), fail)
        arcs = read_passages("arcs", table.get("arcs", []), pegs, edges, fail)
        apart = disconnection(pegs, edges + arcs)
        if apart:
            key = "edges" if "edges" in table else "arcs"
            raise fail(key, f"{apart.replace('cells', 'pegs')}; expected one part, add edges between them")
        return tuple(sorted({*edges, *((b, a) for a, b in edges), *arcs}))
    if variant is None:
        variant = "standard"
    if variant not in VARIANTS:
        mend = (
            isinstance(variant, str) and near_match(variant, VARIANTS)
        ) or "write one of them, or edges and arcs"
        raise fail(
            "variant", f"variant {shown(variant)} is not known, expected {', '.join(VARIANTS)}; {mend}"
        )
    return variant_arcs(variant, pegs)
