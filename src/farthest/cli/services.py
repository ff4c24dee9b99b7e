"""The services: `farthest worker`, `coordinator` and `serve`; and `workers` and `migrate`."""

from __future__ import annotations

import click

from farthest.cli import INTERRUPTED
from farthest.cli.options import allow_module_option, completed, database_option, json_option, number_option
from farthest.cli.printing import print_json, print_table
from farthest.errors import SettingError
from farthest.wording import bytes_text, counted

MOST_PROCESSES = 1024


@click.command()
@number_option(
    "--concurrency",
    least=1,
    most=MOST_PROCESSES,
    help="Processes; else $FARTHEST_CONCURRENCY, else one per processor.",
)
@click.option(
    "--name",
    metavar="NAME",
    help="Its name; no other process may have it.  [default: host and process number]",
)
@click.option(
    "--healthy",
    is_flag=True,
    help="Start no worker: succeed if one of that name, or any on this host, is alive.",
)
@allow_module_option
@click.pass_context
def worker(context: click.Context, concurrency: int | None, name: str | None, healthy: bool) -> None:
    """Do the work that coordinators send out.

    That is steps of jobs and pieces of searches. Needs only Redis ($FARTHEST_REDIS_URL), and $FARTHEST_DATABASE_URL
    to search with pattern databases. After SIGTERM or Ctrl-C the steps under way end; a second one ends them at once.
    Neither changes the result of a job.

    \b
    Examples:
      farthest worker
      farthest worker --concurrency 4 --name big-machine
      farthest worker --healthy
    """
    from farthest.worker.service import run_worker, worker_name

    if healthy:
        _check(None if name is None else worker_name(name))
        return
    from farthest.logs import start_log

    start_log()
    context.exit(run_worker(concurrency or _processes(), worker_name(name)))


@click.command()
@json_option
def workers(as_json: bool) -> None:
    """List the workers that are alive.

    It also says what each of them does, and what Redis holds.

    \b
    Example:
      farthest workers
    """
    from farthest.documents.workers import WORKER, living_workers, worker_rows

    found = living_workers()
    if as_json:
        print_json(found)
        return
    if found.workers:
        print_table(WORKER, worker_rows(found.workers), right="llrr")
    else:
        click.echo("No worker is alive; `farthest worker` starts one.")
    click.echo(f"Queue: {counted(found.queue, 'step')} that no worker has begun.")
    for node in found.redis:
        most = f" of {bytes_text(node.most)}" if node.most else ""
        click.echo(f"{node.place}: {bytes_text(node.used)}{most} used, {bytes_text(node.peak)} at most.")


def _processes() -> int:
    """FARTHEST_CONCURRENCY, or one per processor."""
    from farthest.environment import CONCURRENCY
    from farthest.machine import cores

    wanted = CONCURRENCY.number() if CONCURRENCY.text() else cores()
    if wanted > MOST_PROCESSES:
        raise SettingError(f"{CONCURRENCY.name} is {CONCURRENCY.text()!r}; expected {MOST_PROCESSES} at most")
    return int(wanted)


def _check(name: str | None) -> None:
    """Ends with status 1 unless the worker of that name, or without one any worker on this host, is alive."""
    from farthest.models.leases import host_name
    from farthest.stores.redis.connections import RedisNodes
    from farthest.worker.registry import list_workers

    host = host_name()
    alive = list_workers(RedisNodes.from_environment())
    if not any(record.name == name if name is not None else record.host == host for record in alive):
        wanted = f"worker {name}" if name is not None else f"worker on host {host}"
        raise click.ClickException(f"no {wanted} is alive: none has reported to Redis lately")


FAILED = 1
"""Exit status of `coordinator`: a job failed (--once), or no coordinator lives (--healthy)."""


