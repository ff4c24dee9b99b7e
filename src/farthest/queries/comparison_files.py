"""The files of a comparison: all runs as CSV, and the routes as one text file for each algorithm."""

from __future__ import annotations

import csv
import re
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import numpy

from farthest.queries.csv_cells import text_cell
from farthest.queries.output_file import OutputError, written_file
from farthest.search.walking import boards_along

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import TextIO

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.search.comparison import Entrant, Run

COLUMNS = (
    "number",
    "board",
    "algorithm",
    "heuristic",
    "moves",
    "boards",
    "expanded",
    "generated",
    "seconds",
    "optimal",
)


@contextmanager
def comparison_files(
    puzzle: Puzzle,
    chosen: Sequence[Entrant],
    is_target: Callable[[Board], bool],
    *,
    table: Path | None,
    routes: Path | None,
    force: bool,
) -> Iterator[Callable[[Run], None]]:
    """A function that writes a run to the CSV file ``table`` and to a file in the folder ``routes``, where these are
    given. The files get their names when the block ends without an exception.

    Raises OutputError where a file cannot be written, or exists and ``force`` is not given.
    """
    with ExitStack() as stack:
        writer = None
        if table is not None:
            if table.suffix.lower() != ".csv":
                raise OutputError(
                    f"{table}: a table of runs is a .csv file; expected such as {table.stem}.csv"
                )
            writer = csv.writer(_opened(stack, table, force=force), lineterminator="\n")
            writer.writerow(COLUMNS)
        files: dict[Entrant, TextIO] = {}
        if routes is not None:
            _make_folder(routes)
            for entrant in chosen:
                files[entrant] = _opened(stack, routes / route_file(chosen, entrant), force=force)

        def write(run: Run) -> None:
            if writer is not None:
                writer.writerow(_row(puzzle, run))
            if run.entrant in files:
                files[run.entrant].write(_route(puzzle, run, is_target))

        yield write


def route_file(chosen: Sequence[Entrant], entrant: Entrant) -> str:
    """The name of an entrant's file of routes: its algorithm, and its heuristic if the algorithm is compared with
    several."""
    if sum(other.algorithm == entrant.algorithm for other in chosen) == 1:
        return f"{entrant.algorithm}.txt"
    heuristic = re.sub(r"[^\w@+,.-]", "_", entrant.heuristic or "")
    return f"{entrant.algorithm}-{heuristic}.txt"


def _opened(stack: ExitStack, file: Path, *, force: bool) -> TextIO:
    part = stack.enter_context(written_file(file, force=force))
    try:
        return stack.enter_context(part.open("w", encoding="utf-8", newline=""))
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except FileExistsError:
        raise OutputError(f"{folder} is a file; expected the name of a folder for the routes") from None
    except FileNotFoundError:
        raise OutputError(f"{folder}: there is no folder {folder.parent}; make it first") from None
    except OSError as error:
        raise OutputError(f"cannot make the folder {folder}: {error.strerror or error}") from error


def _row(puzzle: Puzzle, run: Run) -> list[object]:
    which: list[object] = [
        run.number,
        text_cell(puzzle.definition.format_board(run.board)),
        run.entrant.algorithm,
        text_cell(run.entrant.heuristic),
    ]
    if run.failed is not None:
        return which + [None] * (len(COLUMNS) - len(which))
    return [
        *which,
        run.length,
        None if run.length is None else run.length + 1,
        run.expanded,
        run.generated,
        f"{run.seconds:.6f}",
        "yes" if run.optimal else "no",
    ]


def _route(puzzle: Puzzle, run: Run, is_target: Callable[[Board], bool]) -> str:
    """A heading, and the boards of the way, one a line, the board to be solved first."""
    if run.failed is not None:
        return f"board {run.number}: given up\n{puzzle.definition.format_board(run.board)}\n\n"
    if run.length is None:
        return f"board {run.number}: no way\n{puzzle.definition.format_board(run.board)}\n\n"
    boards = boards_along(puzzle, run.board, run.moves, is_target)
    lines = puzzle.definition.named_path(numpy.array(boards, dtype=numpy.uint8), run.moves).texts
    heading = f"board {run.number}: {run.length} moves, {len(boards)} boards"
    return "\n".join([heading, *lines, "", ""])
