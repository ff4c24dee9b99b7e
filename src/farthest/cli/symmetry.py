"""`farthest symmetry`: the classes of a map's states that are alike by symmetry."""

from __future__ import annotations

from dataclasses import asdict

import click

from farthest.cli.completion import complete_job
from farthest.cli.options import allow_module_option, database_option, json_option

inverse_option = click.option(
    "--inverse",
    is_flag=True,
    help="A state and its inverse (the board after its solution, made on the goal) are one class too.",
)


@click.command()
@click.argument("job", shell_complete=complete_job)
@inverse_option
@allow_module_option
@database_option
@json_option
def symmetry(job: str, inverse: bool, database: str | None, as_json: bool) -> None:
    """Count the states of each layer up to symmetry.

    JOB is a job's number, or a puzzle's name for its newest map, complete if there is one. A symmetry takes moves to
    moves and leaves the origin as it is: a grid turned or mirrored, a twisty puzzle turned or mirrored as a whole.
    States that symmetries take to each other are one class. The whole map is read.

    \b
    Examples:
      farthest symmetry pyraminx
      farthest symmetry cube-2x2x2-htm --inverse
    """
    from farthest.cli.opening import open_job
    from farthest.cli.printing import print_json, print_table
    from farthest.documents.answers import map_facts
    from farthest.queries.symmetry_classes import symmetry_classes

    with open_job(job, database) as opened:
        found = symmetry_classes(opened, inverses=inverse)
        if as_json:
            print_json({**map_facts(opened), **asdict(found), "classes": found.classes})
            return
        rows = [
            (str(layer.depth), f"{layer.states:,}", f"{layer.classes:,}", f"{layer.fixed:,}")
            for layer in found.layers
        ]
        print_table(("depth", "states", "classes", "fixed by all"), rows, right="rrrr")
        also = " and inverses" if inverse else ""
        click.echo(
            f"\n{found.symmetries} symmetries{also}: {opened.states:,} states in {found.classes:,} classes"
        )
