"""Results print as tables and render as HTML."""

import pytest

import glassformer as gf


def test_a_count_prints_its_ledger_and_its_convention():
    text = str(gf.count("bert-base", without="biases"))
    assert "\n      W_Q " in text
    assert "12 × 768 · 12 · 64" in text
    assert "without biases, of 109,482,240 in all" in text


COUNT = """\
layer d_model=4 heads=1 d_ff=2 norm_kind=rms: parameters
tensor           formula                   sizes  count
───────────────  ────────────────────  ─────────  ─────
layers                                              110
  attention                                          80
    qkv                                              60
      W_Q + b_Q                                      20
        W_Q      d_model · head · d_k  4 · 1 · 4     16
        b_Q      head · d_k                1 · 4      4
      W_K + b_K                                      20
        W_K      d_model · head · d_k  4 · 1 · 4     16
        b_K      head · d_k                1 · 4      4
      W_V + b_V                                      20
        W_V      d_model · head · d_v  4 · 1 · 4     16
        b_V      head · d_v                1 · 4      4
    output                                           20
      W_O        head · d_v · d_model  1 · 4 · 4     16
      b_O        d_model                       4      4
  ffn                                                22
    W_1 + b_1                                        10
      W_1        d_model · d_ff            4 · 2      8
      b_1        d_ff                          2      2
    W_2 + b_2                                        12
      W_2        d_ff · d_model            2 · 4      8
      b_2        d_model                       4      4
  norms                                               8
    norm_1                                            4
      gamma      d_model                       4      4
    norm_2                                            4
      gamma      d_model                       4      4

total                                               110

110 parameters: every parameter: weights, biases, norms, tables.
largest part: attention, 80, 72.7%"""
LAYER = {"d_model": 4, "heads": 1, "d_ff": 2, "norm_kind": "rms"}


def test_a_count_is_printed_as_a_tree_of_subtotals():
    assert str(gf.count("layer", **LAYER)) == COUNT


def test_the_tree_keeps_its_indentation_in_every_form():
    view = gf.count("layer", **LAYER).presented()
    assert "| &nbsp;&nbsp;&nbsp;&nbsp;**qkv** |  |  | **60** |  |" in view.markdown()
    assert "~~~~~~~~W\\_Q & " in view.latex()
    assert "<td>\u00a0\u00a0\u00a0\u00a0qkv</td>" in view.html()


def test_a_line_of_the_tree_has_the_colour_of_its_part():
    rows = gf.count("layer", **LAYER).presented().html().split("<tr")
    assert "--gf-attention" in next(row for row in rows if "\u00a0output</td>" in row)
    assert "--gf-norm" in next(row for row in rows if "\u00a0gamma</td>" in row)
    assert "style" not in next(row for row in rows if ">layers</td>" in row)


CLOSING = [
    ({}, ["110 parameters: every parameter: weights, biases, norms, tables.", "largest part: attention, 80, 72.7%"]),
    (
        {"only": "qkv"},
        ["60 parameters: only qkv, of 110 in all.", "largest parts: W_Q + b_Q, W_K + b_K, W_V + b_V, each 20, 33.3%"],
    ),
    ({"only": "W_Q"}, ["16 parameters: only W_Q, of 110 in all."]),
    (
        {"only": "attention", "without": "output,biases"},
        [
            "48 parameters: only attention, without output, biases, of 110 in all.",
            "left out: output 20",
            "left out: biases 12",
            "largest parts: W_Q, W_K, W_V, each 16, 33.3%",
        ],
    ),
]


@pytest.mark.parametrize(("asked", "closing"), CLOSING)
def test_the_closing_lines_say_what_is_counted_and_what_is_largest(asked, closing):
    assert str(gf.count("layer", **LAYER, **asked)).splitlines()[-len(closing) :] == closing


def test_results_render_in_notebooks():
    for result in (gf.count("layer"), gf.shapes("layer"), gf.cost("layer"), gf.notation("layer"), gf.bridge("layer", "encoder")):
        assert result._repr_html_().startswith('<div class="glassformer">')


def test_identical_layers_are_shown_once_in_the_shape_table():
    text = str(gf.shapes("bert-base", t=5))
    assert "layers.0.attention.q" in text
    assert "layers.1.attention.q" not in text
    assert "12 layers are identical: layer 0 is shown." in text
