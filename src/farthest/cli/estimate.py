"""`farthest estimate`: what an enumeration will need, without enumerating."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from farthest.cli.options import (
    allow_module_option,
    byte_size,
    database_option,
    json_option,
    kind_of_map,
    named_origin,
    puzzle_argument,
    result_options,
    scratch_option,
)

if TYPE_CHECKING:
    from farthest.coordinator.settings import Estimate, WorkersEstimate
    from farthest.puzzles.puzzle import Puzzle

PROCESSES = (1, 8, 64, 512)


@click.command()
@puzzle_argument
@result_options
@click.option(
    "--threads",
    type=click.IntRange(min=1, max=4096),
    metavar="N",
    help="Threads of this process.  [default: one a processor]",
)
@click.option(
    "--memory",
    metavar="SIZE",
    callback=byte_size,
    help="Memory to use at most, such as 4GiB.  [default: 4/5 of what is free]",
)
@scratch_option
@click.option(
    "--processes",
    type=click.IntRange(min=1, max=100_000),
    multiple=True,
    default=PROCESSES,
    metavar="N",
    help="How many processes of workers to tell the time of; may be repeated.  [default: 1, 8, 64, 512]",
)
@allow_module_option
@database_option
@json_option
def estimate(
    puzzle: str,
    from_: tuple[str, ...],
    to: tuple[str, ...],
    max_depth: int | None,
    map_: str | None,
    histogram_only: bool,
    threads: int | None,
    memory: int | None,
    scratch: Path | None,
    processes: tuple[int, ...],
    database: str | None,
    as_json: bool,
) -> None:
    """Say what an enumeration of PUZZLE will need: states, memory, disk, time; nothing is enumerated.

    The options are those of `farthest enumerate`, which decides by the same figures. What does not fit is told with the
    nearest choice that does.

    \b
    Examples:
      farthest estimate sliding-3x4
      farthest estimate sliding-3x5 --histogram-only --memory 4GiB --scratch /mnt/large
      farthest estimate pancake-14 --histogram-only --processes 16 --processes 32
    """
    named = named_origin(from_, to)
    histogram_only, residues = kind_of_map(map_, histogram_only)
    from farthest.coordinator.enumeration.estimating import estimated
    from farthest.coordinator.settings import Settings
    from farthest.families.given import origin_given
    from farthest.models.database import database_folder
    from farthest.puzzles.catalogue import load

    definition = load(puzzle)
    settings = Settings(
        origin=origin_given(definition, named),
        max_depth=max_depth,
        threads=threads,
        memory=memory,
        scratch=scratch,
        histogram_only=histogram_only,
        residues=residues,
    )
    needs = estimated(definition, settings, database_folder(database), processes)
    if as_json:
        from farthest.cli.printing import print_json
        from farthest.documents.puzzles import estimate_document

        print_json(estimate_document(definition, needs))
    else:
        _show(definition, needs)


def _show(puzzle: Puzzle, needs: Estimate) -> None:
    for name, text in _lines(needs):
        click.echo(f"{name + ':':<18}{text}")
    if needs.workers:
        click.echo()
        _show_workers(needs.workers)


def _lines(needs: Estimate) -> list[tuple[str, str]]:
    from farthest.cli.printing import counted
    from farthest.sizes import bytes_text
    from farthest.wording import seconds_text

    known = "" if needs.states is None else f"; {needs.states:,} by {needs.states_from}"
    lines = [("States", f"at most {needs.states_at_most:,}{known}")]
    if needs.keys is not None:
        lines.append(("Keys", f"{needs.keys:,}"))
    moves = "both ways" if needs.both_ways else "one way"
    colours = ", two colours" if needs.two_colours else ""
    lines.append(("Engine", f"{needs.engine}; moves {moves}{colours}"))
    if needs.layers_from:
        lines.append(("Layers", f"{needs.depths:,}, {needs.layers_from}"))
    place = f"files in {needs.scratch}" if needs.layers_in == "files" else "memory"
    lines.append(("Kept in", f"{place}: {needs.why}" if needs.why else place))
    lines.append(("Memory", f"{bytes_text(needs.memory)} of {bytes_text(needs.memory_limit)} allowed"))
    if needs.layers_in == "files":
        lines += [
            ("Disk at the peak", bytes_text(needs.layers_disk)),
            ("Written, read", f"{bytes_text(needs.written)}, {bytes_text(needs.read)} in all"),
            ("Units", f"{needs.units:,} a layer, of {needs.shards:,} shards"),
        ]
    size = f", about {bytes_text(needs.disk)} of disk" if needs.disk else ""
    lines.append(("Map", f"{needs.map}{size}"))
    if needs.seconds is not None and needs.processor_seconds is not None:
        wall, processor = seconds_text(needs.seconds), seconds_text(needs.processor_seconds)
        lines.append(
            ("Time here", f"about {wall} by {counted(needs.threads, 'thread')}, {processor} of processors")
        )
    if needs.problem:
        lines.append(("Does not fit", needs.problem))
    return lines


def _show_workers(workers: tuple[WorkersEstimate, ...]) -> None:
    from farthest.cli.printing import print_table
    from farthest.sizes import bytes_text
    from farthest.wording import seconds_text

    rows = [
        (
            f"{each.processes:,}",
            seconds_text(each.seconds),
            bytes_text(each.memory),
            bytes_text(each.coordinator_memory),
            bytes_text(each.redis),
            bytes_text(each.blobs),
            f"{each.messages:,}",
            each.waits_for,
        )
        for each in workers
    ]
    columns = ("workers", "time", "each", "coordinator", "Redis", "blobs", "messages", "waits for")
    click.echo("By processes of workers: memory of each and of the coordinator, messages of a layer:")
    print_table(columns, rows, right="rrrrrrrl")
