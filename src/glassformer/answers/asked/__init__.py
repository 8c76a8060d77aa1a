"""What is the answer? Any quantity of an encoder, with its convention, its derivation and the other usual conventions."""

from glassformer.answers.asked.answer import Answer, Line, Numbers, Other, Value
from glassformer.answers.asked.asking import ask

__all__ = ["Answer", "Line", "Numbers", "Other", "Value", "ask"]
