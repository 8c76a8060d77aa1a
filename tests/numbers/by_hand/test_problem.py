"""Problem files: variant spellings are accepted, and errors are one line."""

import json
import tomllib

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.by_hand import load_problem, parse_problem, solve

KINDS = "attention, encoder_layer, softmax, layer_norm, rms_norm, ffn, activation, positions, rotary, linear, product"
X, W = [[1, 0], [0, 2]], [[1, 2], [3, 4]]


def output(document):
    return np.array(solve(parse_problem(document, "p.toml")).values["output"])


def refusal(text: str) -> str:
    with pytest.raises(GlassformerError) as caught:
        solve(parse_problem(tomllib.loads(text), "p.toml"))
    return str(caught.value)


@pytest.mark.parametrize(
    "names",
    [("W_Q", "W_K", "W_V"), ("WQ", "WK", "WV"), ("Wq", "Wk", "Wv"), ("w_q", "w-k", "W^V"), ("W_query", "W_key", "W_value")],
)
@pytest.mark.parametrize("x", ["X", "x", "inputs", "embeddings"])
def test_one_matrix_has_many_spellings(names, x):
    usual = {"X": X, "W_Q": W, "W_K": W, "W_V": W}
    np.testing.assert_array_equal(output({x: X, **dict.fromkeys(names, W)}), output(usual))


def test_rows_may_be_numbered_or_named_or_listed():
    keys = {"k": [[1, 1], [0, -1]], "v": [[1], [2]]}
    listed = output({"q": [[0, 1], [1, 1]], **keys})
    np.testing.assert_array_equal(output({"q1": [0, 1], "q_2": [1, 1], **keys}), listed)
    np.testing.assert_array_equal(output({"queries": {"a": [0, 1], "b": [1, 1]}, **keys}), listed)
    np.testing.assert_array_equal(output({"query": [0, 1], **keys}), listed[0])


def test_heads_may_be_given_in_four_ways():
    heads = [[[1, 0], [0, 1]], [[0, 1], [1, 1]]]
    wide = np.concatenate(heads, axis=1).tolist()
    expected = output({"X": X, "heads": 2, "W_Q": wide, "W_K": wide, "W_V": wide})
    np.testing.assert_allclose(output({"X": X, "W_Q": heads, "W_K": heads, "W_V": heads}), expected)
    numbered = {f"{name}{number}": heads[number - 1] for name in ("W_Q", "W_K", "W_V") for number in (1, 2)}
    np.testing.assert_allclose(output({"X": X, **numbered}), expected)
    upside_down = {f"W_{number}^{letter}": heads[number] for letter in "QKV" for number in (0, 1)}
    np.testing.assert_allclose(output({"X": X, **upside_down}), expected)
    np.testing.assert_allclose(output({"X": X, "head": [{"W_Q": h, "W_K": h, "W_V": h} for h in heads]}), expected)
    np.testing.assert_allclose(output({"X": X, "head_1": dict.fromkeys(["WQ", "WK", "WV"], heads[0]),
                                       "head_2": dict.fromkeys(["WQ", "WK", "WV"], heads[1])}), expected)  # fmt: skip


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ({"softmax": [1, 2]}, "softmax"),
        ({"hardmax": [1, 2]}, "softmax"),
        ({"LayerNorm": [1, 2]}, "layer_norm"),
        ({"x": [1, 2], "gamma": [1, 1]}, "layer_norm"),
        ({"rms_norm": [1, 2]}, "rms_norm"),
        ({"gelu": [1, 2]}, "activation"),
        ({"x": [1, 2], "W1": W, "W2": W}, "ffn"),
        ({"x": [1, 2], "W": W}, "linear"),
        ({"A": W, "B": W}, "product"),
        ({"positions": 3, "d_model": 4}, "positions"),
        ({"q": [1, 2], "k": W}, "attention"),
        ({"scores": [1, 2]}, "attention"),
        ({"X": X, "WQ": W, "WK": W, "WV": W, "ffn": {"W1": W, "W2": W}}, "encoder_layer"),
        ({"kind": "Multi-Head Attention", "X": X}, "attention"),
        ({"kind": "positional encoding", "position": 1, "d_model": 2}, "positions"),
        ({"kind": "feed-forward network", "x": [1, 2], "W1": W}, "ffn"),
        ({"kind": "masked multi-head self-attention layer", "X": X}, "attention"),
        ({"kind": "Root Mean Square Layer Norm", "x": [1, 2]}, "rms_norm"),
        ({"kind": "sinusoidal positional encoding", "position": 1, "d_model": 2}, "positions"),
        ({"kind": "rotary position embedding", "x": [1, 2], "position": 1}, "rotary"),
        ({"kind": "transformer encoder layer", "X": X}, "encoder_layer"),
        ({"kind": None, "softmax": [1, 2]}, "softmax"),
    ],
)
def test_the_kind_is_found(document, kind):
    assert parse_problem(document).kind == kind


