"""Stores in this process's memory."""
