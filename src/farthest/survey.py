"""Sets of starts whose components are surveyed: what a survey is of, and how a part of it is done.

A *survey* finds the components of many small spaces: how many states each has, and its hardest board, the one that
takes most moves to the nearest goal. It is done part by part; a part is some seconds of one thread, and depends on
nothing but its number.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, get_args

import msgspec

from farthest import _kernel
from farthest.errors import SettingError

Keep = Literal["minimal", "solvable", "all"]
KEEPS: tuple[Keep, ...] = get_args(Keep)

STARTS_IN_A_PART = 10_000


class Component(NamedTuple):
    """A component: ``board`` is its hardest; ``layers``: states at each distance from the nearest goal; none, and no
    ``moves``, where no goal can be reached. ``minimal``: whether each other piece is needed to make it as hard."""

    pieces: int
    states: int
    moves: int | None
    minimal: bool | None
    board: str
    layers: list[int]


class Part(msgspec.Struct, frozen=True):
    """What a part has found. ``totals``: counts for each number of pieces, of components that are not kept too."""

    totals: dict[str, dict[str, int]]
    components: list[Component]


class Starts(Protocol):
    """A set of starts."""

    @property
    def name(self) -> str:
        """As users write it."""

    @property
    def parts(self) -> int:
        """Into how many parts it is divided unless something else is asked for."""

    def fields(self) -> dict[str, Any]:
        """What it is, as JSON; ``starts_of`` is the inverse."""

    def survey(self, part: int, parts: int) -> Part:
        """Does a part; takes as much of the processor as one thread."""


@dataclass(frozen=True)
class RushHour:
    """All boards of a square grid of ``size`` cells a side with at most so many ``pieces`` of 2 and 3 cells, which stay
    in their lines, none of them full. The only horizontal piece of the row ``row``, from 1, is to reach its right end.
    ``keep``: which components have a row.

    The boards, the hardest one of a component and minimal boards are those of M. Fogleman, Solving Rush Hour, the
    Puzzle, 2018, without walls."""

    size: int
    row: int
    pieces: int
    keep: Keep

    def __post_init__(self) -> None:
        problem = next(
            (
                f"{what} {value}: expected {least} to {most}"
                for what, value, least, most in (
                    ("size", self.size, 3, 6),
                    ("row", self.row, 1, self.size),
                    ("pieces", self.pieces, 1, 18),
                )
                if not least <= value <= most
            ),
            None if self.keep in KEEPS else f"keep {self.keep}: expected minimal, solvable or all",
        )
        if problem:
            raise SettingError(f"{self.name}: {problem}")

    @property
    def name(self) -> str:
        """As users write it."""
        return f"rush-hour-{self.size}x{self.size}"

    @cached_property
    def _kernel(self) -> _kernel.LineSurvey:
        return _kernel.LineSurvey(self.size, self.row - 1, self.pieces)

    @property
    def parts(self) -> int:
        """About ``STARTS_IN_A_PART`` starts each."""
        return self._kernel.starts() // STARTS_IN_A_PART + 1

    def fields(self) -> dict[str, Any]:
        """See ``Starts``."""
        return {"kind": "rush-hour", **asdict(self)}

    def survey(self, part: int, parts: int) -> Part:
        """See ``Starts``."""
        totals, rows = self._kernel.survey(part, parts, self.keep)
        return Part(
            {str(pieces): counts for pieces, counts in totals.items()},
            [
                Component(pieces, states, len(layers) - 1 if layers else None, minimal, board, layers)
                for pieces, states, board, layers, minimal in rows
            ],
        )


_NAME = re.compile(r"rush-hour-(\d)x(\d)")


def starts_named(name: str, pieces: int | None, row: int | None, keep: Keep) -> Starts:
    """The set of a name. Raises SettingError."""
    found = _NAME.fullmatch(name)
    if not found or found[1] != found[2]:
        raise SettingError(f"no set of starts is named {name!r}; expected rush-hour-NxN, with N from 3 to 6")
    size = int(found[1])
    return RushHour(size, (size + 1) // 2 if row is None else row, 18 if pieces is None else pieces, keep)


def starts_of(fields: dict[str, Any]) -> Starts:
    """Inverse of ``Starts.fields``. Raises ValueError where they are none."""
    try:
        return msgspec.convert({k: v for k, v in fields.items() if k != "kind"}, RushHour)
    except (msgspec.ValidationError, SettingError) as error:
        raise ValueError(str(error)) from None
