"""Exit statuses that are not click's own."""

INTERRUPTED = 130
"""After Ctrl-C: 128 + SIGINT, as shells report it."""
