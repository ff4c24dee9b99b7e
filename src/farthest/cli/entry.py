"""The entry point: the command line of this process, from start to exit status."""

from typing import NoReturn

from farthest.cli.exit_status import INTERRUPTED


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit status."""
    import gc

    # Importing SQLAlchemy alone would run the collector some hundred times, and finds it nothing.
    gc.set_threshold(100_000)
    status = 0
    try:
        from farthest.cli.app import cli

        cli(prog_name="farthest")
    except KeyboardInterrupt:  # before a command began: while it was imported
        status = INTERRUPTED
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
    _leave(status)


def _leave(status: int) -> NoReturn:
    """End the process at once: taking all modules apart would be a tenth of a short command's time."""
    import os
    import sys

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # closed, or its reader is gone; that was reported
            continue
    os._exit(status)
