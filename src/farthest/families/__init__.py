"""The families of puzzles, a package each; puzzles/puzzle.py says what a package offers."""
