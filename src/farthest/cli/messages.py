"""Notes and warnings on standard error: one line each."""

from __future__ import annotations

import click


def note(text: str) -> None:
    """Something that the user should know."""
    _tell("Note", text)


def warn(text: str) -> None:
    """Something that is probably wrong."""
    _tell("Warning", text)


def _tell(what: str, text: str) -> None:
    end = "" if text.endswith(".") else "."
    click.echo(f"{what}: {' '.join(text.split())}{end}", err=True)
