"""What people get wrong, as rewrites that compute the wrong number."""
