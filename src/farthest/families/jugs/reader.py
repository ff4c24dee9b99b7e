"""The ``[jugs]`` table of a definition.

capacities = [3, 5]
start      = "0 0"                       # amounts; all empty if not given
measure    = 4                           # this amount in any one jug; or
goal       = "* 4"                       # amounts, * = any; or goals = [...]
moves      = ["fill", "empty", "pour"]   # all if not given
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.errors import PuzzleError
from farthest.families.jugs.definition import MAX_CAPACITY, MAX_JUGS, MOVES, Jugs, board_of, parse_amounts
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.goal_keys import check_keys, read_goals, read_start
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from farthest.puzzles.source import Source

_KEYS = ("capacities", "start", "measure", "goal", "goals", "moves")


def read_jugs(table: dict[str, Any], source: Source) -> Jugs:
    """The definition. Raises PuzzleError naming key, line, what was expected and a mend."""

    def fail(key: str, problem: str) -> PuzzleError:
        return source.error("jugs", key, problem)

    check_keys(table, _KEYS, fail)
    capacities = _read_capacities(table, fail)

    def parse(text: str, place: str, wildcards: bool) -> Board:
        return parse_amounts(text, capacities, place, wildcards=wildcards)

    example = " ".join(["0"] * len(capacities))
    goals = read_goals(table, None, example, parse, fail)
    if "measure" in table:
        if goals:
            raise fail(
                "measure", "both measure and a goal are given; expected one of them, write all as goals"
            )
        goals = _measured(table["measure"], capacities, fail)
    start = read_start(table, (0,) * (2 * len(capacities)), example, parse, fail)
    return Jugs(capacities, _read_moves(table, fail), goals, start)


def _read_capacities(table: dict[str, Any], fail: Any) -> tuple[int, ...]:
    mend = "write capacities = [3, 5]"
    if "capacities" not in table:
        raise fail("", f"no capacities; {mend}")
    value = table["capacities"]
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_JUGS:
        raise fail("capacities", f"expected an array of 1 to {MAX_JUGS} numbers, got {shown(value)}; {mend}")
    for jug, capacity in enumerate(value, 1):
        if type(capacity) is not int or not 1 <= capacity <= MAX_CAPACITY:
            raise fail(
                "capacities",
                f"jug {jug}: expected a whole number from 1 to {MAX_CAPACITY}, got {shown(capacity)}; {mend}",
            )
    return tuple(value)


def _read_moves(table: dict[str, Any], fail: Any) -> tuple[str, ...]:
    value = table.get("moves", list(MOVES))
    mend = f'some of {", ".join(MOVES)}; write moves = ["pour"]'
    if not isinstance(value, list) or not value:
        raise fail("moves", f"expected an array of texts, got {shown(value)}; {mend}")
    for move in value:
        if move not in MOVES:
            near = (isinstance(move, str) and near_match(move, MOVES)) or mend
            raise fail(
                "moves", f"move {shown(move)} is not known, expected some of {', '.join(MOVES)}; {near}"
            )
    if len(set(value)) != len(value):
        raise fail("moves", "a move is there twice, expected each once; leave one out")
    return tuple(move for move in MOVES if move in value)


def _measured(value: object, capacities: tuple[int, ...], fail: Any) -> tuple[Board, ...]:
    most = max(capacities)
    if type(value) is not int or not 0 <= value <= most:
        raise fail("measure", f"expected a whole number from 0 to {most}, got {shown(value)}; write another")
    return tuple(
        board_of([value if other == jug else WILDCARD for other in range(len(capacities))])
        for jug, capacity in enumerate(capacities)
        if capacity >= value
    )
