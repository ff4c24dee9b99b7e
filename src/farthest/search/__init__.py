"""Search: optimal solutions where a space is too large to enumerate, or where only one board is to be solved."""
