"""Heuristics: lower bounds of distances, worked out from the board alone or looked up in stored maps."""
