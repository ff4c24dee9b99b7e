"""A puzzle as data: immutable, validated, with a digest of what decides its enumeration.

Cells are numbered from 0 in reading order, walls skipped. Labels are small integers: 0 is the blank, equal
pieces have equal labels. A board is one label for each cell, in cell order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from farthest.errors import PuzzleError
from farthest.puzzles.grid import disconnection, grid_edges

WILDCARD = -1
"""In a goal: any piece, never the blank."""

MAX_CELLS = 64
"""The kernel keeps a set of cells in one 64-bit mask."""

MAX_KINDS = 64
"""Kinds of content, the blank among them; each cell holds one, so ``MAX_CELLS`` implies it."""

MAX_TOKEN = 32
"""Characters in a token."""

RESERVED = "/,;#*"
"""Characters with a meaning of their own in a board: rows, separators, wall, wildcard."""

FAMILIES = ("sliding",)
METRICS = ("step", "slide")

Direction = Literal["to", "from"]
Board = tuple[int, ...]

_VERSION = 1


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """A published or independently computed result for the puzzle's default origin and metric.

    ``layers[d]`` is the number of states at distance d; ``farthest`` holds boards in canonical one-line text.
    """

    states: int | None
    eccentricity: int | None
    layers: tuple[int, ...] | None
    farthest: tuple[str, ...] | None
    source: str


@dataclass(frozen=True, slots=True)
class Origin:
    """The states at depth 0, and whether moves are counted to them or from them.

    ``where`` is ``goal``, ``start`` or the text of a board.
    """

    direction: Direction = "to"
    where: str = "goal"


@dataclass(frozen=True, slots=True)
class Sliding:
    """The board, pieces and goals of a sliding puzzle.

    ``rows``: a grid's cell number at each place in reading order, -1 a wall; empty for a puzzle on a graph.
    ``edges``: two-way passages (a, b), a < b, sorted; of a grid, its orthogonal neighbours.
    ``arcs``: one-way passages, sorted: a piece may move from the first cell to the second (the blank from the
    second to the first).
    ``tokens``, ``counts``: for each label, how it is written and how many cells hold it.
    ``goals``: boards, perhaps with ``WILDCARD``; ``start``: a board or None.
    Raises PuzzleError when these do not fit together.
    """

    rows: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, int], ...]
    arcs: tuple[tuple[int, int], ...]
    tokens: tuple[str, ...]
    counts: tuple[int, ...]
    goals: tuple[Board, ...]
    start: Board | None = None

    def __post_init__(self) -> None:
        problem = _shape_problem(self) or _pieces_problem(self)
        if problem:
            raise PuzzleError(f"sliding puzzle: {problem}")

    @property
    def cells(self) -> int:
        """The number of cells, walls not counted."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A named definition: ``body`` says what can be arranged how, ``metric`` what counts as one move."""

    name: str
    title: str
    source: str
    family: str
    metric: str
    origin: Origin
    known: tuple[KnownAnswer, ...]
    body: Sliding

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise PuzzleError(f"puzzle {self.name}: family {self.family!r} is not known; expected sliding")
        if self.metric not in METRICS:
            raise PuzzleError(
                f"puzzle {self.name}: metric {self.metric!r} is not known; expected step or slide"
            )
        if self.metric == "slide" and not self.body.rows:
            raise PuzzleError(
                f"puzzle {self.name}: the slide metric needs a grid; use metric step on a graph"
            )
        if self.origin.direction not in ("to", "from"):
            raise PuzzleError(f"puzzle {self.name}: origin {self.origin.direction!r}; expected to or from")
        if self.origin.where == "start" and self.body.start is None:
            raise PuzzleError(f"puzzle {self.name}: the origin is the start, but there is none; add one")

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical JSON of what decides the result: family, metric, body."""
        import hashlib
        import json

        deciding = {"family": self.family, "metric": self.metric, self.family: asdict(self.body)}
        text = json.dumps(deciding, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def to_json(self) -> str:
        """The whole definition as one line of JSON, readable again by ``from_json``."""
        import json

        fields = asdict(self)
        fields[self.family] = fields.pop("body")
        return json.dumps({"version": _VERSION, **fields}, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Puzzle:
        """The puzzle that ``to_json`` wrote. Raises PuzzleError when it is damaged or of another version."""
        import json

        try:
            fields = json.loads(text)
            if fields["version"] != _VERSION:
                raise PuzzleError(
                    f"stored puzzle: version {fields['version']!r}, expected {_VERSION}; "
                    "it was written by another version of farthest, use that one"
                )
            return _from_fields(fields)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise PuzzleError(
                f"stored puzzle: not a definition ({type(error).__name__}: {error}); it is damaged, "
                "store the puzzle again from its file"
            ) from None


def token_problem(token: str) -> str | None:
    """Why the text cannot stand for a piece or the blank, or None when it can."""
    if not token:
        return "is empty"
    if len(token) > MAX_TOKEN:
        return f"has {len(token)} characters; at most {MAX_TOKEN} are possible"
    for character in token:
        if character in RESERVED:
            return f"holds {character!r}, which has a meaning of its own in boards"
        if character == " " or not character.isprintable():
            return f"holds the character U+{ord(character):04X}, which cannot be seen"
    if not token.isascii():
        import unicodedata

        if unicodedata.category(token[0])[0] == "M":
            return f"begins with the combining mark U+{ord(token[0]):04X}; separate the pieces with spaces"
    return None


def _shape_problem(body: Sliding) -> str | None:
    cells = body.cells
    if not 2 <= cells <= MAX_CELLS:
        return f"{cells} cells; expected 2 to {MAX_CELLS}"
    if body.rows:
        if len({len(row) for row in body.rows}) != 1:
            return "the rows of the grid differ in length"
        if [cell for row in body.rows for cell in row if cell != -1] != list(range(cells)):
            return f"the cells of the grid are not numbered 0 to {cells - 1} in reading order"
        if body.edges != grid_edges(body.rows) or body.arcs:
            return "the passages of a grid are not those between neighbours"
    for kind, passages in (("edges", body.edges), ("arcs", body.arcs)):
        if list(passages) != sorted(set(passages)):
            return f"the {kind} are not sorted, or one is there twice"
        for a, b in passages:
            if not (0 <= a < cells and 0 <= b < cells) or a == b:
                return f"{kind} hold {[a, b]}; expected two different cells from 0 to {cells - 1}"
            if kind == "edges" and a > b:
                return f"edges hold {[a, b]}; expected the smaller cell first"
            if kind == "arcs" and ((min(a, b), max(a, b)) in body.edges or (b, a) in passages):
                return f"arcs hold {[a, b]}, but the cells are joined both ways; expected one edge"
    return disconnection(cells, body.edges + body.arcs)


def _pieces_problem(body: Sliding) -> str | None:
    if not 2 <= len(body.tokens) <= MAX_KINDS:
        return (
            f"{len(body.tokens)} kinds of content; expected the blank and 1 to {MAX_KINDS - 1} kinds of piece"
        )
    if len(set(body.tokens)) != len(body.tokens):
        return "two labels have the same token"
    for token in body.tokens:
        problem = token_problem(token)
        if problem:
            return f"token {token!r} {problem}"
    if len(body.counts) != len(body.tokens) or min(body.counts) < 1:
        return "expected a count of at least 1 for each token"
    if not body.goals or len(set(body.goals)) != len(body.goals):
        return "expected at least one goal, and none twice"
    boards = [(f"goal {i}", goal) for i, goal in enumerate(body.goals, 1)]
    for name, board in boards + ([("start", body.start)] if body.start is not None else []):
        held = Counter(board)
        wild = held.pop(WILDCARD, 0) if name != "start" else 0
        if len(board) != body.cells or any(not 0 <= label < len(body.tokens) for label in held):
            return f"{name} is not {body.cells} labels from 0 to {len(body.tokens) - 1}"
        spare = [count - held[label] for label, count in enumerate(body.counts)]
        if spare[0] != 0 or min(spare) < 0 or (not wild and any(spare)):
            return f"{name} does not hold the pieces that the counts say"
    return None


def _from_fields(fields: dict[str, Any]) -> Puzzle:
    family = _text(fields["family"])
    if family not in FAMILIES:
        raise PuzzleError(f"stored puzzle: family {family!r} is not known; expected sliding")
    body, origin = fields[family], fields["origin"]
    return Puzzle(
        name=_text(fields["name"]),
        title=_text(fields["title"]),
        source=_text(fields["source"]),
        family=family,
        metric=_text(fields["metric"]),
        origin=Origin(cast(Direction, _text(origin["direction"])), _text(origin["where"])),
        known=tuple(_known(known) for known in fields["known"]),
        body=Sliding(
            rows=tuple(_integers(row) for row in body["rows"]),
            edges=tuple(_pair(edge) for edge in body["edges"]),
            arcs=tuple(_pair(arc) for arc in body["arcs"]),
            tokens=tuple(_text(token) for token in body["tokens"]),
            counts=_integers(body["counts"]),
            goals=tuple(_integers(goal) for goal in body["goals"]),
            start=None if body["start"] is None else _integers(body["start"]),
        ),
    )


def _known(fields: dict[str, Any]) -> KnownAnswer:
    layers, farthest = fields["layers"], fields["farthest"]
    return KnownAnswer(
        states=None if fields["states"] is None else _integers([fields["states"]])[0],
        eccentricity=None if fields["eccentricity"] is None else _integers([fields["eccentricity"]])[0],
        layers=None if layers is None else _integers(layers),
        farthest=None if farthest is None else tuple(_text(board) for board in farthest),
        source=_text(fields["source"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r}")
    return value


def _integers(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or any(type(value) is not int for value in values):
        raise TypeError(f"expected a list of whole numbers, got {values!r}")
    return tuple(values)


def _pair(values: Any) -> tuple[int, int]:
    a, b = _integers(values)
    return a, b
