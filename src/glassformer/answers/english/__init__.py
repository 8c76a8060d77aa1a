"""Words to one expression of the language, or a refusal that lists expressions which can be run as they stand."""

from glassformer.answers.english.reading import Read, read_english

__all__ = ["Read", "read_english"]
