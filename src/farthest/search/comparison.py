"""The same boards searched by several algorithms, and the cost of each run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean, median
from time import perf_counter
from typing import TYPE_CHECKING, cast

from farthest.errors import PuzzleError, ResourceError, SettingError
from farthest.heuristics import ALGORITHMS, AUTO, DEEPENING, GUIDED, Algorithm, PlainAlgorithm
from farthest.heuristics.contract import Heuristic, LoadMap, check_text
from farthest.heuristics.registry import applicable, default_heuristic, open_heuristic
from farthest.search.contract import Problem
from farthest.search.deepening import deepen
from farthest.search.engines import engine_with
from farthest.search.plain import search_plain
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from farthest.puzzles.definition import Board, MoveName
    from farthest.puzzles.puzzle import Puzzle


@dataclass(frozen=True, slots=True)
class Entrant:
    """An algorithm and its heuristic: one of the columns of a comparison. ``heuristic``: None where it uses none."""

    algorithm: Algorithm
    heuristic: str | None

    @property
    def asked(self) -> str:
        """The heuristic; `zero` where it uses none."""
        return "zero" if self.heuristic is None else self.heuristic

    @property
    def name(self) -> str:
        """For people."""
        return self.algorithm if self.heuristic is None else f"{self.algorithm} {self.heuristic}"


@dataclass(frozen=True, slots=True)
class Run:
    """One algorithm on one board. ``number``: the board's, from 1.

    ``length``, ``moves``: of the way found; None: the board cannot be solved. ``expanded``: None where only generated
    boards are counted. ``optimal``: it is certain that no way is shorter. ``failed``: why the search was given up, or
    None.
    """

    entrant: Entrant
    number: int
    board: Board
    length: int | None
    moves: tuple[MoveName, ...]
    expanded: int | None
    generated: int
    seconds: float
    optimal: bool
    failed: str | None = None


def entrants(
    puzzle: Puzzle,
    algorithms: Sequence[str],
    heuristics: Sequence[str],
    auto: Callable[[], str | None] = lambda: None,
) -> list[Entrant]:
    """Each algorithm, with each of the heuristics if it uses one; none twice. `auto`, and without heuristics:
    `manhattan` where it is for the puzzle, else its default; for `ida` what ``auto`` gives, if that is not None. Raises
    SettingError for an unknown algorithm, or heuristics that no algorithm uses."""
    for text in heuristics:
        check_text(text)
    chosen = list(dict.fromkeys(algorithms))
    for name in chosen:
        if name not in ALGORITHMS:
            mend = near_match(name, ALGORITHMS) or f"expected {', '.join(ALGORITHMS)}"
            raise SettingError(f"algorithm {shown(name)} is not known; {mend}")
    guided = [name for name in chosen if name in GUIDED]
    if heuristics and not guided:
        raise SettingError(f"only {' and '.join(GUIDED)} use a heuristic; add one of them, or leave it out")
    asked = list(dict.fromkeys(heuristics)) or [AUTO]
    simple = ""
    if guided and AUTO in asked:
        default = default_heuristic(puzzle, "astar" if "astar" in guided else "ida")
        simple = "manhattan" if "manhattan" in applicable(puzzle) else default
    found: dict[Entrant, None] = {}
    for algorithm in ALGORITHMS:
        for text in asked if algorithm in chosen else []:
            if algorithm not in GUIDED:
                found[Entrant(algorithm, None)] = None
            elif text != AUTO:
                found[Entrant(algorithm, text)] = None
            else:
                found[Entrant(algorithm, (auto() if algorithm == "ida" else None) or simple)] = None
    return sorted(found, key=lambda entrant: chosen.index(entrant.algorithm))


class Comparison:
    """Entrants ready to search from boards of a puzzle to its goal."""

    def __init__(
        self, puzzle: Puzzle, chosen: Sequence[Entrant], *, memory: int, load_map: LoadMap | None
    ) -> None:
        """``memory``: bytes for a search that keeps all boards that it found. ``load_map``: gives maps of patterns;
        None: there is no database. Raises PuzzleError where there is no goal, else as `open_heuristic` does."""
        goals, _ = puzzle.definition.origin_boards
        if not goals:
            raise PuzzleError(
                f"puzzle {puzzle.name}: it has no goal, so there is nothing to search for; add one"
            )
        self.puzzle = puzzle
        self.entrants = list(chosen)
        self._memory = memory
        texts = {entrant.asked for entrant in chosen}
        self._heuristics = {text: open_heuristic(text, puzzle, goals, load_map) for text in sorted(texts)}

    def admissible(self, entrant: Entrant) -> bool:
        """Whether it is certain that its ways are shortest ones."""
        return entrant.algorithm != "dfs" and self._heuristic(entrant).admissible

    def runs(self, boards: Iterable[Board]) -> Iterator[Run]:
        """All runs of a board, then all of the next, as they are searched. A run that needs more memory than allowed
        has failed."""
        for number, board in enumerate(boards, 1):
            for entrant in self.entrants:
                try:
                    run = self._run(entrant, board)
                except ResourceError as error:
                    run = Run(entrant, 0, board, None, (), None, 0, 0.0, optimal=False, failed=str(error))
                yield replace(run, number=number)

    def _run(self, entrant: Entrant, board: Board) -> Run:
        heuristic = self._heuristic(entrant)
        problem = Problem(self.puzzle, board, "goal", entrant.asked)
        if entrant.algorithm in DEEPENING:
            began = perf_counter()
            deep = deepen(engine_with(problem, heuristic), board, first=True, limit=1)
            seconds = perf_counter() - began
            moves = deep.listed[0] if deep.listed else ()
            return Run(
                entrant, 0, board, deep.length, moves, None, deep.nodes, seconds, self.admissible(entrant)
            )
        plain = cast(PlainAlgorithm, entrant.algorithm)
        found = search_plain(plain, problem, heuristic, self._memory)
        return Run(
            entrant,
            0,
            board,
            found.length,
            found.moves,
            found.expanded,
            found.generated,
            found.seconds,
            found.optimal,
        )

    def _heuristic(self, entrant: Entrant) -> Heuristic:
        return self._heuristics[entrant.asked]


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean, the median and the greatest of some numbers."""

    mean: float
    median: float
    most: float


