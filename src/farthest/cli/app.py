"""The group `farthest` with its commands, and how errors are shown.

The module of a command is imported when the command is used.
"""

from __future__ import annotations

import errno
import os
import sys
from collections import UserDict
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click
from click.exceptions import Exit

import farthest
from farthest.cli import INTERRUPTED
from farthest.cli.interruption import interrupts_raised
from farthest.errors import FarthestError
from farthest.safe_text import safe_streams

BROKEN_PIPE = 141  # 128 + SIGPIPE
STREAM_ERRORS = (errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF)


GROUPS = {
    "First": {
        "puzzles": "puzzles",
        "enumerate": "enumeration",
        "path": "ask",
        "solve": "solve",
        "serve": "services",
    },
    "Ask a map": {
        "distance": "ask",
        "states": "whole_map",
        "random": "puzzles",
        "symmetry": "whole_map",
        "diameter": "whole_map",
        "export": "whole_map",
        "dataset": "whole_map",
        "plot": "whole_map",
        "verify": "whole_map",
    },
    "Enumerate": {"estimate": "enumeration"},
    "Search": {"heuristic": "heuristics", "compare": "heuristics"},
    "Many small spaces": {"survey": "survey", "cosets": "survey", "surveys": "survey"},
    "Jobs": {"jobs": "jobs", "show": "jobs", "delete": "jobs"},
    "Many machines": {
        "submit": "queue",
        "watch": "queue",
        "cancel": "queue",
        "resume": "queue",
        "coordinator": "services",
        "worker": "services",
        "workers": "services",
        "migrate": "services",
    },
    "Others": {"draw": "puzzles", "completion": "completion"},
}
"""What `--help` lists: the commands below headings, each with its module in ``farthest.cli``."""

HOMES = {name: home for names in GROUPS.values() for name, home in names.items()}


class Commands(UserDict[str, Any]):
    """The commands by name; ``HOMES`` until they are asked for."""

    def __getitem__(self, name: str) -> click.Command:
        command = super().__getitem__(name)
        if isinstance(command, str):
            home = import_module(f"farthest.cli.{command}")
            command = self[name] = getattr(home, name if name != "enumerate" else "enumerate_")
        assert isinstance(command, click.Command)
        return command


class Failure(click.ClickException):
    """One message, `Error: ...`, and an exit status. It is one line: a line break, such as in a file's name, is shown
    as an escape."""

    def __init__(self, message: str, exit_status: int) -> None:
        super().__init__(message.replace("\n", "\\n"))
        self.exit_code = exit_status  # type: ignore[misc]  # what click reads


class Program(click.Group):
    """A group whose commands end with a message and a status, never with a traceback, for errors that a user can
    cause."""

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.commands = Commands(HOMES)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of ``GROUPS``, not the alphabetical one."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by what they are for."""
        longest = max(map(len, self.commands))
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                room = formatter.width - longest - 6
                formatter.write_dl(
                    [(f"{name:{longest}}", self.commands[name].get_short_help_str(room)) for name in names]
                )

    def main(self, *args: Any, **extra: Any) -> Any:
        """As in click; the output, errors included, may contain any text, so the streams are made safe."""
        with safe_streams():
            return super().main(*args, **extra)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """As in click, which prints `--help` and `--version` here."""
        with reported():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with reported(), interrupts_raised():
            result = super().invoke(ctx)
            if sys.stdout is not None:  # not closed from the beginning
                sys.stdout.flush()  # at the end of the process errors could not be reported
            return result


@contextmanager
def reported() -> Iterator[None]:
    """Turns errors that a user can cause into one message and an exit status."""
    try:
        yield
    except FarthestError as error:
        from farthest.cli.printing import suggesting

        raise Failure(suggesting(str(error)), error.exit_status) from error
    except KeyboardInterrupt as error:
        if type(error) is KeyboardInterrupt:  # not one that was told already, with what is kept
            click.echo("Interrupted; the same command starts from the beginning.", err=True)
        raise Exit(INTERRUPTED) from error
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        if "\udc80" <= character <= "\udcff":  # a byte of an argument that is not text in this encoding
            message = (
                "an argument is not text in the encoding of this locale; use UTF-8, such as LANG=C.UTF-8"
            )
        else:
            message = (
                f"standard output cannot show {character!r}: its encoding is {error.encoding}; "
                "set PYTHONIOENCODING=utf-8"
            )
        raise Failure(message, FarthestError.exit_status) from error
    except OSError as error:
        if error.filename is None:  # files have names, the standard streams do not
            if error.errno not in STREAM_ERRORS:
                raise
            _discard_output()
        if error.errno == errno.EPIPE:  # the reader, such as `head`, has ended
            raise Exit(BROKEN_PIPE) from error
        place = error.filename or "standard output"
        raise Failure(f"{place}: {error.strerror or error}", FarthestError.exit_status) from error


def _discard_output() -> None:
    """Discard what Python would still write to standard output at its end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _show_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"farthest {farthest.__version__}")
        ctx.exit()


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version.",
)
def cli() -> None:
    """Enumerate the whole state space of a puzzle, ask its distance map, or search for one board's solutions.

    \b
    Example:
      farthest enumerate 8-puzzle
      farthest path 8-puzzle 867254301
      farthest solve cube "R U' F2 R2"
    """
