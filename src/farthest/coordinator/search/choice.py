"""`--heuristic auto`: the heuristics that a search is tried with, one after the other.

1. An unfinished search of the same board goes on with its own heuristic.
2. All distances of the puzzle, where they are stored.
3. For about a second the simple heuristic, which needs no table: so a small search waits for none. Not where tables are
   stored, which are opened sooner.
4. The best that the stored maps of patterns give; for about a second where better ones can be made.
5. What is made now: all distances of the puzzle where these are few, else the tables of the best candidate, small ones
   first. Before larger ones are made, those at hand are tried for as long as that takes: so a search never takes more
   than about twice as long as one that had known what to make, and on the same processors it is never over later than
   one beside which tables are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import log2
from typing import TYPE_CHECKING

from farthest.coordinator.reporter import Reporter
from farthest.coordinator.search.storage import SearchStorage, stored_at_once
from farthest.coordinator.settings import Estimate, Settings
from farthest.errors import FarthestError, MissingDatabaseError, ResourceError, StorageError
from farthest.heuristics import MAP
from farthest.heuristics.registry import default_heuristic, open_heuristic
from farthest.machine import available_memory, cores, memory_limit
from farthest.models.database import Database, database_folder
from farthest.models.job_reader import JobReader
from farthest.puzzles.puzzle import MARK, Origin, Puzzle
from farthest.wording import bytes_text, seconds_text

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.coordinator.search.judging import Judged
    from farthest.coordinator.search.settings import SearchOutcome, SearchReporter, SearchSettings
    from farthest.heuristics.candidates import Candidate
    from farthest.models.records import JobRecord
    from farthest.search.contract import Problem

MADE_FIRST = 256 * 2**20
"""Bytes of the tables that are made first where ``--memory`` does not say."""

MOST_MADE = 4 * 2**30
"""Of those that are made then."""

PART_MADE = 4
"""Neither are larger than this part of the free memory."""

MOST_SECONDS = 120.0
"""Nor do they take longer to be made."""

WHOLE_SECONDS = 60.0
WHOLE_DISK = 2**29
WHOLE_STATES = 2**30
"""A puzzle whose distances take no more than these to be made is enumerated. Where representatives are kept, these
count."""

MOST_ALIKE = 24
"""A representative hardly stands for more states in such spaces, and finding symmetries takes time."""

CLEARLY = 0.5
"""Moves, on average, by which tables that are to be made must be better than those that are stored."""

SAMPLED = 64
"""Random boards that tell the mean of the simple heuristic; for those who look at candidates, sixteen times as many."""


class TriedInVainError(Exception):
    """A search by a stage that is limited was not over in time. ``look``: looks for any solution in its place."""

    def __init__(self, look: Callable[[], SearchOutcome | None]) -> None:
        super().__init__()
        self.look = look


@dataclass(frozen=True, slots=True)
class Stage:
    """A heuristic as it is written. ``seconds``: for about how long it is tried before the next stage; None: this is
    the last."""

    heuristic: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Larger:
    """What is better than what is at hand. ``tables``: of a candidate; None: all distances of the puzzle. ``seconds``:
    what making it takes, about; None where that is not known."""

    tables: Judged | None
    seconds: float | None

    @property
    def text(self) -> str:
        """The heuristic as it is written."""
        return MAP if self.tables is None else self.tables.text


class Choice:
    """The choice for the boards of a puzzle, one after the other: what the tables of one decide holds for the next."""

    def __init__(
        self,
        puzzle: Puzzle,
        target: str,
        settings: SearchSettings,
        storage: SearchStorage | None,
        reporter: SearchReporter,
        *,
        looks_up: bool = True,
    ) -> None:
        """``looks_up``: whether all distances of the puzzle may answer; else only tables of patterns serve."""
        self._puzzle = puzzle
        self._looks_up = looks_up
        self._target = target
        self._settings = settings
        self._storage = storage
        self._reporter = reporter
        # The bytes of tables that may still be made; None: nothing is decided yet.
        self._left: list[int] | None = None
        self._held: Judged | None = None  # the tables at hand, then
        # How long these are tried, as a part of the time that larger ones take to be made. A search that is stored from
        # its beginning has no trials that would have to be made again.
        self._patience = 0.0 if stored_at_once(settings, storage) else 1.0

    def stages(self, problem: Problem) -> Iterator[Stage]:
        """The stages of a board; the last one has no limit. Raises Interrupted where the making of tables is."""
        begun = self._begun(problem)
        if begun is not None:
            yield Stage(begun)
            return
        if self.has_map:
            yield Stage(MAP)
            return
        if self._left is None:
            if self.kept is None:
                yield Stage(self.simple, 1.0)
            elif self._may_make:
                # Before it is asked what else could be made, which takes a second too.
                yield Stage(self.kept.text, 1.0)
            self._left, self._held = self._limits if self._may_make else [], self.kept
            if self.kept is None and not self._may_make:
                self._say_unmade()
        while self._left:
            larger = self._next(self._left[0], self._held)
            trial = self._patience * _power_of_two(larger.seconds) if larger and larger.seconds else 0.0
            if self._held is not None and trial:
                self._patience /= 2  # the boards of a list that these solve take twice that at most
                yield Stage(self._held.text, trial)
            # After all distances there is nothing more to make, and none is tried after a failure.
            goes_on = larger is None or (self._made(larger) and larger.tables is not None)
            self._left = self._left[1:] if goes_on else []
        yield Stage(self.usual())

    def usual(self) -> str:
        """What the next board is tried with first, if no search of it has begun."""
        return MAP if self.has_map else self.simple if self._held is None else self._held.text

    @property
    def simple(self) -> str:
        """The heuristic that needs no table."""
        return default_heuristic(self._puzzle)

    def _database(self) -> Database | None:
        """The database, if there is one."""
        if self._storage is None:
            return None
        try:
            return self._storage.database(create=False)
        except MissingDatabaseError:
            return None

    def _begun(self, problem: Problem) -> str | None:
        """The heuristic of an unfinished search that is the same but for that."""
        database, asked = self._database(), self._settings.parameters(problem)
        if database is None:
            return None
        for record in JobReader(database).interrupted(problem.puzzle.digest):
            text = record.parameters.get("heuristic")
            if isinstance(text, str) and {**asked, "heuristic": text} == record.parameters:
                return text
        return None

    # What there is

    @property
    def has_map(self) -> bool:
        """Whether all distances of the puzzle to the target are stored."""
        database = self._database() if self._looks_up else None
        return database is not None and map_to(database, self._puzzle, self._target) is not None

    @cached_property
    def kept(self) -> Judged | None:
        """The best heuristic all of whose maps are stored, and fit in memory, before anything is made."""
        database = self._database()
        if database is None or self._target != "goal":
            return None
        from farthest.coordinator.search.judging import judged
        from farthest.heuristics.candidates import candidates, declared

        memory = memory_limit(self._settings.memory)
        few = self._puzzle.family == "permutation"  # by rule there are as many as memory allows
        by_rule = declared(self._puzzle) if few else candidates(self._puzzle, memory)
        wanted = [*stored_candidates(database, self._puzzle), *by_rule]
        found = [judged(each, database, stored=True) for each in wanted]
        return self._best([each for each in found if each and each.bytes <= memory])

    # What can be made

    @cached_property
    def _limits(self) -> list[int]:
        """The bytes that tables may take that are made, one after the other."""
        asked = self._settings.memory
        if asked is not None:
            return [asked]
        part = available_memory() // PART_MADE
        return sorted({min(most, part) for most in (MADE_FIRST, MOST_MADE)})

    @property
    def memory(self) -> int:
        """The bytes of the largest."""
        return self._limits[-1]

    @cached_property
    def judged(self) -> list[Judged]:
        """All candidates whose tables can be made, the best first."""
        return self._judged(self.memory)

    def _judged(self, memory: int) -> list[Judged]:
        if self._target != "goal":
            return []
        from farthest.coordinator.search.judging import judged
        from farthest.heuristics.candidates import candidates

        found = [judged(each, self._database()) for each in candidates(self._puzzle, memory)]
        return sorted((each for each in found if each is not None), key=_worse)

    def _best(self, found: list[Judged]) -> Judged | None:
        simple = self.simple_mean if found else 0.0
        return min((each for each in found if each.mean > simple), key=_worse, default=None)

    @cached_property
    def simple_mean(self) -> float:
        """The mean of the simple heuristic; 0 where it is not known how random boards are drawn."""
        return self.sampled(self.simple, SAMPLED) or 0.0

    def sampled(self, heuristic: str, count: int = 16 * SAMPLED) -> float | None:
        """The mean of a heuristic, whose maps are there, over random boards that are always the same; None where it is
        not known how these are drawn."""
        import numpy

        from farthest.search.solvable import random_boards

        try:
            boards = random_boards(self._puzzle, count, 1)
        except FarthestError:
            return None
        goals = self._puzzle.definition.origin_boards[0]
        load_map = None if self._storage is None else self._storage.load_map
        found = open_heuristic(heuristic, self._puzzle, goals, load_map)
        return float(found.values(numpy.array(boards, dtype=numpy.uint8)).mean())

    @cached_property
    def whole(self) -> Estimate | None:
        """What all distances to the target take, where that is little."""
        from farthest.coordinator.enumeration.plan import estimated
        from farthest.spaces import compile_space, reduced_space
        from farthest.spaces.contract import known_states

        if not self._looks_up:
            return None
        try:
            space = compile_space(self._puzzle, self._whole.origin)
            states, _ = known_states(space) or (space.keys or WHOLE_STATES + 1, "")
            if WHOLE_STATES < states <= WHOLE_STATES * MOST_ALIKE:
                kept = reduced_space(self._puzzle, self._whole.origin, None)
                states = states if kept is None else kept.keys
            if states > WHOLE_STATES:
                return None
            needs = estimated(self._puzzle, self._whole, self._folder)
        except FarthestError:
            return None
        fits = needs.problem is None and needs.map in ("full", "sparse") and needs.disk <= WHOLE_DISK
        return needs if fits and needs.seconds is not None and needs.seconds <= WHOLE_SECONDS else None

    @property
    def _whole(self) -> Settings:
        return Settings(origin=Origin("to", self._target), threads=self._settings.threads)

    @property
    def _tables(self) -> Settings:
        return Settings(threads=self._settings.threads, residues=False)

    @property
    def _folder(self) -> Path | None:
        return None if self._storage is None else database_folder(self._storage.url)

    @property
    def _may_make(self) -> bool:
        return self._storage is not None and self._storage.makes_tables

    def _next(self, memory: int, held: Judged | None) -> Larger | None:
        """The best that can be made in so many bytes, if it is clearly better than the tables that are held."""
        if self.whole is not None:
            return Larger(None, self.whole.seconds)
        for each in self.judged if memory == self.memory else self._judged(memory):
            if each.mean <= (self.simple_mean if held is None else held.mean + CLEARLY):
                break
            if each.bytes <= memory:
                with suppress(ResourceError):
                    seconds = self.seconds_to_make(each)
                    if self._settings.memory is not None or (seconds or 0.0) <= MOST_SECONDS:
                        return Larger(each, seconds)
        return None

    def taken(self) -> str:
        """The heuristic of a search that the simple one has not solved in time, stored or to be made."""
        if self.has_map:
            return MAP
        larger = self._next(self.memory, self.kept)
        if larger is not None:
            return larger.text
        return self.simple if self.kept is None else self.kept.text

    def seconds_to_make(self, judged: Judged) -> float | None:
        """Of the tables that are missing; None where that is not known. Raises ResourceError where they are refused."""
        seconds = [table.seconds(self._tables, self._folder) for table in judged.missing]
        return None if None in seconds else sum(one for one in seconds if one is not None)

    def _made(self, larger: Larger) -> bool:
        """Whether it is made, which the user is told of before."""
        assert self._storage is not None, "tables may be made"
        try:
            database = self._storage.database(create=True)
            if larger.tables is not None:
                self._with_tables(database, larger.tables, larger.seconds)
                self._held = larger.tables
                return True
            assert self.whole is not None, "all distances can be made"
            self._reporter.notice(
                f"all distances of {self._puzzle.name}, {bytes_text(self.whole.disk)}, are made once in about "
                f"{seconds_text(self.whole.seconds or 0)}, and kept in {database.place}"
            )
            self._make(self._puzzle, database, self._whole)
        except (ResourceError, StorageError) as error:
            self._reporter.notice(f"no tables are made: {error}")
            return False
        return True

    def _say_unmade(self) -> None:
        """What a long search would be faster by, if it were stored."""
        larger = self._next(self.memory, None) if self._storage is not None else None
        if larger is not None:
            name = "all distances" if larger.tables is None else f"tables for {larger.text}"
            took = "" if larger.seconds is None else f" in about {seconds_text(larger.seconds)}"
            self._reporter.notice(
                f"no tables are made with --no-store: the search goes on with {self.simple}, which may take very long; "
                f"without --no-store {name} are made{took}, once"
            )

    def _with_tables(self, database: Database, best: Judged, seconds: float | None) -> None:
        if best.missing:
            why = "" if self._held is None else "the search takes longer than larger tables: "
            took = "" if seconds is None else f" in about {seconds_text(seconds)}"
            self._reporter.notice(
                f"{why}tables of {bytes_text(best.bytes)} for {best.text}, made once{took}, kept in {database.place}; "
                "--memory for more"
            )
        for table in best.missing:
            if table.bounds is None:
                self._make(table.puzzle, database, self._tables)
                continue
            from farthest.coordinator.bounds import make_bounds

            make_bounds(table.puzzle, table.bounds, database, self._tables.threads or cores())

    def _make(self, puzzle: Puzzle, database: Database, settings: Settings) -> None:
        from farthest.coordinator.enumeration.job import enumerate_puzzle

        enumerate_puzzle(puzzle, database, settings, _Notices(self._reporter))


class _Notices(Reporter):
    """Of an enumeration the search reports only what the user should know."""

    def __init__(self, reporter: SearchReporter) -> None:
        self._reporter = reporter

    def notice(self, text: str) -> None:
        self._reporter.notice(text)


def map_to(database: Database, puzzle: Puzzle, target: str) -> JobRecord | None:
    """The job that has all distances of the puzzle to the target."""
    from farthest.queries.pattern_maps import complete_map

    return complete_map(database, puzzle, Origin("to", target))


def _power_of_two(seconds: float) -> float:
    """The next smaller one, at least 1: so the same search is tried for the same number of nodes, although the speed of
    the machine is measured."""
    return 2.0 ** int(log2(max(seconds, 1.0)))


def _worse(one: Judged) -> tuple[float, int, str]:
    """The least value comes first: the greatest mean, of these the least memory."""
    return -round(one.mean, 2), one.bytes, one.text


def stored_candidates(database: Database, puzzle: Puzzle) -> list[Candidate]:
    """The plain patterns that are stored, each alone and all together, and the additive ones as a partition."""
    from farthest.heuristics.candidates import candidate_of, mirrored, partition_of_stored
    from farthest.puzzles.patterns import pattern_of
    from farthest.queries.pattern_maps import stored_patterns

    if puzzle.family not in ("permutation", "sliding"):
        return []
    patterns = [pattern_of(puzzle, name.removeprefix(MARK)) for name in stored_patterns(database, puzzle)]
    additive = partition_of_stored(puzzle, [each for each in patterns if each.additive])
    texts = [mirrored(puzzle, each.text) for each in patterns if not each.additive]
    together = [",".join(texts)] if len(texts) > 1 else []
    found = [candidate_of(puzzle, text) for text in (*texts, *together)]
    return found if additive is None else [*found, additive]
