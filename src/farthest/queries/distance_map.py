"""A stored distance map and its questions: solutions, layers, files, proof, heuristics."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, SupportsIndex, overload

import numpy

from farthest.errors import SettingError
from farthest.models.database import open_database
from farthest.models.job_reader import JobReader, job_text
from farthest.queries.paths import (
    BoardPath,
    Neighbour,
    SolutionGraph,
    Way,
    nearer_moves,
    neighbours,
    walk,
)
from farthest.queries.states import (
    SymmetryClasses,
    random_states,
    representatives,
    sampled_states,
    symmetry_classes,
)
from farthest.queries.stored_map import StoredMap
from farthest.random_source import RandomSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import networkx
    import pandas
    import polars

    from farthest.drawing.svg import Drawing
    from farthest.families.user_input import GivenBoard
    from farthest.models.records import JobRecord
    from farthest.puzzles.definition import NamedPath
    from farthest.queries.dataset import Dataset
    from farthest.queries.diameter import Diameter
    from farthest.queries.exports import What
    from farthest.queries.heuristic_report import Findings, Judged
    from farthest.queries.paths import Nearer
    from farthest.verify.report import Report


ROWS_READ = 1_000_000
"""Readable rows of a layer that are taken instead of reading a whole residue map."""
FARTHEST_DRAWN = 6
"""Boards that a notebook shows of a map."""
READ_SOON = 2**24
"""States of a map whose last layer is read for them."""


def open_map(
    job: str | SupportsIndex | JobRecord, database: str | Path | None = None, *, told_of: str | None = None
) -> DistanceMap:
    """The map of a job. ``job``: its number, or a puzzle's name for its newest complete map, or its newest one if a
    depth limit has cut off all of them. ``told_of``: "goal" or "start": a name means rather a map that is counted from
    elsewhere, and so has more to say of it.

    ``database``: a SQLAlchemy URL or the name of a SQLite file; None: the environment variable
    FARTHEST_DATABASE_URL, else ``farthest.db`` in the working directory. Raises JobError where there is no
    such job or it has no map, StorageError where the database cannot be read.
    """
    opened = open_database(database, create=False)
    try:
        return DistanceMap(opened, JobReader(opened).find(job_text(job), has_map=True, told_of=told_of))
    except BaseException:
        opened.close()
        raise


class DistanceMap(StoredMap):
    """The distances of all states of one finished job, and the questions to them; see StoredMap."""

    # --- solutions ---------------------------------------------------------------------------------------

    def path(self, board: GivenBoard) -> BoardPath:
        """The boards of one optimal solution, both ends included, in the order in which the moves are made; its
        ``moves`` are those between them, and a notebook draws it.

        It leads from the board to the origin, or from the origin to the board where distances are counted so.
        Raises as `distance` does.
        """
        return BoardPath(self.puzzle, self.named(self.way(board)))

    def way(self, board: GivenBoard) -> Way:
        """The solution that `path` gives, boards and moves in the order in which the moves are made."""
        labels = self.labels(board)
        way = walk(self._nearer, numpy.array(labels, dtype=numpy.uint8), self._distance(labels))
        return self._in_order_of_moves(way)

    def solutions(self, board: GivenBoard, limit: int | None = None) -> Iterator[list[str]]:
        """Optimal solutions, each as `path` gives it, at most ``limit``, always in the same order.

        Two solutions with different moves may pass through the same boards. Raises as `distance` does.
        """
        ways = self.solutions_of(self.solution_graph(board), limit)
        return (self.named(way).texts for way in ways)

    def solutions_of(self, graph: SolutionGraph, limit: int | None = None) -> Iterator[Way]:
        """The solutions of a graph, at most ``limit``, boards and moves in the order in which the moves are made."""
        return map(self._in_order_of_moves, map(graph.way, islice(graph.solutions(), limit)))

    def named(self, way: Way) -> NamedPath:
        """A solution as it is shown: each piece keeps its name."""
        return self.puzzle.definition.named_path(way.boards, way.moves)

    def count_solutions(self, board: GivenBoard) -> int:
        """The exact number of optimal solutions; solutions with different moves are counted apart.
        Raises as `distance` does."""
        return self.solution_graph(board).count()

    def solution_graph(self, board: GivenBoard, *, limit: int | None = None) -> SolutionGraph:
        """All optimal solutions of a board as a graph of levels, from the board to the origin.

        Where the space does not know what leads to a state, the map is read once for each move of a solution. Raises
        LargeGraphError where the graph would have more than ``limit`` boards.
        """
        labels = self.labels(board)
        start = numpy.array([labels], dtype=numpy.uint8)
        return SolutionGraph(self.space, self._nearer, start, numpy.array([self._distance(labels)]), limit)

    def neighbours(self, board: GivenBoard) -> list[Neighbour]:
        """The player's moves on a board with the distance after each, the least first; -1 and last where there is none.

        Raises BoardError where the board is malformed.
        """
        return neighbours(self, board)

    @cached_property
    def _nearer(self) -> Nearer:
        return nearer_moves(
            self.space, self.lookup, lambda depth: (block.labels for block in self.state_blocks(depth))
        )

    def _in_order_of_moves(self, way: Way) -> Way:
        return way if self.origin.direction == "to" else way.reversed()

    # --- states ------------------------------------------------------------------------------------------

    def farthest(self, limit: int | None = None) -> list[str]:
        """The boards of the last layer in key order, at most ``limit``; None: all of them."""
        return list(islice(self.states_at(self.depth), limit))

    def states_at(self, depth: int) -> Iterator[str]:
        """The boards at one distance in key order, read as they are asked for. Raises JobError beyond the
        last layer."""
        self.check_depth(depth)
        if depth == self.depth and self.record.keeps_residues:
            kept = self._readable_boards(ROWS_READ)
            if len(kept) == self.layers[depth]:
                return iter(kept)
        return (
            text for block in self.state_blocks(depth) for text in self.puzzle.definition.texts(block.labels)
        )

    @overload
    def random(self, *, distance: int | None = None, seed: int | None = None) -> str: ...

    @overload
    def random(self, count: int, *, distance: int | None = None, seed: int | None = None) -> list[str]: ...

    def random(
        self, count: int | None = None, *, distance: int | None = None, seed: int | None = None
    ) -> str | list[str]:
        """The board of a random state at ``distance`` (None: of any), each with the same chance; with ``count`` a list
        of so many, in which a board may come twice.

        ``seed``: the same boards for the same number of 0 or more. Raises JobError beyond the last layer.
        """
        import secrets

        source = RandomSource(secrets.randbits(64) if seed is None else seed)
        found = list(random_states(self, 1 if count is None else count, source, distance))
        return found[0] if count is None else found

    def symmetry_classes(self, *, inverses: bool = False) -> SymmetryClasses:
        """The number of classes of each layer by the symmetries that fix the origin; with ``inverses`` a state and its
        inverse are alike too. Reads the whole map. Raises JobError where symmetries, or inverses, are not known.
        """
        return symmetry_classes(self, inverses=inverses)

    def representatives(self, depth: int, *, inverses: bool = False) -> Iterator[str]:
        """The boards at one distance up to symmetry: of each class the first in key order. Raises as
        `symmetry_classes`, and JobError beyond the last layer."""
        return representatives(self, depth, inverses=inverses)

    def diameter(self, board: GivenBoard | None = None, *, limit: int = 1) -> Diameter:
        """The diameter of a component, by the distances between all pairs of its states: how many pairs are so far
        apart, ``limit`` of them, how many states have each eccentricity.

        The component is that of ``board``; None: of the start, else of the first origin. Where not every move can be
        taken back, it is the whole map, and pairs are ordered. Raises ResourceError for more than 100,000 states,
        UnreachableError where the map has no such board, JobError where boards are not joined by moves.
        """
        from farthest.queries.diameter import diameter

        return diameter(self, board, limit=limit)

    def _readable_boards(self, limit: int) -> list[str]:
        """The boards of the last layer that are stored as text, at most ``limit``."""
        from farthest.models.map_reader import MapReader

        return [row.board for row in islice(MapReader(self.database).states(self.job, self.depth), limit)]

    # --- tables and graphs -------------------------------------------------------------------------------

    def to_pandas(
        self, what: What = "states", *, distance: int | None = None, cells: bool = False
    ) -> pandas.DataFrame:
        """A table of the states (of one ``distance``; None: all), with the columns that `export` writes; or of the
        "layers": depth, states, seconds.

        Raises MissingLibraryError without pandas, ResourceError for more than 50,000,000 states.
        """
        from farthest.queries.exports import columns, optional

        library = optional("pandas", "frames", "to_pandas")
        return library.DataFrame(columns(self, what, distance, cells=cells))

    def to_polars(
        self, what: What = "states", *, distance: int | None = None, cells: bool = False
    ) -> polars.DataFrame:
        """As `to_pandas`, with polars."""
        from farthest.queries.exports import columns, optional

        library = optional("polars", "frames", "to_polars")
        table: polars.DataFrame = library.DataFrame(columns(self, what, distance, cells=cells))
        return table

    def graph(self) -> networkx.DiGraph:
        """The states and the moves between them as a networkx graph: each node is the text of a board, with its
        ``distance``; each edge leads from a board to the board after a move, with the ``moves`` as text.

        Raises MissingLibraryError without networkx, ResourceError for more than 100,000 states.
        """
        from farthest.queries.exports import state_graph

        return state_graph(self)

    # --- files and proof ---------------------------------------------------------------------------------

    def export(
        self,
        file: str | Path | BinaryIO,
        *,
        format: str | None = None,
        force: bool = False,
        cells: bool = False,
    ) -> int:
        """Write key, board and distance of every state to a .parquet, .csv or .npz file, or at most 100,000 states and
        their moves to a .graphml file; returns the number of states.

        ``format``: "parquet", "csv", "npz" or "graphml", where the ending does not say it; needed where ``file`` is a
        stream of bytes. ``cells``: of .parquet and .csv, a column for each cell in place of the board's text. Raises
        OutputError where the file cannot be written, or exists and ``force`` is not given.
        """
        from farthest.queries.exports import export_map

        return export_map(self, file, format=format, force=force, cells=cells)

    def dataset(
        self,
        folder: str | Path,
        *,
        sample: int | None = None,
        per_layer: int | None = None,
        seed: int = 1,
    ) -> Dataset:
        """Write states as data for learning into a new folder: files .parquet of integers, divided into train,
        validation and test by classes of states that are alike by symmetry, and a README.md that explains them.

        All states; or ``sample`` of them; or ``per_layer`` of each layer. Raises OutputError where the folder exists or
        cannot be written, MissingLibraryError without pyarrow, ResourceError where it takes more than the memory.
        """
        from farthest.queries.dataset import Sample, write_dataset

        return write_dataset(self, folder, Sample(sample, per_layer, seed))

    def plot(self, file: str | Path | None = None, *, log: bool = False, force: bool = False) -> Drawing:
        """Draw the number of states at each depth, for a notebook; and to a .png or .svg file where one is given.

        ``log``: the number of states on a logarithmic axis. ``force``: replace a file that exists. Raises as `export`
        does."""
        from farthest.drawing.chart import Chart
        from farthest.drawing.svg import Drawing
        from farthest.queries.output_files import plot_layers

        if file is not None:
            plot_layers(self.layers, file, title=self.puzzle.title, log=log, force=force)
        return Drawing(Chart(self.layers, logarithmic=log).document(self.puzzle.title))

    def _repr_html_(self) -> str:
        from farthest.drawing.chart import Chart
        from farthest.drawing.svg import boards_svg, facts, image

        last = self.layers[-1]
        rows = [
            ("states", f"{self.states:,}"),
            ("eccentricity" if self.complete else "depth, where it was cut off", f"{self.depth:,}"),
            ("origin", f"moves are counted {self.origin.direction} {self.origin.where}"),
            ("farthest boards", f"{last:,}"),
            ("job", str(self.job)),
            ("digest", self.digest),
        ]
        parts = [
            facts(f"{self.puzzle.title} ({self.record.name})", rows),
            image(Chart(self.layers).document(self.record.name), f"States at each depth, 0 to {self.depth}"),
        ]
        soon = self.states <= READ_SOON
        boards = self.farthest(FARTHEST_DRAWN) if soon else self._readable_boards(FARTHEST_DRAWN)
        if boards:
            captioned = [("", self.puzzle.definition.parse_board(board)) for board in boards]
            title = f"{len(boards)} of {last:,} farthest boards"
            parts.append(image(boards_svg(self.puzzle, captioned, title), f"{title}: {', '.join(boards)}"))
        return "".join(parts)

    def verify(self, memory: int | None = None, scratch: Path | None = None) -> Report:
        """Prove the whole map, and what is stored with it, by the separate program of `farthest verify`.

        ``memory``: bytes that the proof of a large map may use, four fifths of what is free by default;
        ``scratch``: the folder for what is more than that, as for `farthest enumerate --scratch`.
        """
        from farthest.queries.proof import prove

        return prove(self, memory, scratch)

    def heuristics(self, texts: str | Sequence[str] = (), *, limit: int = 3) -> list[Findings]:
        """Compare heuristics with the whole map, as `farthest heuristic` does: whether they are admissible and
        consistent, and how near they come.

        ``texts``: as on the command line; without any: all that are for the puzzle. ``limit``: most counterexamples of
        each kind besides the worst. Raises SettingError where a text is wrong, JobError where the map's distances are
        from its origin and not every move can be taken back.
        """
        from farthest.queries.heuristic_report import compare_heuristics, open_heuristics

        chosen = [texts] if isinstance(texts, str) else texts
        return compare_heuristics(self, open_heuristics(self, chosen), limit=limit)

    def judge(
        self,
        function: Judged,
        *,
        batch: int = 65_536,
        sample: int | None = None,
        seed: int = 1,
        limit: int = 3,
    ) -> Findings:
        """Judge any function as a heuristic: how many of its values are more than the distance, how many moves take
        away more than 1, its errors by distance, what IDA* would expand. That no value is too large is proved where all
        states were looked at; else boards are told that disprove it.

        ``function``: from boards, uint8 of shape (boards, cells), ``batch`` at most, to a number for each; such as a
        network. ``sample``: so many states instead of all. ``limit``: as for `heuristics`. Raises SettingError where
        what it returns is not that, JobError as `heuristics` does.
        """
        from farthest.queries.heuristic_report import Function, compare_heuristics, goals_of

        goals_of(self)
        if sample is not None and sample < 1:
            raise SettingError(f"sample {sample}: expected 1 or more")
        boards = None if sample is None else sampled_states(self, sample, RandomSource(seed))
        (found,) = compare_heuristics(self, [Function(function, batch)], limit=limit, sample=boards)
        return found
