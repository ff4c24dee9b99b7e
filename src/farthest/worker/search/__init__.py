"""Batches of searches in workers."""
