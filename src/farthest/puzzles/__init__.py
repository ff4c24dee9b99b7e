"""Puzzles as data: definitions, the reader that validates them, boards as text, and the catalogue."""
