"""The generators of a ``[permutation]`` table: cycles, images, or images and turns, and the list of all moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import PieceSet, slot_moduli
from farthest.families.permutation.cycles import NotationError, read_cycles, read_images
from farthest.families.permutation.fields import name_problem
from farthest.families.permutation.moves import MAX_MOVES, Move, identity, listed
from farthest.puzzles.source import Source
from farthest.wording import near_match, shown

TABLE = "permutation"
RESERVED = ("to", "twist")
"""Keys of a generator that is written as images and turns; no set may be called so."""

_GENERATORS = f"{TABLE}.generators"


def read_moves(table: Mapping[str, Any], source: Source, metric: str, sets: Sequence[PieceSet]) -> list[Move]:
    """All moves of the metric. Raises PuzzleError naming generator, line, what was expected and a mend."""
    return _Reader(table, source, metric, sets).read()


class _Reader:
    def __init__(
        self, table: Mapping[str, Any], source: Source, metric: str, sets: Sequence[PieceSet]
    ) -> None:
        self.table = table
        self.source = source
        self.metric = metric
        self.sets = sets

    def read(self) -> list[Move]:
        first = self.table.get("numbering", 1)
        if type(first) is not int or first not in (0, 1):
            raise self.fail(
                "numbering", f"expected 0 or 1, the number of the first slot, got {shown(first)}; correct it"
            )
        return self.moves(self.generators(first))

    def fail(self, key: str, problem: str) -> PuzzleError:
        return self.source.error(TABLE, key, problem)

    def generator_error(self, name: str, problem: str) -> PuzzleError:
        if f"[{_GENERATORS}]" in self.source.text:
            return self.source.error(_GENERATORS, name, problem)
        return self.fail("generators", f"{name}: {problem}")

    def generators(self, first: int) -> list[Move]:
        table = self.table.get("generators")
        if not isinstance(table, dict) or not table:
            found = "no generators" if not table else f"expected a table, got {shown(table)}"
            raise self.fail("generators", f'{found}; write [{_GENERATORS}] and below it R = "(1 2 3)"')
        found_moves: dict[Any, str] = {identity(len(slot_moduli(self.sets))).effect: ""}
        moves = []
        for name, value in table.items():
            problem = name_problem(name)
            if problem:
                raise self.generator_error(name, f"the name {problem}; choose a short word")
            move = self.move(name, value, first)
            same = found_moves.setdefault(move.effect, name)
            if same != name:
                what = f"is the same move as {same}" if same else "changes nothing"
                raise self.generator_error(name, f"{what}; expected moves that differ, leave it out")
            moves.append(move)
        return moves

    def move(self, name: str, value: object, first: int) -> Move:
        """A generator, its turns reduced."""
        sizes = [len(each.pieces) for each in self.sets]
        to, delta = list(range(sum(sizes))), [0] * sum(sizes)
        if isinstance(value, dict) and value and not set(value) & set(RESERVED):
            offsets = {each.name: sum(sizes[:i]) for i, each in enumerate(self.sets)}
            for part, inner in value.items():
                if part not in offsets:
                    mend = near_match(part, offsets) or f"the sets are {', '.join(offsets)}"
                    raise self.generator_error(name, f"there is no set {shown(part)}; {mend}")
                start = offsets[part]
                size = sizes[list(offsets).index(part)]
                images, turns = self.images(name, inner, size, first)
                to[start : start + size] = [start + image for image in images]
                delta[start : start + size] = turns
        else:
            to, delta = self.images(name, value, sum(sizes), first)
        self.check_move(name, to, delta, first)
        moduli = slot_moduli(self.sets)
        return Move(
            name, tuple(to), tuple(turn % modulus for turn, modulus in zip(delta, moduli, strict=True))
        )

    def images(self, name: str, value: object, slots: int, first: int) -> tuple[list[int], list[int]]:
        try:
            if isinstance(value, str):
                return read_cycles(value, slots, first)
            if isinstance(value, list):
                return read_images(value, slots, first), [0] * slots
            if isinstance(value, dict) and value and set(value) <= set(RESERVED):
                to, twist = (
                    value.get("to", list(range(first, slots + first))),
                    value.get("twist", [0] * slots),
                )
                if isinstance(to, list) and isinstance(twist, list):
                    if len(twist) != slots or any(type(turn) is not int for turn in twist):
                        raise NotationError(
                            f"twist: expected {slots} whole numbers, one a slot; correct the array"
                        )
                    return read_images(to, slots, first), list(twist)
        except NotationError as error:
            raise self.generator_error(name, str(error)) from None
        raise self.generator_error(
            name,
            f'expected cycles or images, got {shown(value)}; write {name} = "(1 2 3)" or {name} = [2, 3, 1]',
        )

    def check_move(self, name: str, to: list[int], delta: list[int], first: int) -> None:
        set_of = [each for each in self.sets for _ in each.pieces]
        for slot, image in enumerate(to):
            here, there = set_of[slot], set_of[image]
            if here is not there:
                raise self.generator_error(
                    name,
                    f"slot {slot + first} of {here.name} goes to slot {image + first} of {there.name}; expected moves "
                    "within each set, correct the slots or make one set of both",
                )
            if abs(delta[slot]) >= here.modulus and delta[slot]:
                expected = (
                    f"less than {here.modulus}" if here.modulus > 1 else "no turn: the pieces are not turned"
                )
                raise self.generator_error(
                    name,
                    f"the content of slot {slot + first} turns by {delta[slot]}, expected {expected}; "
                    "correct it, or set modulus",
                )

    def moves(self, generators: list[Move]) -> list[Move]:
        inverses = self.table.get("inverses", True)
        if not isinstance(inverses, bool):
            raise self.fail("inverses", f"expected true or false, got {shown(inverses)}; correct it")
        if self.metric == "power" and not inverses:
            raise self.fail(
                "inverses",
                "false, but in the metric power the inverse of a generator is one of its powers; "
                'leave inverses out, or set metric = "generator"',
            )
        moves = listed(generators, slot_moduli(self.sets), self.metric, inverses)
        if moves is None:
            raise self.fail(
                "generators",
                f'more than {MAX_MOVES} moves with all powers; leave some out, or set metric = "generator"',
            )
        return moves
