"""Model folders: loaded, verified, saved and exported."""
