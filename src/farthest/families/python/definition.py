"""The family ``python``: a space written as a class in Python (docs/python.md).

A board is the bytes of the state's key, the highest first: 8 of a number of at most 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.arrays import np
from farthest.errors import BoardError, ForbiddenCodeError, PuzzleError
from farthest.families.python.allowed import PuzzleSpace, allow_own
from farthest.families.python.user_options import OptionError, from_text, options_of, to_text
from farthest.puzzles.definition import Board, PuzzleDefinition
from farthest.puzzles.tables import FamilyTable, Given
from farthest.wording import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.families.python.user_class import UserClass
    from farthest.puzzles.puzzle import Puzzle


_HASH = re.compile("[0-9a-f]{32}")
_REFERENCE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_MAX_REFERENCE = 200


@dataclass(frozen=True, slots=True)
class Python(PuzzleDefinition):
    """The class's name, ``module:Name``, and the values of its fields as JSON.

    The class is looked for, where that is allowed, when it is first needed: stored puzzles can be listed without it.
    """

    reference: str
    options: str

    def __post_init__(self) -> None:
        if not is_reference(self.reference):
            raise PuzzleError(f"python puzzle: class {shown(self.reference)}, expected module:Name")
        try:
            from_text(self.options)
        except OptionError as error:
            raise PuzzleError(f"python puzzle: options: {error}") from None

    @property
    def user(self) -> UserClass:
        """The class. Raises ForbiddenCodeError where it may not run, PuzzleError where it is missing or wrong."""
        from farthest.families.python.user_class import user_class

        return user_class(self.reference, self.options)

    @property
    def module(self) -> str:
        """The module of the class."""
        return self.reference.partition(":")[0]

    @property
    def ready(self) -> bool:
        """Where the class has been made in this process."""
        from farthest.families.python.user_class import made_before

        return made_before(self.reference, self.options)

    @property
    def cells(self) -> int:
        """The bytes of a key."""
        return self.user.width

    @property
    def origin_boards(self) -> tuple[tuple[Board, ...], Board | None]:
        """The least of the initial states; ``starts`` has all of them."""
        return (), self.user.board(self.user.initial[0])

    def has_origin(self, where: str) -> bool:
        return where == "start"

    @property
    def starts(self) -> tuple[Board, ...]:
        """All of the initial states."""
        return tuple(self.user.board(code) for code in self.user.initial)

    def arrangements(self) -> int:
        return int(self.user.size or 256**self.user.width - 1)

    def size(self) -> str:
        return self.reference

    def facts(self) -> list[tuple[str, str]]:
        user = self.user
        if user.hashes is not None:
            keys = "none: hashes of 128 bits"
        elif user.size is not None:
            keys = f"{user.size:,}, all numbered"
        else:
            keys = f"{8 * user.width} bits" if user.width == 8 or user.wide else f"{user.width} bytes"
        ways = "can be taken back" if user.undirected else "both known" if user.backward else "one way"
        options = [] if self.options == "{}" else [("options", self.options)]
        slow = (
            "one state at a time: arrays are some 50 times as fast, compiled functions 100 (docs/python.md)"
        )
        asked = "compiled" if user.compiled else "arrays" if user.batch else slow
        return [("class", self.reference), *options, ("keys", keys), ("moves", ways), ("answers", asked)]

    def parse_board(self, text: str, *, name: str = "") -> Board:
        """By the class's ``parse``, else a number, or the key's bytes in hexadecimal digits."""
        if not isinstance(text, str):
            raise BoardError(f"board: expected a text such as {self.example()!r}, got {type(text).__name__}")
        user, place = self.user, f"board {shown(text)}{f' for {name}' if name else ''}"
        if user.hashes is not None and _HASH.fullmatch(text.strip()):
            return tuple(bytes.fromhex(text))
        if user.has("parse"):
            try:
                state = user.instance.parse(text)
            except (ValueError, LookupError, TypeError) as error:
                raise BoardError(
                    f"{place}: {str(error) or type(error).__name__}; write it like {self.example()!r}"
                ) from None
            except Exception:
                with user.mended("parse"):
                    raise
            try:
                return user.board(user.code(state, "parse"))
            except PuzzleError as error:
                raise BoardError(f"{place}: expected one like {self.example()!r}; {error}") from None
        digits = text.strip()
        if user.width == 8 or user.wide:
            limit = user.size or (1 << 8 * user.width) - 1
            valid = digits.isascii() and digits.isdigit() and len(digits) <= 39 and int(digits) < limit
            if not valid:
                raise BoardError(
                    f"{place}: expected a key, a number from 0 to {limit - 1}, such as {self.example()!r}"
                )
            return tuple(int(digits).to_bytes(user.width, "big"))
        try:
            data = bytes.fromhex(digits)
        except ValueError:
            data = b""
        if len(data) != user.width:
            raise BoardError(
                f"{place}: expected the {user.width} bytes of a key in hexadecimal digits, such as {self.example()!r}"
            )
        return tuple(data)

    def format_board(self, board: Sequence[int]) -> str:
        user = self.user
        if user.has("format") and user.hashes is None:
            return self._text_of("format", board)
        return (
            str(int.from_bytes(bytes(board), "big")) if user.width == 8 or user.wide else bytes(board).hex()
        )

    def check_board(self, board: Sequence[int], *, name: str = "") -> Board:
        user, place = self.user, f"board{f' for {name}' if name else ''}"
        if not hasattr(board, "__len__") or len(board) != user.width:
            raise BoardError(f"{place}: expected the {user.width} bytes of a key")
        if any(not hasattr(byte, "__index__") or not 0 <= byte <= 255 for byte in board):
            raise BoardError(f"{place}: expected bytes, numbers from 0 to 255")
        key = int.from_bytes(bytes(board), "big")
        if user.size is not None and key >= user.size:
            raise BoardError(f"{place}: key {key}, expected one from 0 to {user.size - 1}")
        return tuple(int(byte) for byte in board)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        """By the class's ``draw``, else one line; of a hash, the state where it is at hand."""
        if self.user.hashes is not None:
            state = self.user.hashes.peek(bytes(board))
            if state is None:
                return [self.format_board(board)]
            for method in ("draw", "format"):
                if self.user.has(method):
                    return self._answer(method, state).expandtabs().splitlines() or [""]
            return [shown(state)]
        if self.user.has("draw"):
            return self._text_of("draw", board).expandtabs().splitlines() or [""]
        return [self.format_board(board)]

    def uncertainty(self, states: int) -> str | None:
        if not self.ready or self.user.hashes is None:
            return None
        from farthest.families.python.user_class import collision_probability

        return (
            f"States are told apart by hashes of 128 bits: the probability that two of {states:,} were taken for "
            f"one is at most {collision_probability(states):.1e}."
        )

    def at_goal(self, boards: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """There are no goals."""
        return np.zeros(len(boards), dtype=np.bool_)

    def _text_of(self, method: str, board: Sequence[int]) -> str:
        return self._answer(method, self.user.state(self.user.code_of_board(board)))

    def _answer(self, method: str, state: Any) -> str:
        user = self.user
        with user.mended(method):
            answer = getattr(user.instance, method)(state)
        if not isinstance(answer, str):
            raise user.error(f"{method} answered {shown(answer)}, expected a text")
        if method == "format" and not (answer.isprintable() and answer.strip()):
            raise user.error(
                f"format answered {shown(answer)}, expected a text of one line; lines are for draw"
            )
        return answer


def puzzle_of(space: PuzzleSpace) -> Puzzle:
    """The puzzle of a space of the caller's own, named like its class. Raises PuzzleError for one that cannot be so."""
    from farthest.puzzles.puzzle import Origin, Puzzle

    reference = allow_own(type(space))
    name = "-".join(re.findall("[a-z0-9]+", type(space).__name__.lower()))
    try:
        definition = Python(reference, to_text(options_of(space)))
    except OptionError as error:
        raise PuzzleError(f"puzzle class {reference}: options: {error}") from None
    return Puzzle(name, name, "", "python", "move", Origin("from", "start"), (), definition)


def is_reference(text: str) -> bool:
    return len(text) <= _MAX_REFERENCE and bool(_REFERENCE.fullmatch(text))


class PythonTable(FamilyTable):
    """The ``[python]`` table of a definition.

    class   = "module:Name"     # installed, and allowed, wherever farthest and its workers run; never sent to them
    options = { n = 5 }         # optional: values of the class's fields
    """

    header = "python"
    class_ = Given()
    options = Given()

    def read(self) -> Python:
        """The class is made, where that is allowed, and asked for its initial states."""
        mend = 'write class = "module:Name"'
        if "class" not in self:
            raise self.fail("", f"no class; {mend}")
        reference, options = self.class_, self.fields.get("options", {})
        if not isinstance(reference, str) or not is_reference(reference):
            raise self.fail(
                "class", f"expected the names of a module and a class in it, got {shown(reference)}; {mend}"
            )
        if not isinstance(options, dict):
            raise self.fail("options", f"expected a table, got {shown(options)}; write options = {{ n = 5 }}")
        try:
            first = Python(reference, to_text(options))
            definition = Python(reference, to_text(options_of(first.user.instance)))
            _ = definition.user.initial
        except OptionError as error:
            raise self.fail("options", str(error)) from None
        except ForbiddenCodeError as error:
            raise ForbiddenCodeError(str(self.fail("class", str(error))), error.module) from None
        except PuzzleError as error:
            raise type(error)(str(self.fail("class", str(error)))) from None
        return definition
