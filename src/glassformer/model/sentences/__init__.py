"""Texts in; vectors, classes or tags out: a loaded model with its tokenizer."""
