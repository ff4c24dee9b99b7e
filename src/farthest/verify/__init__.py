"""Proof of stored distance maps by a separate, simple program: ``farthest.verify.sliding.verify_map``."""
