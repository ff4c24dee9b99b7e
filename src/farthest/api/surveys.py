"""Surveys in Python: many small spaces as one task, and the questions to a stored survey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, SupportsIndex

from msgspec.structs import asdict

from farthest.api.bars import progress_bar
from farthest.api.maps import whole
from farthest.coordinator.survey import SurveyProgress, survey_by_threads, survey_by_workers
from farthest.cosets import CosetRow, Drawn, cosets_named
from farthest.documents.surveys import boards_of, exported
from farthest.drawing.svg import facts, image, svg
from farthest.errors import JobError, SettingError
from farthest.machine import cores
from farthest.models.database import Database, open_database
from farthest.models.surveys import MOST, By, StoredSurvey, Surveys
from farthest.puzzles.family import board_picture
from farthest.queries.coset_estimates import CosetEstimates, estimates, known_layers
from farthest.queries.output_files import form_of, written_file
from farthest.starts import NOTHING, Component, Counts, Keep, Starts, starts_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from farthest.families.user_input import GivenBoard, GivenPuzzle


DRAWN = 6
"""Hardest boards that a notebook shows of a survey."""


def survey(
    starts: GivenPuzzle,
    *,
    boards: Sequence[GivenBoard] | None = None,
    pieces: SupportsIndex | None = None,
    walls: SupportsIndex | None = None,
    row: SupportsIndex | None = None,
    keep: Keep | None = None,
    parts: SupportsIndex | None = None,
    workers: Literal["threads", "celery"] = "threads",
    threads: SupportsIndex | None = None,
    database: str | Path | None = None,
    progress: bool | None = None,
) -> Survey:
    """Find the components of many small spaces and the hardest board of each, store them, and return the survey.

    ``starts``: ``rush-hour-6x6``, all boards of Rush Hour of that size; or a sliding block puzzle: all placements of
    its pieces; with ``boards`` these alone; a text has one on each line. ``pieces``, ``walls``: most of a board, and
    ``row``: that of the piece that leaves, from 1, all of Rush Hour. ``keep``: which components have a row; None:
    minimal, of a puzzle or of boards all. ``parts``: into how many a new survey is divided; None: some seconds each.
    ``workers``: who does them; ``threads``: None: one per processor. ``database``: as for `open_map`; the file is made
    where there is none. ``progress``: as for `enumerate`. A survey that was broken off is gone on with. Raises
    SettingError, PuzzleError, BoardError, ResourceError or StorageError.
    """
    divided = _within("parts", parts, 1, 10_000_000)
    asked = starts_named(
        starts, whole("pieces", pieces), whole("row", row), keep, boards, whole("walls", walls)
    )
    return _surveyed(asked, divided, workers, threads, database, progress)


def survey_cosets(
    puzzle: GivenPuzzle,
    *,
    subgroup: str,
    depth: SupportsIndex,
    cosets: Sequence[str] | None = None,
    random: SupportsIndex | None = None,
    seed: SupportsIndex | None = None,
    workers: Literal["threads", "celery"] = "threads",
    threads: SupportsIndex | None = None,
    database: str | Path | None = None,
    progress: bool | None = None,
) -> Survey:
    """Count the positions of cosets of a subgroup at each distance from solved, store them, and return the survey.

    ``puzzle``: a permutation puzzle; ``subgroup``: moves that generate one, as in ``<U,R2,F2>``. ``depth``: to which
    counts are exact. ``cosets``: those of the positions after these sequences of moves; ``random``: so many at random,
    by ``seed``, None: 0; neither: all. The other arguments, and that it goes on, as of `survey`. Raises TypeError,
    SettingError, PuzzleError, BoardError, ResourceError or StorageError.
    """
    listed = _within("depth", depth, 0, 100)
    if listed is None:
        raise TypeError("depth: expected a whole number, got None")
    drawn, number = _within("random", random, 1, 10**6), _within("seed", seed, 0, 2**31 - 1)
    if drawn is not None and cosets is not None:
        raise SettingError("cosets and random: give one of them")
    if number is not None and drawn is None:
        raise SettingError("seed: it is for random; give random too")
    if cosets is not None and (isinstance(cosets, str) or not isinstance(cosets, Sequence)):
        raise TypeError(
            f"cosets: expected a list of sequences, got {type(cosets).__name__}; write [sequence]"
        )
    chosen = Drawn(drawn, number or 0) if drawn is not None else None if cosets is None else tuple(cosets)
    asked = cosets_named(puzzle, subgroup, listed, chosen)
    asked.check()
    return _surveyed(asked, None, workers, threads, database, progress)


def _surveyed(
    asked: Starts,
    parts: int | None,
    workers: str,
    threads: SupportsIndex | None,
    database: str | Path | None,
    progress: bool | None,
) -> Survey:
    by = _within("threads", threads, 1, 4096)
    if workers not in ("threads", "celery"):
        raise ValueError(f"workers: expected threads or celery, got {workers!r}")
    if workers == "celery" and by is not None:
        raise SettingError("threads: these are of this process; leave them out with workers celery")
    opened = open_database(database, create=True)
    try:
        return Survey(opened, _done(asked, opened, parts, workers, by, progress).id)
    except BaseException:
        opened.close()
        raise


def _within(name: str, value: SupportsIndex | None, least: int, most: int) -> int | None:
    """A whole number, or None. Raises TypeError, SettingError."""
    found = whole(name, value)
    if found is not None and not least <= found <= most:
        raise SettingError(f"{name} {found}: expected {least} to {most:,}")
    return found


def _done(
    asked: Starts,
    database: Database,
    parts: int | None,
    workers: str,
    threads: int | None,
    progress: bool | None,
) -> StoredSurvey:
    with progress_bar(progress) as bar:

        def watch(told: SurveyProgress) -> None:
            bar.tell(str(told), told.done / told.parts)

        if workers == "celery":
            return survey_by_workers(asked, database, parts=parts, watch=watch, notice=bar.tell)
        return survey_by_threads(
            asked, database, threads=threads or cores(), parts=parts, watch=watch, notice=bar.tell
        )


def open_survey(number: SupportsIndex, database: str | Path | None = None) -> Survey:
    """A stored survey, finished or not. ``database``: as for `open_map`. Raises JobError where there is none of that
    number, or StorageError."""
    opened = open_database(database, create=False)
    try:
        return Survey(opened, whole("number", number) or 0)
    except BaseException:
        opened.close()
        raise


def surveys(database: str | Path | None = None) -> list[StoredSurvey]:
    """All surveys of a database, oldest first; the ``name`` of each tells it from others. ``database``: as for
    `open_map`. Raises StorageError."""
    with open_database(database, create=False) as opened:
        return Surveys(opened).all()


class Survey:
    """A stored survey, read from the database when it is asked: one that is under way has what its finished parts have
    found. ``close``, or leaving a ``with`` block, closes the database. All raise JobError where it was deleted, and
    StorageError where it is damaged."""

    def __init__(self, database: Database, number: int) -> None:
        self.database = database
        self.number = number
        self._surveys = Surveys(database)
        self._surveys.get(number)  # raises where there is none

    @property
    def stored(self) -> StoredSurvey:
        """What is stored of it besides its results: its name, and how many parts are done."""
        return self._surveys.get(self.number)

    @property
    def name(self) -> str:
        """The set, and what tells it from others of that name."""
        return self.stored.name

    @property
    def finished(self) -> bool:
        """Whether all parts are done."""
        return self.stored.finished

    @property
    def left(self) -> int:
        """Parts that are not done."""
        stored = self.stored
        return stored.record.parts - stored.done

    @property
    def digest(self) -> str:
        """Equal for equal results, however the survey was divided and whoever did the parts."""
        return self._surveys.digest(self.number)

    @property
    def by_pieces(self) -> dict[int, Counts]:
        """Counts of all components, also of those that have no row, for each number of pieces."""
        return self._surveys.totals(self._of_starts)

    @property
    def totals(self) -> Counts:
        """Counts of all components together."""
        return sum(self.by_pieces.values(), NOTHING)

    def components(self) -> Iterator[Component]:
        """All components that have a row, part by part; the digests of the parts are checked."""
        return self._surveys.components(self._of_starts)

    def top(
        self, count: SupportsIndex = 1, *, by: By = "moves", pieces: SupportsIndex | None = None
    ) -> list[Component]:
        """The components with the most moves, or with the most states, at most ``count``; of boards with so many
        ``pieces``. Raises SettingError for a number that is out of range."""
        if by not in ("moves", "states"):
            raise ValueError(f"by: expected moves or states, got {by!r}")
        limit = _within("count", count, 0, MOST) or 0
        return self._surveys.top(self._of_starts, by, limit, _within("pieces", pieces, 0, MOST))

    def cosets(self) -> list[CosetRow]:
        """Of a survey of cosets: those that are done."""
        if not self.stored.of_cosets:
            return []
        return [row for row, _ in self._surveys.cosets(self.number)]

    def estimates(self, known: Mapping[int, int] | None = None) -> CosetEstimates:
        """Of a survey of cosets at random: the layers of the puzzle with standard errors; of all cosets exactly.
        ``known``: layers by distance that are known beside those published. Raises JobError for others, SettingError
        and TypeError for layers that cannot be."""
        stored = self.stored
        if known is not None and not isinstance(known, Mapping):
            raise TypeError(f"known: expected a dict of layers by distance, got {type(known).__name__}")
        given = [f"{whole('known', at)}={whole('known', count)}" for at, count in (known or {}).items()]
        return estimates(self._surveys, stored, known_layers(given, stored, self.database))

    def export(self, file: str | Path, *, force: bool = False) -> int:
        """Write all components that have a row, or all cosets, to a ``.csv`` file, or to ``.jsonl``, an object on each
        line; how many. ``force``: replace the file. Raises OutputError too."""
        form = form_of(Path(file), (".csv", ".jsonl"))
        written = -1 if form == ".csv" else 0
        rows = exported(self._surveys, self.stored, form)
        with (
            written_file(Path(file), force=force) as part,
            part.open("w", encoding="utf-8", newline="") as stream,
        ):
            for row in rows:
                stream.write(row)
                written += 1
        return written

    def delete(self) -> None:
        """Remove the survey from the database, and the checkpoints of its cosets that this machine sees."""
        from contextlib import suppress

        from farthest.cosets import CosetSet
        from farthest.errors import FarthestError
        from farthest.stores.blobs.coset_bits import drop_checkpoints
        from farthest.stores.blobs.folder import scratch_place
        from farthest.stores.redis.places import place_outside

        with suppress(FarthestError):  # what is damaged, or away, is deleted without
            if isinstance(starts := self.stored.starts, CosetSet):
                missing = self._surveys.missing(self.number)
                for place in (scratch_place(self.database.folder), scratch_place(None), place_outside()):
                    if place is not None:
                        drop_checkpoints(place, starts, missing)
        self._surveys.delete(self.number)

    @property
    def _of_starts(self) -> int:
        """Its number. Raises JobError for a survey of cosets."""
        if self.stored.of_cosets:
            raise JobError(f"survey {self.number} is of cosets, which have no components")
        return self.number

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        stored = self.stored
        rows = [("parts", f"{stored.done:,} of {stored.record.parts:,} done")]
        title = f"survey {self.number}: {self.name}"
        if stored.of_cosets:
            return facts(title, [*rows, ("digest", self.digest)])
        totals, digest = self._surveys.totals_and_digest(self.number)
        counts = asdict(sum(totals.values(), NOTHING)).items()
        rows += [(name.replace("_", " "), f"{count:,}") for name, count in counts if count is not None]
        rows.append(("digest", digest))
        found = boards_of(stored.starts, self.top(DRAWN))
        boards = [(caption, board_picture(puzzle, board)) for caption, puzzle, board in found]
        told = f"Hardest boards: {', '.join(caption for caption, _ in boards)}"
        return facts(title, rows) + (image(svg(boards, title), told) if boards else "")

    def __repr__(self) -> str:
        return repr(self.stored).replace("StoredSurvey", "Survey")
