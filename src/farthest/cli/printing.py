"""Results for people and for programs."""

from __future__ import annotations

import json
import re
import shutil
import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from farthest.documents import plain
from farthest.errors import BoardError
from farthest.safe_text import raw, safe
from farthest.wording import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


GAP = 3  # columns between two boards
LEAST = 3  # columns of a cell that is shortened
SEPARATOR = "  "  # between two columns of a table
VALUES_AT_ONCE = 4096


def print_json(value: Any) -> None:
    """One JSON value on one line."""
    click.echo(json_text(value))


def json_text(value: Any) -> str:
    """JSON on one line; characters beyond ASCII are not escaped where standard output can show them."""
    utf8 = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not utf8, default=plain)


def print_json_list(facts: Mapping[str, Any], name: str, values: Iterator[Any]) -> None:
    """One JSON object whose last field is a list, which is written item by item. A wrong board ends the list: the
    object is still complete, with the items before it."""
    opening = json_text({**facts, name: []})
    click.echo(opening.removesuffix("]}"), nl=False)
    separator = ""
    some: list[str] = []
    try:
        for value in values:
            some.append(separator + json_text(value))
            separator = ", "
            if len(some) == VALUES_AT_ONCE:
                click.echo("".join(some), nl=False)
                some.clear()
    except BoardError:
        click.echo("".join(some) + "]}")
        raise
    click.echo("".join(some) + "]}")


def print_boards(facts: Mapping[str, Any], boards: Iterator[str], *, as_json: bool) -> None:
    """Boards, one per line, written as they are read; or one JSON object with them."""
    if as_json:
        print_json_list(facts, "boards", boards)
        return
    while some := list(islice(boards, VALUES_AT_ONCE)):
        click.echo("\n".join(some))


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: str = "",
    width: int | None = None,
    shortened: Sequence[int] = (),
) -> None:
    """Columns below their headings; ``right`` has an ``r`` for each column to be aligned right, else ``l``.

    Where the rows are wider than ``width``, cells of the columns ``shortened`` are cut, the widest first.
    """
    table = [[safe(cell.replace("\n", " ").replace("\t", " ")) for cell in row] for row in (headings, *rows)]
    widths = [max(columns(row[column]) for row in table) for column in range(len(headings))]
    if width is not None:
        _narrow(widths, width - len(SEPARATOR) * (len(widths) - 1), shortened)
    sides = right.ljust(len(headings), "l")
    lines = []
    for row in table:
        cells = []
        for cell, room, side in zip(row, widths, sides, strict=True):
            text = shortened_to(cell, room)
            blank = " " * (room - columns(text))
            cells.append(blank + text if side == "r" else text + blank)
        lines.append(SEPARATOR.join(cells).rstrip())
    click.echo("\n".join(lines))


def _narrow(widths: list[int], room: int, shortened: Sequence[int]) -> None:
    """Narrows the widest of the columns that may be shortened, until all fit or none can be narrower."""
    for column in shortened:
        widths[column] = min(widths[column], max(room, LEAST))
    while sum(widths) > room:
        widest = max(shortened, key=lambda column: widths[column])
        if widths[widest] <= LEAST:
            return
        widths[widest] -= 1


def shortened_to(text: str, width: int) -> str:
    """The text, or as much of its beginning as fits in ``width`` columns with ``…`` after it."""
    if columns(text) <= width:
        return text
    kept, used = "", 0
    for sign in text:
        used += columns(sign)
        if used >= width:
            break
        kept += sign
    return f"{kept}…"


def print_drawings(
    drawings: Sequence[tuple[str, Sequence[str]]], *, width: int | None = None, indent: str = ""
) -> None:
    """Captions, which may be any text, each above the lines of a drawing as ``coloured`` makes them; side by side.

    No caption: the drawing alone.
    """
    lines = side_by_side(
        [[*([safe(caption)] if caption else []), *drawn] for caption, drawn in drawings], width
    )
    click.echo("\n".join(indent + line for line in lines), file=raw(sys.stdout))


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """A line for each fact: its name, then its value, which may be any text."""
    for name, value in facts:
        click.echo(f"{name:14}" + value.replace("\n", "\\n"))


def side_by_side(drawings: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """Drawings, each of several lines, in rows that fit in ``width`` columns (None: the terminal's)."""
    if width is None:
        width = shutil.get_terminal_size().columns
    widest = max((columns(line) for drawing in drawings for line in drawing), default=0)
    in_a_row = max(1, (width + GAP) // (widest + GAP))
    lines: list[str] = []
    for at in range(0, len(drawings), in_a_row):
        row = drawings[at : at + in_a_row]
        if at:
            lines.append("")
        for number in range(max(map(len, row))):
            cells = [drawing[number] if number < len(drawing) else "" for drawing in row]
            lines.append((" " * GAP).join(cell + " " * (widest - columns(cell)) for cell in cells).rstrip())
    return lines


def event_line(event: str, **values: object) -> None:
    """A line of ``key=value`` pairs for an event; seconds that were measured to the microsecond."""
    pairs = (
        f"{name}={value:.6f}" if isinstance(value, float) else f"{name}={value}"
        for name, value in values.items()
    )
    click.echo(" ".join((event, *pairs)), err=True)


def stderr_is_terminal() -> bool:
    """Whether a person may be shown there what changes."""
    return sys.stderr is not None and sys.stderr.isatty()


DATABASE = "farthest.database"
"""Where `--database` is in a command's context."""

_COMMAND = re.compile(r"(`farthest (?!puzzles|completion|worker)[^`]*)`")
_PASSWORD = re.compile(r"://[^/@]*:[^/@]*@")


def given_database() -> str:
    """` --database URL` as this command was given it, for commands that it suggests; empty where it was not, and where
    that has a password."""
    context = click.get_current_context(silent=True)
    name = None if context is None else context.meta.get(DATABASE)
    if name is None or _PASSWORD.search(name):
        return ""
    from shlex import quote

    return f" --database {quote(name)}"


def suggesting(text: str) -> str:
    """The text with `--database` in the commands that it suggests, where this one was given it."""
    option = given_database() if "`farthest " in text else ""
    return _COMMAND.sub(lambda found: f"{found[1]}{option}`", text) if option else text


def note(text: str) -> None:
    """Something that the user should know."""
    _tell("Note", text)


def warn(text: str) -> None:
    """Something that is probably wrong."""
    _tell("Warning", text)


def _tell(what: str, text: str) -> None:
    end = "" if text.endswith(".") else "."
    click.echo(f"{what}: {' '.join(suggesting(text).split())}{end}", err=True)
