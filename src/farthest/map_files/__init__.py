"""Residue maps as files: what a file holds, how it is written, and how parts of it are read and checked.

docs/map-files.md has the format.
"""
