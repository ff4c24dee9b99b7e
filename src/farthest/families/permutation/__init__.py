"""The family ``permutation``."""
