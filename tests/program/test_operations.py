"""Each operation's value is worked twice: by NumPy at once, and by its own arithmetic cell by cell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.program.axes import Axis, Tensor
from glassformer.program.formatter import LatexFormatter, TextFormatter
from glassformer.program.operations import Contract, FourierMix, Mask, Neighbours, Rotate, Share, Softmax
from glassformer.program.operations.error_function import erf
from glassformer.program.operations.lookups import sinusoidal_table
from glassformer.program.operations.scores import PatchBias, RelativeBias


def test_contract_sums_over_what_the_output_leaves_out():
    batch, t, d, head, k = Axis("batch", 2), Axis("t", 3), Axis("d_model", 4), Axis("head", 5), Axis("d_k", 6)
    x, w, q = Tensor("x", (batch, t, d)), Tensor("w", (d, head, k)), Tensor("q", (batch, t, head, k))
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=x.shape), rng.normal(size=w.shape)
    assert np.allclose(Contract().evaluate((x, w), q, (a, b)), np.einsum("btd,dhk->bthk", a, b), atol=1e-13)


@given(st.permutations(range(4)), st.permutations(range(4)))
def test_contract_agrees_with_einsum_for_any_order_of_axes(left_order, right_order):
    axes = [Axis("batch", 2), Axis("head", 3), Axis("t", 4), Axis("d_k", 5)]
    left = Tensor("a", tuple(axes[i] for i in left_order))
    right = Tensor("b", tuple([axes[0], axes[1], Axis("s", 6), axes[3]][i] for i in right_order))
    output = Tensor("c", (axes[1], axes[0], Axis("s", 6), axes[2]))
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=left.shape), rng.normal(size=right.shape)
    letters = {"batch": "b", "head": "h", "t": "t", "s": "s", "d_k": "k"}
    names = ["".join(letters[axis.name] for axis in tensor.axes) for tensor in (left, right, output)]
    wanted = np.einsum(f"{names[0]},{names[1]}->{names[2]}", a, b)
    assert np.allclose(Contract().evaluate((left, right), output, (a, b)), wanted, atol=1e-13)


@pytest.mark.parametrize(("frames", "stride", "wanted"), [
    (4, 1, [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0]]),
    (4, 2, [[0, 1, 2], [2, 3, 4]]),
    (2, 2, [[0, 1, 2]]),
])  # fmt: skip
def test_neighbours_are_side_by_side_with_zeros_beyond_the_ends(frames, stride, wanted):
    sound = Tensor("x", (Axis("batch", 1), Axis("mel", 2), Axis("frame", frames)))
    operation = Neighbours("frame", Axis("t", frames // stride), Axis("kernel", 3), stride, reach=1)
    output = Tensor("y", operation.axes((sound,)))
    assert [axis.name for axis in output.axes] == ["batch", "t", "mel", "kernel"]
    counted = np.arange(1.0, frames + 1)
    values = np.stack([counted, 10 * counted])[None]
    found = operation.evaluate((sound,), output, (values,))
    assert found[0, :, 0].tolist() == wanted
    assert (found[0, :, 1] == 10 * found[0, :, 0]).all()


def test_a_softmax_row_sums_to_one_and_a_masked_row_is_zero():
    scores = Tensor("scores", (Axis("t", 2), Axis("s", 3)))
    values = np.array([[1.0, 2.0, -np.inf], [-np.inf] * 3])
    weights = Softmax("s").evaluate((scores,), scores, (values,))
    assert weights[0].sum() == pytest.approx(1)
    assert weights[0, 2] == 0
    assert (weights[1] == 0).all()


def test_softmax_does_not_overflow():
    scores = Tensor("scores", (Axis("s", 2),))
    assert np.allclose(Softmax("s").evaluate((scores,), scores, (np.array([1e300, 1e300]),)), 0.5)


@given(st.integers(1, 9), st.integers(1, 9), st.booleans(), st.sampled_from([None, 1, 2, 3, 4, 100]))
def test_a_mask_counts_the_pairs_it_shows(queries, keys, causal, window):
    mask = Mask(causal=causal, window=window)
    seen = mask.visible(queries, keys)
    assert mask.pairs(queries, keys) == seen.sum()
    assert all(mask.rule(q, k) == seen[q, k] for q in range(queries) for k in range(keys))


def test_neighbouring_heads_share():
    s, kv_head, d_k = Axis("s", 3), Axis("kv_head", 2), Axis("d_k", 2)
    k, share = Tensor("k", (s, kv_head, d_k)), Share("kv_head", Axis("head", 6))
    output = Tensor("k_shared", share.axes((k,)))
    assert output.axes == (s, Axis("head", 6), d_k)
    value = np.arange(12.0).reshape(k.shape)
    shared = share.evaluate((k,), output, (value,))
    assert [shared[0, head, 0] for head in range(6)] == [0, 0, 0, 2, 2, 2]
    for head in range(6):
        opened = share.opened((k,), output, {"s": 1, "head": head, "d_k": 1}, {"k": value})
        assert opened.evaluate({"k": value}) == shared[1, head, 1] == value[1, head // 3, 1]
    assert share.macs((k,), output) == share.flops((k,), output) == 0


def test_a_window_of_128_reaches_64_to_each_side():
    assert [Mask(window=128).rule(200, key) for key in (135, 136, 264, 265)] == [False, True, True, False]


def test_rotary_scores_depend_on_the_distance_alone():
    t, d = Axis("t", 12), Axis("d_k", 8)
    x = Tensor("q", (t, d))
    rng = np.random.default_rng(2)
    q, k = (np.tile(rng.normal(size=8), (12, 1)) for _ in range(2))
    turned = [Rotate("t", 10000.0).evaluate((x,), x, (value,)) for value in (q, k)]
    scores = turned[0] @ turned[1].T
    assert scores[5, 2] == pytest.approx(scores[9, 6], abs=1e-12)
    assert scores[5, 2] != pytest.approx(scores[5, 3], abs=1e-3)


def test_the_sinusoidal_table_is_the_papers():
    table = sinusoidal_table(3, 4)
    assert table[0].tolist() == [0, 1, 0, 1]
    assert table[2] == pytest.approx([math.sin(2), math.cos(2), math.sin(2 / 100), math.cos(2 / 100)])


def test_relative_buckets_are_t5s():
    """Distances −130 … 130 against T5's published rule, written out one by one."""

    def bucket(distance: int) -> int:
        found, away = (16 if distance > 0 else 0), abs(distance)
        if away < 8:
            return found + away
        return found + min(15, 8 + int(np.float32(math.log(away / 8)) / np.float32(math.log(16)) * 8))

    bias = RelativeBias(128, Axis("t", 131), Axis("s", 131))
    rows = bias.buckets(32)
    assert [rows[0, s] for s in range(131)] == [bucket(s) for s in range(131)]
    assert [rows[t, 0] for t in range(131)] == [bucket(-t) for t in range(131)]


