"""A global first token: program and model agree, and it attends to all tokens as the rule says."""

import numpy as np
import pytest
from model_cases import BERT, both_ways, furthest

from glassformer.errors import GlassformerError
from glassformer.model import Encoder, fast
from glassformer.numbers import legible_weights, run
from glassformer.program import build
from glassformer.spec import EncoderSpec

LONG = BERT.replace(window=2, global_attention="first", dropout=0.0)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("spec", [LONG, LONG.replace(norm="pre", biases=("q", "v")), LONG.replace(global_attention="stored")])
def test_program_and_model_agree(spec, padded):
    case = both_ways(spec, padded=padded)
    output = case.output
    real = case.run["attend"] == 1 if padded else np.ones(case.run["x"].shape[:2], dtype=bool)
    for number, ours in enumerate(case.run.hidden):
        assert np.abs(ours - output.hidden[number].detach().numpy())[real].max() < 1e-10
    for layer in range(spec.layers):
        assert (
            furthest(
                output.weights[layer][: int(real.any(1).sum())],
                case.run[f"layers.{layer}.attention.weights"][: int(real.any(1).sum())],
            )
            < 1e-10
        )


def test_the_fast_encoder_agrees():
    case = both_ways(LONG, padded=True)
    wanted = case.encoder(**case.inputs).logits
    assert furthest(fast.apply(case.encoder)(**case.inputs).logits, wanted.detach()) < 1e-10


def test_the_first_token_sees_all_and_is_seen_by_all_and_others_see_their_window():
    weights = both_ways(LONG).run["layers.0.attention.weights"]
    t = np.arange(weights.shape[-1])
    seen = (np.abs(t[:, None] - t) <= 1) | (t[:, None] == 0) | (t == 0)
    assert ((weights > 0) == seen).all()


def test_stored_projections_change_nothing_but_the_count():
    stored, plain = LONG.replace(global_attention="stored"), LONG.replace(global_attention="none")
    weights = legible_weights(build(stored), 0)
    given = {"tokens": np.arange(10).reshape(2, 5), "segments": np.zeros((2, 5), dtype=int)}
    one = run(build(stored, batch=2, t=5), weights, given)
    kept = {name: value for name, value in weights.items() if not name.endswith("G")}
    assert (one.output == run(build(plain, batch=2, t=5), kept, given).output).all()
    assert sum(value.size for value in weights.values()) - sum(value.size for value in kept.values()) == 2 * 3 * (16 * 16 + 16)


def test_tokens_of_a_question_are_counted_and_not_computed():
    question = LONG.replace(global_attention="question")
    weights = legible_weights(build(question), 0)
    with pytest.raises(GlassformerError, match="global_attention=question is not implemented"):
        run(build(question, t=5), weights, {"tokens": np.arange(5)[None], "segments": np.zeros((1, 5), dtype=int)})
    with pytest.raises(GlassformerError, match="can be counted, not built"):
        Encoder(question)


@pytest.mark.parametrize(
    "fields", [{"window": None}, {"attend": "causal"}, {"position": "rotary"}, {"kv_heads": 2}, {"groups": (2, 1, 1, 1, 1, 1)}]
)
def test_what_does_not_fit_is_refused_in_one_line(fields):
    with pytest.raises(GlassformerError, match="global_attention=first ") as caught:
        EncoderSpec(**{**LONG.to_dict(), **fields})
    assert "\n" not in str(caught.value)
