"""The searches of many boards, those of standard input or of a published set: a line, or an object, for each."""

from __future__ import annotations

from collections import deque
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.bulk import ReadAhead, numbered_boards
from farthest.cli.printing import print_json
from farthest.cli.search_outcome import search_document, tell_interrupted, why_unsolvable
from farthest.coordinator.search.settings import SearchOutcome, named_moves
from farthest.coordinator.search.solve import SearchInterrupted, Solver, UnsolvableError
from farthest.errors import BatchError, BoardError, FarthestError, ResourceError, SettingError
from farthest.families.user_input import board_given
from farthest.puzzles.board_sets import BoardSet, board_set, sets_of
from farthest.puzzles.catalogue import load
from farthest.puzzles.move_text import moves_text
from farthest.wording import counted, or_list, seconds_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from farthest.cli.search_progress import QuietSearchReporter
    from farthest.coordinator.search.boards import BoardsByWorkers
    from farthest.coordinator.search.coset_boards import BoardsByCosets
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle

NAMED = 12
"""Boards that the message at the end names."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A board of a batch as it is written, with its number. ``length``: that was published, else None."""

    number: int
    text: str
    length: int | None = None


def asked_lines() -> Iterator[Asked]:
    """The lines of standard input. Raises as ``numbered_boards``."""
    return (Asked(number, text) for number, text in numbered_boards())


def set_of(puzzle: Puzzle, name: str) -> tuple[Puzzle, BoardSet]:
    """The set, or its boards with numbers, ``korf-100:12,30-33``; and its puzzle. Raises SettingError where it is of
    another puzzle."""
    name, colon, numbers = name.partition(":")
    found = board_set(name)
    if not found.is_of(puzzle):
        own = [each.name for each in sets_of(puzzle)]
        mend = f"its sets are {or_list(own)}" if own else "it has none"
        mend += f"; or write `farthest solve {found.puzzle} --set {name}`"
        raise SettingError(
            f"--set {name}: a set of boards of {found.puzzle}, expected one of {puzzle.name}; {mend}"
        )
    return load(found.puzzle), found.numbered(numbers) if colon else found


def asked_of_set(found: BoardSet) -> Iterator[Asked]:
    """The boards of a set."""
    return (Asked(board.number, board.text, board.length) for board in found.boards)


@dataclass(frozen=True, slots=True)
class _Found:
    """``outcome``: None where it was known without a search that the board cannot be solved; ``reason``: why it cannot,
    None where it can."""

    asked: Asked
    board: Board
    outcome: SearchOutcome | None
    reason: str | None

    @property
    def is_as_published(self) -> bool:
        """Whether the length is that which was published, if any was."""
        length = None if self.outcome is None else self.outcome.length
        return self.asked.length in (None, length)


def solve_batch(
    solver: Solver,
    boards: Iterable[Asked],
    storage: SearchStorage,
    reporter: QuietSearchReporter,
    *,
    called: str,
    as_json: bool,
    subgroup: str | None = None,
) -> None:
    """Prints the result for each board before the next is read. That a board cannot be solved is a result too.
    ``called``: what the numbers are of, ``line``. ``subgroup``: boards of one coset are solved together, and all boards
    read before.

    What is no board, or a search that needs too much memory, is told on standard error with its number. Raises
    BatchError at the end where there were such, or lengths that are not those published; and SearchInterrupted.
    """
    solver.check()
    wrong, unlike = list[int](), list[int]()
    for asked, search in _searches(solver, boards, storage, reporter, subgroup):
        reporter.board(asked.number)
        try:
            found = search()
        except SearchInterrupted as stopped:
            tell_interrupted(stopped, storage, f" in {called} {asked.number}")
            raise
        except (BoardError, ResourceError) as error:
            wrong.append(asked.number)
            reporter.refused()
            click.echo(f"Error: {called} {asked.number}: {_line(error)}", err=True)
            if as_json:
                print_json({"line": asked.number, "text": asked.text, "error": str(error)})
            continue
        if found.outcome is None:
            reporter.answered(None, 0)
        else:
            reporter.answered(found.outcome.length, found.outcome.nodes)
        if not found.is_as_published:
            unlike.append(asked.number)
        if as_json:
            print_json(_document(solver, found, storage))
        else:
            click.echo(_text(solver, found))
    reporter.ended()
    told = [
        f"{counted(len(numbers), called)} {problem}: {_listed(numbers)}"
        for numbers, problem in ((wrong, "could not be searched"), (unlike, "not as long as published"))
        if numbers
    ]
    if told:
        raise BatchError("; ".join(told))


