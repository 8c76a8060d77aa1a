"""Equations in both conventions, as text and LaTeX."""

import re

from hypothesis import given, settings
from strategies import specs

import glassformer as gf
from glassformer.algebra import notation
from glassformer.program import build
from glassformer.program.formatter import LatexFormatter, TextFormatter


def equations(**options):
    return {row.name: f"{row.left} = {row.right}" for row in gf.notation("bert-base", **options).rows}


def test_attention_with_tokens_as_rows():
    found = equations()
    assert found["layers.0.attention.q"] == "Q = X_l W_Q + b_Q"
    assert found["layers.0.attention.scores"] == "S = Q Kᵀ / √d_k"
    assert found["layers.0.attention.weights"] == "A = softmax(S) along each row, over s"
    assert found["layers.0.attention.mix"] == "M = A V"
    assert found["layers.0.attention.out"] == "O = M W_O + b_O"


def test_attention_with_tokens_as_columns():
    found = equations(convention="columns")
    assert found["layers.0.attention.q"] == "Q = W_Q X_l + b_Q"
    assert found["layers.0.attention.scores"] == "S = Kᵀ Q / √d_k"
    assert found["layers.0.attention.weights"] == "A = softmax(S) down each column, over s"
    assert found["layers.0.attention.mix"] == "M = V A"
    assert found["layers.0.attention.out"] == "O = W_O M + b_O"
    assert found["pooler.dense"] == "z = W_P x_pooled + b_P"


def test_grouped_queries_say_who_reads_whom():
    found = gf.notation("layer", d_model=64, heads=8, kv_heads=2, t=5, position="rotary")
    lines = {row.name.rpartition(".")[2]: f"{row.left} = {row.right}" for row in found.rows}
    assert lines["k_shared"] == "K_g = share(K_r) (each read by 4 heads)"
    assert lines["v_shared"] == "V_g = share(V) (each read by 4 heads)"
    assert lines["scores"] == "S = Q_r K_gᵀ / √d_k"
    assert lines["mix"] == "M = A V_g"
    shapes = {row.name.rpartition(".")[2]: row.shape for row in found.rows}
    assert (shapes["k"], shapes["k_shared"]) == ("s × d_k = 5 × 8, each of 2 heads", "s × d_k = 5 × 8, each of 8 heads")
    columns = gf.notation("layer", heads=8, kv_heads=1, convention="columns", latex=True)
    (scores,) = (row.right for row in columns.rows if row.name.endswith("attention.scores"))
    assert scores == r"\frac{K_{g}^{\top} \, Q}{\sqrt{d_{k}}}"


def test_layer_norm_in_its_four_steps():
    found = equations()
    assert found["layers.0.norm_1.mean"] == "μ_1 = mean(R_1) over d_model"
    assert found["layers.0.norm_1.variance"] == "σ²_1 = mean((R_1 − μ_1)²) over d_model"
    assert found["layers.0.norm_1.normalised"] == "N_1 = (R_1 − μ_1) / √(σ²_1 + 1e-12)"
    assert found["layers.0.norm_1"] == "Y_1 = γ_1 ⊙ N_1 + β_1"


def test_latex():
    found = equations(latex=True)
    assert found["layers.0.attention.scores"] == r"S = \frac{Q \, K^{\top}}{\sqrt{d_{k}}}"
    assert found["layers.0.norm_1.normalised"] == r"N_{1} = \frac{R_{1} - \mu_{1}}{\sqrt{\sigma^2_{1} + 10^{-12}}}"


def test_identical_layers_are_written_once():
    found = gf.notation("modernbert-base")
    titles = [section.title for section in found.sections]
    assert titles[1] == "Layer 0"
    assert titles[2].startswith("Layers 1, 2, 4, 5, 7, 8")
    assert titles[3].startswith("Layers 3, 6, 9, 12, 15, 18, 21")


def test_equations_are_numbered_without_gaps():
    assert [row.number for row in gf.notation("vit-b16").rows] == list(range(1, len(gf.notation("vit-b16").rows) + 1))


@given(specs())
@settings(max_examples=60)
def test_every_spec_can_be_written(spec):
    for formatter in (TextFormatter("rows"), TextFormatter("columns"), LatexFormatter("rows"), LatexFormatter("columns")):
        for row in notation(build(spec), formatter).rows:
            assert row.left and row.right
            for one, other in ("()", "[]", "{}"):
                assert f"{row.left}{row.right}".count(one) == f"{row.left}{row.right}".count(other), row
            if isinstance(formatter, LatexFormatter):
                assert re.fullmatch(r"[\x20-\x7e]+", row.left + row.right), row
