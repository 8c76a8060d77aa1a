"""Quizzes: sets of questions with random parameters, keys with worked solutions, and grading that names mistakes."""

from glassformer.answers.quiz.reading import load_set, parse_set, shipped
from glassformer.answers.quiz.template import QuizSet, Template
from glassformer.answers.quiz.variant import EVERYBODY, Item, Variant, variant

__all__ = ["EVERYBODY", "Item", "QuizSet", "Template", "Variant", "load_set", "parse_set", "shipped", "variant"]
