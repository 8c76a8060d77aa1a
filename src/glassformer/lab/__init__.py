"""The lab: a local server and five interactive pages in the browser."""
