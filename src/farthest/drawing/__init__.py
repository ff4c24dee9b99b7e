"""Boards as pictures: coloured text for terminals, SVG for pages. It knows puzzles and their boards, nothing else."""
