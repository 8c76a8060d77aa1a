"""Activations: the arithmetic of each is its NumPy form, and so is its derivative."""

import numpy as np
import pytest

from glassformer.program.expression import Constant
from glassformer.program.operations.pointwise import FUNCTIONS

POINTS = np.array([-30.0, -6.5, -1.3, -0.2, 0.3, 0.7, 2.0, 6.5, 7.5, 30.0])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_arithmetic_of_an_activation_is_its_numpy_form(name):
    function = FUNCTIONS[name]
    opened = [function.opened(Constant(x, str(x))).evaluate({}) for x in POINTS]
    assert np.allclose(opened, function.evaluate(POINTS), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_slope_of_an_activation_is_its_difference_quotient(name):
    function, step = FUNCTIONS[name], 1e-5
    quotient = (function.evaluate(POINTS + step) - function.evaluate(POINTS - step)) / (2 * step)
    assert np.allclose(function.slope(POINTS), quotient, rtol=1e-8, atol=1e-9)
