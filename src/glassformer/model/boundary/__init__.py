"""The edge of the model: memory is asked for, inputs are checked and parameters are named here."""
