"""Estimates of a puzzle's layers from cosets at random (``farthest.cosets``).

All cosets have equally many positions, and each is drawn with the same chance, again and again. So the mean of their
counts at a distance, times the number of cosets, is an estimate of that layer without bias, and its standard error is
that of a mean.

Counts of a coset at neighbouring distances hang together. Where layers of the whole puzzle are known, they serve as
*controls*: the counts are fitted by least squares to those at the controls' distances, and the fit is read where each
control has its known mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, zip_longest
from math import sqrt
from typing import TYPE_CHECKING, Any

from farthest.arrays import np
from farthest.cosets import CosetSet, Drawn
from farthest.errors import JobError, SettingError
from farthest.models.job_reader import JobReader
from farthest.models.stored_job import origin_of
from farthest.puzzles.origin import origin_patterns, where_text
from farthest.wording import counted, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from farthest.models.database import Database
    from farthest.models.surveys import StoredSurvey, Surveys

LEAST_COSETS = 12
"""With fewer there is no regression."""
COSETS_FOR_A_CONTROL = 20
MOST_CONTROLS = 4


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number of positions and its standard error, by regression on the layers at the distances ``controls``. The
    error is 0 where the number is exact; None, not known, where all cosets of a sample have the same count, or exactly
    the fitted one."""

    positions: float
    error: float | None
    controls: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LayerEstimate:
    """Of the layer at a distance: ``mean`` positions of a coset; ``known``: the layer, where it is."""

    distance: int
    mean: float
    plain: Estimate
    regression: Estimate | None
    known: int | None


@dataclass(frozen=True, slots=True)
class CosetEstimates:
    """From ``sampled`` of ``cosets`` cosets, or ``exact`` from all. In ``bounded`` of these each position is ``within``
    so many moves; None without any. ``all_seconds``: for all cosets one after another, of symmetric ones one, as long
    as these took."""

    cosets: int
    sampled: int
    exact: bool
    within: int | None
    bounded: int
    all_seconds: float
    layers: list[LayerEstimate]


def known_layers(texts: Iterable[str], stored: StoredSurvey, database: Database) -> dict[int, int]:
    """The layers that are known of a survey's puzzle: published ones, then those that users give, ``DEPTH=COUNT`` or a
    job of the same puzzle, to or from one board: all boards of a group have the same layers. Raises SettingError, also
    for what cannot be or contradicts another, and JobError."""
    asked = _cosets(stored)
    puzzle, positions = asked.puzzle, asked.of.whole.order
    known = {0: 1}
    for answer in puzzle.known:
        known.update(enumerate(answer.layers or answer.first_layers or ()))

    def add(text: str, depth: int, count: int) -> None:
        if count > positions:
            raise SettingError(f"known {shown(text)}: there are only {positions:,} positions")
        if known.setdefault(depth, count) != count:
            raise SettingError(
                f"known {shown(text)}: {counted(count, 'position')} at distance {depth}; there are {known[depth]:,}, "
                "as is published or given before"
            )

    for text in texts:
        depth, sign, count = text.partition("=")
        digits = count.replace(",", "").replace("_", "")
        if not sign:
            record = JobReader(database).find(text, complete=True)
            if record.puzzle_digest != puzzle.digest:
                raise JobError(
                    f"known {shown(text)}: job {record.id} is of {record.name}, not of {puzzle.name}"
                )
            where = origin_of(record).where
            if len(origin_patterns(puzzle.definition, where, puzzle.name)) > 1:
                raise JobError(
                    f"known {shown(text)}: job {record.id} counts from {where_text(where)}, not from one board"
                )
            for layer in JobReader(database).layers(record.id):
                add(text, layer.depth, layer.states)
        elif depth.isdecimal() and digits.isdecimal() and len(depth) < 4 and len(digits) < 100:
            if int(depth) > asked.depth:
                raise SettingError(
                    f"known {shown(text)}: the survey has no distance {int(depth)}; it is to {asked.depth}"
                )
            add(text, int(depth), int(digits))
        else:
            raise SettingError(
                f"known {shown(text)}: expected DEPTH=COUNT, such as 15=91365146187124313, or a job"
            )
    return known


