"""Known mistakes, as rewrites that compute the wrong value."""
