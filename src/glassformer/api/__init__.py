"""The Python API: one function per command, with the same arguments; results print and render in notebooks."""

from glassformer.api import ray
from glassformer.api.algebra import (
    bridge,
    build,
    check_formula,
    cost,
    count,
    decoding,
    fields,
    largest_batch,
    longest_context,
    notation,
    presets,
    shapes,
)
from glassformer.api.answers import ask, check, check_solution, check_worked, quantities
from glassformer.api.cards import card, compare
from glassformer.api.evaluation import evaluate
from glassformer.api.generation import generate, translate
from glassformer.api.hub import download
from glassformer.api.insight import attribute
from glassformer.api.interventions import ablate, lens, lens_over, patch, probe, saliency
from glassformer.api.jobs import encode_files, predict_files
from glassformer.api.models import encode, export, predict, verify
from glassformer.api.numbers import experiment, experiments, run, work
from glassformer.api.pictures import save_picture
from glassformer.api.quizzes import grade_quiz, make_quiz, quiz_sets, take_exam, take_quiz
from glassformer.api.reports import report
from glassformer.api.training import curves, data, data_sets

__all__ = [
    "ablate",
    "ask",
    "attribute",
    "bridge",
    "build",
    "card",
    "check",
    "check_formula",
    "check_solution",
    "check_worked",
    "compare",
    "cost",
    "count",
    "curves",
    "data",
    "data_sets",
    "decoding",
    "download",
    "encode",
    "encode_files",
    "evaluate",
    "experiment",
    "experiments",
    "export",
    "fields",
    "generate",
    "grade_quiz",
    "largest_batch",
    "lens",
    "lens_over",
    "longest_context",
    "make_quiz",
    "notation",
    "patch",
    "predict",
    "predict_files",
    "presets",
    "probe",
    "quantities",
    "quiz_sets",
    "ray",
    "report",
    "run",
    "saliency",
    "save_picture",
    "shapes",
    "take_exam",
    "take_quiz",
    "translate",
    "verify",
    "work",
]
