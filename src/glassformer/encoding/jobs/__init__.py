"""Jobs from files to a folder of shards: resumable, and checked by checksums."""
