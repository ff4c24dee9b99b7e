"""Stores whose blobs and records are in Redis, and what a coordinator and its workers share there."""
