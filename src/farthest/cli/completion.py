"""What shells complete: puzzles, jobs, heuristics and algorithms; and `farthest completion`, which sets a shell up.

Completion is quick and silent: after any error, such as a database that cannot be reached, it completes to nothing.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem, get_completion_class

from farthest.heuristics import ALGORITHMS, AUTO

Answer = TypeVar("Answer")
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]

DATABASE_SECONDS = 1.0
"""How long a database may take to answer."""
MOST_FILES = 1000
MOST_JOBS = 200
"""How many jobs are read, the newest first."""
BUSY_SECONDS = 0.2
CONNECT_SECONDS = 2

_QUERY = f"SELECT id, name, status FROM job ORDER BY id DESC LIMIT {MOST_JOBS}"

_PLAIN = re.compile(r"[\w.+@,=%:-]+")
"""What stands in a command line without quotes."""
_PART = re.compile(r"(?:.*[,+])?(?:sym:)?", re.DOTALL)
"""What stands before the last name of a heuristic or of a list."""


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a completion script for bash, zsh or fish.

    With it the shell completes commands, options, puzzles, jobs, heuristics and files.

    \b
    Examples:
      eval "$(farthest completion bash)"        in ~/.bashrc
      eval "$(farthest completion zsh)"         in ~/.zshrc, after compinit
      farthest completion fish | source         in ~/.config/fish/config.fish
    """
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(context.find_root().command, {}, "farthest", "_FARTHEST_COMPLETE").source(), nl=False)


def complete_puzzle(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Names of the catalogue, with their titles, and files of puzzles in this folder; of other folders any file."""
    if os.sep in incomplete or incomplete.startswith("~"):
        return [CompletionItem(incomplete, type="file")]
    from farthest.puzzles import catalogue

    items = []
    with suppress(OSError):
        items += _items(catalogue.titles().items(), incomplete)
    with suppress(OSError):
        files = sorted(name for name in os.listdir() if name.endswith(catalogue.puzzle_file_endings()))
        items += _items(((name, "file") for name in files[:MOST_FILES]), incomplete)
    return items


def complete_job(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Numbers of jobs, the newest first, with their puzzles and states; and the puzzles' names."""
    jobs = _within(DATABASE_SECONDS, lambda: _newest_jobs(context.params.get("database"))) or []
    named: dict[str, str] = {}
    for number, name, status in jobs:
        named.setdefault(name, f"newest: job {number}, {status}")
    numbers = [(number, f"{name}, {status}") for number, name, status in jobs]
    return _items([*numbers, *named.items()], incomplete)


def complete_heuristic(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Names of heuristics: those for the puzzle where one is named before, else all. The last of a sum or list."""
    from farthest.errors import FarthestError
    from farthest.heuristics.registry import PARTITIONS, SIMPLE, applicable, partitions
    from farthest.puzzles.catalogue import load

    # While the option has no value, click leaves the arguments before it unread in ``args``.
    read = (context.params.get(key) for key in ("puzzle", "name", "job"))
    puzzle = next(filter(None, [*read, *context.args]), "")
    names = [AUTO, *SIMPLE, *PARTITIONS]
    with suppress(FarthestError, OSError):
        loaded = load(puzzle)
        names = [AUTO, *applicable(loaded), *partitions(loaded)]
    return _last_part(names, incomplete)


def complete_algorithms(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """The last of a list of algorithms with commas between."""
    return _last_part(list(ALGORITHMS), incomplete)


def complete_starts(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Names of sets of starts."""
    return _items(
        ((f"rush-hour-{size}x{size}", "all boards of Rush Hour") for size in (3, 4, 5, 6)), incomplete
    )


def complete_set(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Names of published sets of boards."""
    from farthest.puzzles.board_sets import board_set, set_names

    return _items(((name, board_set(name).title) for name in set_names()), incomplete)


def _complete_kind(kind: str) -> Completer:
    return lambda context, parameter, incomplete: [CompletionItem(incomplete, type=kind)]


def _complete_words(*words: tuple[str, str]) -> Completer:
    return lambda context, parameter, incomplete: _items(words, incomplete)


complete_file, complete_folder = _complete_kind("file"), _complete_kind("dir")
"""Any file, or folder, as the shell completes them."""

complete_origin = _complete_words(("goal", ""), ("start", ""))
"""What moves are counted from or to."""

complete_host = _complete_words(
    ("127.0.0.1", "this machine"), ("0.0.0.0", "all addresses"), ("::1", "this machine, IPv6")
)
"""Where a server may listen."""


def _last_part(names: Iterable[str], incomplete: str) -> list[CompletionItem[str]]:
    found = _PART.match(incomplete)
    before = found[0] if found else ""
    return _items(((before + name, "") for name in names), incomplete)


def _items(found: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem[str]]:
    """The words with this beginning, and their meaning. Those that need quotes are left out, as shells get plain
    words."""
    from farthest.safe_text import safe

    return [
        CompletionItem(word, help=" ".join(safe(text).split()) or None)
        for word, text in found
        if word.startswith(incomplete) and _PLAIN.fullmatch(word)
    ]


def _within(seconds: float, question: Callable[[], Answer]) -> Answer | None:
    """The answer to the question; None where it fails or takes longer. Its thread is not waited for."""
    answers: list[Answer] = []

    def ask() -> None:
        with suppress(Exception):
            answers.append(question())

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds)
    return answers[0] if answers else None


def _newest_jobs(url: str | None) -> list[tuple[str, str, str]]:
    """The newest jobs of the database that commands would open for ``url``, the newest first: number, puzzle, status as
    it is stored. They are read without SQLAlchemy, which is slow to import, and nothing is changed. Raises any
    exception where that fails."""
    from farthest.environment import DATABASE_URL

    text = url or DATABASE_URL.text()
    if text.startswith(("postgresql://", "postgresql+psycopg://", "postgres://")):
        rows = _of_server("postgresql://" + text.partition("://")[2])
    else:
        rows = _of_file(_file(text))
    return [(str(number), str(name), str(status)) for number, name, status in rows]


def _file(text: str) -> str:
    from urllib.parse import unquote

    if "://" not in text:
        return os.path.expanduser(text)
    scheme, _, path = text.partition(":///")
    if not scheme.startswith("sqlite") or not path:
        raise ValueError(text)
    return unquote(path.partition("?")[0])


def _of_file(path: str) -> list[tuple[Any, ...]]:
    import sqlite3
    from urllib.parse import quote

    if not os.path.isfile(path):  # SQLite would wait for a pipe
        return []
    # Nothing is written; but a user who may only read the file would leave FILE-wal and FILE-shm behind.
    place = f"file:{quote(os.path.abspath(path))}?mode=rw"
    with closing(sqlite3.connect(place, uri=True, timeout=BUSY_SECONDS)) as database:
        database.execute("PRAGMA query_only = ON")
        database.execute("PRAGMA trusted_schema = OFF")
        return database.execute(_QUERY).fetchall()


def _of_server(url: str) -> list[tuple[Any, ...]]:
    import psycopg

    with psycopg.connect(url, connect_timeout=CONNECT_SECONDS) as connection:
        return connection.execute(_QUERY).fetchall()
