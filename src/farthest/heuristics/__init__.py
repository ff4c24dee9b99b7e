"""Heuristics: lower bounds of distances, computed from the board alone or looked up in stored maps."""
