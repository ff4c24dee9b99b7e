"""One enumeration, from its settings to its map."""
