"""The families of puzzles, a package each; puzzles/families.py says what a package offers."""
