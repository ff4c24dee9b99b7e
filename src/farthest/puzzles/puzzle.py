"""A puzzle as data: immutable, validated, with a digest of what decides its enumeration."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from farthest.errors import PuzzleError
from farthest.puzzles.definition import PuzzleDefinition
from farthest.puzzles.origin import WORDS, names_of, where_text
from farthest.untrusted_json import read_json_object, text
from farthest.wording import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from farthest.puzzles.tables import FamilyTable, Source


FAMILIES = ("sliding", "permutation", "blocks", "hanoi", "lights", "jugs", "pegs", "python")
"""A family is a package of its name in ``farthest.families``, which has

    FAMILY: Family              in its ``__init__``: what the family offers (puzzles/family.py)
    definition                  a module: the family's PuzzleDefinition (puzzles/definition.py)
    space                       a module: ``compile(puzzle, origin, layout) -> Space`` (spaces/contract.py)

and a model in ``farthest.verify.models``, which is written apart.
"""


class Rules:
    """What a family is called, and how its definitions are read.

    ``metrics``: the first is what a file without a metric means. ``default_origin``: ``to goal`` or ``from start``.
    ``example``: what the least table holds, for messages. ``forms``: how parametric names are written, each with what
    people call such puzzles. ``files``: the endings of files of other programs that hold puzzles of the family.
    ``functions``: where the family's functions are, ``module.name`` in its package; they are imported when they are
    first called.
    """

    def __init__(
        self,
        name: str,
        *,
        metrics: tuple[str, ...],
        default_origin: str,
        example: str,
        forms: tuple[tuple[str, str], ...] = (),
        files: tuple[str, ...] = (),
        **functions: str,
    ) -> None:
        self.name = name
        self.metrics = metrics
        self.default_origin = default_origin
        self.example = example
        self.forms = forms
        self.files = files
        self.functions = functions

    def function(self, what: str) -> Callable[..., Any] | None:
        """The function of the family that does this; None: the family has none."""
        if what not in self.functions:
            return None
        module, _, name = self.functions[what].rpartition(".")
        return cast(
            "Callable[..., Any]", getattr(import_module(f"farthest.families.{self.name}.{module}"), name)
        )

    def call(self, what: str, *values: object) -> Any:
        """What that function makes of the values; None: the family has none."""
        function = self.function(what)
        return None if function is None else function(*values)

    def read(self, fields: dict[str, Any], source: Source, metric: str) -> PuzzleDefinition:
        """The definition of the family's TOML table, by its class ``table``. Raises PuzzleError."""
        table: FamilyTable = self.call("table", fields, source, metric)
        return table.read()

    def from_fields(self, fields: dict[str, Any]) -> PuzzleDefinition:
        """The definition whose ``PuzzleDefinition.fields`` these were, come through JSON, by its class ``definition``.
        Raises ValueError or PuzzleError."""
        from farthest.typed import convert

        kind = cast("type[PuzzleDefinition]", self.function("definition"))
        return convert(fields, kind)


def rules(name: str) -> Rules:
    """Those of one of ``FAMILIES``."""
    return cast(Rules, import_module(f"farthest.families.{name}").FAMILY)


Kind = TypeVar("Kind", bound=PuzzleDefinition)
Direction = Literal["to", "from"]
_VERSION = 1

MARK = "@"
"""Before the pieces of a pattern, in a name."""
NAME = re.compile(r"[A-Za-z0-9]+([-_.][A-Za-z0-9]+)*")
"""What the name of a puzzle looks like."""
MAX_NAME = 64
MAX_TEXT = 1000
"""Characters of a title, and of a source, in a file."""
MAX_TOKENS = 4096
"""Characters of a name, and of the pieces of a pattern, which its name has after an @."""
OEIS = re.compile(r"A\d{6,9}", re.ASCII)
"""The number of a sequence of the On-Line Encyclopedia of Integer Sequences."""


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """A published or independently computed result for the puzzle's default origin and metric.

    ``layers[d]`` is the number of states at distance d; ``first_layers`` are some from distance 0 on, where not all are
    known; ``farthest`` holds boards in canonical one-line text.
    ``goal``, where moves are counted from the start: the depth of the nearest goal. ``oeis``: the sequence that has
    these figures.
    """

    states: int | None = None
    eccentricity: int | None = None
    layers: tuple[int, ...] | None = None
    farthest: tuple[str, ...] | None = None
    source: str = ""
    goal: int | None = None
    first_layers: tuple[int, ...] | None = None
    oeis: str | None = None

    def __post_init__(self) -> None:
        if self.oeis is not None and not OEIS.fullmatch(self.oeis):
            raise PuzzleError(f"oeis {shown(self.oeis)}; expected A and six digits or more, such as A080601")

    @property
    def oeis_address(self) -> str:
        """The page of its sequence; empty where it has none."""
        return f"https://oeis.org/{self.oeis}" if self.oeis else ""