UNKNOWN_KINDS = [
    ("batch_norm", "layer_norm"),
    ("foo_norm", "layer_norm"),
    ("spectral normalisation of rows", "layer_norm"),
    ("log_softmax", "softmax"),
    ("linear attention", "attention"),
    ("additive attention", "attention"),
    ("learned positional embedding", "positions"),
    ("pre-norm encoder layer", "encoder_layer"),
    ("encoder_decoder", "encoder_layer"),
    ("attention_norm", "attention"),
]


@pytest.mark.parametrize(("word", "near"), UNKNOWN_KINDS)
@pytest.mark.parametrize("field", ["kind", "type"])
def test_a_kind_that_only_contains_a_known_one_is_refused_with_the_nearest(word, near, field):
    said = f"p.toml: {field} '{word}' is not known: one of {KINDS}. Did you mean '{near}'?"
    assert refusal(f"{field} = '{word}'\nx = [1, 2]") == said


@pytest.mark.parametrize("kind", [kind for kind in KINDS.split(", ") if kind != "activation"])
@pytest.mark.parametrize("word", ["foo_{}", "{}_foo"])
def test_no_kind_is_found_inside_another_word(kind, word):
    assert refusal(f"kind = '{word.format(kind)}'").startswith(
        f"p.toml: kind '{word.format(kind)}' is not known: one of {KINDS}."
    )


@pytest.mark.parametrize(
    ("kind", "causal"),
    [("multi-head masked attention", True), ("Causal Self-Attention", True), ("unmasked attention", None), ("attention", None)],
)
def test_a_masked_kind_is_causal_wherever_the_word_is(kind, causal):
    assert parse_problem({"kind": kind, "Q": X, "K": X, "V": X}).option("causal") is causal


@pytest.mark.parametrize("scale", ["-√d_k", "−√d_k", "1/√√d_k"])
def test_a_scale_with_another_sign_or_root_is_refused(scale):
    said = f"scale '{scale}' is not known: d_k, d_model (their roots are meant), none, or the number to divide by."
    assert refusal(f"Q = [1]\nK = [[1]]\nscale = '{scale}'") == f"p.toml: {said}"


def test_n_plus_1_is_not_n_minus_1():
    assert refusal("layer_norm = [1, 2]\nvariance = 'n+1'").startswith("p.toml: variance 'n+1' is not known: one of biased,")


@pytest.mark.parametrize("scale", ["d_k", "sqrt(d_k)", "√d_k", "1/sqrt(d_k)", "√2", "sqrt(2)", True])
def test_the_scale_has_many_spellings(scale):
    keys = {"q": [1, 2], "k": W, "v": W}
    np.testing.assert_allclose(output({**keys, "scale": scale}), output(keys))


def test_json_and_toml_say_the_same(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"q": [0, 1], "k": {"a": [1, 1], "b": [0, -1]}}), encoding="utf-8")
    (tmp_path / "p.toml").write_text("q = [0, 1]\n[k]\na = [1, 1]\nb = [0, -1]\n", encoding="utf-8")
    one, two = (solve(load_problem(tmp_path / name)) for name in ("p.json", "p.toml"))
    assert one.values == two.values
    assert one.labels == two.labels == {"s": ("a", "b")}