def test_patch_bias_has_a_row_for_each_offset_and_three_for_the_class_token():
    rows = PatchBias((2, 3), Axis("t", 7), Axis("s", 7)).buckets(3 * 5 + 3)
    assert (rows[0, 0], set(rows[0, 1:]), set(rows[1:, 0])) == (17, {15}, {16})
    assert set(rows[1:, 1:].ravel()) == set(range(15))
    assert rows[1, 2] == rows[2, 3] == rows[4, 5]  # one step to the right, wherever it starts


def test_erf_of_many_numbers_agrees_with_the_standard_library():
    x = np.concatenate([np.linspace(-7, 7, 40_001), np.random.default_rng(3).normal(size=20_000)])
    assert np.abs(erf(x) - [math.erf(value) for value in x]).max() < 4e-16


@pytest.mark.parametrize(("t", "d_model"), [(1, 1), (3, 4), (4, 6), (5, 8)])
def test_a_fourier_mix_is_the_real_part_of_two_transforms_one_after_the_other(t, d_model):
    x = Tensor("x", (Axis("batch", 2), Axis("t", t), Axis("d_model", d_model)))
    values = np.random.default_rng(2).normal(size=x.shape)
    positions, features = (np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n) for n in (t, d_model))
    wanted = (positions @ (values @ features)).real
    mixed = FourierMix().evaluate((x,), x, (values,))
    assert np.abs(mixed - wanted).max() < 1e-12
    for index in np.ndindex(*x.shape):
        cell = dict(zip(("batch", "t", "d_model"), index, strict=True))
        assert FourierMix().opened((x,), x, cell, {"x": values}).evaluate({"x": values}) == pytest.approx(mixed[index], abs=1e-12)


def test_the_flops_of_a_fourier_mix_grow_with_the_batch_and_hardly_faster_than_its_numbers():
    def flops(batch, t):
        x = Tensor("x", (Axis("batch", batch), Axis("t", t), Axis("d_model", 8)))
        return FourierMix().flops((x,), x)

    assert flops(1, 4) == 5 * 32 * 5 // 2  # 5/2 · N · log2 N for N = 32
    assert flops(3, 4) == 3 * flops(1, 4)
    assert 2 * flops(1, 512) < flops(1, 1024) < 2.2 * flops(1, 512)


def test_a_fourier_mix_is_written_with_both_of_its_axes():
    x = Tensor("x", (Axis("batch", 1), Axis("t", 2), Axis("d_model", 4)))
    assert FourierMix().write((x,), x, ["X"], TextFormatter()) == "Re(Fourier(X)) over t and d_model"
    latex = FourierMix().write((x,), x, ["X"], LatexFormatter())
    assert latex.startswith(r"\operatorname{Re}\left(\operatorname{Fourier}\left(X\right)\right)\text{ over }t\text{ and }d_")
