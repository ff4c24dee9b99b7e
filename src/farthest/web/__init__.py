"""`farthest serve`: stored jobs and maps as pages and as JSON. Pages are made here and work without scripts."""
