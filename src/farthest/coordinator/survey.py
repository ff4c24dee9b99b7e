"""Surveys: the parts that are not done are done side by side, and stored as they end."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from farthest.models.surveys import StoredSurvey, Surveys

if TYPE_CHECKING:
    from farthest.models.database import Database
    from farthest.survey import Part, Starts

AHEAD = 2
"""Parts that wait for each thread: few, so that few are begun in vain where the survey is deleted."""


@dataclass(frozen=True, slots=True)
class SurveyProgress:
    """Of so many ``parts`` so many are ``done``; ``components``: that these have kept now."""

    parts: int
    done: int
    components: int


Watch = Callable[[SurveyProgress], None]


def survey_by_threads(
    starts: Starts, database: Database, *, threads: int, parts: int | None = None, watch: Watch
) -> StoredSurvey:
    """Does the parts of a survey that are not stored; ``parts``: into how many a new one is divided. Nothing of a part
    that is under way is kept at an interrupt. Raises JobError where the survey is deleted meanwhile."""
    surveys = Surveys(database)
    begun = surveys.begin(starts, parts)
    number, whole = begun.id, begun.record.parts

    def do(part: int) -> tuple[int, Part, float]:
        began = perf_counter()
        found = starts.survey(part, whole)
        return part, found, perf_counter() - began

    missing = iter(surveys.missing(number))
    done, kept = begun.done, begun.components
    pool = ThreadPoolExecutor(threads)
    try:
        waiting: set[Future[tuple[int, Part, float]]] = set()
        while True:
            while len(waiting) < AHEAD * threads and (part := next(missing, None)) is not None:
                waiting.add(pool.submit(do, part))
            if not waiting:
                return surveys.get(number)
            ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for each in ended:
                part, found, seconds = each.result()
                if surveys.store(number, part, found, seconds):
                    kept += len(found.components)
                done += 1
            watch(SurveyProgress(whole, done, kept))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
