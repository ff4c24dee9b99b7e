"""Proof of stored distance maps by a separate, simple program: ``farthest.verify.verifier.verify_map``."""
