"""The JSON objects with which commands (`--json`) and the web answer: the same fields in both (docs/commands.md)."""
