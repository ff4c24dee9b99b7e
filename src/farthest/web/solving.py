"""Boards that readers let this server solve, each by a process of its own: `python -c "..." PUZZLE BOARD`.

The process tells what it knows as lines of JSON, each some fields of ``Told``; an end of its output is its end. Ctrl-C
ends a search with the best solution so far, and so does ``Solvings.stop``.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import OrderedDict
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import msgspec

from farthest import metrics
from farthest.coordinator.search.settings import SearchReporter, SearchSettings
from farthest.errors import FarthestError
from farthest.web.asking import RefusalError
from farthest.web.processes import Process, end, started

if TYPE_CHECKING:
    from farthest.puzzles.definition import MoveName
    from farthest.search.contract import Way
    from farthest.search.deepening import Iteration

PROGRAM = "import sys; from farthest.web.solving import main; main(*sys.argv[1:])"
AT_ONCE = 2
"""Boards that are solved at the same time."""
MOST_KEPT = 200


class Told(msgspec.Struct):
    """What is known of a search. ``moves``: of the best solution so far. ``needed``: moves that are proven to be
    needed. ``doing``: what it has said last. ``error``: why there is no solution, or no answer."""

    moves: list[MoveName] | None = None
    needed: int = 0
    nodes: int = 0
    doing: str = ""
    optimal: bool = False
    error: str = ""
    ended: bool = False


class Solvings:
    """The boards of this server, by the names of puzzles and canonical texts; those that were asked last are kept."""

    def __init__(self, url: str | None) -> None:
        """``url``: of the database, for maps, tables and long searches."""
        self._url = url
        self._told: OrderedDict[tuple[str, str], Told] = OrderedDict()
        self._running: dict[tuple[str, str], Process] = {}
        self._lock = threading.Lock()

    def told(self, puzzle: str, board: str) -> Told | None:
        """What is known of a board; None where it was not asked."""
        return self._told.get((puzzle, board))

    def begin(self, puzzle: str, board: str, seconds: float) -> None:
        """Begins to solve a board, unless that is done or under way, and waits for the end so long. Raises RefusalError
        where ``AT_ONCE`` others are solved."""
        key = puzzle, board
        with self._lock:
            known = self._told.get(key)
            if key in self._running or (known is not None and known.optimal):
                return
            if len(self._running) >= AT_ONCE:
                raise RefusalError(
                    503, f"{AT_ONCE} boards are being solved already; try again when one has ended"
                )
            self._running[key] = started(self._url, PROGRAM, puzzle, board)
            self._told[key] = Told(doing="beginning")
            self._told.move_to_end(key)
            if len(self._told) > MOST_KEPT:
                del self._told[next(each for each in self._told if each not in self._running)]
        reader = threading.Thread(target=self._follow, args=(key, self._running[key]), daemon=True)
        reader.start()
        reader.join(seconds)

    def _follow(self, key: tuple[str, str], process: Process) -> None:
        told, begun = self._told[key], time.monotonic()
        assert process.stdout is not None, "it is a pipe"
        try:
            with process:
                for line in process.stdout:
                    with suppress(msgspec.DecodeError):  # one that its end has cut off
                        for name, value in msgspec.json.decode(line, type=dict[str, Any]).items():
                            setattr(told, name, value)
        finally:
            if told.moves is None and not told.error:
                told.error = "it ended before a solution was found"
            told.ended = True
            result = "solved" if told.moves is not None else "ended"
            metrics.observe(metrics.SOLVE_SECONDS, time.monotonic() - begun, result=result)
            with self._lock:
                del self._running[key]

    def stop(self, puzzle: str, board: str) -> None:
        """Ends a search, if it runs, with the best solution so far."""
        with self._lock:
            process = self._running.get((puzzle, board))
            if process is not None:
                process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Ends all of them."""
        with self._lock:
            running = list(self._running.values())
        end(running)


class _Teller(SearchReporter):
    def found(self, way: Way, bound: int) -> None:
        _tell(moves=way, needed=bound)

    def iteration(self, iteration: Iteration) -> None:
        _tell(doing=f"no solution has {iteration.bound} moves or fewer" if not iteration.solutions else "")

    def progress(self, known: dict[str, Any]) -> None:
        _tell(
            nodes=known["nodes"],
            needed=known["bound"],
            doing=f"looking for solutions of {known['bound']} moves",
        )

    def notice(self, text: str) -> None:
        _tell(doing=text)


def _tell(**known: object) -> None:
    print(msgspec.json.encode(known).decode(), flush=True)


def main(name: str, text: str) -> None:
    """What the process does."""

    from farthest.coordinator.search.solve import SearchInterrupted, Solver
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.heuristics import AUTO
    from farthest.puzzles import catalogue

    with closing(SearchStorage()) as storage:
        try:
            puzzle = catalogue.find_or_refuse(name)
            board = puzzle.definition.parse_board(text, name=puzzle.name)
            found = Solver(puzzle, "goal", AUTO, SearchSettings(), storage, _Teller()).solve(board)
        except SearchInterrupted as stopped:
            if stopped.answer is None:
                return
            found = stopped.answer
        except FarthestError as error:
            _tell(error=str(error))
            return
    _tell(moves=found.moves, needed=found.bound or 0, nodes=found.nodes, optimal=found.optimal)
    if found.length is None:
        _tell(error="it is proven that no moves lead to the goal")
