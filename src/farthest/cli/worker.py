"""`farthest worker`, which takes steps of jobs that coordinators send, and `workers`, which lists the workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from farthest.cli.options import allow_module_option, json_option

if TYPE_CHECKING:
    from farthest.worker.registry import WorkerRecord

MOST_PROCESSES = 1024


@click.command()
@click.option(
    "--concurrency",
    type=click.IntRange(min=1, max=MOST_PROCESSES),
    metavar="N",
    help="Processes; else $FARTHEST_CONCURRENCY, else one a processor.",
)
@click.option("--name", metavar="NAME", help="A name of its own.  [default: host and process number]")
@click.option(
    "--healthy",
    is_flag=True,
    help="Start nothing: succeed if a worker of that name, or any on this host, is alive.",
)
@allow_module_option
@click.pass_context
def worker(context: click.Context, concurrency: int | None, name: str | None, healthy: bool) -> None:
    """Run the steps of jobs, and the pieces of searches, that coordinators send out.

    Needs only Redis ($FARTHEST_REDIS_URL), and $FARTHEST_DATABASE_URL to search with pattern databases. After SIGTERM
    or Ctrl-C the steps under way end; a second one ends them at once. Neither changes the result of a job.

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
    """List the workers that are alive, what each does, and what Redis holds.

    \b
    Example:
      farthest workers
    """
    from farthest.cli.printing import counted, print_json, print_table
    from farthest.documents.workers import living_workers
    from farthest.sizes import bytes_text

    found = living_workers()
    if as_json:
        print_json(found.document())
        return
    if found.records:
        print_table(
            ("worker", "version", "processes", "busy", "steps under way"),
            [_row(record) for record in found.records],
            right="llrr",
        )
    else:
        click.echo("No worker is alive; `farthest worker` starts one.")
    click.echo(f"Queue: {counted(found.waiting, 'step')} that no worker has begun.")
    for node in found.memory:
        most = f" of {bytes_text(node.most)}" if node.most else ""
        click.echo(f"{node.place}: {bytes_text(node.used)}{most} used, {bytes_text(node.peak)} at most.")


def _processes() -> int:
    """FARTHEST_CONCURRENCY, or one a processor."""
    from farthest.coordinator.estimate import cores
    from farthest.environment import CONCURRENCY
    from farthest.errors import SettingError

    wanted = CONCURRENCY.number() if CONCURRENCY.text() else cores()
    if wanted > MOST_PROCESSES:
        raise SettingError(f"{CONCURRENCY.name} is {CONCURRENCY.text()!r}; expected {MOST_PROCESSES} at most")
    return int(wanted)


def _row(record: WorkerRecord) -> tuple[str, ...]:
    words = {"search": ("bound", "piece")}
    steps = []
    for work in record.busy:
        depth, block = words.get(work.kind, ("depth", "block"))
        steps.append(f"attempt {work.attempt} {depth} {work.depth} {block} {work.block} ({work.seconds} s)")
    return (
        record.name,
        record.version,
        str(record.concurrency),
        str(len(record.busy)),
        ", ".join(steps) or "idle",
    )


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
