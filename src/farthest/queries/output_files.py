"""Files and folders for users: written whole or not at all; texts as cells of CSV files; layers as a plot; runs of a
comparison."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from stat import S_ISREG
from typing import TYPE_CHECKING, TextIO

from farthest.errors import FarthestError
from farthest.safe_text import safe

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.search.comparison import Entrant, Run


# A spreadsheet runs a cell that begins with one of ``FORMULA``. A board may begin so, and so may a text from a user's
# class. An apostrophe is put before such a text, and before a text that begins with an apostrophe. To get the text
# back, remove one apostrophe from the beginning of a cell that has one.
FORMULA = frozenset("=+-@\t\r\n＝＋－＠")
MARK = "'"
_MARKED = FORMULA | {MARK}


def text_cells(texts: Iterable[str]) -> list[str]:
    """The texts as cells of a CSV file."""
    return [MARK + text if text[:1] in _MARKED else text for text in texts]


def text_cell(text: str | None) -> str | None:
    """One text; None is an empty cell."""
    return None if text is None else text_cells([text])[0]


class OutputError(FarthestError):
    """A file cannot be written, or not in the format that its name asks for."""


def form_of(file: Path, forms: tuple[str, ...]) -> str:
    """The file's ending in lower case, such as ``.csv``. Raises OutputError unless it is one of ``forms``."""
    ending = file.suffix.lower()
    if ending not in forms:
        known = f"{', '.join(forms[:-1])} or {forms[-1]}"
        raise OutputError(f"{file}: expected {known} at the end of the file's name")
    return ending


@contextmanager
def written_file(file: Path, *, force: bool) -> Iterator[Path]:
    """A path in the folder of ``file`` to write to; it is renamed to ``file`` when the block ends without an exception.

    Raises OutputError where ``file`` exists and ``force`` is not given, or cannot be written.
    """
    if file.is_dir():
        raise OutputError(f"{file} is a folder; expected the name of a file")
    if file.exists() and not S_ISREG(
        file.lstat().st_mode
    ):  # such as /dev/stdout: it would be replaced by a file
        raise OutputError(f"{file} is a link or a device; expected the name of a file")
    if file.exists() and not force:
        raise OutputError(f"{file} exists already; choose another name, or --force, in Python force=True")
    _check_parent(file)
    # In the same folder, as a rename works only within one file system; with the same ending, as some writers read it.
    # Nobody can have put a link there: the name cannot be guessed, and the file is newly made.
    part = file.with_name(f".{file.stem}.{token_hex(8)}{file.suffix}")
    try:
        part.touch(exist_ok=False)
        try:
            yield part
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from error


@contextmanager
def written_folder(folder: Path) -> Iterator[Path]:
    """A new folder beside ``folder`` to write files to; it gets that name when the block ends without an exception.

    Raises OutputError where ``folder`` exists and is not an empty folder, or cannot be written.
    """
    _check_parent(folder)
    whole = folder.absolute()
    if not whole.name or whole == Path.cwd():
        raise OutputError(f"{folder}: a new folder is made; give it a name of its own")
    part = whole.with_name(f".{whole.name}.{token_hex(8)}")
    try:
        if folder.is_symlink() or (folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))):
            raise OutputError(f"{folder} exists already; choose another name, or remove it")
        part.mkdir()
        try:
            yield part
            part.replace(folder)
        finally:
            rmtree(part, ignore_errors=True)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror or error}") from error


def _check_parent(place: Path) -> None:
    if not place.parent.is_dir():
        raise OutputError(f"{place}: there is no folder {place.parent}; make it first")


PLOT_FORMS = (".png", ".svg")
MOST_OF_A_TITLE = 200
"""Most characters of a title."""


def plot_layers(
    layers: Sequence[int], file: str | Path, *, title: str, log: bool = False, force: bool = False
) -> None:
    """Draw ``layers[d]``, the number of states at depth d, as bars to a .png or .svg file.

    ``log``: a logarithmic scale of states. Raises OutputError where matplotlib is missing, or the file cannot
    be written, or exists and ``force`` is not given.
    """
    file = Path(file)
    form = form_of(file, PLOT_FORMS)
    try:
        import matplotlib
        from matplotlib.figure import Figure  # without pyplot, which looks for a display
        from matplotlib.ticker import FuncFormatter, MaxNLocator
    except ImportError:
        raise OutputError(
            f"{file}: a plot needs matplotlib, which is not installed: pip install 'farthest[plot]'"
        ) from None
    # With a fixed salt and no date, the same layers give the same file.
    with written_file(file, force=force) as part, matplotlib.rc_context({"svg.hashsalt": "farthest"}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.add_subplot()
        axes.bar(range(len(layers)), layers, width=0.85, color="#3b6ea5", log=log)
        # Titles come from files: a $ in a title must not begin a formula.
        shown = " ".join(safe(title[:MOST_OF_A_TITLE]).split())
        axes.set_title(shown, fontsize="medium", fontweight="bold", loc="left", parse_math=False)
        axes.set_title(f"{sum(layers):,} states, {len(layers) - 1} deep", fontsize="small", loc="right")
        axes.set_xlabel("depth (moves)")
        axes.set_ylabel("states" + (" (logarithmic)" if log else ""))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=16))
        if not log:
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.margins(x=0.01)
        axes.grid(axis="y", linewidth=0.5, alpha=0.5)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        metadata = {"Date": None} if form == ".svg" else None
        figure.savefig(part, format=form[1:], dpi=150, metadata=metadata)


# The files of a comparison: all runs as CSV, and the routes as one text file for each algorithm.

RUN_COLUMNS = (
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
            writer.writerow(RUN_COLUMNS)
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
        return which + [None] * (len(RUN_COLUMNS) - len(which))
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
    """A heading, and the boards of the way, one per line, the board to be solved first."""
    if run.failed is not None:
        return f"board {run.number}: given up\n{puzzle.definition.format_board(run.board)}\n\n"
    if run.length is None:
        return f"board {run.number}: no way\n{puzzle.definition.format_board(run.board)}\n\n"
    from farthest.search.walking import boards_along

    boards = boards_along(puzzle, run.board, run.moves, is_target)
    lines = puzzle.definition.named_path(boards, run.moves).texts
    heading = f"board {run.number}: {run.length} moves, {len(boards)} boards"
    return "\n".join([heading, *lines, "", ""])
