"""Saliency: integrated gradients add up, agree with captum, and gradients with finite differences."""

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_models import guest

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.insight.saliency import saliency

TEXT = "the glass walls of an encoder"


def logit(model, ids, number, vectors=None):
    hooks = {"embeddings.token": lambda value: value if vectors is None else vectors}
    with model.hooks(hooks):
        return model(ids).logits[:, number]


def vectors_of(model):
    """The ids of the text, and the vectors of its tokens."""
    ids = ids_of(model, TEXT)
    return ids, model.encoder.embeddings.source.E_token.detach()[ids]


def ids_of(model, text):
    return torch.tensor([model.tokenizer.encode(text).ids])


@pytest.mark.parametrize("of", [None, "class=glass", "class=glass against=wall"])
@pytest.mark.parametrize("baseline", ["padding", "zero"])
def test_integrated_gradients_sum_to_the_change_of_the_logit(classifier, of, baseline):
    found = gf.saliency(classifier, TEXT, of=of, baseline=baseline)
    assert found.gap.relative < 0.01
    assert sum(found.scores) == pytest.approx(found.gap.total)
    assert sum(score for _, score in found.words) == pytest.approx(found.gap.total)
    ends = [score for token, score in zip(found.tokens, found.scores, strict=True) if token in ("[CLS]", "[SEP]")]
    assert (ends == [0, 0]) == (baseline == "padding")


def test_gradient_times_input_is_the_slope_of_scaling_the_token_vectors(loaded):
    found = saliency(loaded, TEXT, of="class=wall", method="gradient")
    ids, step = ids_of(loaded, TEXT), 1e-5
    vectors = loaded.encoder.embeddings.source.E_token.detach()[ids]
    for place, score in enumerate(found.scores):
        up, down = vectors.clone(), vectors.clone()
        up[0, place] *= 1 + step
        down[0, place] *= 1 - step
        slope = (logit(loaded, ids, 2, up) - logit(loaded, ids, 2, down)).item() / (2 * step)
        assert score == pytest.approx(slope, abs=1e-8, rel=1e-6)


def test_the_score_of_a_head_is_the_slope_of_scaling_its_output(loaded):
    found = saliency(loaded, TEXT, of="class=wall", method="gradient")
    ids, step = ids_of(loaded, TEXT), 1e-5

    def scaled(factor):
        def scale(mix):
            mix = mix.clone()
            mix[:, :, 1] *= factor
            return mix

        with loaded.hooks({"layers.0.attention.mix": scale}):
            return loaded(ids).logits[0, 2].item()

    slope = (scaled(1 + step) - scaled(1 - step)) / (2 * step)
    assert found.heads[0][1] == pytest.approx(slope, abs=1e-8, rel=1e-6)


def test_rollout_of_a_uniform_model_is_uniform_and_sums_to_one(loaded):
    found = saliency(loaded, TEXT, method="rollout")
    assert sum(found.scores) == pytest.approx(1, abs=1e-12)
    assert found.gap.relative < 1e-12
    weights = [loaded(ids_of(loaded, TEXT), return_weights=[0, 1]).weights[layer][0].mean(0).detach().numpy() for layer in (0, 1)]
    half = [(one + np.eye(len(one))) / 2 for one in weights]
    assert found.scores == pytest.approx((half[1] @ half[0])[0], abs=1e-12)


@pytest.mark.parametrize("baseline", ["zero", "padding"])
def test_integrated_gradients_agree_with_captum(loaded, baseline):
    captum = guest("captum.attr")
    ids, vectors = vectors_of(loaded)
    start = torch.zeros_like(vectors)
    if baseline == "padding":  # every word replaced by the padding token; [CLS] and [SEP] stay
        start = loaded.encoder.embeddings.source.E_token.detach()[torch.zeros_like(ids)]
        start[:, [0, -1]] = vectors[:, [0, -1]]

    def forward(some):
        return logit(loaded, ids.expand(len(some), -1), 1, some)

    theirs, gap = captum.IntegratedGradients(forward).attribute(
        vectors, start, n_steps=64, method="gausslegendre", return_convergence_delta=True
    )
    ours = saliency(loaded, TEXT, of="class=glass", baseline=baseline, steps=64)
    assert ours.scores == pytest.approx(theirs[0].sum(-1).detach().numpy(), abs=1e-5)
    assert ours.gap.total - ours.gap.wanted == pytest.approx(gap.item(), abs=1e-5)


def test_gradient_times_input_agrees_with_captum(loaded):
    captum = guest("captum.attr")
    ids, vectors = vectors_of(loaded)
    products = captum.InputXGradient(lambda some: logit(loaded, ids, 1, some)).attribute(vectors.clone().requires_grad_())
    ours = saliency(loaded, TEXT, of="class=glass", method="gradient")
    assert ours.scores == pytest.approx(products[0].sum(-1).detach().numpy(), abs=1e-5)


WALK = Path(str(files("glassformer.lab").joinpath("models", "walk")))
SENTENCES = [
    "The animal did not cross the street because it was too tired.",
    "Tom a été entarté cet été.",
    "A joy from start to end!",
    "bad",
]


@pytest.mark.parametrize("text", SENTENCES)
def test_a_trained_classifier_is_explained_to_a_percent_by_the_default_steps_and_the_gap_is_printed(text):
    found = gf.saliency(WALK, text)
    assert found.gap.relative < 0.01
    assert f"Completeness gap: {100 * found.gap.relative:.2g}% with {found.steps} steps." in str(found)


def test_a_masked_token_and_a_text_of_one_token(masked, classifier):
    found = gf.saliency(masked, "the glass walls", of="token=glass t=2")
    assert found.of == "logit of 'glass' at position 2"
    assert found.gap.relative < 0.01
    one = gf.saliency(classifier, "glass")
    assert len(one.words) == 3
    assert json.loads(json.dumps(one.to_dict()))["words"][1]["word"] == "glass"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"of": "class=glas"}, "there is no class 'glas'. Did you mean 'glass'?"),
        ({"of": "token=glass"}, "token=glass does not fit head=classify: give class=LABEL."),
        ({"of": "layers.0.out t=0 d_model=1"}, "does not fit head=classify"),
        ({"method": "integral"}, "method=integral is not known."),
        ({"steps": 0}, "steps=0"),
    ],
)
def test_bad_input_is_one_line(classifier, options, message):
    with pytest.raises(GlassformerError) as refused:
        gf.saliency(classifier, TEXT, **options)
    assert message in str(refused.value)


def test_a_model_without_a_head_is_refused(minilm):
    with pytest.raises(GlassformerError, match="has no head, so it has no logits"):
        gf.saliency(minilm, "a river bank")
