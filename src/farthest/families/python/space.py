"""The python family: a user's class is the space (docs/python.md). Its answers to "what comes after these states?" are
checked, and become moves of arrays of codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from farthest import _kernel
from farthest.errors import PuzzleError, StorageError
from farthest.families.python.definition import Python
from farthest.families.python.user_class import NO_STATE, Code, UserClass
from farthest.puzzles.definition import Board, MoveName
from farthest.puzzles.origin import names_of, origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY, is_packed
from farthest.wording import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.spaces.contract import Boards, Codes, EngineKind

    Step = tuple[str, NDArray[np.intp], Codes]

_CHECKED = 8
"""So many initial states, and of arrays as many that they lead to, are asked for one by one and again, to see whether
the answers are the same."""


class UserMoves:
    """The moves of a user's class over codes: uint64, or ``S<width>``; shape (states,)."""

    def __init__(self, user: UserClass) -> None:
        self.user = user
        self.dtype: np.dtype[Any] = np.dtype(np.uint64 if user.width == 8 else f"S{user.width}")

    def codes(self, codes: Iterable[Code]) -> Codes:
        """Codes as an array."""
        listed = list(codes)
        if self.user.width == 8:
            return np.array(listed, dtype=np.uint64)
        return np.frombuffer(b"".join(code for code in listed if isinstance(code, bytes)), dtype=self.dtype)

    def steps(self, codes: Codes, *, forward: bool) -> Iterator[Step]:
        """For each move, or each k-th answer, its name, the rows of ``codes``, the codes it leads to or comes from."""
        if not codes.size:
            return
        method = self.method(forward=forward)
        if not self.user.batch:
            yield from self._one_by_one(f"{method}_of", codes)
            return
        answer = self._answer(method, codes)
        for k, (rows, found) in enumerate(self._columns(answer, codes.size, method)):
            after, there = self._codes_of(found, method)
            yield self._name(k), rows[there], after[there]

    def reached(self, codes: Codes, *, forward: bool) -> Codes:
        """All codes that the moves lead to, or come from. For each, a check of the key and little more."""
        if not (self.user.batch and codes.size):
            found = [after for _, _, after in self.steps(codes, forward=forward)]
            return np.concatenate(found) if found else np.empty(0, dtype=self.dtype)
        method = self.method(forward=forward)
        answer = self._answer(method, codes)
        if isinstance(answer, np.ndarray):
            parts = [answer.reshape(-1, *answer.shape[2:])]
        else:
            parts = [keys for _, keys in answer]
            if len({(keys.dtype, keys.shape[1:]) for keys in parts}) == 1:
                parts = [np.concatenate(parts)]
        states = []
        for keys in parts:
            after, there = self._codes_of(keys, method)
            states.append(after if there.all() else after[there])
        if len(states) == 1:
            return states[0]
        return np.concatenate(states) if states else np.empty(0, dtype=self.dtype)

    def method(self, *, forward: bool) -> str:
        """Which method answers."""
        return "successors" if forward or self.user.undirected else "predecessors"

    def check(self) -> None:
        """Asks for the moves of some states in different ways. Raises PuzzleError where the answers differ."""
        initial = self.codes(self.user.initial[:_CHECKED])
        if not initial.size:
            return
        states = initial
        if self.user.batch:  # of one initial state, "alone" and "together" would be the same call
            states = np.union1d(initial, np.unique(self.reached(initial, forward=True))[:_CHECKED])
        for forward in (True, False) if self.user.backward and not self.user.undirected else (True,):
            method = "successors" if forward else "predecessors"
            together = self._pairs(states, forward=forward)
            if self._pairs(states, forward=forward) != together:
                raise self.user.error(
                    f"{method} answered otherwise when asked again, expected the same each time"
                )
            alone = {
                (row, after)
                for row in range(states.size)
                for _, after in self._pairs(states[row : row + 1], forward=forward)
            }
            if alone != together:
                names = len(self.user.moves)
                mend = (
                    f"; it has room for {names} keys a state, one for each name in moves: write names and keys of one "
                    "number"
                    if method in self.user.compiled
                    else ""
                )
                raise self.user.error(
                    f"{method} answers otherwise for one state than for several, expected the same whatever the others"
                    f"{mend}"
                )
            self.check_return(initial, forward=forward)

    def check_return(self, codes: Codes, *, forward: bool) -> None:
        """Asks whether moves from these states can be taken back, where the class says so. Raises PuzzleError."""
        if not self.user.backward or self.user.hashes is not None:
            return
        for row, code in enumerate(codes.tolist()):
            # A copy: it may be an array that the class fills again when it is asked next.
            there = self.reached(codes[row : row + 1], forward=forward)[:_CHECKED].copy()
            back = np.zeros(there.size, dtype=bool)
            for _, rows, found in self.steps(there, forward=not forward):
                back[rows[found == codes[row]]] = True
            if not back.all():
                claim = "undirected is True" if self.user.undirected else "predecessors is there"
                raise self.user.error(
                    f"{claim}, but from {shown(code)} a move leads to {shown(there[~back].tolist()[0])} and none back "
                    "is answered; correct it"
                )

    def _pairs(self, codes: Codes, *, forward: bool) -> set[tuple[int, Any]]:
        return {
            (row, after)
            for _, rows, found in self.steps(codes, forward=forward)
            for row, after in zip(rows.tolist(), found.tolist(), strict=True)
        }

    # One state at a time

    def _one_by_one(self, method: str, codes: Codes) -> Iterator[Step]:
        moves: dict[tuple[str, int], tuple[list[int], list[Code]]] = {}
        ask = getattr(self.user.instance, method)
        for row, code in enumerate(self._list(codes)):
            state = self.user.state(code)
            with self.user.mended(method):
                answer = ask(state)
                states = list(answer) if isinstance(answer, Iterable) else None
            if states is None or isinstance(answer, str | bytes):
                raise self.user.error(f"{method} answered {shown(answer)}, expected the states one move away")
            seen: dict[str, int] = {}
            for k, item in enumerate(states):
                name, after = item if self.user.named(item) else (self._name(k), item)
                seen[name] = seen.get(name, -1) + 1
                rows, found = moves.setdefault((name, seen[name]), ([], []))
                rows.append(row)
                found.append(self.user.code(after, method))
        for (name, _), (rows, found) in moves.items():
            yield name, np.array(rows, dtype=np.intp), self.codes(found)

    def _list(self, codes: Codes) -> list[Code]:
        if self.user.width == 8:
            return list(codes.tolist())
        data = codes.tobytes()  # items of arrays of byte strings lose zeros at the end
        width = self.user.width
        return [data[at : at + width] for at in range(0, len(data), width)]

    # Many states at a time

    def _answer(self, method: str, codes: Codes) -> NDArray[Any] | list[tuple[NDArray[Any], NDArray[Any]]]:
        """What the class answers, of the right shape: an array (keys, moves), or pairs (rows, keys)."""
        keys = self._keys(codes)
        answer = self.user.answer(method, keys)
        if isinstance(answer, np.ndarray):
            shape = (codes.size, "moves", *keys.shape[1:])
            if answer.ndim != len(shape) or answer.shape[0] != codes.size:
                raise self.user.error(
                    f"{method} answered an array of shape {answer.shape}, expected {_shape(shape)}: a row for each of "
                    f"the {codes.size} keys, a column for each move"
                )
            return answer
        if not isinstance(answer, list | tuple):
            raise self.user.error(
                f"{method} answered {shown(answer)}, expected an array (keys, moves), or a list with a pair "
                "(rows, keys) for each move"
            )
        return [self._rows_and_keys(item, k, method) for k, item in enumerate(answer)]

    def _rows_and_keys(self, item: Any, k: int, method: str) -> tuple[NDArray[Any], NDArray[Any]]:
        pair = isinstance(item, list | tuple) and len(item) == 2
        rows, found = item if pair else (np.empty(0), np.empty(0))
        if type(rows) is not np.ndarray or type(found) is not np.ndarray:
            rows, found = np.asarray(rows), np.asarray(found)
        if not pair or rows.ndim != 1 or rows.dtype.kind not in "iu" or found.shape[:1] != rows.shape:
            raise self.user.error(
                f"{method}: move {k} is no pair (rows, keys) of equal length with rows in whole numbers; expected that"
            )
        return rows, found

    def _columns(
        self, answer: Any, size: int, method: str
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[Any]]]:
        """Of each move the rows and the keys."""
        if isinstance(answer, np.ndarray):
            yield from ((np.arange(size), answer[:, k]) for k in range(answer.shape[1]))
            return
        for k, (rows, found) in enumerate(answer):
            if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < size:
                raise self.user.error(
                    f"{method}: move {k} has a row outside 0 to {size - 1}; expected rows of the keys given"
                )
            yield rows.astype(np.intp), found

    def _keys(self, codes: Codes) -> NDArray[Any]:
        """The codes as the class gets them: uint64 (keys,), (keys, 2) for 128 bits, or uint8 (keys, bytes); a copy."""
        if self.user.width == 8:
            return codes.astype(np.uint64)
        parts = np.frombuffer(codes.tobytes(), dtype=np.uint8).reshape(codes.size, self.user.width)
        return parts.view(">u8").astype(np.uint64) if self.user.wide else parts.copy()

    def _codes_of(self, keys: NDArray[Any], method: str) -> tuple[Codes, NDArray[np.bool_]]:
        """The codes of keys that the class answered, and which of them are states."""
        user = self.user
        kinds = "iu" if user.width == 8 or user.wide else "u"
        if keys.dtype.kind not in kinds or (user.width != 8 and not user.wide and keys.dtype != np.uint8):
            wanted = "uint64" if "i" in kinds else "uint8"
            raise user.error(f"{method} answered an array of {keys.dtype}, expected {wanted}")
        tail = () if user.width == 8 else (2,) if user.wide else (user.width,)
        if keys.shape[1:] != tail:
            raise user.error(f"{method} answered keys of shape {keys.shape[1:]}, expected {tail}")
        if user.width != 8:
            parts = keys.astype(">u8").view(np.uint8) if user.wide else np.ascontiguousarray(keys)
            found = np.frombuffer(parts.tobytes(), dtype=self.dtype)
            return found, ~(parts.reshape(-1, user.width) == 255).all(axis=1)
        if keys.dtype.kind == "i" and keys.size and int(keys.min()) < -1:
            raise user.error(
                f"{method} answered the key {int(keys.min())}, expected one from 0, or -1 for no state"
            )
        numbers = keys.astype(np.uint64, copy=False)
        there = numbers != np.uint64(NO_STATE)
        if user.size is not None and numbers.size and int((numbers + np.uint64(1)).max()) > user.size:
            wrong = int(numbers[there].max())
            raise user.error(
                f"{method} answered the key {wrong}, expected one from 0 to {user.size - 1}, or NO_STATE for no move"
            )
        return numbers, there

    def _name(self, k: int) -> str:
        return self.user.moves[k] if k < len(self.user.moves) else f"move {k}"


