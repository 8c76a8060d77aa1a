"""What if: only what depends on a change is re-run, and the differences are exact."""

import numpy as np
import pytest
from tiny_run import tiny

from glassformer.errors import GlassformerError
from glassformer.numbers import knock_out, run, swap_tokens


def test_one_score_changes_what_follows_and_nothing_else():
    found = tiny()
    changed = found.what_if({"layers.0.attention.scores": {(0, 0, 1, 2): 0.0}})
    assert changed.changed == ("layers.0.attention.scores",)
    assert "layers.0.attention.q" not in changed.rerun
    assert changed.rerun[0] == "layers.0.attention.masked"
    assert changed.change("layers.0.attention.weights")[0, 0, 1].any()
    assert not changed.change("layers.0.attention.weights")[0, 0, 0].any()
    assert not changed.change("layers.1.out")[1].any()  # the other text
    assert changed.after["x"] is found["x"]


def test_a_value_and_a_difference_have_names_of_their_own():
    """`run[name]` is a value, so `what_if(…)[name]`, once a difference, was taken for the new value."""
    found = tiny()
    changed = found.what_if({"x": found["x"] + 1})
    assert np.array_equal(changed.after["x"], found["x"] + 1)
    assert np.allclose(changed.change("x"), 1)
    with pytest.raises(GlassformerError, match=r"\.after\['x'\] is the new value, \.change\('x'\) the difference"):
        changed["x"]


def test_a_changed_weight_equals_a_fresh_run_with_it():
    found = tiny()
    weights = {p.name: found[p.name] for p in found.program.parameters}
    new = weights["layers.0.ffn.W_1"] * 2
    changed = found.what_if({"layers.0.ffn.W_1": new})
    inputs = {name: found[name] for name in ("tokens", "segments", "attend")}
    fresh = run(found.program, weights | {"layers.0.ffn.W_1": new}, inputs)
    assert all(np.array_equal(changed.after[name], fresh[name]) for name in found)


def test_a_head_can_be_knocked_out():
    changed = knock_out(tiny(), layer=0, heads=1)
    assert (changed.after["layers.0.attention.mix"][:, :, 1] == 0).all()
    assert not changed.change("layers.0.attention.mix")[:, :, 0].any()
    assert changed.output.any()


def test_tokens_can_be_swapped():
    changed = swap_tokens(tiny(), 0, 3)
    assert changed.after["tokens"][0].tolist() == [3, 1, 2, 0]


def test_an_invalid_head_or_token_is_refused():
    found = tiny()
    assert knock_out(found, np.int64(0), np.array([0, 1])).changed == ("layers.0.attention.mix",)
    for call in (
        lambda: knock_out(found, "0", 0),
        lambda: knock_out(found, 0, 0.5),
        lambda: knock_out(found, 0, "a"),
        lambda: swap_tokens(found, 0.5, 1),
        lambda: swap_tokens(found, 0, 1, batch=5),
    ):
        with pytest.raises(GlassformerError, match=r"this encoder has layers|cannot be swapped|batch=5 does not exist"):
            call()


def test_moved_lists_the_changed_tensors_in_order():
    moved = tiny().what_if({"layers.1.ffn.b_2": np.ones(8)}).moved
    assert list(moved)[:3] == ["layers.1.ffn.b_2", "layers.1.ffn.out", "layers.1.sum_2"]
    assert all(size > 0 for size in moved.values())


