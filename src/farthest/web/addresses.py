"""The addresses of pages; boards and names are %-encoded."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def home_page(words: str = "", before: int | None = None) -> str:
    """The first page: jobs and puzzles whose names have these words; jobs with numbers less than ``before``."""
    return _with("/", ({"q": words} if words else {}) | ({} if before is None else {"before": str(before)}))


def job_page(number: int, **query: str) -> str:
    """One job."""
    return _with(f"/jobs/{number}", query)


def state_page(number: int, board: str, **query: str) -> str:
    """One state of a job's map."""
    return _with(f"/jobs/{number}/state", {"board": board, **query})


def layer_page(number: int, depth: int) -> str:
    """The states of one depth."""
    return f"/jobs/{number}/layers/{depth}"


def random_state(number: int, depth: int | None = None) -> str:
    """Leads to any state, or to any of one depth."""
    return _with(f"/jobs/{number}/random", {} if depth is None else {"depth": str(depth)})


def puzzle_page(name: str) -> str:
    """One puzzle of the catalogue, or of a parametric name."""
    return f"/puzzles/{quote(name, safe='')}"


def _with(path: str, query: dict[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path
