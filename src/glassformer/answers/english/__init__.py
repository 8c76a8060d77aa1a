"""Words to one expression of the language, or a refusal that lists expressions near it."""

from glassformer.answers.english.reading import Read, read_english

__all__ = ["Read", "read_english"]