def test_matrices_that_do_not_fit_name_the_product_both_shapes_and_the_form_that_would():
    said = "p.toml: x W_Q does not fit: x is 2 × 3, W_Q is 2 × 3, and 3 is not 2. W_Q transposed, 3 × 2, would fit: "
    text = "X = [[1, 2, 3], [4, 5, 6]]\nW_Q = [[1, 2, 3], [4, 5, 6]]\nW_K = [[1]]\n"
    assert refusal(text) == said + 'write W_Q = {transpose = …}, or apply = "W x" for all matrices.'
    assert refusal(text + 'convention = "columns"').startswith(
        "p.toml: W_Q x does not fit: x is 2 × 3, W_Q is 2 × 3, and 2 is not 3."
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Q = [[1, 2, 3]]\nK = [[1, 2], [3, 4], [5, 6]]",
            "q kᵀ does not fit: q is 1 × 3, k is 3 × 2, and 3 is not 2. k transposed, 2 × 3, would fit: "
            'tokens are rows here; if they should be columns, write convention = "columns".',
        ),
        (
            "Q = [[1, 2]]\nK = [[1, 2], [3, 4]]\nV = [[1, 0, 1]]",
            "weights v does not fit: the weights are for 2 keys, v is 1 × 3, for 1. Every key has one value.",
        ),
        (
            "A = [[1, 2]]\nB = [[1, 2]]",
            "A B does not fit: A is 1 × 2, B is 1 × 2, and 2 is not 1. B transposed, 2 × 1, would fit.",
        ),
        (
            'alignment = "general"\nQ = [[1, 2, 3]]\nK = [[1, 2]]\nW = [[1, 2, 3], [4, 5, 6]]',
            "q W kᵀ does not fit: q has 3 features, k has 2, W is 2 × 3; expected 3 × 2. W transposed, 3 × 2, would fit.",
        ),
        (
            'alignment = "additive"\nQ = [[1, 2]]\nK = [[1, 2]]\nW_1 = [[1], [2]]\nW_2 = [[1, 2]]\nv = [1]',
            "W_1 q does not fit: W_1 is 2 × 1, q has 2 numbers a vector. W_1 transposed, 1 × 2, would fit: "
            'apply = "x W" turns both.',
        ),
        ("X = [[1, 2]]\nW_Q = [[1], [2]]", "W_K is missing: W_Q is given, so the keys need a matrix too (or give K)."),
        ("Q = [[1, 2]]\nV = [[1, 2]]", "the keys are missing: give K, or X (or memory) with W_K."),
        ("K = [[1, 2]]\nV = [[1, 2]]", "the queries are missing: give Q, or X with W_Q."),
        ('Q = [1]\nK = [[1]]\nask = ["output"]', "'output' cannot be computed: it needs the values: V, or X with W_V."),
        (
            'layer_norm = [1, 2]\nask = ["varience"]',
            "'varience' is not a result of this problem. Did you mean 'variance'? "
            "Results: x, mean, variance, std, output, normalised.",
        ),
        (
            'ask = ["b"]\nq = [1]\n[k]\na = [1]\nb = [2]',
            "'b' is a token, not a quantity: query = \"b\" computes its row.",
        ),
        (
            "Q = [1]\nK = [[1]]\nalignmet = 'dot'",
            "unknown key 'alignmet' in a problem about attention. Did you mean 'alignment'?",
        ),
        (
            "A = [1]\nB = [1]\nzeta = 2",
            "unknown key 'zeta' in a problem about product. It takes title, ask, convention, apply, digits, A, B, C.",
        ),
        (
            "Q = [1]\nK = [[1]]\nalignment = 'doot'",
            "alignment 'doot' is not known: one of dot, scaled_dot, general, additive, cosine. Did you mean 'dot'?",
        ),
        (
            "Q = [1]\nK = [[1]]\ndistribution = 'softmix'",
            "distribution 'softmix' is not known: one of softmax, sparsemax, sigmoid, hardmax. Did you mean 'softmax'?",
        ),
        (
            "Q = [1]\nK = [[1]]\nscale = 'd_kk'",
            "scale 'd_kk' is not known: d_k, d_model (their roots are meant), none, or the number to divide by.",
        ),
        ("Q = [1]\nK = [[1]]\nscale = -1", "scale = -1 is not allowed: expected a number above 0, at most 1e15."),
        ("Q = [1]\nq = [1]\nK = [1]", "'Q' and 'q' both give Q: write one of them."),
        ("q_1 = [1]\nq_3 = [1]\nk = [[1]]", "Q is numbered 1, 3: one is missing."),
        ("dot = [1, 2]", "the dot products should be divided by √d_k, but d_k is not known: give d_k, or scale."),
        (
            "heads = 3\nX = [[1, 2, 3, 4]]\nW_Q = 'identity'\nW_K = 'identity'",
            "W_Q gives 4 features, which cannot be cut into 3 equal heads.",
        ),
        ("heads = 2\nW_Q = [[[1]], [[1]], [[1]]]\nX = [[1]]", "how many heads are there? heads says 2, W_Q says 3."),
        ("X = [[1, 2]]\nW_Q = {pick = [3]}\nW_K = {pick = [1]}", "W_Q picks coordinate 3, but x has 2."),
        ("layer_norm = [5]\nvariance = 'unbiased'", "the unbiased variance of one number does not exist: n − 1 is 0."),
        ("positions = 3", "the width is missing: give d_model, the number of features of a position."),
        ("kind = 'attension'", f"kind 'attension' is not known: one of {KINDS}. Did you mean 'attention'?"),
        ("title = 'x'", f"kind is missing: give one of {KINDS}."),
        ("d_v = 3\nQ = [1]\nK = [[1]]\nV = [[1]]", "d_v = 3 is given, but the matrices have d_v = 1."),
        (
            "kind = 'encoder layer'\nX = [[1, 2]]\nW_Q = [[1], [1]]\nW_K = [[1], [1]]\nW_V = [[1], [1]]",
            "the residual sum x + attention does not fit: 1 × 2 and 1 × 1. "
            "A W_O that maps back to the width of X would make it fit.",
        ),
        ("query = 'c'\n[X]\na = [1]\nb = [2]", "query 'c' is not one of the tokens. The tokens are a, b."),
        (
            "Q = [[1]]\nK = [[1], [2]]\nmask = [[1, 0, 1]]",
            "mask is 1 × 3, but the scores are 1 × 2: one number for each key (2), or one for each score.",
        ),
        (
            "Q = [1]\nK = [[1], [2]]\nmask = 'causal'",
            "a causal mask needs the position of the query: give all queries as rows, or query = 2 (counted from 1).",
        ),
    ],
)
def test_an_error_in_the_file_is_reported_in_one_line(text, said):
    assert refusal(text) == f"p.toml: {said}"


