"""Search: optimal solutions where a space is too large to enumerate, or where one board is all that is asked about."""
