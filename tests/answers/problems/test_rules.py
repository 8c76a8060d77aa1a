"""Mistakes in random problems are found again from their numbers, and right claims are never called wrong."""

import numpy as np
import pytest
from worked_problems import one_of, text
from worked_problems import problem as random_problem

from glassformer.answers.mistakes.catalogue import CATALOGUE
from glassformer.answers.problems import check_worked
from glassformer.answers.problems.figures import read_figures
from glassformer.answers.problems.layouts import BEFORE_SOFTMAX, readings
from glassformer.answers.problems.parts import mask_steps
from glassformer.answers.problems.rules import rewrites
from glassformer.answers.problems.work import Work
from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.numbers.by_hand.worked import turned

SLIPS = set(CATALOGUE.groups["slips"])
UNTOLD = "it cannot be told why"


def solved(random):
    problem = parse_problem(random_problem(random))
    solution = solve(problem)
    return problem, solution, Work.of(solution, problem)


def right_claims(random, problem, solution):
    """One right claim for each tensor, rounded or cut off, as written, in columns, or of one row."""
    names = {tensor: name for name, tensor in sorted(solution.names.items())}
    for tensor, name in names.items():
        value, digits, way = np.array(solution.values[name], dtype=float), int(random.integers(1, 7)), random.integers(4)
        axes = solution.program.tensors[tensor].axes
        if way == 1 and np.isfinite(value).all():
            value = np.trunc(np.round(value * 10**digits, 6)) / 10**digits
        elif way == 2 and value.ndim == 2 and not (value.shape[0] == value.shape[1] and tensor in BEFORE_SOFTMAX):
            value = value.T
        elif way == 3 and value.ndim == 2 and problem.convention == "rows" and axes[0].name == "t":
            value = value[random.integers(len(value))]
        yield name, text(value.tolist(), digits)


def wrong_claim(random, problem, work):
    """The result of a mistake, noise, or the right numbers with two of them swapped; None if it cannot be written."""
    name = one_of(random, *sorted(work.names))
    found = work.quantity(name)
    made = one_of(random, None, None, *list(rewrites(work)))
    if made is not None:
        found = made.work.quantity(name)
    if found is None or not np.isfinite(found[1]).all() or np.abs(found[1]).max(initial=0) > 1e6:
        return None
    value = np.array(turned(*found, problem.convention), dtype=float)
    if made is None:
        value = value + random.normal(size=value.shape) * one_of(random, 0.01, 0.5)
    return name, text(value.tolist(), int(random.integers(2, 6))), made


@pytest.mark.parametrize("count", [1000, pytest.param(5000, marks=pytest.mark.slow)])
def test_right_claims_are_never_called_wrong(count):
    random, judged = np.random.default_rng(20), 0
    while judged < count:
        problem, solution, _ = solved(random)
        claims = dict(right_claims(random, problem, solution))
        checked = check_worked(problem, claims)
        assert checked.right, (problem, claims, checked.wrong)
        judged += len(claims)


def accusations(random, cases):
    """Wrong claims about random problems, with what is found."""
    for _ in range(cases):
        problem, _, work = solved(random)
        claim = wrong_claim(random, problem, work)
        if claim is not None:
            name, numbers, made = claim
            (found,) = check_worked(problem, {name: numbers}).judged
            yield problem, work, name, found, made


def every_mistake_named_is_possible(random, cases):
    """Each code that is named belongs to a rewrite that this problem leaves room for, and that changes the quantity."""
    named = 0
    for problem, work, name, found, _ in accusations(random, cases):
        figures = read_figures(found.claim)
        right = {reading.layout: reading.value for reading in readings(work, name, {})}
        for finding in found.findings:
            assert all(can_be_made(problem, work, code) for code in finding.codes), (problem, finding)
            if finding.codes[0] in SLIPS or len(finding.codes) > 1:
                continue
            named += 1
            assert any(
                figures.within(reading.value, figures.units if finding.near else 0.0)
                and differs(reading.value, right.get(reading.layout))
                for made in rewrites(work)
                if made.code == finding.codes[0]
                for called in {name, work.names[name]} & set(made.work.names)
                for reading in readings(made.work, called, {})
                if figures.lined_up(reading.value) is not None
            ), (problem, finding)
    assert named > cases / 8


def differs(value, right):
    return right is None or value.shape != right.shape or not np.allclose(value, right, rtol=1e-9, atol=1e-12)


def can_be_made(problem, work, code):
    """What a mistake needs at least."""
    masked = bool(mask_steps(work)) or "masked" in work.names
    several = (problem.option("heads") or 1) > 1
    needs = {
        "mask_wrong": masked,
        "mask_forgotten": masked,
        "one_head_vs_all_heads": several,
        "heads_split_wrong": several,
        "no_output_projection": problem.has("W_O"),
        "temperature": problem.option("temperature") is not None,
        "bias_forgotten": any(key.startswith("b") for key in problem.entries),
        "second_map_forgotten": problem.has("W_2"),
        "residual_forgotten": any(step.name.startswith("sum") for step in work.program.steps),
    }
    return needs.get(code, True)


def mistakes_are_found(random, cases):
    found_again = 0
    for _, work, name, found, made in accusations(random, cases):
        before = work.before(work.names[name])
        if made is None or found.right or made.step not in before or any(UNTOLD in note for note in found.notes):
            continue  # it changes nothing here, or the numbers are too small for so few digits to tell
        if not found.findings and len(found.claim.partition(".")[2].partition(",")[0]) < 4:
            continue
        assert made.code in {finding.codes[0] for finding in found.findings}, (made.code, found)
        found_again += 1
    assert found_again > cases / 4


def test_a_mistake_that_is_named_can_have_been_made():
    every_mistake_named_is_possible(np.random.default_rng(5), 100)


def test_mistakes_are_named_from_their_numbers():
    mistakes_are_found(np.random.default_rng(6), 200)


@pytest.mark.slow
def test_many_mistakes_that_are_named_can_have_been_made():
    every_mistake_named_is_possible(np.random.default_rng(7), 2000)


@pytest.mark.slow
def test_many_mistakes_are_named_from_their_numbers():
    mistakes_are_found(np.random.default_rng(8), 2000)


def test_every_rewrite_has_a_known_code_and_a_step_of_the_right_work():
    random = np.random.default_rng(9)
    for _ in range(60):
        _, _, work = solved(random)
        for made in rewrites(work):
            assert made.code in CATALOGUE
            assert made.step in work.program.step_of


def test_projections_left_out_altogether_are_named():
    x, w = np.array([[1.0, 0, 1], [0, 2, 0], [1, 1, 1]]), [[1, 0, 1], [2, 1, 0], [0, 1, 1]]
    scores = x @ x.T / np.sqrt(3)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    problem = {"X": x.tolist(), "W_Q": w, "W_K": [[0, 1, 1], [1, 0, 1], [1, 1, 0]], "W_V": [[1, 2, 0], [0, 1, 1], [2, 0, 1]]}
    found = check_worked(problem, {"output": np.round(weights @ x, 4).tolist()})
    assert "W_Q, W_K and W_V were not applied" in str(found.to_dict())
