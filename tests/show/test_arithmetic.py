"""Arithmetic as LaTeX: fractions, powers, brackets around what is negative or a sum."""

import numpy as np

from glassformer.numbers import Run
from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.program import Axis, Tensor
from glassformer.program.expression import Call, Constant, Product, Ratio, Ref, Sum, minus
from glassformer.show.arithmetic import latex_arithmetic

X = Tensor("x", (Axis("i", 2),))


def written(expression) -> str:
    program = solve(parse_problem({"softmax": [1, 2]})).program
    return latex_arithmetic(expression, Run(program, {"x": np.array([1.5, -2.0])}), 4)


def test_each_form_is_set_as_on_paper():
    one, two = Ref(X, {"i": 0}), Ref(X, {"i": 1})
    assert written(Product((one, two))) == r"1.5 \cdot \left(-2\right)"
    assert written(Sum((one, two))) == "1.5 - 2"
    assert written(Sum((one, minus(two)))) == r"1.5 - \left(-2\right)"
    assert written(Ratio(Sum((one, one)), Constant(2**0.5, "√2"))) == r"\frac{1.5 + 1.5}{\sqrt{2}}"
    assert written(Call("square", Sum((one, two)))) == r"\left(1.5 - 2\right)^2"
    assert written(Call("square", Constant(2e-6, "2e−06"))) == r"\left(2 \cdot 10^{-6}\right)^2"
    assert written(Call("sqrt", one)) == r"\sqrt{1.5}"
    assert written(Call("exp", two)) == "e^{-2}"
    assert written(Call("relu", two)) == r"\operatorname{relu}\left(-2\right)"
    assert written(Call("tanh", one)) == r"\tanh\left(1.5\right)"
