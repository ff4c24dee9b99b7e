"""The family ``hanoi``."""
