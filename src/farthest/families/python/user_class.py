"""A user's class that is a space: its module found and imported where that is allowed, the class made and asked, its
single answers checked.

docs/python.md says what such a class has. A *code* is what names a state here: an int where keys are numbers of
64 bits or less, else bytes. Whatever the user's code raises becomes a PuzzleError with the line that raised it.

Hashes of 128 bits stand for states that have no key. Only the states of two layers are kept beside: those that are
expanded, and those that this leads to. A hash that belongs to neither cannot be given back.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import sys
import traceback
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import fields
from functools import cached_property
from hashlib import blake2b
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from operator import index
from socket import gethostname
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from farthest.arrays import np
from farthest.errors import ForbiddenCodeError, PuzzleError
from farthest.families.python.allowed import PuzzleSpace, allowed_modules, own_class
from farthest.families.python.user_options import OptionError, from_text, option_values
from farthest.puzzles.definition import Board
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

HASH_BYTES = 16
BITS = 8 * HASH_BYTES


class StateHashes:
    """States by their hashes."""

    def __init__(self) -> None:
        self._now: dict[bytes, Any] = {}
        self._next: dict[bytes, Any] = {}

    def forget(self) -> None:
        """Before an enumeration: no states are known."""
        self._now, self._next = {}, {}

    def code(self, state: Any) -> bytes | None:
        """The hash of a state, which is kept; None where it is no number, text, bytes or tuple of such."""
        if not _plain(state):
            return None
        code = blake2b(marshal.dumps(state, 2), digest_size=HASH_BYTES).digest()
        self._next[code] = state
        return code

    def state(self, code: bytes) -> Any:
        """The state of a hash, or None. The first that was found lately begins a layer: those before are forgotten."""
        if code not in self._now and code in self._next:
            self._now, self._next = self._next, {}
        return self._now.get(code)

    def peek(self, code: bytes) -> Any:
        """The same, and nothing is forgotten."""
        return self._now.get(code, self._next.get(code))


def collision_probability(states: int) -> float:
    """At most so probable is it that among so many states two have the same hash: n^2 / 2 of 2^128."""
    return min(1.0, states * states / 2 / 2.0**BITS)


def _plain(state: Any) -> bool:
    kind = type(state)
    if kind is tuple:
        return all(map(_plain, state))
    return kind in (int, str, bytes, bool) or state is None


@contextmanager
def mended(reference: str, what: str) -> Iterator[None]:
    """Turns what ``what``, the user's code, raises into a PuzzleError with the line that raised it."""
    try:
        yield
    except (PuzzleError, KeyboardInterrupt):
        raise
    except BaseException as error:  # GeneratorExit and SystemExit too
        message = " ".join(str(error).split())
        raise PuzzleError(
            f"puzzle class {reference}: {what} raised {type(error).__name__}{': ' if message else ''}{message}"
            f"{_place(error)}"
        ) from None


def _place(error: BaseException) -> str:
    """Where the user's code raised it: file, line, the line's text."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno}); correct it there"
    frames = traceback.extract_tb(error.__traceback__)
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    theirs = [frame for frame in frames if not frame.filename.startswith((own, "<frozen"))]
    # Rather the line that called a library than one inside of it.
    theirs = [frame for frame in theirs if not frame.filename.startswith(sys.prefix)] or theirs
    if not theirs:
        return "; look at its arguments: options in the puzzle's file are the keyword arguments of the class"
    text = f": {theirs[-1].line}" if theirs[-1].line else ""
    return f" ({theirs[-1].filename}, line {theirs[-1].lineno}, in {theirs[-1].name}{text}); correct it there"


class HereFinder(MetaPathFinder):
    """Finds modules in the working folder, which need not be on Python's path: those of ``names``, or the packages that
    hold them."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = {name.partition(".")[0] for name in names}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None or fullname not in self.names:
            return None
        return PathFinder.find_spec(fullname, [""])


def found_class(reference: str) -> type[PuzzleSpace]:
    """The class ``module:Name``, of a module that this process may import: an installed one, else one that lies in the
    working folder, where nothing but allowed modules is found.

    Raises ForbiddenCodeError where the module is not allowed; PuzzleError where it cannot be imported, or does not
    declare a class of that name which is derived from PuzzleSpace.
    """
    module_name, _, name = reference.partition(":")
    allowed = allowed_modules()
    if module_name not in allowed:
        raise refusal(reference)
    finder = HereFinder(allowed)
    sys.meta_path.append(finder)
    _refuse_exits()
    try:
        with mended(reference, f"importing {module_name}"):
            module = _imported(reference, module_name)
    finally:
        sys.meta_path.remove(finder)
    return _declared(reference, module, name)


