"""Ablation: silencing each part equals hooks applied one at a time, and an interrupted analysis continues."""

import json

import numpy as np
import pytest
import torch

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.insight import ablation
from glassformer.insight.ablation import changes
from glassformer.insight.silencing import Part, Silencer


def silenced_by_hooks(model, part, inputs):
    """The logits with one part silenced, by a hook on the whole model."""

    def no_head(mix):
        mix = mix.clone()
        mix[:, :, part.head] = 0
        return mix

    entered = []
    before = f"layers.{part.layer - 1}.out" if part.layer else "x"
    hooks = {
        "head": {f"layers.{part.layer}.attention.mix": no_head},
        "ffn": {f"layers.{part.layer}.ffn.out": torch.zeros_like},
        "layer": {before: entered.append, f"layers.{part.layer}.out": lambda _: entered[0]},
    }[part.kind]
    with model.hooks(hooks):
        return model(*inputs).logits


def test_each_part_silenced_is_what_a_hook_does_alone(loaded):
    tokens = torch.tensor([[2, 5, 9, 4, 3], [2, 7, 3, 0, 0]])
    attend = tokens != 0
    with torch.inference_mode():
        from glassformer.model.core import Padded
        from glassformer.model.encoder import Inputs

        silencer = Silencer(loaded.encoder)
        every = list(silencer.logits(Inputs(tokens, attend), Padded(attend)))
        assert len(every) == 1 + len(silencer.parts) == 1 + 2 * (2 + 1 + 1)
        assert every[0] == pytest.approx(loaded(tokens, attend).logits, abs=1e-12)
        for part, logits in zip(silencer.parts, every[1:], strict=True):
            assert logits == pytest.approx(silenced_by_hooks(loaded, part, (tokens, attend)), abs=1e-12), part


def test_the_whole_command_agrees_with_evaluate_and_counts_every_part(classifier, labelled):
    found = gf.ablate(classifier, labelled, part="all", dtype="float64")
    wanted = gf.evaluate(classifier, labelled, part="all", dtype="float64")
    assert (found.rows, found.accuracy) == (wanted.rows, wanted.accuracy)
    assert found.loss == pytest.approx(wanted.calibration.log_loss, rel=1e-5)
    assert [one.part for one in found.silenced][:4] == [Part("head", 0, 0), Part("head", 0, 1), Part("ffn", 0), Part("layer", 0)]
    assert all(one.loss.low <= one.loss.value <= one.loss.high for one in found.silenced)
    assert any(one.loss.value != 0 for one in found.silenced)
    assert json.loads(json.dumps(found.to_dict()))["silenced"][3]["name"] == "layer 0"


def test_an_interrupted_ablation_continues_and_gives_the_same(classifier, labelled, tmp_path, monkeypatch):
    monkeypatch.setattr("glassformer.insight.labelled.CHUNK", 16)
    whole = gf.ablate(classifier, labelled, part="all")
    calls, outcome = [], ablation._outcome

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return outcome(*arguments)

    monkeypatch.setattr(ablation, "_outcome", interrupted)
    with pytest.raises(KeyboardInterrupt):
        gf.ablate(classifier, labelled, part="all", folder=tmp_path / "kept")
    calls.clear()
    monkeypatch.setattr(ablation, "_outcome", lambda *arguments: calls.append(1) or outcome(*arguments))
    assert gf.ablate(classifier, labelled, part="all", folder=tmp_path / "kept").to_dict() == whole.to_dict()
    assert len(calls) == 1
    with pytest.raises(GlassformerError, match="belongs to another analysis: kinds is"):
        gf.ablate(classifier, labelled, part="all", folder=tmp_path / "kept", kinds=["head"])


def test_the_interval_of_a_change_is_that_of_paired_rows():
    random = np.random.default_rng(1)
    base = random.random(400)
    same, lower = changes(np.stack([base, base, base - 0.1 * random.random(400)]))
    assert (same.value, same.low, same.high) == (0, 0, 0)
    wide = 1.96 * 0.1 / 12**0.5 / 400**0.5
    assert lower.value == pytest.approx(-0.05, abs=0.005)
    assert lower.high - lower.low == pytest.approx(2 * wide, rel=0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": ["heads"]}, "kinds=heads is not known. Did you mean 'head'?"),
        ({"label": None}, "no labels: ablate needs one label per row"),
        ({"part": "tests"}, "Did you mean 'test'?"),
        ({"rows": 0}, "rows=0"),
    ],
)
def test_bad_input_is_one_line(classifier, labelled, options, message):
    with pytest.raises(GlassformerError) as refused:
        gf.ablate(classifier, labelled, **options)
    assert message in str(refused.value)


def test_a_model_without_classes_is_refused(masked, labelled):
    with pytest.raises(GlassformerError, match="is not a classifier with one label per input: ablate cannot evaluate it"):
        gf.ablate(masked, labelled)
