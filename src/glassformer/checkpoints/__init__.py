"""Which tensor in a file holds which parameter? Model folders, matched to their config from headers alone."""
