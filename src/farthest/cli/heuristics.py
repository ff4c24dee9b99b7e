"""Heuristics: `farthest heuristic` compares them with a stored map, `compare` what searches with them cost."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from farthest.cli.options import (
    completed,
    file_options,
    job_argument,
    memory_option,
    number_option,
    open_job,
    path_option,
    stored_jobs,
    usual_options,
)
from farthest.cli.printing import print_json, print_table
from farthest.errors import JobError, StorageError
from farthest.wording import bytes_text, counted, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.queries.distance_map import DistanceMap
    from farthest.queries.heuristic_report import Drop, Findings, TooLarge
    from farthest.search.comparison import Comparison, Spread, Tally


REFUTED = 1
COUNTEREXAMPLES_SHOWN = 3


@click.command()
@job_argument
@click.option(
    "--heuristic",
    "texts",
    metavar="TEXT",
    multiple=True,
    shell_complete=completed("heuristic"),
    help="Only this one; may be repeated.  [default: all that are for the puzzle]",
)
@number_option(
    "--limit",
    default=COUNTEREXAMPLES_SHOWN,
    help="List at most N counterexamples of each kind, besides the worst.",
)
@memory_option("List the heuristics for PUZZLE with tables of at most SIZE, and show which one auto takes.")
@usual_options
@click.pass_context
def heuristic(
    context: click.Context,
    job: str,
    texts: tuple[str, ...],
    limit: int,
    memory: int | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Compare heuristics with true distances.

    The distances are those of a stored map. With --memory it says instead which heuristics a search may have.

    JOB is a job's number or a puzzle's name. A name means the newest map, a complete one if there is any. It says of
    each heuristic whether it is admissible (no value is more than the distance) and consistent (no move takes away
    more than 1), its mean, the mean of value divided by distance, and boards that prove where it is not. Exit status
    1: the map refutes what a heuristic claims of itself; one that claims nothing, such as misplaced+manhattan, may be
    wrong.

    \b
    Examples:
      farthest heuristic 8-puzzle
      farthest heuristic 8-puzzle --heuristic misplaced+manhattan --limit 10
      farthest heuristic 8-puzzle --heuristic @1-4+@5-8 --json
      farthest heuristic cube-3x3x3 --memory 1GiB
    """
    if memory is not None:
        _show_candidates(job, memory, database, as_json=as_json)
        return
    with _open(job, database) as opened:
        findings = opened.heuristics(texts, limit=limit)
        if as_json:
            print_json({**_facts(opened), "heuristics": [found.to_dict() for found in findings]})
        else:
            _show(opened, findings)
    if any(found.refuted for found in findings):
        context.exit(REFUTED)


def _show_candidates(name: str, memory: int, database: str | None, *, as_json: bool) -> None:
    """What `--heuristic auto` of a search may take."""
    from farthest.coordinator.search.choice import Choice
    from farthest.coordinator.search.settings import SearchReporter, SearchSettings
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.documents.searches import candidate_documents
    from farthest.puzzles.catalogue import load

    puzzle = load(name)
    with closing(SearchStorage(database)) as storage:
        choice = Choice(puzzle, "goal", SearchSettings(memory=memory), storage, SearchReporter())
        found = candidate_documents(choice)
    if as_json:
        print_json({"puzzle": puzzle.name, "memory": memory, "candidates": found})
        return
    print_table(
        ("", "memory", "mean", "sampled", "made in", "heuristic"),
        [
            (
                "auto" if each["taken"] else "",
                bytes_text(each["bytes"]),
                *("" if mean is None else f"{mean:.2f}" for mean in (each["mean"], each["sampled"])),
                "" if each["stored"] else "?" if each["seconds"] is None else seconds_text(each["seconds"]),
                each["heuristic"] + ("" if each["fits"] else "  (too large)"),
            )
            for each in found
        ],
        right="lrrrrl",
    )
    click.echo(
        f"\n{puzzle.name}, within {bytes_text(memory)}; without a time to make it: stored, or needs no map. Means are "
        "modelled from layers of maps; sampled: of 1,024 random boards."
    )


def _open(job: str, database: str | None) -> DistanceMap:
    try:
        return open_job(job, database)
    except JobError as error:
        if job.isdecimal():
            raise
        raise JobError(f"{error}; a map is made by `farthest enumerate {job}`") from None


def _facts(opened: DistanceMap) -> dict[str, Any]:
    return {
        "job": opened.job,
        "puzzle": opened.record.name,
        "origin": opened.origin,
        "states": opened.states,
        "complete": opened.complete,
        "depth": opened.depth,
    }


