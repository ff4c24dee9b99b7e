"""The boards of permutation puzzles and their neighbours, and the space for the kernel's gathering: labels in words, or
orientations in words.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, combinations
from math import prod
from typing import TYPE_CHECKING, Any

from farthest import _kernel
from farthest.arrays import np
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.guards import possible
from farthest.families.permutation.layout import MEND, Layout, twist_sum
from farthest.families.permutation.moves import Move, inverse, odd
from farthest.puzzles.definition import Board
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.arrangement import is_odd
from farthest.spaces.contract import NO_KEY, kernel_limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.spaces.contract import EngineKind


class PermutationBoards:
    """A permutation puzzle and its origin. A board: the labels of all slots, then, if any are turned, the orientations.

    ``moves_away`` are the moves that lead away from the origin, named as the player's moves that they are or take back.
    """

    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board]) -> None:
        self.puzzle = puzzle
        self.origin = origin
        self.origins = origins
        self.definition: Permutation = permutation(puzzle)
        self.cells = self.definition.cells
        self.code_bytes = 8
        self.moves_both_ways = True
        played, moduli = self.definition.generators, self.definition.slot_moduli
        back = tuple(Move(move.name, *inverse(move, moduli).effect) for move in played)
        self.undirected = self.definition.symmetric
        guards = [self.definition.guards_of(number) for number in range(len(played))]
        undone = [
            tuple(guard.taken_back(move.to) for guard in own)
            for move, own in zip(played, guards, strict=True)
        ]
        to = origin.direction == "to"
        self.moves_toward, self.moves_away = (played, back) if to else (back, played)
        self.guards_toward, self.guards_away = (guards, undone) if to else (undone, guards)

    def moved(self, boards: NDArray[np.uint8], move: Move) -> NDArray[np.uint8]:
        """The boards (N, cells) after the move."""
        definition, slots = self.definition, self.definition.slots
        out = np.empty_like(boards)
        to = np.array(move.to)
        out[:, to] = boards[:, :slots]
        if definition.oriented:
            modulo = np.array(definition.slot_moduli, dtype=np.uint8)
            turns = (boards[:, slots:] + np.array(move.delta, dtype=np.uint8)) % modulo
            if any(definition.ignore):
                turns[np.array(definition.ignore)[boards[:, :slots]]] = 0
            out[:, slots + to] = turns
        return out

    def wrong_sums(self, layout: Layout, boards: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """On which boards the orientations of an orbit have another sum than that which never changes."""
        wrong = np.zeros(len(boards), dtype=bool)
        for slots, total in zip(layout.orbits, layout.sums, strict=True):
            if total is not None:
                turns = boards[:, np.array(slots) + self.definition.slots]
                wrong |= turns.sum(axis=1) % self.definition.slot_moduli[slots[0]] != total
        return wrong

    def neighbours(
        self, boards: NDArray[np.uint8], *, toward: bool
    ) -> Iterator[tuple[str, NDArray[np.intp], NDArray[np.uint8]]]:
        rows, labels = np.arange(len(boards)), boards[:, : self.definition.slots]
        moves, guards = (
            (self.moves_toward, self.guards_toward) if toward else (self.moves_away, self.guards_away)
        )
        for move, own in zip(moves, guards, strict=True):
            here = np.flatnonzero(possible(own, labels)) if own else rows
            yield move.name, here, self.moved(boards[here] if own else boards, move)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        definition = self.definition
        labels, origins = board[: definition.slots], self.origins
        free = (all(guard.holds_on(labels) for guard in own) for own in self.guards_toward)
        if definition.guards and tuple(board) not in origins and not any(free):
            return "no move can be made on this board"
        names = [name or "pieces" for name in definition.orbit_names]
        for orbit, slots in enumerate(definition.orbits):
            total = twist_sum(definition, orbit, self.origins)
            if total is None:
                continue
            here = sum(board[definition.slots + slot] for slot in slots) % definition.moduli[orbit]
            if here != total:
                changed = "flipped" if definition.moduli[orbit] == 2 else "twisted"
                return (
                    f"orientations: one of the {names[orbit]} is {changed}, or several are: no move changes the sum of "
                    f"those of the {names[orbit]} modulo {definition.moduli[orbit]}, which is {total} for all boards "
                    f"that can be reached, and {here} here"
                )
        distinct = [
            orbit
            for orbit, slots in enumerate(definition.orbits)
            if len(slots) > 1 and len(definition.labels_of(orbit)) == len(slots)
        ]
        for chosen in [*combinations(distinct, 1), *combinations(distinct, 2)]:
            among = sorted(slot for orbit in chosen for slot in definition.orbits[orbit])
            if any(odd(move.to, among) for move in definition.generators):
                continue
            parities = {is_odd([origin[slot] for slot in among]) for origin in self.origins}
            if len(parities) == 1 and is_odd([board[slot] for slot in among]) not in parities:
                pieces = " and ".join(names[orbit] for orbit in chosen)
                return (
                    f"parity: every move permutes the {pieces} evenly, and this board would need an odd permutation of "
                    "them (it would be in reach with any two of them exchanged)"
                )
        return None


def origin_boards(puzzle: Puzzle, origin: Origin) -> list[Board]:
    """The boards at depth 0, in a fixed order, none twice. Raises BoardError when ``origin.where`` is not a board,
    PuzzleError when there is no start."""
    return sorted(set(origin_patterns(puzzle.definition, origin.where, puzzle.name)))


class PermutationSpace(PermutationBoards):
    def __init__(self, puzzle: Puzzle, origin: Origin, origins: list[Board], layout: Layout) -> None:
        super().__init__(puzzle, origin, origins)
        self.engine: EngineKind = "gather"
        self.layout = layout
        self._class_of = bytearray(b"\xff" * 256)
        for position, label in enumerate(layout.classes):
            self._class_of[label] = position
        self._labels = bytes(layout.classes)
        slots = self.definition.slots
        self._positions = range(slots)
        self._twists: Sequence[int] = range(slots, 2 * slots) if layout.twisted or layout.turned else ()

    @cached_property
    def keys(self) -> int:
        return self.layout.keys

    def layout_fields(self) -> dict[str, Any]:
        return self.layout.to_dict()

    def shards_at(self, shard_classes: int) -> int:
        return prod(self.layout.radices[: min(shard_classes, self.kernel.shard_levels)])

    @cached_property
    def kernel(self) -> _kernel.ArrangementSpace:
        return self.compile_kernel()

    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.ArrangementSpace:
        layout = self.layout
        moves = [(move.to, 0, 0) for move in self.moves_away]
        deltas = [move.delta for move in self.moves_away] if self._twists else []
        orbits = [
            (sum(1 << slot for slot in orbit), modulus)
            for orbit, modulus in zip(layout.orbits, layout.moduli, strict=True)
        ]
        twisted = [layout.classes.index(label) for label in layout.twisted]
        # Of an orbit without digits the sum says nothing: its orientations never change.
        sums = [
            total or 0 if modulus > 1 else 0
            for total, modulus in zip(layout.sums, layout.moduli, strict=True)
        ]

        def build(classes: int) -> _kernel.ArrangementSpace:
            return _kernel.ArrangementSpace(
                layout.slots,
                layout.counts,
                layout.parity or (),
                moves,
                classes,
                isa,
                orbits,
                twisted,
                deltas,
                layout.turned,
                sums if layout.turned else (),
            )

        with kernel_limits(self.puzzle, self.keys, MEND):
            kernel = build(1)
            levels = min(shard_classes, kernel.shard_levels)
            return kernel if levels == 1 else build(levels)

    def shard_order(self, shards: int) -> range:
        """In the order of the keys."""
        return range(shards)

    def keys_of(self, boards: Sequence[Sequence[int]]) -> list[int]:
        keys = array("Q", bytes(8 * len(boards)))
        self._encode(bytes(chain.from_iterable(boards)), keys)
        return [key if self._summed(board) else NO_KEY for key, board in zip(keys, boards, strict=True)]

    def encode(self, boards: NDArray[np.uint8]) -> NDArray[np.uint64]:
        rows = np.ascontiguousarray(boards, dtype=np.uint8).reshape(-1, self.cells)
        keys = np.empty(len(rows), dtype=np.uint64)
        self._encode(rows.reshape(-1), keys)
        keys[self.wrong_sums(self.layout, rows)] = NO_KEY
        return keys

    def decode(self, codes: NDArray[np.uint64]) -> NDArray[np.uint8]:
        slots = self.definition.slots
        boards = np.zeros((codes.size, self.cells), dtype=np.uint8)
        keys = np.ascontiguousarray(codes, dtype=np.uint64)
        self.kernel.decode(keys, self.cells, self._positions, self._labels, boards.reshape(-1), self._twists)
        for orbit, total in enumerate(self.layout.sums):
            if total is not None and orbit in self._followers:
                here = np.array(self.layout.orbits[orbit])
                modulus = self._modulus(orbit)
                rows, which = np.nonzero(boards[:, here] == self._followers[orbit])
                others = boards[:, slots + here].sum(axis=1) % modulus
                boards[rows, slots + here[which]] = (total + modulus - others) % modulus
        return boards

    def _encode(self, boards: Any, keys: Any) -> None:
        self.kernel.encode(boards, self.cells, self._positions, self._class_of, keys, self._twists)

    def _summed(self, board: Sequence[int]) -> bool:
        """Whether the orientations have the sums that never change."""
        return all(
            total is None
            or sum(board[self.definition.slots + s] for s in slots) % self._modulus(orbit) == total
            for orbit, (slots, total) in enumerate(zip(self.layout.orbits, self.layout.sums, strict=True))
        )

    def _modulus(self, orbit: int) -> int:
        """The number of orientations in one of the layout's orbits, counted or not."""
        return self.definition.slot_moduli[self.layout.orbits[orbit][0]]

    @cached_property
    def _followers(self) -> dict[int, int]:
        """For each of the layout's orbits with a fixed sum, but those with turned slots, the label whose orientation
        follows from the others."""
        where = {slots: orbit for orbit, slots in enumerate(self.layout.orbits)}
        return {
            where[self.definition.orbits[of]]: label
            for label, of in enumerate(self.definition.label_orbit)
            if self.definition.moduli[of] > 1
            and not self.definition.ignore[label]
            and label not in self.layout.twisted
            and not set(self.definition.orbits[of]) & set(self.layout.turned)
        }
