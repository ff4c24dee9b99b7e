"""Exhaustive enumeration of puzzle state spaces: every state, its exact distance, the farthest ones.

>>> import farthest
>>> m = farthest.enumerate("eight-kinds")  # doctest: +SKIP
>>> m.states, m.eccentricity  # doctest: +SKIP
(90720, 30)

The names below are imported when they are first used: `import farthest` alone costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which takes some milliseconds
if TYPE_CHECKING:
    from farthest.api.maps import cancel_job as cancel_job
    from farthest.api.maps import delete_job as delete_job
    from farthest.api.maps import enumerate as enumerate  # noqa: A004 - the verb of the command line
    from farthest.api.maps import histogram as histogram
    from farthest.api.maps import jobs as jobs
    from farthest.api.maps import load_puzzle as load_puzzle
    from farthest.api.maps import pattern_map as pattern_map
    from farthest.api.maps import puzzle_names as puzzle_names
    from farthest.api.maps import random_boards as random_boards
    from farthest.api.maps import resume_job as resume_job
    from farthest.api.maps import submit as submit
    from farthest.api.searches import compare as compare
    from farthest.api.searches import heuristic_values as heuristic_values
    from farthest.api.searches import solve as solve
    from farthest.api.searches import solve_many as solve_many
    from farthest.api.surveys import Survey as Survey
    from farthest.api.surveys import open_survey as open_survey
    from farthest.api.surveys import survey as survey
    from farthest.api.surveys import survey_cosets as survey_cosets
    from farthest.api.surveys import surveys as surveys
    from farthest.coordinator.search.settings import SearchOutcome as SearchOutcome
    from farthest.coordinator.settings import Outcome as Outcome
    from farthest.errors import BoardError as BoardError
    from farthest.errors import FarthestError as FarthestError
    from farthest.errors import JobError as JobError
    from farthest.errors import MissingLibraryError as MissingLibraryError
    from farthest.errors import PuzzleError as PuzzleError
    from farthest.errors import ResourceError as ResourceError
    from farthest.errors import SearchError as SearchError
    from farthest.errors import SettingError as SettingError
    from farthest.errors import StorageError as StorageError
    from farthest.errors import UnreachableError as UnreachableError
    from farthest.families.permutation.generator_text import Permutations as Permutations
    from farthest.families.python.allowed import PuzzleSpace as PuzzleSpace
    from farthest.families.python.allowed import allow_module as allow_module
    from farthest.families.python.user_class import NO_STATE as NO_STATE
    from farthest.models.records import JobRecord as JobRecord
    from farthest.puzzles.puzzle import Origin as Origin
    from farthest.puzzles.puzzle import Puzzle as Puzzle
    from farthest.queries.distance_map import DistanceMap as DistanceMap
    from farthest.queries.distance_map import open_map as open_map
    from farthest.queries.paths import BoardPath as BoardPath
    from farthest.search.walking import Walker as Walker
    from farthest.search.walking import copies as copies
    from farthest.version import __version__ as __version__


_HOMES = {
    "farthest.api.maps": (
        "cancel_job",
        "delete_job",
        "enumerate",
        "histogram",
        "jobs",
        "load_puzzle",
        "pattern_map",
        "puzzle_names",
        "random_boards",
        "resume_job",
        "submit",
    ),
    "farthest.api.searches": ("compare", "heuristic_values", "solve", "solve_many"),
    "farthest.api.surveys": ("Survey", "open_survey", "survey", "survey_cosets", "surveys"),
    "farthest.errors": (
        "BoardError",
        "FarthestError",
        "JobError",
        "MissingLibraryError",
        "PuzzleError",
        "ResourceError",
        "SearchError",
        "SettingError",
        "StorageError",
        "UnreachableError",
    ),
    "farthest.families.permutation.generator_text": ("Permutations",),
    "farthest.puzzles.puzzle": ("Origin", "Puzzle"),
    "farthest.families.python.allowed": ("PuzzleSpace", "allow_module"),
    "farthest.families.python.user_class": ("NO_STATE",),
    "farthest.coordinator.search.settings": ("SearchOutcome",),
    "farthest.coordinator.settings": ("Outcome",),
    "farthest.models.records": ("JobRecord",),
    "farthest.queries.paths": ("BoardPath",),
    "farthest.queries.distance_map": ("DistanceMap", "open_map"),
    "farthest.search.walking": ("Walker", "copies"),
    "farthest.version": ("__version__",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = [*_HOME_OF]  # noqa: PLE0604  # all are strings


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
