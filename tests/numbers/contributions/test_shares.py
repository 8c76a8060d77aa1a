"""How steps that are not linear share a number out: witnessed by torch's derivatives and numerical integration."""

import numpy as np
import pytest

from glassformer.numbers.contributions.rules import Rules
from glassformer.numbers.contributions.shares import At, constant, shares
from glassformer.program import Axis, Step, Tensor, operations
from glassformer.program.operations import Cap, FourierMix, Normalise, Pointwise, Softmax, Variance
from glassformer.program.operations.base import Operation

OPENED = Rules(depth="input", norms="opened", patterns="opened")
ROWS, FEATURES = Axis("t", 3), Axis("d_model", 6)
PATH = 4001  # points of the trapezoid rule


def at(operation, values, coefficient, *, rules=OPENED):
    """A step of this operation on these values, with random coefficients for its output."""
    inputs = [Tensor(f"input_{i}", (ROWS, FEATURES)[: value.ndim]) for i, value in enumerate(values)]
    step = Step(Tensor("out", (ROWS, FEATURES)[: coefficient.ndim]), operation, inputs)
    return At(step, values, coefficient, [False] * len(values), rules)


def integrated(function, end, start):
    """Integrated gradients from `start` to `end`: torch's derivatives, averaged by the trapezoid rule."""
    torch = pytest.importorskip("torch")
    end, start = torch.tensor(end), torch.tensor(start)
    places = torch.linspace(0, 1, PATH, dtype=torch.float64)
    points = (start + places.reshape(-1, *[1] * end.ndim) * (end - start)).requires_grad_()
    (gradient,) = torch.autograd.grad(sum(function(point) for point in points), points)
    return ((end - start) * torch.trapezoid(gradient, places, dim=0)).numpy()


def drawn(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def test_every_operation_states_shares():
    kinds = [kind for kind in vars(operations).values() if isinstance(kind, type) and kind is not Operation]
    assert len(kinds) > 30
    assert [kind.__name__ for kind in kinds if shares.dispatch(kind) is shares.dispatch(object)] == []


def test_a_softmax_is_shared_out_as_integrated_gradients_from_equal_scores():
    torch = pytest.importorskip("torch")
    scores, c = 2 * drawn(0, 3, 6), drawn(1, 3, 6)
    step = at(Softmax("d_model"), [scores], c)
    (found,) = shares(step.step.operation, step)
    weights = torch.tensor(c)
    start = np.broadcast_to(scores.mean(1, keepdims=True), scores.shape)
    expected = integrated(lambda point: (weights * point.softmax(1)).sum(), scores, start.copy())
    centred = found * (scores - start)
    assert centred == pytest.approx(expected, abs=1e-6)
    assert (found * scores).sum(1) == pytest.approx(centred.sum(1), abs=1e-12)  # a shift of all scores of a row gets nothing
    assert constant(step.step.operation, step) == pytest.approx(c.mean(1).sum(), abs=1e-12)


def test_a_mean_square_is_shared_out_as_integrated_gradients():
    torch = pytest.importorskip("torch")
    u, c = drawn(2, 3, 6), drawn(3, 3)
    operation = Variance("d_model")
    (found,) = shares(operation, at(operation, [u], c))
    expected = integrated(lambda point: (torch.tensor(c) * point.square().mean(1)).sum(), u, np.zeros_like(u))
    assert found * u == pytest.approx(expected, abs=1e-6)


def test_a_part_of_x_gets_its_covariance_with_x():
    one, other, c = drawn(2, 3, 6), drawn(4, 3, 6), drawn(3, 3)
    x = one + other
    operation = Variance("d_model")
    found = shares(operation, at(operation, [x, x.mean(1)], c))
    for part in (one, other):
        covariances = np.array([np.cov(a, b, bias=True)[0, 1] for a, b in zip(part, x, strict=True)])
        assert (found[0] * part).sum(1) + found[1] * part.mean(1) == pytest.approx(c * covariances, abs=1e-12)


def test_half_of_a_norm_goes_through_its_input_and_half_through_its_variance():
    """Normalised = u · (1 / σ): integrated gradients of this product from (0, 0) give each factor half."""
    torch = pytest.importorskip("torch")
    u, c = drawn(4, 3, 6), drawn(5, 3, 6)
    variance = np.square(u).mean(1)
    operation = Normalise(1e-5)
    to_u, to_variance = shares(operation, at(operation, [u, variance], c))
    factors = np.stack([u, np.broadcast_to(1 / np.sqrt(variance + 1e-5)[:, None], u.shape)])
    expected = integrated(lambda pair: (torch.tensor(c) * pair[0] * pair[1]).sum(), factors, np.zeros_like(factors))
    assert to_u * u == pytest.approx(expected[0], abs=1e-9)
    assert to_variance * variance == pytest.approx(expected[1].sum(1), abs=1e-9)


@pytest.mark.parametrize("name", ["gelu", "silu", "tanh", "relu", "sigmoid"])
def test_an_activation_by_secant_is_integrated_gradients_from_0(name):
    torch = pytest.importorskip("torch")
    functions = {"gelu": torch.nn.functional.gelu, "silu": torch.nn.functional.silu, "relu": torch.relu}
    x, c = drawn(6, 3, 6), drawn(7, 3, 6)
    step = at(Pointwise(name), [x], c)
    (found,) = shares(step.step.operation, step)
    function = functions.get(name) or getattr(torch, name)
    expected = integrated(lambda point: (torch.tensor(c) * function(point)).sum(), x, np.zeros_like(x))
    assert found * x == pytest.approx(expected, abs=1e-3 if name == "relu" else 1e-6)  # the first point of relu is its kink
    at_zero = float(function(torch.zeros(())))
    assert (constant(step.step.operation, step) or 0.0) == pytest.approx(at_zero * c.sum(), abs=1e-12)


@pytest.mark.parametrize("rules", [OPENED, Rules(activations="slope")])
def test_a_cap_is_a_tanh_of_another_size(rules):
    torch = pytest.importorskip("torch")
    x, c = drawn(8, 3, 6), drawn(9, 3, 6)
    operation = Cap(0.7)
    (found,) = shares(operation, at(operation, [x], c, rules=rules))
    point = torch.tensor(x, requires_grad=True)
    capped = (torch.tensor(c) * 0.7 * torch.tanh(point / 0.7)).sum()
    (slope,) = torch.autograd.grad(capped, point)
    expected = (c * 0.7 * np.tanh(x / 0.7) / x) if rules is OPENED else slope.numpy()
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_fourier_transform_is_shared_out_by_its_derivative():
    torch = pytest.importorskip("torch")
    x, c = drawn(20, 3, 6), drawn(21, 3, 6)
    step = at(FourierMix(), [x], c)
    (found,) = shares(step.step.operation, step)
    leaf = torch.tensor(x, requires_grad=True)
    (torch.tensor(c) * torch.fft.fft2(leaf).real).sum().backward()
    assert found == pytest.approx(leaf.grad.numpy(), abs=1e-12)
