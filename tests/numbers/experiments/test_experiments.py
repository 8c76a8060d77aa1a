"""All experiments: every claim holds on its own encoder, and errors in a request are reported."""

import json
import math

import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.experiments import CLAIMS, EXPERIMENTS, Check, experiment


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_every_claim_holds(name, seed):
    found = experiment(name, seed=seed)
    assert [check.says for check in found.checks if not check.holds] == []
    assert found.holds
    assert len(found.checks) >= 4


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_is_one_json_document_with_its_claim_and_verdict(name):
    document = json.loads(json.dumps(experiment(name).to_dict(), allow_nan=False))
    assert document["experiment"] == name
    assert document["claim"] == CLAIMS[name]
    assert document["holds"] is True
    assert {"spec", "seed", "rows" if name != "norm" else "depth"} <= set(document)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_same_seed_gives_the_same_numbers(name):
    assert experiment(name, seed=3).to_dict() == experiment(name, seed=3).to_dict()
    assert experiment(name, seed=3).to_dict() != experiment(name, seed=4).to_dict()


def test_a_claim_that_is_false_for_an_encoder_does_not_hold():
    assert not experiment("order", attend="causal").holds


@pytest.mark.parametrize(
    ("check", "rule", "holds"),
    [
        (Check("", 0.0, 0, 0), "= 0", True),
        (Check("", 1e-300, 0, 0), "= 0", False),
        (Check("", 2e-12, high=1e-12), "≤ 1e-12", False),
        (Check("", 0.02, low=0.01), "≥ 0.01", True),
        (Check("", 3.0, 0.5, 2), "0.5 to 2", False),
        (Check("", math.nan, 0.5, 2), "0.5 to 2", False),
        (Check("", math.nan, high=1), "≤ 1", False),
    ],
)
def test_a_check_can_fail(check, rule, holds):
    assert (check.rule, check.holds) == (rule, holds)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("ordr", {}, "unknown experiment 'ordr'. Did you mean 'order'?"),
        ("order", {"position": "rotary"}, "position=rotary cannot be set here: the experiment tries each kind."),
        ("order", {"hads": 2}, "unknown field 'hads'. Did you mean 'heads'?"),
        ("order", {"text": "all words differ"}, "the text must contain a repeated word"),
        ("order", {"text": "same same"}, "the text must contain a repeated word"),
        ("order", {"text": "one"}, "the text has 1 words: this experiment takes 2 to 64."),
        ("heads", {"d_k": 4}, "d_k=4 cannot be set here: it must be d_model / heads"),
        ("scaling", {"text": "a b"}, "the experiment 'scaling' uses random numbers as input, not text"),
        ("scaling", {"t": 1}, "t=1 is not allowed here: from 2 to 256 tokens."),
        ("norm", {"layers": 2}, "layers=2 is too few to show a trend."),
        ("norm", {"d_model": 100_000}, "parameters are too many for an experiment"),
        ("convention", {"d_model": 6}, "d_k=6 is also the number of words"),
        ("order", {"seed": -1}, "seed=-1 is not allowed"),
        ("order", {"seed": "x"}, "seed=x is not allowed: seed must be a whole number from 0."),
        ("order", {"text": 5}, "text=5 is not allowed: text must be a string."),
        (5, {}, "unknown experiment '5'."),
        # What is too large is refused before its input is made.
        ("heads", {"d_model": 10**9}, "parameters are too many for an experiment"),
        ("norm", {"d_model": 10**9, "heads": 1}, "parameters are too many for an experiment"),
        ("scaling", {"d_model": 10**9}, "parameters are too many for an experiment"),
        ("heads", {"head": "classify"}, "head=classify cannot be set here"),
        ("padding", {"layers": 0}, "layers=0 has no attention to mask."),
        ("padding", {"final_norm": "pooled"}, "final_norm=pooled gives a single vector"),
        ("scaling", {"window": 1}, "window=1 cannot be set here"),
    ],
)
def test_invalid_options_are_refused_in_one_line(name, options, message):
    with pytest.raises(GlassformerError) as error:
        experiment(name, **options)
    assert message in str(error.value)