def _show(opened: DistanceMap, findings: list[Findings]) -> None:
    print_table(
        ("heuristic", "admissible", "consistent", "mean", "mean h/d", "largest", "exact", "IDA*"),
        [
            (
                found.heuristic.name,
                _verdict(found.admissible, found.heuristic.admissible),
                _verdict(found.consistent, found.heuristic.consistent),
                f"{found.mean:.3f}",
                f"{found.ratio:.3f}",
                str(found.largest),
                f"{found.exact / found.states:.2%}",
                f"{found.mean_nodes:,.0f}",
            )
            for found in findings
        ],
        right="lllrrrrr",
    )
    for found in findings:
        _show_counterexamples(found)
    click.echo(
        f"\nover {counted(opened.states, 'state')} and {counted(findings[0].moves, 'move')} of job {opened.job} "
        f"({opened.record.name}, {opened.origin})"
    )
    if not opened.complete:
        click.echo(f"The map ends at depth {opened.depth}: states that are farther were not checked.")


def _verdict(holds: bool, claimed: bool) -> str:
    if holds:
        return "yes"
    return "NO, though claimed" if claimed else "no"


def _show_counterexamples(found: Findings) -> None:
    if found.too_large_worst is not None:
        click.echo(f"\n{found.heuristic.name} is more than the distance of {found.too_large:,} states:")
        _show_list(found.too_large_first, found.too_large_worst)
    if found.drop_worst is not None:
        click.echo(f"\n{found.heuristic.name} falls by more than 1 with {found.drops:,} moves:")
        _show_list(found.drops_first, found.drop_worst)


def _show_list(first: Sequence[TooLarge | Drop], worst: TooLarge | Drop) -> None:
    for line in first:
        click.echo(f"  {line}")
    click.echo(f"  the worst: {worst}")


DEFAULT_ALGORITHMS = "bfs,dfs,astar,ida"
WRONG = 1
PARTS = ("mean", "median", "most")
DISAGREEMENTS_SHOWN = 5


@click.command()
@click.argument("name", metavar="PUZZLE", shell_complete=completed("puzzle"))
@number_option("--instances", least=1, most=10**6, default=100, help="How many random boards.")
@number_option("--seed", metavar="S", default=1, help="The same seed gives the same boards.")
@click.option(
    "--algorithms",
    metavar="LIST",
    default=DEFAULT_ALGORITHMS,
    show_default=True,
    shell_complete=completed("algorithms"),
    help="Of bfs, dfs, astar, ida and iddfs, with commas between.",
)
@click.option(
    "--heuristic",
    "heuristics",
    metavar="NAME",
    multiple=True,
    shell_complete=completed("heuristic"),
    help="For astar and ida; may be repeated.  [default: auto: manhattan, or the strongest that needs no map; for ida "
    "tables, if the first board takes more than about a second]",
)
@path_option("--csv", "table", help="Write a row for each search to FILE.")
@path_option(
    "--routes", metavar="FOLDER", complete="folder", help="Write all routes, a text file for each algorithm."
)
@memory_option("Memory for the boards that a search has found.  [default: four fifths of what is free]")
@file_options
@click.pass_context
def compare(
    context: click.Context,
    name: str,
    instances: int,
    seed: int,
    algorithms: str,
    heuristics: tuple[str, ...],
    table: Path | None,
    routes: Path | None,
    memory: int | None,
    force: bool,
    database: str | None,
    as_json: bool,
) -> None:
    """Search random boards of PUZZLE with several algorithms, and compare what that costs.

    Each board that can be solved has the same chance. The table has the means, medians and greatest numbers of
    seconds, of boards expanded (taken from the open list: its loops) and generated, and of moves and boards of the
    paths found. bfs finds shortest paths; so do iddfs, and ida and astar where the heuristic is admissible. Their
    lengths must agree with each other, and with the puzzle's stored map if there is one. Exit status 1: they do not, or
    a search was given up because its boards take too much memory.

    \b
    Examples:
      farthest compare 8-puzzle --instances 100 --seed 1
      farthest compare 8-puzzle --heuristic misplaced+manhattan --csv runs.csv --routes routes
      farthest compare pancake-7 --algorithms astar,ida,iddfs --instances 20
    """
    from farthest.api.bars import progress_bar
    from farthest.coordinator.search.solve import pattern_heuristic
    from farthest.coordinator.search.storage import SearchStorage
    from farthest.machine import memory_limit
    from farthest.puzzles import catalogue
    from farthest.queries.output_files import comparison_files
    from farthest.search.comparison import Comparison, Tally, entrants
    from farthest.search.contract import Problem
    from farthest.search.plain import target_test

    puzzle = catalogue.load(name)
    named = [word.strip() for word in algorithms.split(",")]
    entrants(puzzle, named, heuristics)
    with ExitStack() as stack:
        storage = stack.enter_context(closing(SearchStorage(database)))
        truth, why_none = _stored(stack, puzzle, database)
        limit = memory_limit(memory)
        boards = _boards(puzzle, instances, seed, truth)
        chosen = entrants(puzzle, named, heuristics, lambda: pattern_heuristic(puzzle, boards[0], storage))
        comparison = Comparison(puzzle, chosen, memory=limit, load_map=storage.load_map)
        is_target = target_test(Problem(puzzle, boards[0], "goal", "zero"))
        tally = Tally()
        _expect(tally, truth, boards)
        write = stack.enter_context(
            comparison_files(puzzle, chosen, is_target, table=table, routes=routes, force=force)
        )
        count = len(boards) * len(chosen)
        with progress_bar(None) as bar:
            for number, run in enumerate(comparison.runs(boards), 1):
                bar.tell(f"{number:,} of {count:,} searches", number / count)
                write(run)
                tally.add(run)
        facts = {"puzzle": puzzle.name, "instances": instances, "seed": seed}
        if as_json:
            print_json({**facts, **_fields(comparison, tally), "map": truth and truth.job})
        else:
            _print(comparison, tally, facts, truth, why_none)
    if tally.disagreements or tally.failures:
        context.exit(WRONG)