def test_an_unreadable_file_is_reported(tmp_path):
    with pytest.raises(GlassformerError, match="no such file"):
        load_problem(tmp_path / "none.toml")
    (tmp_path / "empty.toml").write_text("", encoding="utf-8")
    with pytest.raises(GlassformerError, match=r"empty\.toml: the problem is empty"):
        load_problem(tmp_path / "empty.toml")


ROWS, ONE_KEY = [[1, 0, 1], [0, 1, 1]], {"q": [0, 1], "k": [[1, 1]], "v": [[1, 1]]}
MEANT_OTHERWISE = [
    ({"kind": "linear", "x": ROWS, "W": {"identity": 4}}, "W is the identity, 4 × 4, but x has 3 features."),
    ({"kind": "linear", "x": ROWS, "W": {"identity": False}}, "W.identity is false: expected a number."),
    ({"kind": "linear", "x": ROWS, "W": {"identity": "1/2"}}, "W.identity = 1/2 is not understood"),
    ({**ONE_KEY, "ffn": True}, "ffn = True is not allowed: expected a table, [ffn] with W_1, b_1"),
    ({**ONE_KEY, "norm_1": "post"}, "expected a table, [norm_1] with gamma, beta."),
    ({**ONE_KEY, "alignment": "general", "W": {"pick": [3, 1]}}, "W picks coordinate 3, but q has 2."),
    ({"kind": "rotary", "x": [1, 2], "positions": "sinusoidal"}, "give the positions as numbers, as in [0, 1]."),
]


@pytest.mark.parametrize(("document", "message"), MEANT_OTHERWISE)
def test_contradictions_are_refused_and_not_ignored(document, message):
    with pytest.raises(GlassformerError) as refusal:
        solve(parse_problem(document))
    assert message in str(refusal.value)


def test_numbers_of_numpy_are_numbers():
    given = {"kind": "softmax", "x": [np.float64(1), np.int64(2)]}
    assert solve(parse_problem(given)).values == solve(parse_problem({"kind": "softmax", "x": [1, 2]})).values
