"""Every operation explains what it computes: its arithmetic re-evaluates to its value, cell by cell."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shown_arithmetic import worked_out

from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.numbers.by_hand.surd import Surd
from glassformer.numbers.by_hand.worked import MOST_TERMS
from glassformer.numbers.explain import written
from glassformer.program.formatter import LatexFormatter, TextFormatter

GIVEN = {"Q": [[2, 0], [1, 1]], "K": [[0, 2], [2, 1]], "V": [[2, 1], [0, 2]]}
ADDITIVE = {"alignment": "additive", "W_1": [[1, 0], [0, 1], [1, 1]], "W_2": [[1, 2], [2, 1], [0, 1]], "v_a": [1, 2, 3], "b_a": 1}
PROBLEMS = [
    GIVEN,
    *({**GIVEN, "distribution": name} for name in ("sparsemax", "sigmoid", "hardmax")),
    *({**GIVEN, "alignment": name, "W": [[1, 2], [3, 4]]} for name in ("dot", "general", "cosine")),
    {**GIVEN, "alignment": "cosine", "Q": [[0, 0], [0, 1]]},
    {**GIVEN, **ADDITIVE},
    {**GIVEN, "mask": "causal", "temperature": 2, "score_bias": [[0, 1], [2, 0]]},
    {**GIVEN, "heads": 2, "W_O": [[1, 2], [3, 4]], "b_O": [1, 0]},
    {"kind": "attention", "X": [[1, 2, 3, 4], [4, 3, 2, 1]], "heads": 2},
    {"X": [[1, 2], [3, 4]], "W_Q": {"pick": [1]}, "W_K": {"pick": [2]}, "W_V": "identity", "query": 2},
    {"kind": "encoder layer", "X": [[1, 2], [3, 5]], "W_Q": "identity", "W_K": "identity", "W_V": "identity",
     "W_1": [[1, 0], [1, 1]], "W_2": [[1, 1], [0, 1]], "W_3": [[1, 1], [1, 0]], "activation": "geglu", "norm": "pre",
     "positions": "sinusoidal", "eps": 0.01, "eps_place": "outside", "gamma": 2, "beta": 1},
    {"kind": "layer norm", "x": [[1, 2, 4], [5, 5, 5]], "variance": "unbiased", "eps": 1e-5},
    {"kind": "rms norm", "x": [[1, 2, 4], [0, 0, 0]]},
    {"kind": "positions", "positions": [0, 2, 7.5], "d_model": 5, "layout": "halves"},
    {"kind": "rotary", "x": [[1, 2, 3, 4], [5, 6, 7, 8]], "pairs": "halves"},
    {"kind": "rotary", "x": [1, 2, 3, 4], "position": 3},
    {"gelu": [1, -2, 0.3]},
    {"A": [1, 2], "B": [3, 4]},
]  # fmt: skip


@pytest.mark.parametrize("document", PROBLEMS)
@pytest.mark.parametrize("convention", ["rows", "columns"])
def test_the_arithmetic_of_every_cell_gives_its_value(document, convention):
    solution = solve(parse_problem({**document, "convention": convention}))
    values = solution.run.values
    for step in solution.program.steps:
        for where in np.ndindex(*step.output.shape):
            cell = {axis.name: index for axis, index in zip(step.output.axes, where, strict=True)}
            worked = step.operation.opened(step.inputs, step.output, cell, values).evaluate(values)
            assert worked == pytest.approx(values[step.name][where], rel=1e-12, abs=1e-12), (step.name, cell)
            exact = solution.exact[step.name][where]
            if isinstance(exact, Surd):
                assert float(exact) == pytest.approx(values[step.name][where], rel=1e-12, abs=1e-12), (step.name, cell)


LOOKED_UP = re.compile(r"√|\d/\d|[a-z]\(")  # roots, fractions and functions are rounded where they are looked up
AWKWARD = [
    *({**GIVEN, "scale": scale} for scale in ("7/3", "2√3", "1/√2", 3.7)),
    *({**GIVEN, "temperature": temperature} for temperature in ("2/3", 0.01)),
    {"kind": "softmax", "x": [100, 250.123456789, -40]},
    {"kind": "softmax", "x": [-100, -250.123456789]},
    {"kind": "rope", "x": [1, 2, 3, 4], "position": 1234567},
    {"kind": "positions", "position": 1234567, "d_model": 4, "base": 7654321},
    {"kind": "positions", "positions": 2, "d_model": 2, "X": [[1, 2], [3, 4]], "embedding_scale": "√3/5"},
    *({"layer_norm": [1, 2, 4], "eps": 1.23456789e-5, "eps_place": place} for place in ("inside", "outside")),
]


@pytest.mark.parametrize("document", [*PROBLEMS, *AWKWARD])
def test_the_arithmetic_as_it_is_written_gives_the_value(document):
    solution = solve(parse_problem(document))
    for step in solution.steps:
        for cell in step.cells:
            for stage in cell.stages(15):
                text = written(stage, solution.run, 15, MOST_TERMS)
                assert worked_out(text) == pytest.approx(cell.value, rel=1e-9, abs=1e-12), (cell.label, text)


@pytest.mark.parametrize("document", [*PROBLEMS, *AWKWARD])
def test_numbers_rounded_on_the_way_give_what_is_written_after_them(document):
    solution = solve(parse_problem(document)).rounded(3)
    for step in solution.steps:
        for cell in step.cells:
            text = written(cell.stages(3)[-1], solution.run, 3, MOST_TERMS)
            if not LOOKED_UP.search(text):
                assert worked_out(text) == pytest.approx(cell.value, abs=0.0005001), (cell.label, text)


@pytest.mark.parametrize("document", PROBLEMS)
def test_every_operation_can_be_written_and_costed(document):
    program = solve(parse_problem(document)).program
    for step in program.steps:
        names = [tensor.name for tensor in step.inputs]
        assert step.operation.write(step.inputs, step.output, names, TextFormatter())
        latex = step.operation.write(step.inputs, step.output, names, LatexFormatter())
        assert not set(latex) & set("−√∞·…")
        assert step.operation.flops(step.inputs, step.output) >= 0


def test_rotary_positions_keep_lengths_and_see_only_distance():
    def turned(x, position):
        return np.array(solve(parse_problem({"kind": "rope", "x": x, "position": position})).values["output"])

    q, k = [1.0, 2.0, -1.0, 0.5], [0.3, -1.0, 2.0, 1.0]
    assert np.linalg.norm(turned(q, 5)) == pytest.approx(np.linalg.norm(q))
    assert turned(q, 5) @ turned(k, 3) == pytest.approx(turned(q, 12) @ turned(k, 10))


def test_a_vector_of_equal_numbers_normalises_to_zeros_however_it_rounds():
    assert solve(parse_problem({"layer_norm": [0.1, 0.1, 0.1]})).values["output"] == [0, 0, 0]


@given(st.lists(st.integers(-30, 30).map(lambda n: n / 4), min_size=1, max_size=6))
def test_sparsemax_is_on_the_simplex_and_keeps_the_order(scores):
    weights = np.array(solve(parse_problem({"sparsemax": scores})).values["output"])
    assert weights.min() >= 0
    assert math.isclose(weights.sum(), 1, abs_tol=1e-9)
    order = np.argsort(scores, kind="stable")
    assert (np.diff(weights[order]) >= -1e-12).all()
