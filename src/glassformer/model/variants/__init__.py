"""Features of some models only: other inputs, positions, projections and heads, one file each, selected once by the spec."""
