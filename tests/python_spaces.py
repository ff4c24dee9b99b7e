"""Spaces written as users write them, in each of the forms that docs/python.md names."""

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from itertools import permutations
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest import NO_STATE, PuzzleSpace

Keys = NDArray[np.uint64]


class Ring(PuzzleSpace):
    """Numbers modulo n, one more or one less: dense, batches, moves taken back."""

    moves = ("up", "down")
    undirected = True

    n: int = 12

    def __post_init__(self) -> None:
        self.size = self.n

    def initial(self) -> list[int]:
        return [0]

    def successors(self, keys: Keys) -> Keys:
        n = np.uint64(self.size)
        return np.stack([(keys + np.uint64(1)) % n, (keys + n - np.uint64(1)) % n], axis=1)


FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.c_void_p,
)


@FUNCTION  # type: ignore[untyped-decorator]
def _around(keys: Any, count: int, out: Any, data: int) -> int:
    n = ctypes.cast(data, ctypes.POINTER(ctypes.c_uint64))[0]
    for i in range(count):
        out[2 * i], out[2 * i + 1] = (keys[i] + 1) % n, (keys[i] + n - 1) % n
    return count


class Called(Ring):
    """The same by an address, as compiled functions are called."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.data = np.array([self.n], dtype=np.uint64)
        self.successors = _around  # type: ignore[method-assign]


class Doubling(PuzzleSpace):
    """Numbers below n: twice it where that is below n, or one less: dense, one way, both ways known, pairs."""

    moves = ("double", "less")

    n: int = 40

    def __post_init__(self) -> None:
        self.size = self.n

    def initial(self) -> Keys:
        return np.array([1, 3], dtype=np.uint64)

    def successors(self, keys: Keys) -> list[tuple[NDArray[Any], Keys]]:
        small, above = np.flatnonzero(keys * 2 < self.size), np.flatnonzero(keys > 0)
        return [(small, keys[small] * np.uint64(2)), (above, keys[above] - np.uint64(1))]

    def predecessors(self, keys: Keys) -> NDArray[np.int64]:
        numbers = keys.astype(np.int64)
        half = np.where(numbers % 2 == 0, numbers // 2, -1)
        return np.stack([half, np.where(numbers + 1 < self.size, numbers + 1, -1)], axis=1)


class OneWay(Doubling):
    """The same, and the states before a state are not known."""

    predecessors = None  # type: ignore[assignment]


class Sorting(PuzzleSpace):
    """Neighbours exchanged in a list of n: dense by rank, one state at a time, moves with names."""

    undirected = True

    n: int = 4

    def __post_init__(self) -> None:
        self.lists = list(permutations(range(self.n)))
        self.size = factorial(self.n)

    def initial(self) -> list[tuple[int, ...]]:
        return [self.lists[0]]

    def rank(self, state: tuple[int, ...]) -> int:
        return self.lists.index(state)

    def unrank(self, number: int) -> tuple[int, ...]:
        return self.lists[number]

    def successors_of(self, state: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
        for i in range(len(state) - 1):
            yield f"swap {i}", (*state[:i], state[i + 1], state[i], *state[i + 2 :])

    def format(self, state: tuple[int, ...]) -> str:
        return "".join(map(str, state))

    def parse(self, text: str) -> tuple[int, ...]:
        state = tuple(int(sign) for sign in text.strip())
        if sorted(state) != list(range(len(self.lists[0]))):
            raise ValueError(f"expected each of 0 to {len(self.lists[0]) - 1} once")
        return state

    def draw(self, state: tuple[int, ...]) -> str:
        return "\n".join("#" * (n + 1) for n in state)


class Frogs(PuzzleSpace):
    """Toads and frogs on a row: byte strings, one state at a time, one way."""

    each: int = 3

    def __post_init__(self) -> None:
        self.key_bytes = 2 * self.each + 1

    def initial(self) -> list[bytes]:
        each = self.key_bytes // 2
        return [b"T" * each + b"." + b"F" * each]

    def successors_of(self, state: bytes) -> Iterator[bytes]:
        hole = state.index(b".")
        for start, frog in ((hole - 1, b"T"), (hole - 2, b"T"), (hole + 1, b"F"), (hole + 2, b"F")):
            if 0 <= start < len(state) and state[start : start + 1] == frog:
                after = bytearray(state)
                after[hole], after[start] = after[start], after[hole]
                yield bytes(after)


class Words(PuzzleSpace):
    """Three letters a to e, one changed to the next or the one before: byte strings in batches."""

    key_bytes = 3
    undirected = True

    def initial(self) -> list[bytes]:
        return [b"aaa"]

    def successors(self, keys: NDArray[np.uint8]) -> NDArray[np.uint8]:
        found = np.repeat(keys[:, None, :], 6, axis=1)
        for place in range(3):
            for k, step in enumerate((1, -1)):
                letters = keys[:, place].astype(int) + step
                found[:, 2 * place + k, place] = letters
                found[(letters < ord("a")) | (letters > ord("e")), 2 * place + k] = 255
        return found


class Wide(PuzzleSpace):
    """Numbers of 128 bits, one of which is moved left or right: batches."""

    key_bits = 128
    undirected = True
    moves = ("left", "right")

    def initial(self) -> list[int]:
        return [1 << 70, 1]

    def successors(self, keys: Keys) -> Keys:
        one, top = np.uint64(1), np.uint64(63)
        high, low = keys[:, 0], keys[:, 1]
        left = np.stack([high << one | low >> top, low << one], axis=1)
        right = np.stack([high >> one, low >> one | high << top], axis=1)
        left[high >> np.uint64(62) > 0] = NO_STATE
        right[(low & one) > 0] = NO_STATE
        return np.stack([left, right], axis=1)


class WideOne(PuzzleSpace):
    """The same, one state at a time."""

    key_bits = 128
    undirected = True
    moves = ("left", "right")

    def initial(self) -> list[int]:
        return [1 << 70, 1]

    def successors_of(self, state: int) -> Iterator[tuple[str, int]]:
        if state >> 126 == 0:
            yield "left", state << 1
        if state & 1 == 0:
            yield "right", state >> 1


class Sparse(PuzzleSpace):
    """Numbers of 64 bits: three times and one more below a million, one way."""

    def initial(self) -> list[int]:
        return [1]

    def successors_of(self, state: int) -> list[int]:
        return [after for after in (3 * state, state + 7) if after < 1000]

    def predecessors_of(self, state: int) -> list[int]:
        return [*([state // 3] if state % 3 == 0 else []), *([state - 7] if state >= 7 else [])]


class Tuples(PuzzleSpace):
    """Neighbours exchanged in a tuple: states without keys."""

    n: int = 4

    def initial(self) -> list[tuple[int, ...]]:
        return [tuple(range(self.n))]

    def successors_of(self, state: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
        for i in range(len(state) - 1):
            yield f"swap {i}", (*state[:i], state[i + 1], state[i], *state[i + 2 :])

    def draw(self, state: tuple[int, ...]) -> str:
        return " ".join(map(str, state))


class TwoWords(PuzzleSpace):
    """Letters exchanged in and between two words: states are pairs of texts, as a name and a state would be."""

    key_bytes = 4

    names: bool = False

    def initial(self) -> list[tuple[str, str]]:
        return [("ab", "cd")]

    def key(self, state: tuple[str, str]) -> bytes:
        return "".join(state).encode()

    def state(self, key: bytes) -> tuple[str, str]:
        return key[:2].decode(), key[2:].decode()

    def successors_of(self, state: tuple[str, str]) -> Iterator[tuple[str, Any]]:
        a, b, c, d = list("".join(state))
        found = {"first": (b + a, c + d), "between": (a + c, b + d), "second": (a + b, d + c)}
        yield from found.items() if self.names else found.values()


class Lasso(PuzzleSpace):
    """From a ring of one-way moves behind the first ones none leads back, though the class says so."""

    undirected = True

    dense: bool = False

    def __post_init__(self) -> None:
        self.size = 60 if self.dense else None

    def initial(self) -> list[int]:
        return [0]

    def successors_of(self, state: int) -> list[int]:
        return {0: [1], 1: [0, 2], 2: [1, 3]}.get(state, [2 + (state - 1) % 50])


class Columns(Ring):
    """Its answer is a part of a larger array."""

    def successors(self, keys: Keys) -> Keys:
        return np.repeat(super().successors(keys), 2, axis=1)[:, ::2]


class Reused(Ring):
    """It answers in the same array each time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.room = np.empty((2**16, 2), dtype=np.uint64)

    def successors(self, keys: Keys) -> Keys:
        answer = self.room[: keys.size]
        answer[:] = super().successors(keys)
        return answer