def _stored(stack: ExitStack, puzzle: Puzzle, database: str | None) -> tuple[DistanceMap | None, str]:
    """The puzzle's newest map if that tells the distances to the goal, and why there is none.

    Raises StorageError where a database is named that cannot be opened.
    """
    from farthest.puzzles.puzzle import Origin
    from farthest.queries.distance_map import DistanceMap

    try:
        stored, opened = stack.enter_context(stored_jobs(database))
    except StorageError as error:
        if database is not None:
            raise
        return None, str(error)
    try:
        found = DistanceMap(opened, stored.find(puzzle.name, has_map=True))
    except JobError as error:
        return None, str(error)
    if found.record.puzzle_digest != puzzle.digest:
        return None, f"job {found.job} is of another puzzle of that name"
    if found.origin != Origin("to", "goal") or not found.complete:
        return None, f"job {found.job} does not have all distances to the goal"
    return found, ""


def _boards(puzzle: Puzzle, instances: int, seed: int, truth: DistanceMap | None) -> list[Board]:
    """Random boards that can be solved; states of a map where only the map shows which these are."""
    from farthest.puzzles.family import UndecidedError
    from farthest.search.solvable import random_boards

    try:
        return random_boards(puzzle, instances, seed)
    except UndecidedError:
        if truth is None:
            raise
    from farthest.queries.states import random_states
    from farthest.random_source import RandomSource

    return [truth.labels(text) for text in random_states(truth, instances, RandomSource(seed))]


def _expect(tally: Tally, truth: DistanceMap | None, boards: Sequence[Board]) -> None:
    """Adds the true distances to the tally."""
    if truth is None:
        return
    import numpy

    distances = truth.distances(numpy.array(boards, dtype=numpy.uint8)).tolist()
    for number, distance in enumerate(distances, 1):
        tally.expect(number, distance if distance >= 0 else None, f"the map of job {truth.job}")


def _fields(comparison: Comparison, tally: Tally) -> dict[str, Any]:
    return {
        "algorithms": [
            {
                "algorithm": entrant.algorithm,
                "heuristic": entrant.heuristic,
                "optimal": comparison.admissible(entrant),
                "failed": len(tally.failures.get(entrant, ())),
                **tally.spreads(entrant),
            }
            for entrant in comparison.entrants
        ],
        "disagreements": tally.disagreements,
    }


def _print(
    comparison: Comparison, tally: Tally, facts: dict[str, Any], truth: DistanceMap | None, why_none: str
) -> None:
    puzzle, instances, seed = facts["puzzle"], facts["instances"], facts["seed"]
    click.echo(f"{counted(instances, 'random board')} of {puzzle}, seed {seed}\n")
    rows = []
    for entrant in comparison.entrants:
        spreads = tally.spreads(entrant)
        for line, part in enumerate(PARTS):
            figures = [_figure(measure, spread, part) for measure, spread in spreads.items()]
            rows.append([entrant.name if line == 0 else "", part, *figures])
    print_table(["algorithm", "", *spreads], rows, right="llrrrrr")
    click.echo()
    proven = [entrant.name for entrant in comparison.entrants if comparison.admissible(entrant)]
    others = [entrant.name for entrant in comparison.entrants if not comparison.admissible(entrant)]
    if others:
        click.echo(f"Not proven to be shortest: the solutions of {_listed(others)}.")
    for entrant, errors in tally.failures.items():
        given_up = counted(len(errors), "board")
        click.echo(
            f"{entrant.name} gave up on {given_up}; its figures do not count them: {errors[0]}", err=True
        )
    if tally.disagreements:
        for text in tally.disagreements[:DISAGREEMENTS_SHOWN]:
            click.echo(f"Wrong: {text}.", err=True)
        click.echo(f"{counted(len(tally.disagreements), 'contradiction')} in all.", err=True)
    elif proven and tally.runs > sum(map(len, tally.failures.values())):
        there = f", and with the map of job {truth.job}" if truth is not None else ""
        alone = "finds" if len(proven) == 1 else "agree on"
        click.echo(f"{_listed(proven)} {alone} the shortest ways{there}.")
    if truth is None:
        click.echo(f"There is no stored map to compare with: {why_none.partition(';')[0]}.", err=True)


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _figure(measure: str, spread: Spread | None, part: str) -> str:
    if spread is None:
        return "-"
    figure = getattr(spread, part)
    return (
        f"{figure:.4f}" if measure == "seconds" else f"{figure:,.2f}" if part == "mean" else f"{figure:,.10g}"
    )
