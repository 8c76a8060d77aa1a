"""More than one process: joining, one encoder on all of them, and states in shards."""
