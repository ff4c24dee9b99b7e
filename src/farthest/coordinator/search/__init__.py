"""One search, from its settings to its solutions."""
