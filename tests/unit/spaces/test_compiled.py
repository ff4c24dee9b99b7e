"""Users' classes whose successors are compiled functions: the same layers as in Python, and what is refused."""

import ctypes
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import farthest
import python_spaces
from farthest import NO_STATE, PuzzleSpace, _kernel
from farthest.errors import PuzzleError
from farthest.families.python.definition import puzzle_of
from farthest.spaces import compile_space
from python_spaces import FUNCTION

SOURCE = """
#include <stddef.h>
#include <stdint.h>
size_t words(const uint8_t *keys, size_t count, uint8_t *out, const void *data) {
    (void)data;
    for (size_t i = 0; i < count; ++i, keys += 3)
        for (int place = 0; place < 3; ++place)
            for (int step = 1; step >= -1; step -= 2, out += 3) {
                int letter = keys[place] + step;
                if (letter < 'a' || letter > 'e') continue;
                for (int k = 0; k < 3; ++k) out[k] = k == place ? (uint8_t)letter : keys[k];
            }
    return count;
}
size_t wide(const uint64_t *keys, size_t count, uint64_t *out, const void *data) {
    (void)data;
    for (size_t i = 0; i < count; ++i, keys += 2, out += 4) {
        if (!(keys[0] >> 62)) out[0] = keys[0] << 1 | keys[1] >> 63, out[1] = keys[1] << 1;
        if (!(keys[1] & 1)) out[2] = keys[0] >> 1, out[3] = keys[1] >> 1 | keys[0] << 63;
    }
    return count;
}
"""


def compiled(source: str, folder: Path) -> Any:
    (folder / "source.c").write_text(source)
    # The compiler that built the kernel takes C too.
    compiler = os.environ.get("CXX") or str(next(filter(shutil.which, ("c++", "g++", "clang++"))))
    options = "-x c -O2 -shared -fPIC -Wall -Werror -o source.so source.c"
    command = [*shlex.split(compiler), *options.split()]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "source.so"))


def derived(base: type[PuzzleSpace], function: Any, **more: Any) -> Any:
    """A class of its own for each test: those that were made once are kept by name."""
    return type(base.__name__, (base,), {"__module__": __name__, "successors": function, **more})


@pytest.mark.parametrize("base", [python_spaces.Words, python_spaces.Wide])
def test_byte_strings_and_pairs_of_numbers(base: type[PuzzleSpace], tmp_path: Path) -> None:
    function = getattr(compiled(SOURCE, tmp_path), base.__name__.lower())
    made = derived(base, function, moves=[str(k) for k in range(6)][: 6 if base.__name__ == "Words" else 2])
    assert farthest.histogram(made(), threads=2).layers == farthest.histogram(base()).layers
    space: Any = compile_space(puzzle_of(made()))
    codes = space.origin_codes()
    for _ in range(4):  # asked from Python and by the kernel
        reached = bytes(space.successors(codes, 1))
        assert sorted_codes(space, reached) == sorted_codes(
            space, _kernel.expand_codes(space.expander, codes)
        )
        codes = reached


def sorted_codes(space: Any, codes: bytes) -> list[bytes]:
    return sorted(codes[at : at + space.code_bytes] for at in range(0, len(codes), space.code_bytes))


class Circle(PuzzleSpace):
    """A ring; the tests give it a function."""

    n: int = 600
    undirected = True
    moves = ("up", "down")

    def __post_init__(self) -> None:
        self.size = self.n

    def initial(self) -> list[int]:
        return [0]


def wrong(change: Callable[[int, Any, int], int | None]) -> Any:
    """A function for a ring of 600; ``change(key, out, i)`` spoils what it answers, or what it returns."""

    @FUNCTION  # type: ignore[untyped-decorator]
    def answer(keys: Any, count: int, out: Any, data: Any) -> int:
        done = count
        for i in range(count):
            out[2 * i], out[2 * i + 1] = (keys[i] + 1) % 600, (keys[i] + 599) % 600
            done = change(keys[i], out, 2 * i) or done
        return done

    return answer


def key_out_of_range(key: int, out: Any, i: int) -> None:
    if key == 200:
        out[i] = 600


def too_few(key: int, out: Any, i: int) -> int | None:
    return 12345 if key == 200 else None


def no_way_back(key: int, out: Any, i: int) -> None:
    if key > 200:
        out[i + 1] = NO_STATE


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (key_out_of_range, "answered the key 600, expected one from 0 to 599, or NO_STATE for no move"),
        (too_few, "returned 12345 for [0-9]+ keys, expected their number"),
        (no_way_back, "leads from 200 to 201, and no move back is answered, but undirected is True"),
    ],
)
def test_wrong_answers_far_from_the_start(change: Any, message: str) -> None:
    with pytest.raises(PuzzleError, match=f"^puzzle circle: the compiled function of its class {message}"):
        farthest.histogram(derived(Circle, wrong(change))())


def test_functions_given_by_address() -> None:
    function = wrong(lambda key, out, i: None)
    address = ctypes.cast(function, ctypes.c_void_p).value
    for given in (function, address, SimpleNamespace(address=address)):  # the last as numba gives them
        assert farthest.histogram(derived(Circle, given)()).layers == (1, *[2] * 299, 1)


@FUNCTION  # type: ignore[untyped-decorator]
def four_a_state(keys: Any, count: int, out: Any, data: Any) -> int:
    for i in range(count):
        for k, step in enumerate((1, 599, 7, 593)):
            out[4 * i + k] = (keys[i] + step) % 600
    return count


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            "a",
            r"wrote beyond its room, expected 1 key a state, one for each name in moves \(a\); write a name for",
        ),
        (
            "abc",
            r"wrote beyond its room, expected 3 keys a state, one for each name in moves \(a, b, c\); write a",
        ),
        (
            "abcde",
            "answers otherwise for one state than for several, .* it has room for 5 keys a state, one for each",
        ),
    ],
)
def test_other_numbers_of_keys_than_names(names: str, message: str) -> None:
    with pytest.raises(PuzzleError, match=f"^puzzle class .*Circle: successors {message}"):
        farthest.histogram(derived(Circle, four_a_state, moves=list(names))())
    before = {"predecessors": four_a_state, "undirected": False, "moves": list(names)}
    right = derived(Circle, lambda self, keys: (keys[:, None] + np.uint64(1)) % np.uint64(600), **before)
    with pytest.raises(PuzzleError, match=f"^puzzle class .*Circle: predecessors {message}"):
        farthest.histogram(right())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_is_refused_at_once() -> None:
    def raising(key: int, out: Any, i: int) -> int:
        raise KeyError(key)

    with pytest.raises(PuzzleError, match=r"successors returned [0-9]+ for 1 keys, expected their number"):
        farthest.histogram(derived(Circle, wrong(raising))())
    for number in (-1, 0, 1 << 70):
        with pytest.raises(PuzzleError, match=r"successors is the number -?[0-9]+, expected the address of"):
            farthest.histogram(derived(Circle, number)())
    with pytest.raises(PuzzleError, match=r"successors is compiled, and moves is missing; write moves ="):
        farthest.histogram(derived(Circle, wrong(raising), moves=())())
    with pytest.raises(
        PuzzleError, match="successors is an option, expected a method or a compiled function"
    ):
        farthest.histogram(Chosen())


class Chosen(Circle):
    """Its address would come from a puzzle's file."""

    successors: int = 4096
