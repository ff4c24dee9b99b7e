"""`farthest survey`, `cosets` and `surveys`: many small spaces as one task."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
from click.exceptions import Exit

from farthest.cli import INTERRUPTED
from farthest.cli.options import (
    completed,
    database_option,
    force_option,
    json_option,
    number_option,
    path_option,
    progress_option,
    threads_option,
)
from farthest.cli.printing import note, print_facts, print_json, print_table
from farthest.errors import BoardError, MissingDatabaseError
from farthest.machine import cores
from farthest.wording import bytes_text, counted, seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from farthest.cli.options import Workers
    from farthest.coordinator.survey import SurveyProgress
    from farthest.models.database import Database
    from farthest.models.surveys import By, StoredSurvey, Surveys
    from farthest.starts import Component, Keep, Starts


MOST = 2**31 - 1
"""Of an integer that databases are asked for."""
MOST_ROWS = 10**6
"""Cosets at random."""
SHOWN = 40
"""Cosets that a table has."""


workers_option = click.option(
    "--workers",
    type=click.Choice(["threads", "celery"]),
    default="threads",
    show_default=True,
    help="Do the parts in threads of this process, or in `farthest worker` processes on any hosts, through Redis.",
)


@contextmanager
def _interrupt_told() -> Iterator[None]:
    """Says at an interrupt that what is stored is kept, where it is not known how much that is."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("Interrupted; what is stored is kept. The same command continues from there.", err=True)
        raise Exit(INTERRUPTED) from None


