"""What only some models have: other inputs, positions, projections and heads, one file each, chosen once by the spec."""
