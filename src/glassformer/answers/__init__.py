"""Quantities of a model, claims about them, known mistakes, diagnosis and quizzes."""