def _shape(parts: Iterable[object]) -> str:
    return f"({', '.join(map(str, parts))})"


VERSION = 1

SPARSE = "sparse"
"""The kind of layout of a map that has only the keys that were found, of a class with a size."""

_LOOKS = 8
"""Of so many batches of states one is looked at, whether its moves can be taken back: layers may have few states."""


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> PythonSpace:
    return PythonSpace(puzzle, origin, layout)


class PythonSpace:
    """A ScatterSpace whose codes are the keys of a user's class."""

    engine: EngineKind = "scatter"
    graded = False

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None) -> None:
        definition = puzzle.defined_as(Python)
        user = definition.user
        self.puzzle = puzzle
        self.origin = origin
        self.user = user
        self.moves = UserMoves(user)
        self.cells = self.code_bytes = user.width
        sparse = is_packed(layout) or (layout is not None and layout.get("kind") == SPARSE)
        self.keys = None if sparse else user.size
        self.undirected = user.undirected
        if layout is not None and not is_packed(layout) and layout != self.layout_fields():
            raise StorageError(
                f"puzzle class {user.reference}: its keys are {self.layout_fields()}, those of the stored map "
                f"{layout}; the class has changed, enumerate it again"
            )
        if origin.direction == "to" and not user.backward:
            raise PuzzleError(
                f"puzzle {puzzle.name}: distances to the origin need the states before a state; "
                "count from the start, write predecessors, or undirected = True where each move can be taken back"
            )
        self.moves_both_ways = user.backward
        if "goal" in names_of(origin.where):
            raise PuzzleError(f"puzzle {puzzle.name}: it has no goal; count from start, or name a board")
        self.origins: list[Board] = list(origin_patterns(definition, origin.where, puzzle.name))
        if user.hashes is not None:
            user.hashes.forget()
            for state in user.initial_states:
                user.code(state, "initial")
        self._batches = count()
        self.moves.check()

    def layout_fields(self) -> dict[str, Any]:
        fields = {"version": VERSION, "size": self.user.size, "bytes": self.user.width}
        return fields if self.keys == self.user.size else {**fields, "kind": SPARSE}

    def encode(self, boards: Boards) -> Codes:
        rows = np.ascontiguousarray(boards, dtype=np.uint8).reshape(-1, self.cells)
        if self.code_bytes != 8:
            return np.frombuffer(rows.tobytes(), dtype=self.moves.dtype)
        keys = rows.view(">u8").reshape(-1).astype(np.uint64)
        if self.user.size is not None:
            keys[keys >= self.user.size] = NO_KEY
        return keys

    def decode(self, codes: Codes) -> Boards:
        if self.code_bytes == 8:
            size = self.user.size
            if size is not None and codes.size and int(codes.max()) >= size:
                raise ValueError(f"key {int(codes.max())} is out of range, expected less than {size}")
            codes = codes.astype(">u8")
        return np.frombuffer(codes.tobytes(), dtype=np.uint8).reshape(-1, self.cells).copy()

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        codes = self.encode(boards)
        if (self.origin.direction == "to") == toward:
            for name, rows, after in self.moves.steps(codes, forward=True):
                if rows.size:
                    yield name, rows, self.decode(after)
            return
        # The states before, and which of their moves lead here: the player makes those.
        before = [(rows, found) for _, rows, found in self.moves.steps(codes, forward=False)]
        if not before:
            return
        rows = np.concatenate([rows for rows, _ in before])
        found = np.concatenate([found for _, found in before])
        pairs = np.empty(rows.size, dtype=[("row", np.intp), ("code", self.moves.dtype)])
        pairs["row"], pairs["code"] = rows, found
        pairs = np.unique(pairs)
        rows, found = np.ascontiguousarray(pairs["row"]), np.ascontiguousarray(pairs["code"])
        for name, made, after in self.moves.steps(found, forward=True):
            here = after == codes[rows[made]]
            if here.any():
                yield name, rows[made][here], self.decode(found[made][here])

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """None is known."""
        del board
        return None

    def origin_codes(self) -> Buffer:
        return self.encode(np.array(self.origins, dtype=np.uint8)).tobytes()

    @cached_property
    def expander(self) -> _kernel.Expander | None:
        """The kernel's successors, where the class has a compiled function."""
        user, method = self.user, self.moves.method(forward=self.origin.direction == "from")
        if method not in user.compiled:
            return None
        address, data = user.compiled[method], user.data.ctypes.data
        words = user.width == 8 or user.wide
        return _kernel.user_expander(
            address, data, len(user.moves), user.width, words, user.size or 0, user.undirected
        )

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        """The class is asked by one thread."""
        del threads
        given = np.frombuffer(memoryview(codes), dtype=self.moves.dtype)
        forward = self.origin.direction == "from"
        # A move that cannot be taken back would have states found again and again.
        if self.undirected and next(self._batches) % _LOOKS == 0:
            self.moves.check_return(given[:1], forward=forward)
        return np.ascontiguousarray(self.moves.reached(given, forward=forward)).view(np.uint8).data
