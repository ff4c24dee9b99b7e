"""Splits a job into layers, waits for each, takes checkpoints, and resumes from them."""