@click.command()
@click.option("--once", is_flag=True, help="Exit when there is no job to run.")
@click.option("--healthy", is_flag=True, help="Start no coordinator: succeed if one is alive on this host.")
@allow_module_option
@database_option
@click.pass_context
def coordinator(context: click.Context, once: bool, healthy: bool, database: str | None) -> None:
    """Run submitted jobs with the help of workers.

    It runs one after another, through Redis. Start as many as you like: each job is run by one coordinator, and goes
    on with another when that one dies. The log goes to standard error. SIGTERM and Ctrl-C store a checkpoint of the
    job under way and hand it back. With --once, exit status 1 says that a job failed, or waits for room; with
    --healthy, that no coordinator lives here.

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
    from farthest import metrics, tracing
    from farthest.coordinator.heartbeat import beating
    from farthest.coordinator.service import Service
    from farthest.logs import start_log
    from farthest.models.database import open_database
    from farthest.retry import retry_while_away
    from farthest.stores.redis.connections import RedisNodes

    start_log()
    nodes = RedisNodes.from_environment()
    listening = metrics.listen()
    with (
        tracing.recorded("farthest-coordinator"),
        retry_while_away(lambda: open_database(database, create=True)) as opened,
        beating(opened),
    ):
        if listening is not None:
            from farthest.documents.figures import serve_figures

            serve_figures(listening, opened)
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
    from farthest.models.database import open_database
    from farthest.models.tables import SCHEMA_VERSION
    from farthest.retry import retry_while_away

    with retry_while_away(lambda: open_database(database, create=True)) as opened:
        if as_json:
            print_json({"database": opened.place, "schema": SCHEMA_VERSION})
        else:
            click.echo(f"{opened.place} is up to date (schema {SCHEMA_VERSION}).")


@click.command()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="HOST",
    shell_complete=completed("host"),
    help="Where to listen.",
)
@number_option("--port", most=65535, default=8080, help="The port; 0: any that is free.")
@click.option("--open", "open_", is_flag=True, help="Show the first page in a browser.")
@click.option(
    "--public", is_flag=True, help="Everybody may read without a token, and nobody may change anything."
)
@click.option(
    "--allow-jobs/--no-jobs",
    default=None,
    help="Let readers with the token in $FARTHEST_WEB_TOKEN start, cancel and resume jobs; or nobody.  [default: you, "
    "on this machine]",
)
@click.option(
    "--name",
    multiple=True,
    metavar="NAME",
    help="Another host name of this server, besides HOST and addresses; may be repeated.",
)
@click.option(
    "--cors-origin",
    multiple=True,
    metavar="ORIGIN",
    help="Pages of another server, such as https://example.org, may read the JSON; may be repeated.",
)
@allow_module_option
@database_option
def serve(
    host: str,
    port: int,
    open_: bool,
    public: bool,
    allow_jobs: bool | None,
    name: tuple[str, ...],
    cors_origin: tuple[str, ...],
    database: str | None,
) -> None:
    """Show puzzles, jobs and maps in a browser, and answer as JSON.

    It listens to this machine alone, where you may also start jobs and solve boards. Another --host needs a token in
    $FARTHEST_WEB_TOKEN, which readers have to give, or --public. The address goes to standard output, the log to
    standard error; Ctrl-C ends it.

    \b
    Examples:
      farthest serve --open
      farthest serve --host 0.0.0.0 --public --name maps.example.org
    """
    try:
        import htpy  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise click.ClickException(
            f"serve needs {error.name}, which is not installed: pip install 'farthest[web]'"
        ) from None
    from farthest.environment import REDIS_URL, WEB_TOKEN
    from farthest.logs import start_log
    from farthest.web.gate import WebSettings
    from farthest.web.server import serve as run

    settings = WebSettings(
        host=host,
        port=port,
        database=database,
        public=public,
        allow_jobs=allow_jobs,
        names=name,
        cors_origins=cors_origin,
        token=WEB_TOKEN.text(),
        redis=REDIS_URL.given,
    )
    start_log()
    try:
        run(settings, told=click.echo, open_browser=open_)
    except KeyboardInterrupt:  # how a server is ended: nothing was begun that could begin again
        raise click.exceptions.Exit(INTERRUPTED) from None