def _imported(reference: str, name: str) -> ModuleType:
    """The module. Raises what it raises itself, and PuzzleError where it, or one that it needs, is not found."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise PuzzleError(
                f"puzzle class missing on {gethostname()}: there is no module {error.name} for {reference}; "
                "install it wherever farthest and its workers run (pip install, or its folder in PYTHONPATH), then "
                "start them again"
            ) from None
        if error.name is not None and HereFinder([error.name]).find_spec(error.name, None):
            raise PuzzleError(
                f"puzzle class {reference}: its module imports {error.name}, which lies in the working folder and is "
                f"not allowed; if you trust it, add --allow-module {error.name} too"
            ) from None
        raise


def _refuse_exits() -> None:
    """From now on ``os._exit`` raises SystemExit where code of an allowed module calls it: the process would else end
    at once, without a message and with a status that may say success. What ends it in another way (a signal, ctypes)
    still does."""
    end = os._exit
    if getattr(end, "refuses", False):
        return

    def refusing(status: int) -> NoReturn:
        if sys._getframe(1).f_globals.get("__name__") in allowed_modules():
            raise SystemExit(f"os._exit({status})")
        end(status)

    refusing.refuses = True  # type: ignore[attr-defined]
    os._exit = refusing


def _declared(reference: str, module: ModuleType, name: str) -> type[PuzzleSpace]:
    """The class of that name, if the module itself declares it as a space."""
    found = vars(module).get(name)
    spaces = [
        key for key, value in vars(module).items() if _is_space(value) and value.__module__ == module.__name__
    ]
    place = f"puzzle class {reference}: module {module.__name__} ({getattr(module, '__file__', None)})"
    if found is None:
        mend = near_match(name, spaces) or f"its classes of spaces are {', '.join(spaces) or 'none'}"
        raise PuzzleError(f"{place} has no class {name}; {mend}")
    if not _is_space(found):
        raise PuzzleError(
            f"{place}: {name} is not a class derived from farthest.PuzzleSpace; write class "
            f"{name}(farthest.PuzzleSpace)"
        )
    if found.__module__ != module.__name__:
        raise PuzzleError(
            f"{place} does not declare {name}, but imports it; name it {found.__module__}:{found.__qualname__}, and "
            f"allow {found.__module__}"
        )
    declared: type[PuzzleSpace] = found
    return declared


def _is_space(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, PuzzleSpace) and value is not PuzzleSpace


def refusal(reference: str) -> ForbiddenCodeError:
    """What is said of a class that this process may not run, with the file that would be run."""
    module = reference.partition(":")[0]
    allowed = sorted(allowed_modules())
    listed = ",".join([*allowed, module])
    which = f"only {', '.join(allowed)} {'is' if len(allowed) == 1 else 'are'}" if allowed else "no module is"
    return ForbiddenCodeError(
        f"puzzle class {reference} was not run on {gethostname()}: it is code of {_module_file(module)}, and {which} "
        f"allowed here; if you trust it, add --allow-module {module}, or set FARTHEST_PUZZLE_MODULES={listed}, for "
        "each command, coordinator and worker that is to run it",
        module,
    )


def _module_file(name: str) -> str:
    """Which file an import would run, in words; found without running anything."""
    finders = [*sys.meta_path, HereFinder([name])]
    parts, path = name.split("."), None
    spec: ModuleSpec | None = None
    for end in range(1, len(parts) + 1):
        full, spec = ".".join(parts[:end]), None
        with suppress(Exception):  # of finders that are not Python's own
            spec = next(filter(None, (finder.find_spec(full, path) for finder in finders)), None)
        if spec is None or (end < len(parts) and spec.submodule_search_locations is None):
            return "a module that is not found here"
        path = spec.submodule_search_locations
    return f"the file {spec.origin}" if spec is not None and spec.has_location else f"the module {name}"


NO_STATE = 2**64 - 1
"""In an array of keys: there is no such move. Of byte strings: all bytes 255."""

MAX_WIDTH = 1024
MAX_SIZE = 2**62
MAX_INITIAL = 1_000_000

Code = int | bytes

_FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p
)
"""A compiled function: keys, their number, room for the answer, data (kernel/include/farthest/user_expander.hpp)."""

_FOREIGN: Any = _FUNCTION.mro()[1]
"""What all functions of ctypes are derived from."""

_BEYOND = 4096
_UNTOUCHED = 0x5A
"""Behind a compiled function's room so many keys of this value: one that writes more a state than it has names changes
them, not the memory of others."""

MOST_MADE = 16
"""Classes that are made once, the last ones; the others are made again where they are needed."""
_made: OrderedDict[tuple[str, str], UserClass] = OrderedDict()


def user_class(reference: str, options: str) -> UserClass:
    """The class named ``module:Name`` with the values ``options`` (JSON) in its fields: one of the caller's own, or of
    a module that may be imported. Raises ForbiddenCodeError for another, PuzzleError for one that is missing or wrong.
    """
    own = own_class(reference)
    if own is None and reference.partition(":")[0] not in allowed_modules():
        raise refusal(reference)
    made = _made.get((reference, options))
    if made is None or (own is not None and type(made.instance) is not own):
        made = UserClass(reference, own or found_class(reference), options)
        _made[reference, options] = made
        while len(_made) > MOST_MADE:
            _made.popitem(last=False)
    return made


def made_before(reference: str, options: str) -> bool:
    """Whether this process has made it already."""
    return (reference, options) in _made


class UserClass:
    """An object of the user's class, and how its states are named.

    ``size``: the number of keys, or None where the space is sparse. ``width``: bytes of a code, 8 where it is an int.
    """

    def __init__(self, reference: str, made: type[PuzzleSpace], options: str) -> None:
        self.reference = reference
        with self.mended("the class itself"):
            try:
                values = option_values(made, from_text(options))
            except OptionError as error:
                raise OptionError(f"puzzle class {reference}: options: {error}") from None
            self.instance: Any = made(**values)
        self.size, self.width, self.wide = self._key_form()
        batch, single = self.has("successors"), self.has("successors_of")
        if batch == single:
            raise self.error(
                f"{'two' if batch else 'no'} ways to find successors, expected one: write def successors(self, keys), "
                "which answers for an array of keys, or def successors_of(self, state), for one state"
            )
        self.batch = batch
        self.compiled = {
            name: at for name in ("successors", "predecessors") if (at := self._compiled_at(name))
        }
        self.undirected = self._flag("undirected")
        if self.has("predecessors" if single else "predecessors_of"):
            wanted = ("predecessors", "successors") if batch else ("predecessors_of", "successors_of")
            raise self.error(
                f"successors and predecessors have different forms; write {wanted[0]} beside {wanted[1]}"
            )
        self.backward = self.undirected or self.has("predecessors") or self.has("predecessors_of")
        if self.has("format") != self.has("parse"):
            raise self.error(
                "format and parse belong together: what one writes the other reads; write both or none"
            )
        to, back = ("rank", "unrank") if self.size is not None else ("key", "state")
        if self.has(to) != self.has(back):
            raise self.error(f"{to} and {back} belong together: each undoes the other; write both or none")
        self._to, self._back = (to, back) if self.has(to) else ("", "")
        self.hashes: StateHashes | None = None
        keyed = self._to or any(self.has(name) for name in ("size", "key_bits", "key_bytes"))
        if single and not keyed and not _whole(self.initial_states[0]):
            self.hashes, self.width = StateHashes(), HASH_BYTES

    # What the class has

    def has(self, name: str) -> bool:
        """Whether there is a method or attribute of that name."""
        with self.mended(name):
            return getattr(self.instance, name, None) is not None

    def _compiled_at(self, name: str) -> int | None:
        """The address of a function of ctypes, of numba, or given as a number; None: a method, or there is none."""
        with self.mended(name):
            function: Any = getattr(self.instance, name, None)
            address: Any = getattr(function, "address", function)
            if isinstance(function, _FOREIGN):
                address = ctypes.cast(function, ctypes.c_void_p).value
        if not _whole(address):
            return None
        if not 0 < index(address) < 2**63:
            raise self.error(
                f"{name} is the number {shown(address)}, expected the address of a compiled function"
            )
        # A puzzle's file would choose what runs.
        if any(field.name == name for field in fields(self.instance)):
            raise self.error(f"{name} is an option, expected a method or a compiled function of the class")
        if not self.moves:
            raise self.error(
                f"{name} is compiled, and moves is missing; write moves = [...], a name for each move"
            )
        return index(address)

    @cached_property
    def data(self) -> NDArray[np.uint8]:
        """The bytes whose address compiled functions get."""
        with self.mended("data"):
            return np.frombuffer(getattr(self.instance, "data", b"\0"), dtype=np.uint8)

    def answer(self, method: str, keys: NDArray[Any]) -> Any:
        """What a class that answers in batches answers for an array of keys; of a compiled function an array too."""
        with self.mended(method):
            if method not in self.compiled:
                return getattr(self.instance, method)(keys)
        keys = np.ascontiguousarray(keys)
        moves, room = len(self.moves), len(keys) * len(self.moves)
        out = np.full((room + _BEYOND, *keys.shape[1:]), np.iinfo(keys.dtype).max, dtype=keys.dtype)
        out[room:] = _UNTOUCHED
        done = _FUNCTION(self.compiled[method])(
            keys.ctypes.data, len(keys), out.ctypes.data, self.data.ctypes.data
        )
        if (out[room:] != _UNTOUCHED).any():
            raise self.error(
                f"{method} wrote beyond its room, expected {moves} {'key' if moves == 1 else 'keys'} a state, one for "
                f"each name in moves ({', '.join(self.moves)}); write a name for each move that the function answers"
            )
        if done != len(keys):
            raise self.error(f"{method} returned {done} for {len(keys)} keys, expected their number")
        return out[:room].reshape(len(keys), moves, *keys.shape[1:])

    def _flag(self, name: str) -> bool:
        value = getattr(self.instance, name, False)
        if not isinstance(value, bool):
            raise self.error(f"{name} is {shown(value)}, expected True or False")
        return value

    def _key_form(self) -> tuple[int | None, int, bool]:
        """Size or None, bytes of a code, whether these hold a number."""
        size, bits, count = (getattr(self.instance, name, None) for name in ("size", "key_bits", "key_bytes"))
        if sum(value is not None for value in (size, bits, count)) > 1:
            raise self.error(
                "more than one of size, key_bits and key_bytes; expected one, leave the others out"
            )
        if size is not None:
            if not _whole(size) or not 1 <= index(size) <= MAX_SIZE:
                raise self.error(f"size is {shown(size)}, expected a whole number from 1 to {MAX_SIZE}")
            return index(size), 8, False
        if count is not None:
            if not _whole(count) or not 1 <= index(count) <= MAX_WIDTH:
                raise self.error(
                    f"key_bytes is {shown(count)}, expected a whole number from 1 to {MAX_WIDTH}"
                )
            if index(count) == 8:
                raise self.error(
                    "key_bytes is 8: such keys are numbers; write key_bits = 64, or another length"
                )
            return None, index(count), False
        if bits not in (None, 64, 128):
            raise self.error(
                f"key_bits is {shown(bits)}, expected 64 or 128; longer keys are byte strings: key_bytes = n"
            )
        return None, 16 if bits == 128 else 8, bits == 128

    @cached_property
    def moves(self) -> list[str]:
        """The names of the moves, where the class gives them."""
        names = getattr(self.instance, "moves", ())
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise self.error(f'moves is {shown(names)}, expected a list of names such as ["left", "right"]')
        names = list(names)
        if not all(isinstance(name, str) and name.isprintable() and name for name in names):
            raise self.error(
                "moves holds a value that is not a text of one line; expected the names of moves"
            )
        return names

    @cached_property
    def initial_states(self) -> list[Any]:
        """What ``initial`` answers."""
        if not self.has("initial"):
            raise self.error(
                "no method initial; write def initial(self): return [...], the states to begin with"
            )
        with self.mended("initial"):
            answer = self.instance.initial()
            states: list[Any] = list(answer) if isinstance(answer, Iterable) else []
            listed = isinstance(answer, Iterable) and not isinstance(answer, str | bytes)
        if not listed:
            raise self.error(f"initial answered {shown(answer)}, expected a list of states")
        if not states:
            raise self.error("initial answered no state, expected at least one")
        if len(states) > MAX_INITIAL:
            raise self.error(f"initial answered {len(states):,} states, expected at most {MAX_INITIAL:,}")
        return states

    @cached_property
    def initial(self) -> list[Code]:
        """The codes of the states at depth 0, ascending, none twice."""
        states = self.initial_states
        if self.batch:  # which deals in keys
            codes = sorted({self._checked(self._key_in_array(key), "initial") for key in states})
        else:
            codes = sorted({self.code(state, "initial") for state in states})
        for code in codes[:100]:
            again = self.code(self.state(code), "initial")
            if again != code:
                raise self.error(
                    f"{self._to}({self._back}(x)) is {shown(again)} for x = {shown(code)}, expected x; "
                    "correct one of them"
                )
        return codes

    # States

    @cached_property
    def _of_states(self) -> tuple[bool, int]:
        """Whether initial states are tuples, and how many names they seem to have."""
        states = self.initial_states[:100]
        return any(isinstance(state, tuple) for state in states), max(map(_names, states))

    def named(self, item: Any) -> bool:
        """Whether an item of an answer is a move's name and a state: a state too may be a tuple of a text and more."""
        tuples, names = self._of_states
        return _names(item) > names and (isinstance(item[1], tuple) or not tuples)

    def code(self, state: Any, method: str) -> Code:
        """The code of a state that ``method`` answered."""
        if self.hashes is not None:
            hashed = self.hashes.code(state)
            if hashed is None:
                raise self.error(
                    f"{method} answered {shown(state)}, expected a number, a text, bytes, or a tuple of these, as a "
                    "state without a key; for others write key and state"
                )
            return hashed
        if self._to:
            with self.mended(self._to):
                state = getattr(self.instance, self._to)(state)
            method = self._to
        return self._checked(state, method)

    def state(self, code: Code) -> Any:
        """The state of a code, as the methods for one state get it."""
        if self.hashes is not None:
            assert isinstance(code, bytes)
            found = self.hashes.state(code)
            if found is None:
                raise self.error(
                    "states without keys can only be counted, and only by threads, from the start; "
                    "write key and state, which give a state back"
                )
            return found
        key = int.from_bytes(code, "big") if self.wide and isinstance(code, bytes) else code
        if not self._back:
            return key
        with self.mended(self._back):
            return getattr(self.instance, self._back)(key)

    def _checked(self, key: Any, method: str) -> Code:
        if self.width == 8 or self.wide:
            limit = self.size if self.size is not None else (1 << 8 * self.width) - 1
            if not _whole(key):
                raise self.error(f"{method} answered {shown(key)}, expected {self.expected}")
            if not 0 <= index(key) < limit:
                raise self.error(f"{method} answered {index(key)}, expected a number from 0 to {limit - 1}")
            return index(key).to_bytes(16, "big") if self.wide else index(key)
        if not isinstance(key, bytes) or len(key) != self.width or key == b"\xff" * self.width:
            found = f"{len(key)} bytes" if isinstance(key, bytes) else shown(key)
            raise self.error(f"{method} answered {found}, expected {self.expected}")
        return key

    @property
    def expected(self) -> str:
        """What a key is, for messages."""
        if self.width == 8 or self.wide:
            more = "" if self._to else "; for other states write key and state, or rank and unrank with size"
            return f"a whole number as the key of a state{more}"
        return f"{self.width} bytes, not all 255"

    def _key_in_array(self, key: Any) -> Any:
        """An item of an array of keys, or of a list, as a single key."""
        if getattr(key, "ndim", 0) != 1:
            return key
        return int(key[0]) << 64 | int(key[1]) if self.wide and len(key) == 2 else key.tobytes()

    def board(self, code: Code) -> Board:
        """The code as the bytes of a board."""
        return tuple(code.to_bytes(8, "big") if isinstance(code, int) else code)

    def code_of_board(self, board: Iterable[int]) -> Code:
        """Inverse of ``board``."""
        data = bytes(board)
        return int.from_bytes(data, "big") if self.width == 8 else data

    # Errors

    def error(self, problem: str) -> PuzzleError:
        """The error of this class."""
        return PuzzleError(f"puzzle class {self.reference}: {problem}")

    def mended(self, what: str) -> AbstractContextManager[None]:
        """Turns what the user's code raises into a PuzzleError with the line that raised it."""
        return mended(self.reference, what)


def _names(item: Any) -> int:
    """How many texts could be names in (text, (text, ... (text, state)))."""
    count = 0
    while isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        count, item = count + 1, item[1]
    return count


def _whole(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)
