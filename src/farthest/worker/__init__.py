"""A worker's process: messages, leases, the registry of living workers."""
