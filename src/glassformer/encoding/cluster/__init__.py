"""Jobs on a Ray cluster, and our encoder inside somebody's Ray Data pipeline."""