class Line(PuzzleSpace):
    """It answers no pair at all where there are no moves."""

    size = 12

    def initial(self) -> list[int]:
        return [0]

    def successors(self, keys: Keys) -> list[tuple[Keys, Keys]]:
        rows = np.flatnonzero(keys < np.uint64(self.size - 1)).astype(np.uint64)
        return [(rows, keys[rows] + np.uint64(1))] if rows.size else []


class Parallel(PuzzleSpace):
    """From each number below n four moves to the next one: dense, one way, more ways than 64 bits count."""

    moves = ("a", "b", "c", "d")

    n: int = 41

    def __post_init__(self) -> None:
        self.size = self.n

    def initial(self) -> list[int]:
        return [0]

    def successors(self, keys: Keys) -> Keys:
        after = np.where(keys + np.uint64(1) < np.uint64(self.size), keys + np.uint64(1), np.uint64(NO_STATE))
        return np.stack([after] * 4, axis=1)


class SlowTree(PuzzleSpace):
    """Each number leads to its double and to one more; from ``slow`` on, a hundredth of a second a state."""

    moves = ("double", "more")

    n: int = 4096
    slow: int = 1024

    def __post_init__(self) -> None:
        self.size = self.n

    def initial(self) -> list[int]:
        return [1]

    def successors(self, keys: Keys) -> list[tuple[NDArray[Any], Keys]]:
        time.sleep(0.01 * np.count_nonzero(keys >= self.slow))
        some = np.flatnonzero(keys * 2 < self.size)
        return [(some, keys[some] * np.uint64(2)), (some, keys[some] * np.uint64(2) + np.uint64(1))]


class Deadly(SlowTree):
    """Kills the process that asks for successors of the states from ``slow`` on, while the file ``armed`` is there."""

    armed: str = ""

    def successors(self, keys: Keys) -> list[tuple[NDArray[Any], Keys]]:
        if Path(self.armed).exists() and (keys >= self.slow).any():
            os.kill(os.getpid(), signal.SIGKILL)
        some = np.flatnonzero(keys * 2 < self.size)
        return [(some, keys[some] * np.uint64(2)), (some, keys[some] * np.uint64(2) + np.uint64(1))]
