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
    from farthest.api.maps import (
        cancel_job,
        delete_job,
        enumerate,  # noqa: A004 - the verb of the command line
        histogram,
        jobs,
        load_puzzle,
        pattern_map,
        puzzle_names,
        random_boards,
        resume_job,
        submit,
    )
    from farthest.api.searches import compare, heuristic_values, solve, solve_many
    from farthest.api.surveys import Survey, open_survey, survey, survey_cosets, surveys
    from farthest.coordinator.search.settings import SearchOutcome
    from farthest.coordinator.settings import Outcome
    from farthest.errors import (
        BoardError,
        FarthestError,
        JobError,
        MissingLibraryError,
        PuzzleError,
        ResourceError,
        SearchError,
        SettingError,
        StorageError,
        UnreachableError,
    )
    from farthest.families.permutation.generator_text import Permutations
    from farthest.families.python.allowed import PuzzleSpace, allow_module
    from farthest.families.python.user_class import NO_STATE
    from farthest.models.records import JobRecord
    from farthest.puzzles.puzzle import Origin, Puzzle
    from farthest.queries.distance_map import DistanceMap, open_map
    from farthest.queries.paths import BoardPath
    from farthest.search.walking import Walker, copies
    from farthest.version import __version__


__all__ = [
    "NO_STATE",
    "BoardError",
    "BoardPath",
    "DistanceMap",
    "FarthestError",
    "JobError",
    "JobRecord",
    "MissingLibraryError",
    "Origin",
    "Outcome",
    "Permutations",
    "Puzzle",
    "PuzzleError",
    "PuzzleSpace",
    "ResourceError",
    "SearchError",
    "SearchOutcome",
    "SettingError",
    "StorageError",
    "Survey",
    "UnreachableError",
    "Walker",
    "__version__",
    "allow_module",
    "cancel_job",
    "compare",
    "copies",
    "delete_job",
    "enumerate",
    "heuristic_values",
    "histogram",
    "jobs",
    "load_puzzle",
    "open_map",
    "open_survey",
    "pattern_map",
    "puzzle_names",
    "random_boards",
    "resume_job",
    "solve",
    "solve_many",
    "submit",
    "survey",
    "survey_cosets",
    "surveys",
]

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


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
