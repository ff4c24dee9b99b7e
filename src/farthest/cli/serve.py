"""`farthest serve`: jobs and maps in a browser."""

from __future__ import annotations

import click

from farthest.cli.completion import complete_host
from farthest.cli.options import allow_module_option, database_option


@click.command()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="HOST",
    shell_complete=complete_host,
    help="Where to listen.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    show_default=True,
    metavar="N",
    help="The port; 0: any that is free.",
)
@click.option("--open", "open_", is_flag=True, help="Show the first page in a browser.")
@click.option(
    "--public", is_flag=True, help="Whoever reaches the server may read, without a token; nobody may change."
)
@click.option(
    "--allow-jobs",
    is_flag=True,
    help="Who has the token may start, cancel and resume jobs. Needs $FARTHEST_WEB_TOKEN.",
)
@click.option(
    "--name",
    multiple=True,
    metavar="NAME",
    help="A host name by which readers reach the server, besides HOST and addresses; may be repeated.",
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
    allow_jobs: bool,
    name: tuple[str, ...],
    cors_origin: tuple[str, ...],
    database: str | None,
) -> None:
    """Show jobs and maps in a browser, and answer as JSON.

    It listens to this machine alone. Another --host needs a token in $FARTHEST_WEB_TOKEN, which readers have to give,
    or --public. The address goes to standard output, the log to standard error; Ctrl-C ends it.

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
    from farthest.web.server import serve as run
    from farthest.web.settings import WebSettings

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
    run(settings, told=click.echo, open_browser=open_)
