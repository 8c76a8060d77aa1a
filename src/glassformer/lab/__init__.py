"""Where do I play with it? A server on this machine alone, and five pages in the browser."""