def _searches(
    solver: Solver,
    boards: Iterable[Asked],
    storage: SearchStorage,
    reporter: QuietSearchReporter,
    subgroup: str | None,
) -> Iterator[tuple[Asked, Callable[[], _Found]]]:
    """The boards in order, each with the search for it. Those that are to be no jobs are searched ahead by workers,
    where these search."""
    if subgroup is not None:
        from farthest.coordinator.search.coset_boards import BoardsByCosets

        asked_for = list(boards)
        given: dict[int, Board] = {}
        for each in asked_for:
            with suppress(BoardError):  # it is told in its turn
                given[each.number] = board_given(solver.puzzle, each.text)
        cosets = BoardsByCosets(solver, subgroup, given, reporter)
        yield from ((each, partial(_solve, solver, each, cosets)) for each in asked_for)
        return
    read = ReadAhead(boards)
    if solver.settings.workers != "celery" or solver.settings.within > 1 or storage.store:
        while (asked := read.next(wait=True)) is not None:
            yield asked, partial(_solve, solver, asked)
        return
    from farthest.coordinator.search.boards import BoardsByWorkers

    with closing(BoardsByWorkers(solver, reporter)) as workers:
        ahead = deque[Asked]()
        while True:
            while len(ahead) < workers.ahead and (new := read.next(wait=not ahead)) is not None:
                with suppress(BoardError):  # it is told in its turn
                    workers.send(new.number, board_given(solver.puzzle, new.text))
                ahead.append(new)
            if not ahead:
                return
            first = ahead.popleft()
            yield first, partial(_solve, solver, first, workers)


def _line(error: FarthestError) -> str:
    return str(error).replace("\n", "\\n")


def _listed(numbers: list[int]) -> str:
    more = f" and {len(numbers) - NAMED:,} more" if len(numbers) > NAMED else ""
    return ", ".join(map(str, numbers[:NAMED])) + more


def _solve(solver: Solver, asked: Asked, ahead: BoardsByWorkers | BoardsByCosets | None = None) -> _Found:
    board = board_given(solver.puzzle, asked.text)
    found = None if ahead is None else ahead.take(asked.number)
    try:
        outcome = found or solver.solve(board)
    except UnsolvableError as error:
        return _Found(asked, board, None, error.reason)
    return _Found(asked, board, outcome, why_unsolvable(outcome))


def _document(solver: Solver, found: _Found, storage: SearchStorage) -> dict[str, Any]:
    place = {"line": found.asked.number, "reason": found.reason}
    if found.asked.length is not None:
        place["published"] = found.asked.length
    if found.outcome is not None:
        return {**search_document(solver.puzzle, found.board, found.outcome, storage), **place}
    return {
        "puzzle": solver.puzzle.name,
        "board": solver.puzzle.definition.format_board(found.board),
        "target": solver.target,
        "length": None,
        **place,
    }


def _text(solver: Solver, found: _Found) -> str:
    outcome = found.outcome
    written = solver.puzzle.definition.format_board(found.board)
    place = f"{found.asked.number}: {written}" if found.asked.length is not None else written
    if outcome is None or outcome.length is None:
        return f"{place}: unsolvable: {found.reason}"
    said = counted(outcome.length, "move")
    if found.asked.length is not None:
        said += " as published" if found.is_as_published else f", {found.asked.length} published"
    if solver.settings.all_solutions:
        said += f", {counted(outcome.solutions, 'optimal solution')}"
    elif not outcome.optimal:
        said += ", not proven shortest"
    said += f", {counted(outcome.nodes, 'node')}, {seconds_text(outcome.seconds)}"
    ways = named_moves(solver.puzzle, found.board, outcome.paths[:1])
    moves = next(map(moves_text, ways), "")
    return f"{place}: {said}: {moves}" if moves else f"{place}: {said}"
