"""One shard's step, and the stores that hold what a step reads and writes."""