BAD = [
    ({"layers.0.attention.scores": np.zeros(3)}, "the new layers.0.attention.scores has shape [3], expected [2, 2, 4, 4]."),
    ({"layers.0.attention.scores": {(9, 9, 9, 9): 1.0}}, "cannot be set: its shape is [2, 2, 4, 4]."),
    ({"layers.0.nothing": {(0,): 1.0}}, "there is no 'layers.0.nothing' in this run."),
    ({"tokens": {(0, 0): 10**6}}, "tokens[0, 0] = 1000000 is out of range: the vocabulary has rows 0 to"),
    ({"tokens": {(0, 0): -1}}, "tokens[0, 0] = -1 is out of range"),
    ({"tokens": {(0, 0): 1.5}}, "tokens[(0, 0)] cannot be 1.5: its type is int64."),
    ({"tokens": [[1.5, 1, 2, 0]] * 2}, "tokens must be whole numbers, got float64."),
    ({"tokens": [[1], [2, 3]]}, "tokens is ragged: its rows have different lengths."),
    ({"layers.0.ffn.b_2": ["a"] * 8}, "layers.0.ffn.b_2 must be numbers"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_a_change_that_does_not_fit_is_refused(changes, message):
    with pytest.raises(GlassformerError) as refusal:
        tiny().what_if(changes)
    assert message in str(refusal.value)


def test_a_missing_head_is_refused():
    with pytest.raises(GlassformerError, match="layers 0 to 1 and heads 0 to 1"):
        knock_out(tiny(), layer=2, heads=0)


def test_a_difference_prints_the_changed_tensors():
    text = str(knock_out(tiny(), 0, 1))
    assert text.startswith("what moved\n")
    assert "changed: layers.0.attention.mix; " in text


SCORES = "layers.0.attention.scores"


def test_a_number_that_was_set_is_explained_as_set_by_hand():
    found = tiny()
    before = found.explain(SCORES, batch=0, head=0, t=1, s=2)
    after = found.what_if({SCORES: {(0, 0, 1, 2): -20.0}}).after
    opened = after.explain(SCORES, batch=0, head=0, t=1, s=2)
    assert opened.text() == f"{opened.label} = −20\n  set by hand (was 1.0912)"
    assert (opened.source, opened.was, opened.evaluated) == ("edit", before.value, -20.0)
    assert (opened.expression, opened.terms, opened.refs) == (None, [], [])
    assert opened.to_dict()["rule"] == opened.rule == "set by hand (was 1.0912)"
    assert "</strong> set by hand (was 1.0912)</div>" in opened._repr_html_()
    with pytest.raises(GlassformerError, match="a number set by hand has no refs"):
        opened.open(0)


def test_dependents_refer_to_a_set_number_and_its_neighbours_keep_their_rule():
    after = tiny().what_if({SCORES: {(0, 0, 1, 2): -20.0}}).after
    weight = after.explain("layers.0.attention.masked", batch=0, head=0, t=1, s=2)
    assert "= −20\n    set by hand (was 1.0912)" in weight.text(depth=2)
    neighbour = after.explain(SCORES, batch=0, head=0, t=1, s=1)
    assert (neighbour.source, neighbour.was) == ("step", None)


def test_a_set_parameter_or_input_is_explained_as_set_by_hand():
    found = tiny()
    after = found.what_if({"layers.0.ffn.b_1": {3: 9.0}, "tokens": {(0, 0): 5}}).after
    assert after.explain("layers.0.ffn.b_1", d_ff=3).rule == "set by hand (was 0.25)"
    assert after.explain("tokens", batch=0, t=0).rule == "set by hand (was 0)"
    assert after.explain("tokens", batch=0, t=1).source == "input"


def test_cells_of_a_set_tensor_count_as_set_only_if_their_rule_gives_another_value():
    found = tiny()
    scores = found[SCORES].copy()
    scores[0, 0, 1, 2] = 3.0
    after = found.what_if({SCORES: scores}).after
    assert after.explain(SCORES, batch=0, head=0, t=1, s=2).source == "edit"
    assert after.explain(SCORES, batch=0, head=0, t=1, s=1).source == "step"
    moved = found.what_if({SCORES: scores, "layers.0.attention.b_Q": np.ones((2, 4))}).after
    assert np.array_equal(moved[SCORES], scores)
    assert moved.explain(SCORES, batch=0, head=0, t=1, s=1).source == "edit"  # its queries moved, it did not


def test_neighbours_of_a_set_cell_are_re_run_when_their_inputs_change():
    found = tiny()
    bias = {"layers.0.attention.b_Q": np.ones((2, 4))}
    both = found.what_if({SCORES: {(0, 0, 1, 2): -20.0}, **bias})
    assert SCORES not in both.rerun
    expected = found.what_if(bias).after[SCORES].copy()
    expected[0, 0, 1, 2] = -20.0
    assert np.array_equal(both.after[SCORES], expected)


def test_a_change_stays_in_a_second_what_if():
    found = tiny()
    bias = {"layers.0.attention.b_Q": np.ones((2, 4))}
    one_by_one = found.what_if({SCORES: {(0, 0, 1, 2): -20.0}}).after.what_if(bias).after
    at_once = found.what_if({SCORES: {(0, 0, 1, 2): -20.0}, **bias}).after
    assert all(np.array_equal(one_by_one[name], at_once[name]) for name in found)
    assert one_by_one.explain(SCORES, batch=0, head=0, t=1, s=2).rule == "set by hand (was 1.0912)"
    again = one_by_one.what_if({SCORES: {(0, 0, 0, 0): 4.0, (0, 0, 1, 2): 7.0}}).after
    assert again.explain(SCORES, batch=0, head=0, t=1, s=2).rule == "set by hand (was −20)"


def test_a_head_that_was_knocked_out_stays_zero_and_is_explained_as_set():
    after = knock_out(tiny(), layer=0, heads=1).after.what_if({"layers.0.attention.b_V": np.ones((2, 4))}).after
    mix = "layers.0.attention.mix"
    assert not after[mix][:, :, 1].any()
    assert after.explain(mix, batch=0, t=1, head=1, d_v=0).source == "edit"
    assert after.explain(mix, batch=0, t=1, head=0, d_v=0).source == "step"
