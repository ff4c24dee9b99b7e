"""How to cite a finished job, and its layers as the OEIS takes them."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from farthest.errors import FarthestError, JobError
from farthest.models.records import FINISHED, JobRecord
from farthest.models.stored_job import enumeration_parameters, origin_of, stored_answers
from farthest.puzzles.origin import names_of
from farthest.safe_text import safe
from farthest.wording import counted, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from farthest.puzzles.puzzle import Puzzle


SHORT = 12
"""Characters of a digest in the key of an entry."""

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        **{each: f"\\{each}" for each in "{}$&#%_"},
    }
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


@dataclass(frozen=True, slots=True)
class Citation:
    """``text``: one sentence. ``bibtex``: an entry of type misc."""

    text: str
    bibtex: str


def citation_of(record: JobRecord, puzzle: Puzzle) -> Citation:
    """Of a finished enumeration: which puzzle, what was found, with which version, when, and the digests by which a
    copy is known."""
    name, title = record.name, " ".join(safe(puzzle.title).split())
    what = f"distance map of {name}" if record.has_map else f"layers of {name}"
    known = f"eccentricity {record.eccentricity:,}" if record.complete else f"up to depth {record.depth}"
    asked = record.parameters
    counted = f"moves counted {asked.get('direction', '')} {asked.get('where', '')}, metric {puzzle.metric}"
    program = "farthest" + (f" {record.version}" if record.version else "")
    made = record.finished or record.created
    figures = f"{record.states or 0:,} states, {known}; {counted}"
    digests = f"SHA-256 of the result {record.digest}, of the puzzle {record.puzzle_digest}"
    text = (
        f"{what[0].upper()}{what[1:]}{f' ({title})' if title else ''}: {figures}. Computed with {program} on "
        f"{made:%Y-%m-%d}. {digests}."
    )
    fields = [
        ("title", f"{{{_tex(f'{what[0].upper()}{what[1:]}')}}}" + (f": {_tex(title)}" if title else "")),
        ("year", f"{made:%Y}"),
        ("howpublished", f"Computed with {_tex(program)} on {made:%Y-%m-%d}"),
        ("note", _tex(f"{figures}. {digests}")),
    ]
    key = f"farthest-{''.join(each for each in name if each.isalnum() or each in '-.')}-{(record.digest or '')[:SHORT]}"
    lines = [f"  {field} = {{{value}}}," for field, value in fields]
    return Citation(
        text, "\n".join([f"@misc{{{key},", *lines, f"  month = {_MONTHS[made.month - 1]}", "}", ""])
    )


def _tex(text: str) -> str:
    return text.translate(_ESCAPES)


def oeis_lines(record: JobRecord, puzzle: Puzzle, layers: Sequence[int], first: int = 0) -> Iterator[str]:
    """The lines of a b-file, ``n a(n)``: the states at each depth, the first with the number ``first``. Comments before
    them have the figures that sequences are made of, and how they were computed. Raises JobError where there are no
    layers."""
    if not layers:
        raise JobError(
            f"job {record.id} ({record.name}) is {record.state_now}, and none of its layers are stored: those that are "
            "in files are told only while it runs; they are stored when it is finished"
        )
    title, depth = " ".join(safe(puzzle.title).split()), len(layers) - 1
    whole = record.status == FINISHED and record.complete
    yield f"# {record.name}{f' ({title})' if title else ''}: number of states at distance 0, 1, ..."
    yield f"# Moves are counted {origin_of(record)}; metric {puzzle.metric}."
    if not whole:
        yield f"# PARTIAL: layers 0 to {depth} alone; job {record.id} is {record.state_now}, later ones are not known."
    yield f"# Row: {', '.join(map(str, layers))}"
    yield f"# Partial sums: {', '.join(map(str, accumulate(layers)))}"
    if whole:
        distances = sum(distance * states for distance, states in enumerate(layers))
        yield f"# States: {sum(layers)}. Greatest distance: {depth}, of {counted(layers[-1], 'state')}."
        yield f"# Sum of all distances: {distances}"
    known = sorted({answer.oeis for answer in puzzle.known if answer.oeis})
    if known:
        yield f"# See {', '.join(known)}."
    yield f"# Computed by: {_command(record, puzzle)}"
    if record.status == FINISHED:
        yield f"# {_how(record)}"
        yield f"# SHA-256 of the result: {record.digest}"
    yield f"# SHA-256 of the puzzle: {record.puzzle_digest}"
    yield from (f"{number} {states}" for number, states in enumerate(layers, first))


def _how(record: JobRecord) -> str:
    made, machine = record.finished or record.created, stored_answers(record).get("machine")
    version = f" {record.version}" if record.version else ""
    on = "on a machine that is not recorded"
    if machine is not None:
        by = "processes of workers" if machine.workers == "celery" else counted(machine.threads, "thread")
        on = f"by {by}; {counted(machine.cores, 'core')}"
    return f"farthest{version}, {made:%Y-%m-%d}: {seconds_text(record.seconds or 0.0)} {on}."


def _command(record: JobRecord, puzzle: Puzzle) -> str:
    """The command that computes the same. A puzzle that is not of the program is written FILE."""
    from farthest.puzzles.catalogue import find

    asked, origin, own = enumeration_parameters(record), origin_of(record), None
    with suppress(FarthestError):  # a stored name may be anything
        own = find(record.name)
    words = ["farthest", "enumerate", record.name if own and own.digest == record.puzzle_digest else "FILE"]
    if origin != puzzle.origin:
        words += [word for name in names_of(origin.where) for word in (f"--{origin.direction}", name)]
    if asked.max_depth is not None:
        words += ["--max-depth", str(asked.max_depth)]
    if asked.histogram_only or asked.map:
        words += ["--map", asked.map or "none"]
    if asked.symmetry is not None:
        words += ["--symmetry", "none" if asked.symmetry == 1 else str(asked.symmetry)]
    return shlex.join(words)
