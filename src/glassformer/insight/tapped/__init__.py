"""Parts of the encoder that hand every step to hooks, each under the name that the program gives it."""
