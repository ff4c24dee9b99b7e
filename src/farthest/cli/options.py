"""What several commands share: options and types of their arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<prefix>[kmgt]?)(?P<unit>ib|b|)", re.IGNORECASE)


def byte_size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """The callback of an option that is a number of bytes.

    4GiB and 4g are 4 * 1024**3 bytes, 4GB 4 * 1000**3; a number without a unit counts bytes.
    """
    if value is None:
        return None
    match = _SIZE.fullmatch(value.strip())
    if not match:
        raise click.BadParameter(
            f"{value!r} is not a size; expected a number and a unit, such as 4GiB, 500MB or 1.5g"
        )
    base = 1000 if match["unit"].lower() == "b" else 1024
    size = int(float(match["number"]) * base ** _POWERS[match["prefix"].lower()])
    if size < 1:
        raise click.BadParameter(f"{value!r} is not a size; expected at least one byte")
    return size


def database_option(command: Command) -> Command:
    """`--database URL`."""
    return click.option(
        "--database",
        metavar="URL",
        help="SQLAlchemy URL or SQLite file; else $FARTHEST_DATABASE_URL, else farthest.db here.",
    )(command)


def json_option(command: Command) -> Command:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")(command)


def force_option(command: Command) -> Command:
    """`--force`."""
    return click.option("--force", is_flag=True, help="Replace FILE if it is there already.")(command)
