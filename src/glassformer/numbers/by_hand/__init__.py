"""By hand: a problem file with a few small vectors and matrices, worked out step by step."""

from glassformer.numbers.by_hand.problem import Problem, load_problem, parse_problem
from glassformer.numbers.by_hand.solution import Other, Solution, solve, solve_as_far
from glassformer.numbers.by_hand.worked import WorkedCell, WorkedStep

__all__ = ["Other", "Problem", "Solution", "WorkedCell", "WorkedStep", "load_problem", "parse_problem", "solve", "solve_as_far"]
