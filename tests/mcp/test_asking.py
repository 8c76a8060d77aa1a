"""ask and check: one or several, for one model, for a list of sizes, or without a model."""

import pytest
from assistant import refused, through_client, told


def value(expression, spec=""):
    return told("ask", expression=expression, spec=spec)["value"]


@pytest.mark.parametrize(
    ("expression", "spec", "expected"),
    [
        ("params", "bert-base", 109_482_240),
        ("params(attention, without=biases)", "layer d_model=512 heads=8", 4 * 512 * 512),
        ("params @ bert-large - params @ bert-base", "", 335_141_888 - 109_482_240),
        ("shape(scores, t=128, batch=32)", "bert-base", [32, 12, 128, 128]),
        ("tokens", "vit-b16", 197),
        ("growth(flops(scores), t)", "bert-base", 2),
        ("solve(t, flops(core) = flops(ffn))", "layer d_model=512 heads=8", 2048),
        ("[[1, 2], [3, 4]] [[5], [6]]", "", [[17], [39]]),
        ("updates(rows=10000, batch=32, epochs=3)", "", 939),
    ],
)
def test_one_expression_has_one_value(expression, spec, expected):
    assert value(expression, spec) == expected


def test_several_expressions_are_answered_in_order_without_their_derivations():
    found = told("ask", expression=["params(ffn)", "d_model * heads", "softmax([0, 0])"], spec="bert-base")["answers"]
    assert [one["value"] for one in found] == [56_669_184, 768 * 12, [0.5, 0.5]]
    assert all("rows" not in one and one["convention"] for one in found)


def test_one_expression_has_its_derivation():
    assert told("ask", expression="params(W_Q, layer=0)", spec="bert-base")["rows"][0]["numbers"] == "768 · 12 · 64"


def test_an_invalid_expression_does_not_affect_the_others():
    first, second = told("ask", expression=["params", "parms"], spec="bert-base")["answers"]
    assert first["value"] == 109_482_240
    assert second["expression"] == "parms"
    assert "Did you mean 'params'?" in second["error"]


def test_if_all_are_refused_the_call_is_refused_and_says_each_reason_once():
    line = refused("ask", expression=["params(fnn)", "params(fnn) + 1"], spec="bert-base")
    assert line.count("Did you mean 'ffn'?") == 1


@pytest.mark.parametrize(("expression", "spec"), [("flops(t=128, 256)", "bert-base"), ("flops", "bert-base t=128,256")])
def test_a_list_of_sizes_gives_a_table(expression, spec):
    expected = [value("flops", f"bert-base t={t}") for t in (128, 256)]
    assert [row["value"] for row in told("ask", expression=expression, spec=spec)["rows"]] == expected
    (one,) = told("ask", expression=[expression], spec=spec)["answers"]
    assert [row["value"] for row in one["rows"]] == expected


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        ({"relation": "params = 110M", "spec": "bert-base"}, "right"),
        ({"relation": "params", "claim": "109,482,240", "spec": "bert-base"}, "right"),
        ({"relation": "params(attention) = 1,048,576", "spec": "attention d_model=512 heads=8"}, "convention"),
        ({"relation": "params = 6,553,600", "spec": "attention d_model=512 heads=8"}, "wrong"),
        ({"relation": "3 * 768 * 768 = 1,769,472"}, "right"),
        ({"relation": "flops(attention) < flops(ffn)", "spec": "bert-base t=128"}, "right"),
    ],
)
def test_a_claim_has_its_verdict(arguments, verdict):
    found = told("check", **arguments)
    assert (found["verdict"], found["right"]) == (verdict, verdict != "wrong")


def test_several_claims_are_judged_in_order():
    found = told("check", relation=["params = 110M", "layers = 24"], spec="bert-base")["verdicts"]
    assert [one["verdict"] for one in found] == ["right", "wrong"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_result_is_the_same_for_clients_of_both_protocol_versions(mode):
    (result,) = through_client(("ask", {"expression": "params", "spec": "bert-base"}), mode=mode)
    assert result.structured_content["value"] == 109_482_240


def test_a_relation_is_referred_to_check():
    assert "check" in refused("ask", expression="params = 3", spec="bert-base")


@pytest.mark.parametrize(
    "expression", ["params @ ../x.toml", "params @ ./x.toml", "params @ ~/x.toml + 1", "growth(params @ ../x, t)"]
)
def test_a_model_in_an_expression_is_a_preset_unless_folders_are_named(expression):
    assert "this server was started without folders" in refused("ask", expression=expression)


def test_a_model_in_a_claim_is_a_preset_unless_folders_are_named():
    assert "this server was started without folders" in refused(
        "check", relation="params", spec="bert-base", claim="params @ ../x.toml"
    )


def test_english_is_refused_with_an_expression_to_try():
    line = refused("ask", expression="How many parameters does BERT-base have?")
    assert "write an expression such as 'params(ffn, layer=0)'" in line


def test_an_answer_stays_small():
    (one,) = through_client(("ask", {"expression": "params / params", "spec": "bert-base"}))
    assert len(one.content[0].text) < 6_000
