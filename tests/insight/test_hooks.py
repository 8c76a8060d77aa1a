"""Hooks by the names of steps: every step of the program, on the fast model, as the program computes it."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from model_cases import BERT, both_ways, furthest, rich_specs, seeded

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.insight.hooks import checked_names, step_names, tapped
from glassformer.model.fast.replacing import apply

CLOSE = 1e-10
SPREAD = 1e-3


def recorded(case):
    """Every step of the case by name, as hooks saw it, and the output."""
    seen = {}
    names = step_names(case.spec)
    hooks = {name: lambda value, name=name: seen.update({name: value}) for name in names if name in case.run}
    return seen, tapped(case.encoder, hooks)(**case.inputs)


def assert_every_step(case):
    seen, output = recorded(case)
    for name in step_names(case.spec):
        if name in case.run:
            wanted = torch.as_tensor(case.run[name])
            value = (
                seen[name].broadcast_to(wanted.shape) if seen[name].ndim == wanted.ndim else seen[name][:1].reshape(wanted.shape)
            )
            finite = wanted.isfinite()
            assert torch.equal(value.isfinite(), finite), name
            largest = float(wanted[finite].abs().max()) if finite.any() else 0.0  # some numbers of random specs are huge
            assert furthest(value[finite], wanted[finite]) < CLOSE * max(1.0, largest), name
    assert furthest(output.states, case.output.states) < CLOSE


@settings(max_examples=40)
@given(spec=rich_specs(), padded=st.booleans(), seed=st.integers(0, 9))
def test_every_step_of_any_program_has_a_hook_that_sees_its_value(spec, padded, seed):
    case = both_ways(spec, padded=padded, seed=seed)
    assume(case.smallest_spread > SPREAD)
    assert_every_step(case)


def test_a_hooks_result_propagates_like_a_what_if():
    case = both_ways(BERT, padded=True)
    name = "layers.0.attention.mix"

    def silence(mix):
        mix = mix.clone()
        mix[:, :, 2] = 0
        return mix

    new = case.run[name].copy()
    new[:, :, 2] = 0
    wanted = case.run.what_if({name: new}).after["head.logits"]
    assert furthest(tapped(case.encoder, {name: silence})(**case.inputs).logits, wanted) < CLOSE
    assert furthest(case.output.logits, wanted) > 1e-3


def test_layers_that_share_their_weights_have_hooks_of_their_own():
    case = both_ways(BERT.replace(share_layers=2))
    seen = {}
    hooks = {name: lambda value, name=name: seen.update({name: value}) for name in ("layers.0.ffn.out", "layers.1.ffn.out")}
    tapped(case.encoder, hooks)(**case.inputs)
    assert all(furthest(seen[name], case.run[name]) < CLOSE for name in hooks)


def test_parts_without_a_hook_stay_the_fast_ones():
    encoder = apply(seeded(BERT))
    other = tapped(encoder, {"layers.1.attention.mix": print})
    assert other.layers["0"] is encoder.layers["0"]
    assert other.layers["1"].ffn is encoder.layers["1"].ffn
    assert other.layers["1"].attention.out is encoder.layers["1"].attention.out
    assert type(encoder.layers["1"].attention).__name__ == "FastAttention"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("layers.0.attention.mixed", "there is no step 'layers.0.attention.mixed' in this encoder. Did you mean"),
        ("attention.mix", "Did you mean 'layers.0.attention.mix'?"),
        ("layers.2.attention.mix", "Did you mean 'layers.1.attention.mix'?"),
        ("layers.*.attention.wieghts", "Did you mean 'layers.0.attention.weights'?"),
        ("layers.0.attention.W_Q", "there is no step"),
        (3, "a step is selected by its name, such as 'head.logits', found 3."),
    ],
)
def test_an_unknown_step_is_refused_with_the_nearest_name(name, message):
    with pytest.raises(GlassformerError) as refused:
        checked_names(BERT, [name])
    assert message in str(refused.value)


def test_a_hook_that_returns_another_shape_is_refused():
    with pytest.raises(GlassformerError, match=r"the hook of layers\.0\.out returned \[3\], expected a tensor \[3, 5, 16\]"):
        tapped(seeded(BERT), {"layers.0.out": lambda x: x[:, 0, 0]})(**both_ways(BERT).inputs)
    with pytest.raises(GlassformerError, match="hooks must be a mapping"):
        tapped(seeded(BERT), {"layers.0.out": 3})


def test_inside_with_every_pass_of_a_loaded_model_calls_the_hooks(minilm):
    model = gf.load(minilm)
    before = model.encode(["a river bank", "the shore"])
    shapes = []
    with model.hooks({"layers.*.attention.mix": lambda mix: shapes.append(mix.shape), "layers.5.ffn.out": torch.zeros_like}):
        changed = model.encode(["a river bank", "the shore"])
        model(torch.tensor([[101, 102]]))
    assert len(shapes) >= 12
    assert abs(changed - before).max() > 0.01
    assert (model.encode(["a river bank", "the shore"]) == before).all()


def test_a_cache_holds_each_text_without_padding_and_the_same_on_disk(minilm, tmp_path):
    model = gf.load(minilm)
    texts = ["a river bank", "the long shore of a wide river"]
    names = ["layers.5.out", "layers.0.attention.weights", "x"]
    here, there = model.cache(texts, names), model.cache(texts, names, out=tmp_path / "kept")
    assert here.names == there.names == names
    lengths = [len(here.tokens(number)) for number in range(2)]
    assert [one.shape for one in here["layers.0.attention.weights"]] == [(12, n, n) for n in lengths]
    for number in range(2):
        alone = model.cache([texts[number]], names).text(0)
        for name in names:
            assert abs(here.text(number)[name] - alone[name]).max() < 1e-5
            assert (here.text(number)[name] == there.text(number)[name]).all()
    mean = here["layers.5.out"][1].mean(0)
    assert mean / (mean**2).sum() ** 0.5 == pytest.approx(model.encode(texts)[1], abs=1e-5)
    with pytest.raises(GlassformerError, match="kept exists: choose another folder"):
        model.cache(texts, names, out=tmp_path / "kept")
    with pytest.raises(GlassformerError, match="this cache has no step"):
        here["layers.1.out"]


@pytest.mark.parametrize(
    "changed", [{"kv_heads": 2}, {"position": "rotary", "positions": None}, {"norm_kind": "rms", "norm": "pre"}]
)
def test_shared_and_rotated_heads_have_their_hooks(changed):
    assert_every_step(both_ways(BERT.replace(**changed), padded=True))


def test_a_decoder_is_refused_in_one_line():
    decoder = gf.Decoder(gf.spec("decoder", d_model=8, heads=2, layers=1, vocab=20))
    with pytest.raises(GlassformerError, match="hooks do not support decoders yet"):
        tapped(decoder, {"layers.0.out": print})
