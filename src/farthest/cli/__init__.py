"""The command line, `farthest`: one module for each group of commands.

Only click is imported at module level; a command imports what it needs when it runs, so that `farthest
--help` is quick and an enumeration does not wait for libraries that only queries use.
"""

INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 + SIGINT, as shells report it."""
