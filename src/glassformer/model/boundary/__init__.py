"""The boundary of the model: allocating memory, checking inputs, and naming parameters."""