def published(file: str, name: str, remark: str = "") -> tuple[KnownAnswer, ...]:
    """The answers for a parametric name in ``published.json`` beside a module ``file``; the sources end with
    ``remark``."""
    from farthest.typed import convert

    with open(
        os.path.join(os.path.dirname(os.path.abspath(file)), "published.json"), encoding="utf-8"
    ) as text:
        own = [answer for answer in json.load(text) if answer["name"] == name]
    return tuple(convert({**answer, "source": answer["source"] + remark}, KnownAnswer) for answer in own)


@dataclass(frozen=True, slots=True)
class Origin:
    """The states at depth 0, and whether moves are counted to them or from them.

    ``where`` is ``goal``, ``start`` or the text of a board, or a set of these (puzzles/origin.py).
    """

    direction: Direction = "to"
    where: str = "goal"

    def __str__(self) -> str:
        """As people read it: ``to goal``, ``from 3 boards (start, ...)``."""
        return f"{self.direction} {where_text(self.where)}"


@dataclass(frozen=True, repr=False)
class Puzzle:
    """What is enumerated: ``definition`` says what can be arranged how, ``metric`` what counts as one move."""

    name: str
    title: str
    source: str
    family: str
    metric: str
    origin: Origin
    known: tuple[KnownAnswer, ...]
    definition: PuzzleDefinition

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise PuzzleError(
                f"puzzle {self.name}: family {self.family!r} is not known; expected one of {', '.join(FAMILIES)}"
            )
        metrics = rules(self.family).metrics
        if self.metric not in metrics:
            raise PuzzleError(
                f"puzzle {self.name}: metric {self.metric!r} is not known; expected {' or '.join(metrics)}"
            )
        if problem := self.definition.metric_problem(self.metric):
            raise PuzzleError(f"puzzle {self.name}: {problem}")
        if self.origin.direction not in ("to", "from"):
            raise PuzzleError(f"puzzle {self.name}: origin {self.origin.direction!r}; expected to or from")
        for word in WORDS:
            if word in names_of(self.origin.where) and not self.definition.has_origin(word):
                raise PuzzleError(f"puzzle {self.name}: the origin is the {word}, but there is none; add one")

    def __repr__(self) -> str:
        size = self.definition.size()
        return f"<Puzzle {self.name}: {self.family} {size}, metric {self.metric}>"

    def defined_as(self, kind: type[Kind]) -> Kind:
        """The definition, which is of this kind."""
        assert isinstance(self.definition, kind), f"puzzle {self.name} is of the family {self.family}"
        return self.definition

    def _repr_svg_(self) -> str | None:
        if not self.definition.ready:  # a class that is not imported yet
            return None
        # Drawings know puzzles; notebooks alone ask for one here.
        drawn: str = import_module("farthest.drawing.svg").puzzle_svg(self)
        return drawn

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical JSON of what decides the result: family, metric, definition."""
        import hashlib

        deciding = {"family": self.family, "metric": self.metric, self.family: self.definition.deciding()}
        canonical = json.dumps(deciding, sort_keys=True, separators=(",", ":"), default=asdict)
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()

    def to_json(self) -> str:
        """The whole definition as one line of JSON, readable again by ``from_json``."""
        fields = asdict(self)
        del fields["definition"]
        fields[self.family] = self.definition.fields()
        return json.dumps({"version": _VERSION, **fields}, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, document: str) -> Puzzle:
        """The puzzle that ``to_json`` wrote. Raises PuzzleError when it is damaged or of another version."""
        from farthest.typed import convert

        try:
            fields = read_json_object(document)
            if fields["version"] != _VERSION:
                raise PuzzleError(
                    f"stored puzzle: version {fields['version']!r}, expected {_VERSION}; "
                    "it was written by another version of farthest, use that one"
                )
            family = text(fields["family"])
            if family not in FAMILIES:
                raise PuzzleError(
                    f"stored puzzle: family {family!r} is not known; expected one of {', '.join(FAMILIES)}"
                )
            return cls(
                name=_stored_name(fields["name"]),
                title=text(fields["title"]),
                source=text(fields["source"]),
                family=family,
                metric=text(fields["metric"]),
                origin=convert(fields["origin"], Origin),
                known=convert(fields["known"], tuple[KnownAnswer, ...]),
                definition=rules(family).from_fields(fields[family]),
            )
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise PuzzleError(
                f"stored puzzle: not a definition ({type(error).__name__}: {error}); it is damaged, "
                "store the puzzle again from its file"
            ) from None


def _stored_name(value: object) -> str:
    """A name as definitions have it; it may become a part of commands, messages and names of files."""
    name = text(value)
    whole, _, tokens = name.partition(MARK)  # of a pattern
    plain, opened, moves = whole.partition("<")  # of a puzzle with some moves alone
    bounded = len(plain) <= MAX_NAME and max(len(tokens), len(moves)) <= MAX_TOKENS
    closed = moves.find(">") == len(moves) - 1 if opened else True
    if not (bounded and NAME.fullmatch(plain) and closed and name.isprintable() and "/" not in name):
        raise ValueError(f"its name is {shown(name)}")
    return name
