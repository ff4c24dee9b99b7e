"""Blobs: the states of one block as bytes, and where they are kept beside Redis."""
