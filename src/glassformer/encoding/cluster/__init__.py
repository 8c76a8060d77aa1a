"""Jobs on a Ray cluster, and the encoder as a stage of a Ray Data pipeline."""