MEASURES = ("seconds", "expanded", "generated", "moves", "boards")
"""The figures that are summed up: ``boards`` are those of the way, both ends included, one more than its moves."""


class Tally:
    """The figures of runs, and whether all statements about the lengths of shortest ways agree."""

    def __init__(self) -> None:
        self._figures: dict[Entrant, dict[str, list[float]]] = {}
        self._shortest: dict[int, tuple[int | None, str]] = {}
        self.runs = 0
        self.disagreements: list[str] = []
        self.failures: dict[Entrant, list[str]] = {}

    def expect(self, number: int, length: int | None, source: str) -> None:
        """Notes the length of a shortest way for a board, and who says so."""
        said, by = self._shortest.setdefault(number, (length, source))
        if said != length:
            self.disagreements.append(f"board {number}: {by} says {_moves(said)}, {source} {_moves(length)}")

    def add(self, run: Run) -> None:
        """Adds a run."""
        self.runs += 1
        figures = self._figures.setdefault(run.entrant, {measure: [] for measure in MEASURES})
        if run.failed is not None:
            self.failures.setdefault(run.entrant, []).append(run.failed)
            return
        if run.optimal:
            self.expect(run.number, run.length, run.entrant.name)
        figures["seconds"].append(run.seconds)
        figures["generated"].append(run.generated)
        if run.expanded is not None:
            figures["expanded"].append(run.expanded)
        if run.length is not None:
            figures["moves"].append(run.length)
            figures["boards"].append(run.length + 1)

    def spreads(self, entrant: Entrant) -> dict[str, Spread | None]:
        """The spread of each of ``MEASURES``; None where there are no figures."""
        figures = self._figures[entrant]
        return {
            measure: Spread(fmean(found), median(found), max(found)) if found else None
            for measure, found in figures.items()
        }


def _moves(length: int | None) -> str:
    return "no way" if length is None else str(length)
