"""Parts of the encoder that call hooks on every step, by the names of the program."""
