"""What is asked? A question in the words of courses and forums, read into a kind of quantity and what it is of."""

from glassformer.answers.questions.encoders import encoder_named
from glassformer.answers.questions.parsing import parse_question
from glassformer.answers.questions.question import Question

__all__ = ["Question", "encoder_named", "parse_question"]