@click.command()
@click.argument("starts", metavar="SET", shell_complete=completed("starts"))
@number_option("--pieces", least=1, help="Boards of at most N pieces.  [default: all]")
@number_option(
    "--walls", most=3, help="Boards of at most N walls, cells where no piece may be.  [default: 0]"
)
@number_option(
    "--row",
    least=1,
    help="The row of the piece that leaves, from 1.  [default: the middle, the upper one of two]",
)
@click.option(
    "--keep",
    type=click.Choice(("minimal", "solvable", "all")),
    help="Which components get a row of their own; all are counted.  [default: minimal, of a puzzle or boards all]",
)
@click.option(
    "--boards",
    type=click.File(encoding="utf-8-sig", errors="replace"),
    metavar="FILE",
    shell_complete=completed("file"),
    help="Boards of the puzzle or of Rush Hour, one on each line: their components alone. - is standard input.",
)
@number_option(
    "--parts",
    least=1,
    most=10_000_000,
    help="Divide a new survey into N parts.  [default: some seconds each]",
)
@workers_option
@threads_option
@progress_option
@database_option
@json_option
@_interrupt_told()
def survey(
    starts: str,
    pieces: int | None,
    walls: int | None,
    row: int | None,
    keep: Keep | None,
    boards: TextIO | None,
    parts: int | None,
    workers: Workers,
    threads: int | None,
    progress: bool | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Find the components of many small spaces, and the hardest board of each.

    SET is rush-hour-NxN, with N from 3 to 6: all boards of Rush Hour whose pieces have 2 or 3 cells, or those of
    --boards. A component is all boards that moves lead to from one of them; its hardest board takes most moves until
    the piece in --row is at its right end. A hardest board is minimal if it is easier without any one of its other
    pieces or walls. Or SET is a sliding block puzzle: all placements of its pieces, or the boards of --boards; the
    hardest board takes most moves to the nearest goal. Each part is stored when it is done; the same command goes on
    with the parts that are missing, and shows a survey that is finished.

    \b
    Examples:
      farthest survey rush-hour-5x5
      farthest survey rush-hour-6x6 --pieces 7
      farthest survey rush-hour-6x6 --boards rush.txt
      farthest survey hakoiri-musume-step
      farthest survey rush-hour-6x6 --pieces 10 --workers celery
    """
    from farthest.models.database import open_database
    from farthest.starts import starts_named

    _check(workers, threads)
    try:
        asked = starts_named(starts, pieces, row, keep, None if boards is None else boards.read(), walls)
    except BoardError as error:
        place = getattr(boards, "name", "<stdin>").replace("<stdin>", "standard input")
        raise BoardError(f"{place}: {error}") from None
    with open_database(database, create=True) as opened:
        _do(asked, workers, threads, parts, opened, progress, as_json=as_json)


@click.command()
@click.argument("puzzle", metavar="PUZZLE", shell_complete=completed("puzzle"))
@click.option(
    "--subgroup",
    required=True,
    metavar="MOVES",
    help="The moves that generate the subgroup, such as '<U,R2,F2>'.",
)
@click.option(
    "--depth",
    type=click.IntRange(0, 100),
    required=True,
    metavar="N",
    help="List sequences of up to N moves: counts are exact so far.",
)
@click.option(
    "--coset",
    "sequences",
    multiple=True,
    metavar="MOVES",
    help="The coset of the position after these moves; may be repeated.",
)
@number_option("--random", "count", least=1, most=MOST_ROWS, metavar="K", help="K cosets at random.")
@number_option("--seed", most=MOST, metavar="S", help="With --random.  [default: 0]")
@click.option("--all", "every", is_flag=True, help="All cosets. Of symmetric ones, only one.")
@workers_option
@threads_option
@progress_option
@database_option
@json_option
@_interrupt_told()
def cosets(
    puzzle: str,
    subgroup: str,
    depth: int,
    sequences: tuple[str, ...],
    count: int | None,
    seed: int | None,
    every: bool,
    workers: Workers,
    threads: int | None,
    progress: bool | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Count the positions of cosets of a subgroup at each distance from solved.

    The coset of a sequence of moves r is all positions w for which r, then w, is in the subgroup that some of the
    puzzle's moves generate: as many as the subgroup has. Each of them is a bit of memory. Positions of distances up to
    --depth are counted exactly, by sequences of so many moves. Then the subgroup's own moves alone show that positions
    are no farther than so many moves. Each coset is stored when it is done; the same command goes on
    with those that are missing, and shows those that are done.

    \b
    Examples:
      farthest cosets cube-2x2x2-htm --subgroup '<U,R2,F2>' --depth 11 --all
      farthest cosets skewb --subgroup '<UBR,DFR>' --depth 8 --random 10 --seed 7
    """
    from farthest.cosets import Drawn, cosets_named
    from farthest.models.database import open_database
    from farthest.stores.blobs.coset_bits import interval, place_text
    from farthest.stores.blobs.folder import scratch_place

    _check(workers, threads)
    if (bool(sequences), count is not None, every).count(True) != 1:
        raise click.UsageError("Which cosets? Give --coset, --random or --all, one of them.")
    if seed is not None and count is None:
        raise click.UsageError("--seed needs --random.")
    chosen = None if every else sequences if count is None else Drawn(count, seed or 0)
    asked = cosets_named(puzzle, subgroup, depth, chosen)
    with open_database(database, create=True) as opened:
        of, needs = asked.of, asked.of.needs
        asked.check()
        each = "each process of a worker that is at a coset"
        if workers == "threads":
            threads = threads or cores()
            at_a_time, by = asked.shares(threads)
            if not every:  # of all it is known once there are tables
                at_a_time = min(at_a_time, asked.parts)
            by_threads = f"by {counted(by, 'thread')}"
            each = f"each of {at_a_time:,} cosets at a time, {by_threads} each"
            if at_a_time == 1:
                each = f"one coset at a time, {by_threads}"
        note(
            f"{counted(of.cosets, 'coset')} of {counted(of.positions, 'position')}; memory: "
            f"{bytes_text(needs.table_bytes)} of tables, which are made first, and {bytes_text(needs.coset_bytes)} for "
            f"{each}"
        )
        if needs.all_threads:
            where = (
                place_text(scratch_place(opened.folder))
                if workers == "threads"
                else "the worker's place of checkpoints"
            )
            note(
                f"a coset that takes longer than {seconds_text(interval())} leaves checkpoints in {where}: "
                f"{bytes_text(of.positions // 8)} at most, twice that while one is written"
            )
        _do(asked, workers, threads, None, opened, progress, as_json=as_json)


def _check(workers: Workers, threads: int | None) -> None:
    if workers == "celery" and threads is not None:
        raise click.UsageError(
            "--threads is for the threads of this process; --workers celery needs `farthest worker --concurrency N`."
        )


def _do(
    asked: Starts,
    workers: Workers,
    threads: int | None,
    parts: int | None,
    opened: Database,
    progress: bool | None,
    *,
    as_json: bool,
) -> None:
    """Does what is missing of a survey, and shows it."""
    from farthest.api.bars import progress_bar
    from farthest.coordinator.survey import survey_by_threads, survey_by_workers
    from farthest.models.surveys import Surveys

    done: list[SurveyProgress] = []
    try:
        with progress_bar(progress) as bar:

            def watch(told: SurveyProgress) -> None:
                done[:] = [told]
                bar.tell(str(told), told.done / told.parts)

            if workers == "celery":
                stored = survey_by_workers(asked, opened, parts=parts, watch=watch, notice=note)
            else:
                stored = survey_by_threads(
                    asked, opened, threads=threads or cores(), parts=parts, watch=watch, notice=note
                )
    except KeyboardInterrupt:
        if not done:
            raise
        kept = f"{done[0].done:,} of {counted(done[0].parts, 'part')}"
        click.echo(
            f"Interrupted; {opened.place} keeps {kept}. The same command continues from there.", err=True
        )
        raise Exit(INTERRUPTED) from None
    _show(Surveys(opened), stored, as_json=as_json)


@click.command()
@click.argument("number", metavar="[NUMBER]", type=click.IntRange(1, MOST), required=False)
@number_option("--top", most=MOST, help="The N first components, by --by.")
@click.option(
    "--by",
    type=click.Choice(("moves", "states")),
    help="With --top: what the components with the most of come first.  [default: moves]",
)
@number_option("--pieces", least=1, most=MOST, help="With --top: of boards with N pieces.")
@path_option(
    "--export",
    "file",
    complete="file",
    help="Write all components that are kept, or all cosets, to FILE: .csv, or .jsonl, a JSON object on each line.",
)
@force_option
@click.option(
    "--estimate",
    is_flag=True,
    help="Of cosets at random: estimate the layers of the puzzle, with standard errors.",
)
@click.option(
    "--known",
    multiple=True,
    metavar="DEPTH=COUNT",
    shell_complete=completed("job"),
    help="With --estimate: a layer of the puzzle that is known beside those published, or the number of a job that has "
    "them. Better estimates of further layers are made by regression on them. May be repeated.",
)
@click.option("--delete", is_flag=True, help="Remove the survey from the database.")
@database_option
@json_option
def surveys(
    number: int | None,
    top: int | None,
    by: By | None,
    pieces: int | None,
    file: Path | None,
    force: bool,
    estimate: bool,
    known: tuple[str, ...],
    delete: bool,
    database: str | None,
    as_json: bool,
) -> None:
    """List the surveys of the database, or show what one has found.

    A survey that is under way can be asked too: it has what its finished parts have found.

    \b
    Examples:
      farthest surveys
      farthest surveys 1 --top 10
      farthest surveys 1 --export boards.csv
      farthest surveys 2 --estimate
    """
    from farthest.api.surveys import Survey
    from farthest.models.surveys import Surveys

    asked = [top is not None, file is not None, estimate, delete]
    if sum(asked) > 1:
        raise click.UsageError("Give one of --top, --export, --estimate and --delete.")
    for option, given, needed, there in (
        ("--by", by is not None, "--top", top is not None),
        ("--pieces", pieces is not None, "--top", top is not None),
        ("--force", force, "--export", file is not None),
        ("--known", bool(known), "--estimate", estimate),
    ):
        if given and not there:
            raise click.UsageError(f"{option} needs {needed}.")
    if number is None and any(asked):
        raise click.UsageError("Which survey? Give its NUMBER; `farthest surveys` lists them.")
    with _there(database) as opened:
        stored = Surveys(opened)
        if number is None:
            _list(stored, as_json=as_json)
        elif delete:
            Survey(opened, number).delete()
            if as_json:
                print_json({"survey": number, "deleted": True})
            else:
                click.echo(f"Deleted survey {number}.")
        elif file is not None:
            written, what = Survey(opened, number).export(file, force=force), "component"
            if stored.get(number).of_cosets:
                what = "coset"
            if as_json:
                print_json({"survey": number, "file": file, f"{what}s": written})
            else:
                click.echo(f"Wrote {counted(written, what)} to {file}.")
        elif estimate:
            _estimate(stored, stored.get(number), known, opened, as_json=as_json)
        elif top is not None:
            _print_top(
                number, Survey(opened, number).top(top, by=by or "moves", pieces=pieces), as_json=as_json
            )
        else:
            _show(stored, stored.get(number), as_json=as_json)


def _there(database: str | None) -> Database:
    from farthest.models.database import open_database

    try:
        return open_database(database, create=False)
    except MissingDatabaseError as error:
        raise MissingDatabaseError(
            f"{error.place}: there are no surveys; make one with `farthest survey SET`, or name another database with "
            "--database",
            error.place,
        ) from None


def _list(known: Surveys, *, as_json: bool) -> None:
    from farthest.documents.surveys import document_of

    found = known.all()
    if as_json:
        listed = [document_of(known, each) for each in found]
        print_json([{name: of for name, of in each.items() if name != "cosets"} for each in listed])
        return
    print_table(
        ("survey", "set", "parts", "done", "seconds", "kept", "created (UTC)"),
        [
            (
                str(each.id),
                each.name,
                f"{each.record.parts:,}",
                f"{each.done:,}",
                f"{each.seconds:,.1f}",
                "" if each.of_cosets else f"{each.components:,}",
                each.record.created.strftime("%Y-%m-%d %H:%M"),
            )
            for each in found
        ],
        right="rlrrrrl",
    )


def _show(known: Surveys, stored: StoredSurvey, *, as_json: bool) -> None:
    from farthest.documents.surveys import COUNTS, document_of, totals_rows

    if as_json:
        print_json(document_of(known, stored))
        return
    facts = [
        ("survey", f"{stored.id}: {stored.record.name}"),
        ("set", str(stored.starts)),
        (
            "parts",
            f"{stored.done:,} of {stored.record.parts:,} done, in {seconds_text(stored.seconds)}, added up",
        ),
    ]
    if stored.of_cosets:
        digest = _print_cosets(known, stored)
    else:
        totals, digest = known.totals_and_digest(stored.id)
        print_table(("pieces", *COUNTS), totals_rows(totals), right="r" * 7)
        facts.append(("kept", counted(stored.components, "component")))
    click.echo()
    print_facts([*facts, ("digest", digest)])


def _print_cosets(known: Surveys, stored: StoredSurvey) -> str:
    """Returns their digest."""
    from farthest.documents.surveys import cosets_document, cosets_table

    document = cosets_document(known, stored)
    heads, rows = cosets_table(document, SHOWN)
    print_table(heads, rows, right="l" + "r" * (len(heads) - 1))
    return document["digest"]


def _print_top(number: int, found: list[Component], *, as_json: bool) -> None:
    if as_json:
        from farthest.documents.surveys import component_document

        print_json({"survey": number, "components": [component_document(each) for each in found]})
        return
    print_table(
        ("moves", "states", "pieces", "minimal", "board"),
        [
            (
                "none" if each.moves is None else str(each.moves),
                f"{each.states:,}",
                str(each.pieces),
                "" if each.minimal is None else "yes" if each.minimal else "no",
                each.board,
            )
            for each in found
        ],
        right="rrrll",
    )


def _estimate(
    known: Surveys, stored: StoredSurvey, layers: tuple[str, ...], opened: Database, *, as_json: bool
) -> None:
    from farthest.documents.surveys import estimates_document, estimates_facts, estimates_table
    from farthest.queries.coset_estimates import estimates, known_layers

    found = estimates(known, stored, known_layers(layers, stored, opened))
    if as_json:
        print_json(estimates_document(stored, found))
        return
    heads, rows = estimates_table(found)
    print_table(heads, rows, right="r" * len(heads))
    click.echo()
    print_facts([("survey", f"{stored.id}: {stored.record.name}"), *estimates_facts(found)])
