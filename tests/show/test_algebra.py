"""Results print as tables and render as HTML."""

import glassformer as gf


def test_a_count_prints_its_ledger_and_its_convention():
    text = str(gf.count("bert-base", without="biases"))
    assert "layers.*.attention.W_Q" in text
    assert "12 × 768 · 12 · 64" in text
    assert "without biases, of 109,482,240 in all" in text


def test_results_render_in_notebooks():
    for result in (gf.count("layer"), gf.shapes("layer"), gf.cost("layer"), gf.notation("layer"), gf.bridge("layer", "encoder")):
        assert result._repr_html_().startswith("<div class=glassformer>")


def test_alike_layers_are_shown_once_in_the_shape_table():
    text = str(gf.shapes("bert-base", t=5))
    assert "layers.0.attention.q" in text
    assert "layers.1.attention.q" not in text
    assert "12 layers are alike: layer 0 is shown." in text
