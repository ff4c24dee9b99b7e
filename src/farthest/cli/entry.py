"""The entry point: the command line of this process, from start to exit status."""

from __future__ import annotations

# As in typing, which is not imported: until ``main`` runs, Python itself handles Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit status."""
    from farthest.cli import INTERRUPTED

    status = 0
    try:
        from farthest.cli.interruption import leave_at_interrupts, restore_terminal

        leave_at_interrupts()
        import gc

        # Importing SQLAlchemy alone would run the garbage collector some hundred times, with nothing to free.
        gc.set_threshold(300_000)
        from farthest.cli.app import cli

        cli(prog_name="farthest")
    except KeyboardInterrupt:  # before Ctrl-C was handled
        status = INTERRUPTED
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
        if status == INTERRUPTED:
            restore_terminal()
    _leave(status)


def _leave(status: int) -> NoReturn:
    """End the process at once: removing all modules would take a tenth of a short command's time."""
    import os
    import sys

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # closed, or its reader has ended; that was reported
            continue
    os._exit(status)
