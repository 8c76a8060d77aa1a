"""Questions in English: translated into one expression of the language, or rejected with examples that can be run."""

from glassformer.answers.english.reading import Read, read_english

__all__ = ["Read", "read_english"]
