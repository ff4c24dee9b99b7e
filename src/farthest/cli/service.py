"""`farthest coordinator` and `migrate`: services other than workers."""

from __future__ import annotations

import click

from farthest.cli.options import allow_module_option, database_option, json_option

FAILED = 1
"""Exit status of `coordinator`: a job failed (--once), or no coordinator lives (--healthy)."""


@click.command()
@click.option("--once", is_flag=True, help="Leave when no job can be run now.")
@click.option(
    "--healthy", is_flag=True, help="Start nothing: succeed if a coordinator is alive on this host."
)
@allow_module_option
@database_option
@click.pass_context
def coordinator(context: click.Context, once: bool, healthy: bool, database: str | None) -> None:
    """Run submitted jobs, one after another, with the workers of Redis.

    Start as many as you like: each job is run by one coordinator, and goes on with another when that one dies. The log
    goes to standard error. SIGTERM and Ctrl-C store a checkpoint of the job under way and hand it back. With
    --once, exit status 1 says that a job failed, or waits for room; with --healthy, that no coordinator lives here.

    \b
    Examples:
      farthest coordinator
      farthest coordinator --once
    """
    if healthy:
        from farthest.coordinator.heartbeat import alive

        if not alive():
            click.echo(
                "no coordinator is alive on this host: none has reported lately in the folder for temporary files",
                err=True,
            )
            context.exit(FAILED)
        return
    from farthest.coordinator.heartbeat import beating
    from farthest.coordinator.service import Service
    from farthest.logs import start_log
    from farthest.models.database import open_database
    from farthest.retry import retry_while_away
    from farthest.stores.redis.connections import RedisNodes

    start_log()
    nodes = RedisNodes.from_environment()
    with retry_while_away(lambda: open_database(database, create=True)) as opened, beating():
        failed = Service(opened, nodes).run(once=once)
    if once and failed:
        context.exit(FAILED)


@click.command()
@database_option
@json_option
def migrate(database: str | None, as_json: bool) -> None:
    """Bring the database up to date, or make its tables, and leave.

    Every command does so when it opens a database; this one does nothing else, and waits some seconds for a
    server that is starting.

    \b
    Example:
      farthest migrate
    """
    from farthest.cli.printing import print_json
    from farthest.models.database import open_database
    from farthest.models.tables import SCHEMA_VERSION
    from farthest.retry import retry_while_away

    with retry_while_away(lambda: open_database(database, create=True)) as opened:
        if as_json:
            print_json({"database": opened.place, "schema": SCHEMA_VERSION})
        else:
            click.echo(f"{opened.place} is up to date (schema {SCHEMA_VERSION}).")
