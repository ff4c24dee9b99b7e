"""Pieces of searches, as workers search them."""
