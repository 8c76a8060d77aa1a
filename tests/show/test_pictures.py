"""Pictures of a run: labels that can be read, numbers that are the run's own, tokens that stay text."""

from itertools import pairwise

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.seeded import seeded_run
from glassformer.show.figures import save_picture
from glassformer.show.grids import pooled, scale_top
from glassformer.show.pictures import attention_figure, norm_figure, norm_steps, save_attention
from glassformer.spec import EncoderSpec

SPEC = EncoderSpec(d_model=8, heads=2, layers=2)
HOSTILE = "$x_1$ </script><script>alert(1)</script> שלום नमस्ते Donaudampfschifffahrtsgesellschaft a\\b \u202eevil %"


def attention(words, layer=0, head=0):
    return seeded_run(SPEC, words=words, seed=3).attention(layer=layer, head=head)


def texts(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_one_head_has_its_words_on_both_sides_and_its_numbers_in_the_cells():
    found = attention("Tom a été entarté cet été")
    axes = attention_figure(found).axes[0]
    assert texts(axes) == [label.get_text() for label in axes.get_xticklabels()] == ["Tom", "a", "été", "entarté", "cet", "été"]
    cells = [text.get_text() for text in axes.texts]
    assert cells == [f"{weight:.2f}" for weight in found.grid(0, 0).ravel()]
    np.testing.assert_array_equal(axes.images[0].get_array(), found.grid(0, 0))


def test_tokens_are_drawn_as_they_are():
    axes = attention_figure(attention(HOSTILE)).axes[0]
    assert texts(axes)[:2] == ["$x_1$", "</script><scr…"]
    assert texts(axes)[-2] == "?evil"
    assert not any(label.get_parse_math() for label in axes.get_yticklabels())


@pytest.mark.parametrize("count", [1, 3, 20, 100, 300])
def test_labels_never_overlap(count, tmp_path):
    figure = attention_figure(attention(" ".join(f"word{i}" for i in range(count))))
    save_picture(figure, tmp_path / "a.png")
    for axes, side in ((figure.axes[0].get_yticklabels(), "y"), (figure.axes[0].get_xticklabels(), "x")):
        boxes = [label.get_window_extent() for label in axes]
        ordered = sorted(boxes, key=lambda box: getattr(box, f"{side}0"))
        turned = [box for box in ordered if side == "y" or box.height > box.width]
        assert all(getattr(a, f"{side}1") <= getattr(b, f"{side}0") + 2 for a, b in pairwise(turned))


def test_a_layer_shows_every_head_and_an_overview_every_layer_and_head():
    run = seeded_run(SPEC, words="a b c", seed=3)
    assert len(attention_figure(run.attention(layer=1)).axes) == 2 + 1  # two heads, and the scale
    assert len(attention_figure(run.attention()).axes) == 2 * 2 + 1


@pytest.mark.parametrize("form", ["png", "svg", "html"])
@pytest.mark.parametrize("choice", [{"layer": 0, "head": 0}, {"layer": 0}, {}])
def test_every_view_is_written_in_every_form(form, choice, tmp_path):
    path = save_attention(seeded_run(SPEC, words=HOSTILE, seed=3).attention(**choice), tmp_path / f"a.{form}")
    assert path.stat().st_size > 2000


def test_an_overview_of_spread_weights_is_not_white():
    found = seeded_run(SPEC, words="a " * 16, seed=3).attention()  # equal words: every weight is 1/16
    panels = [axes.images[0] for axes in attention_figure(found).axes[:4]]
    assert {panel.norm.vmax for panel in panels} == {0.1}


def test_pooling_keeps_the_largest_weight_of_each_block():
    weights = np.zeros((5, 5))
    weights[1, 1], weights[4, 4] = 0.5, 0.9
    np.testing.assert_array_equal(pooled(weights, 3), [[0.5, 0, 0], [0, 0, 0], [0, 0, 0.9]])


@pytest.mark.parametrize(("largest", "top"), [(0.9, 1), (0.5, 0.5), (0.03, 0.05), (0.0, 0.001)])
def test_the_scale_ends_at_a_round_number_above_the_largest(largest, top):
    assert scale_top(np.array([[largest]])) == top


def test_the_strips_are_the_steps_of_the_norm():
    run = seeded_run(SPEC, words="a b c", seed=3)
    steps = norm_steps(run, "layers.0.norm_1")
    assert list(steps) == ["x", "x − mean", "normalised", "scaled and shifted"]
    np.testing.assert_allclose(steps["x − mean"].mean(axis=-1), 0, atol=1e-12)
    np.testing.assert_array_equal(steps["scaled and shifted"], run["layers.0.norm_1"][0])
    assert len(norm_figure(run).axes) == 4 + 4  # each with its scale


def test_rms_norm_takes_no_mean_away():
    run = seeded_run(SPEC.replace(norm_kind="rms", norm="pre"), words="a b c", seed=3)
    assert list(norm_steps(run, "final_norm")) == ["x", "normalised", "scaled and shifted"]


def test_an_unknown_norm_is_reported():
    with pytest.raises(GlassformerError, match=r"'layers.0.ffn' is not a norm of this run: layers.0.norm_1, layers.0.norm_2"):
        norm_steps(seeded_run(SPEC, words="a b c"), "layers.0.ffn")