def estimates(surveys: Surveys, stored: StoredSurvey, known: Mapping[int, int]) -> CosetEstimates:
    """The layers up to the depth of a survey of cosets at random, or of all. Raises JobError for other cosets, and
    where too few are done; StorageError where they are not what was stored."""
    asked = _cosets(stored)
    missing = surveys.missing(stored.id)
    if not isinstance(asked.chosen, Drawn) and (asked.chosen is not None or missing):
        raise JobError(
            f"survey {stored.id} is of {asked}; estimates need cosets at random (--random K), or all of them, done"
        )
    exact = asked.chosen is None
    # Cosets that take less time are done sooner: the sample is those before the first that is missing.
    done = [*islice(surveys.cosets(stored.id), missing[0] if missing else None)]
    sample = [row for row, _ in done]
    if len(sample) < (1 if exact else 2):
        raise JobError(f"survey {stored.id}: {counted(len(sample), 'coset')} done, expected at least 2")
    cosets = asked.of.cosets
    counts = list(zip_longest(*(row.layers for row in sample), fillvalue=0))
    farthest = [row.farthest for row in sample if row.farthest is not None]
    layers = []
    for distance, column in enumerate(counts):
        if exact:
            weighted = (row.weight * count for row, count in zip(sample, column, strict=True))
            plain, regression = Estimate(sum(weighted), 0.0), None
        elif not distance:  # the solved position
            plain, regression = Estimate(1, 0.0), None
        elif len(set(column)) == 1:
            plain, regression = Estimate(cosets * column[0], None), None
        else:
            plain = _fitted(column, [], cosets)
            regression = _by_regression(counts, distance, known, cosets)
        mean = plain.positions / cosets
        layers.append(LayerEstimate(distance, mean, plain, regression, known.get(distance)))
    # A class of symmetric cosets is drawn as often as it has cosets.
    seconds = sum(took if exact else took / row.weight * cosets / len(done) for row, took in done)
    within = max(farthest, default=None)
    return CosetEstimates(cosets, len(sample), exact, within, len(farthest), seconds, layers)


def _cosets(stored: StoredSurvey) -> CosetSet:
    starts = stored.starts
    if not isinstance(starts, CosetSet):
        raise JobError(f"survey {stored.id} is of {stored.record.name}; only cosets give estimates")
    return starts


def _by_regression(
    counts: Sequence[Sequence[int]], distance: int, known: Mapping[int, int], cosets: int
) -> Estimate | None:
    """By the nearest known layers before this one. A layer that most cosets have nothing of is no control: a few cosets
    would decide."""
    sampled = len(counts[distance])
    most = min(MOST_CONTROLS, max(1, sampled // COSETS_FOR_A_CONTROL)) if sampled >= LEAST_COSETS else 0
    dense = [at for at in range(distance) if len(set(counts[at])) > 1 and counts[at].count(0) < sampled / 2]
    controls = [at for at in reversed(dense) if at in known][:most]
    if not controls:
        return None
    columns = [np.array(counts[at], dtype=float) - known[at] / cosets for at in controls]
    return _fitted(counts[distance], columns, cosets, tuple(controls))


def _fitted(
    counts: Sequence[int], columns: Sequence[Any], cosets: int, controls: tuple[int, ...] = ()
) -> Estimate:
    """What is fitted where all ``columns`` are 0; without any it is the mean, and its error that of a mean."""
    given = np.column_stack([np.ones(len(counts)), *(column / column.std() for column in columns)])
    inverse = np.linalg.pinv(given)
    wanted = np.array(counts, dtype=float)
    solution = inverse @ wanted
    left = wanted - given @ solution
    if left @ left < 1e-18 * (wanted @ wanted):  # rounding is no error
        return Estimate(cosets * float(solution[0]), None, controls)
    variance = left @ left / (len(counts) - given.shape[1]) * (inverse[0] @ inverse[0])
    return Estimate(cosets * float(solution[0]), cosets * sqrt(variance), controls)
