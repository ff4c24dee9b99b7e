"""The output of `farthest show` for a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from farthest.models.records import JobRecord
    from farthest.models.transactions import Database

LISTED = 20
"""Solutions that are listed for people."""


def show_search_job(record: JobRecord, database: Database) -> None:
    """The search, its iterations, its solutions."""
    from farthest.cli.job_list import minute, verified_text
    from farthest.cli.printing import print_facts, print_table
    from farthest.documents.jobs import search_paths
    from farthest.documents.progress import progress_rows
    from farthest.models.searches import Searches
    from farthest.models.stored_job import puzzle_of
    from farthest.wording import seconds_text

    searches, asked = Searches(database), record.parameters
    wanted = f"all solutions, {asked['limit']:,} listed at most" if asked["all"] else "one solution"
    facts = [
        ("job", f"{record.id} in {database.place}"),
        ("puzzle", f"{record.name}: {puzzle_of(record).title}"),
        ("search", f"{asked['algorithm']}, heuristic {asked['heuristic']}, {wanted}"),
        ("board", f"{asked['board']} to {asked['target']}"),
        ("status", record.state_now + (f": {record.error}" if record.error else "")),
        ("created", f"{minute(record.created)} UTC"),
    ]
    told = progress_rows(record)
    if told:
        facts.append(("progress", ", ".join(f"{name} {value}" for name, value in told)))
    if record.result is not None:
        facts += [
            ("length", _length(record.result)),
            ("solutions", f"{record.result['solutions']:,}"),
            ("nodes", f"{record.result['nodes']:,}"),
            *_expanded(record.result),
            ("seconds", seconds_text(record.seconds or 0.0)),
            ("digest", record.digest or ""),
            ("verified", verified_text(record)),
        ]
    print_facts(facts)
    iterations = searches.iterations(record.id)
    if iterations:
        click.echo()
        print_table(
            ("bound", "nodes", "solutions", "pieces", "seconds"),
            [
                (
                    f"{one.bound}{'' if one.complete else '+'}",
                    f"{one.nodes:,}",
                    f"{one.solutions:,}",
                    f"{one.pieces:,}",
                    f"{one.seconds:.4f}",
                )
                for one in iterations
            ],
            right="rrrrr",
        )
    paths = search_paths(record, searches, LISTED)
    if paths:
        from farthest.cli.solutions import list_ways
        from farthest.search.serialized import way_of

        click.echo()
        list_ways(map(way_of, paths), len(paths))


def _expanded(result: dict[str, Any]) -> list[tuple[str, str]]:
    expanded = result["expanded"]
    return [] if expanded is None else [("expanded", f"{expanded:,} boards")]


def _length(result: dict[str, Any]) -> str:
    if result["length"] is None:
        return "none: it is proven that the board cannot be solved"
    return f"{result['length']}{'' if result['optimal'] else ', not proven shortest'}"
