"""Contributions: one number of a run as a sum of contributions, by named rules."""
