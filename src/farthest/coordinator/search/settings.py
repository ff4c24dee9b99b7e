"""The settings of a search, how it reports its progress, and its result."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cache
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Literal

from farthest.heuristics import ALGORITHMS, DEEPENING, Algorithm
from farthest.models.records import SearchParameters
from farthest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from farthest.puzzles.definition import Board, MoveName
    from farthest.puzzles.puzzle import Puzzle
    from farthest.queries.paths import BoardPath
    from farthest.search.contract import Problem, Way
    from farthest.search.deepening import Iteration

LISTED = 1000
"""How many solutions are listed if no limit is given."""

MOST_LISTED = 10**9
"""The largest limit."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How to search. ``all_solutions``: count all optimal solutions and list ``limit`` of them, perhaps 0, else one.
    ``within``: a solution is enough that is proven to have at most so many times the moves of a shortest one; ``inf``:
    the first that is found.

    Only ``parameters`` decide the result. ``threads``: None: the cores that this process may use. Raises ValueError for
    numbers out of their range and algorithms that are not known.
    """

    algorithm: Algorithm = "ida"
    all_solutions: bool = False
    limit: int = LISTED
    workers: Literal["threads", "celery"] = "threads"
    threads: int | None = None
    memory: int | None = None  # bytes, of algorithms.PLAIN; four fifths of what is free
    within: float = 1.0

    def __post_init__(self) -> None:
        for name, value, least in (("limit", self.limit, 0), ("threads", self.threads, 1)):
            if value is not None and value < least:
                raise ValueError(f"{name} is {value}; expected {least} or more")
        if self.limit > MOST_LISTED:
            raise ValueError(f"limit is {self.limit}; expected at most {MOST_LISTED}")
        if not self.within >= 1:
            raise ValueError(f"within is {self.within}; expected 1 or more")
        if self.within > 1 and (self.all_solutions or self.algorithm not in DEEPENING):
            raise ValueError("within and first need the algorithm ida or iddfs, and not all solutions")
        if self.workers not in ("threads", "celery"):
            raise ValueError(f"workers is {self.workers!r}; expected threads or celery")
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm is {self.algorithm!r}; expected one of {', '.join(ALGORITHMS)}")

    def parameters(self, problem: Problem) -> dict[str, Any]:
        """What decides the result, as stored with the job."""
        found = asdict(
            SearchParameters(
                problem.puzzle.definition.format_board(problem.board),
                problem.target,
                problem.heuristic,
                self.algorithm,
                self.all_solutions,
                self.limit if self.all_solutions else 1,
                f"{self.within:g}" if isfinite(self.within) else "first",
            )
        )
        if self.within == 1:
            del found["within"]  # older searches have none
        return found

    def enough(self, way: Way | None, bound: int) -> bool:
        """Whether a solution (None: there is none) is short enough, where ``bound`` moves are proven to be needed."""
        return way is not None and (self.within == inf or len(way) <= self.within * bound)


@dataclass(frozen=True, slots=True, repr=False)
class SearchOutcome:
    """The result of a search.

    ``length``: moves of the solutions; None: it is proven that there is none. ``solutions``: how many of that length
    were found: all where all were asked for, else 1. ``paths``: the first of them as moves, at most the limit.
    ``optimal``: whether it is proven that no solution is shorter. ``bound``: it is proven that no solution has fewer
    moves; None: nothing is proven. ``nodes``: generated in all iterations, or by the
    graph search; ``expanded``: of a graph search, the boards taken from its list. ``iterations``: none in a graph
    search. ``digest``: of all that does not depend on time: equal for equal searches. ``seconds``: the search alone.
    ``resumed``: the bound of the iteration that an earlier attempt had reached. ``definition``: the puzzle.
    """

    job: int | None
    puzzle: str
    board: str
    target: str
    heuristic: str
    algorithm: Algorithm | Literal["cosets"]
    length: int | None
    solutions: int
    paths: tuple[Way, ...]
    optimal: bool
    bound: int | None
    nodes: int
    expanded: int | None
    iterations: tuple[Iteration, ...]
    seconds: float
    digest: str
    resumed: int | None
    definition: Puzzle = field(compare=False)

    def __repr__(self) -> str:
        return f"<SearchOutcome of {self.puzzle}, {self.board}: {self._result}, {self.nodes:,} nodes>"

    def _repr_html_(self) -> str:
        from farthest.drawing.svg import facts, image

        rows = [
            ("board", self.board),
            ("result", self._result),
            ("algorithm", f"{self.algorithm}, heuristic {self.heuristic}"),
            ("nodes", f"{self.nodes:,}"),
            ("seconds", f"{self.seconds:.3g}"),
        ]
        path = self.path
        drawn = image(path._repr_svg_(), self._result) if path else ""
        return facts(self.definition.title, rows) + drawn

    @property
    def path(self) -> BoardPath | None:
        """The first solution with its boards; None where there is none, or none is listed."""
        from farthest.queries.paths import BoardPath
        from farthest.search.walking import boards_along

        if self.moves is None:
            return None
        definition = self.definition.definition
        boards = boards_along(self.definition, definition.parse_board(self.board), self.moves)
        return BoardPath(self.definition, definition.named_path(boards, self.moves))

    @property
    def _result(self) -> str:
        if self.length is None:
            return "no solution"
        proven = "" if self.optimal else ", not proven shortest"
        return f"{counted(self.length, 'move')}, {counted(self.solutions, 'solution')}{proven}"

    @property
    def nodes_a_second(self) -> float | None:
        """None where no time has passed."""
        return self.nodes / self.seconds if self.seconds else None

    @property
    def moves(self) -> Way | None:
        """The first solution; None where there is none, or none is listed."""
        return self.paths[0] if self.paths else None


def named_moves(
    puzzle: Puzzle, board: Board, ways: Iterable[Sequence[MoveName]]
) -> Iterator[Sequence[MoveName]]:
    """The moves of ways from one board as they are shown: each piece keeps its name. Raises ValueError for moves that
    cannot be made."""
    if not puzzle.definition.names_swap:
        yield from ways
        return
    from farthest.search.walking import boards_along, successors_of

    successors = cache(successors_of(puzzle))  # ways share most of their boards
    for moves in ways:
        boards = boards_along(puzzle, board, moves, successors=successors)
        yield puzzle.definition.named_path(boards, moves).moves


class SearchReporter:
    """Receives the events of one search, in order, in its thread. This one does nothing; subclasses override
    methods."""

    def begun(self, job: int | None, bound: int) -> None:
        """The first iteration begins, with this bound."""

    def resumed(self, job: int, bound: int, pieces: int) -> None:
        """The search goes on in the iteration of this bound, of which ``pieces`` are done."""

    def stored(self, job: int) -> None:
        """The search has run for some time: from now on it is stored as this job."""

    def iteration(self, iteration: Iteration) -> None:
        """An iteration is over."""

    def found(self, way: Way, bound: int) -> None:
        """This solution is the shortest so far; at least ``bound`` moves are needed."""

    def progress(self, known: dict[str, Any]) -> None:
        """About once a second: ``JobRecord.progress`` as it is now."""

    def notice(self, text: str) -> None:
        """Something that the user should know, and perhaps mend: no worker is alive, a server is away."""

    def stopping(self) -> None:
        """The user asked the search to stop: it will when the pieces under way are done."""
