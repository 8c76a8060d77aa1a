"""A right formula never reports a trap: rows and columns, biases, heads, cross-attention, any sizes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassformer.algebra.formulas import check_formula


@dataclass(frozen=True)
class Formula:
    """A formula, the shapes that go with it, and the shape that comes out."""

    text: str
    shapes: dict[str, str]
    result: tuple[int, int]


SCALES = ["/ sqrt(d_k)", "/ sqrt(d_k)", "* d_k^{-1/2}", "/ d_k**0.5", "/ √d_k", "", "/ sqrt({width})"]


@st.composite
def right_formulas(draw: st.DrawFn, *, largest: int = 6) -> Formula:
    """Rows or columns, self- or cross-attention, one head or several, with and without biases, masks, W_O and residuals."""
    size = st.integers(1, largest)
    d, e, t, s, k, v = (draw(size) for _ in range(6))
    columns, cross = draw(st.booleans()), draw(st.booleans())
    heads = draw(st.sampled_from([1, 1, 2, 3]))
    source, s, e = ("Y", s, e) if cross else ("X", t, d)
    shapes = {"X": _laid(t, d, columns)} | ({"Y": _laid(s, e, columns)} if cross else {})
    lines: list[str] = []
    outputs: list[str] = []
    turned = draw(st.booleans())  # Q^T K V^T for columns, V^T softmax(K Q^T) for rows: the result is transposed
    biases = draw(st.sampled_from(["none", "loose", "matrix"]))
    style = draw(st.sampled_from(["plain", "axis", "masked", "dropout"]))
    scale = draw(st.sampled_from(SCALES)).replace("{width}", str(k))
    for head in range(1, heads + 1):
        index = f"_{head}" if heads > 1 else ""
        parts: dict[str, str] = {}
        for letter, data, width_in, width_out in (("Q", "X", d, k), ("K", source, e, k), ("V", source, e, v)):
            weight = f"W_{letter}{index}"
            transposed = draw(st.booleans())
            columns_first = columns != transposed  # out × in, or in × out with a transpose
            shapes[weight] = f"{width_out}x{width_in}" if columns_first else f"{width_in}x{width_out}"
            factor = weight + ("^T" if transposed else "")
            projected = f"{factor} {data}" if columns else f"{data} {factor}"
            if biases != "none":
                bias = f"b_{letter}{index}"
                shapes[bias] = str(width_out) if biases == "loose" else _laid(1, width_out, columns)
                projected += f" + {bias}"
            parts[letter] = projected
        if draw(st.booleans()):
            lines += [f"{letter}{index} = {text}" for letter, text in parts.items()]
            parts = {letter: f"{letter}{index}" for letter in parts}
        else:
            parts = {letter: f"({text})" for letter, text in parts.items()}
        outputs.append(_attention(parts, columns, turned, scale, style, index))
        if style == "masked":
            keys_first = columns != turned
            shapes[f"B{index}"] = f"{s}x{t}" if keys_first else f"{t}x{s}"
    tokens_last = columns != turned
    if heads > 1:
        names = [f"H_{head}" for head in range(1, heads + 1)]
        lines += [f"{name} = {text}" for name, text in zip(names, outputs, strict=True)]
        joint = draw(st.sampled_from([f"concat({', '.join(names)})", f"[{('; ' if tokens_last else ', ').join(names)}]"]))
    else:
        joint = outputs[0]
    width = heads * v
    if draw(st.booleans()):
        wide = draw(st.sampled_from([d, draw(size)]))
        shapes["W_O"] = f"{wide}x{width}" if tokens_last else f"{width}x{wide}"
        joint = f"W_O ({joint})" if tokens_last else f"({joint}) W_O"
        width = wide
    if width == d and not turned and draw(st.booleans()):
        joint = draw(st.sampled_from([f"X + {joint}", f"LayerNorm(X + {joint})"]))
    separator = draw(st.sampled_from(["; ", "\n"]))
    return Formula(separator.join([*lines, joint]), shapes, (width, t) if tokens_last else (t, width))


def _laid(tokens: int, width: int, columns: bool) -> str:
    return f"{width}x{tokens}" if columns else f"{tokens}x{width}"


def _attention(parts: dict[str, str], columns: bool, turned: bool, scale: str, style: str, index: str) -> str:
    q, k, v = (parts[letter] for letter in "QKV")
    keys_first = columns != turned
    if columns:
        scores = f"{k}^T {q}" if keys_first else f"{q}^T {k}"
    else:
        scores = f"{k} {q}^T" if keys_first else f"{q} {k}^T"
    inside = f"({scores}) {scale}" if scale else scores
    inside += f" + B{index}" if style == "masked" else ""
    axis = {"axis": ", columns" if keys_first else ", rows"}.get(style, "")
    weights = f"softmax({inside}{axis})"
    weights = f"dropout({weights})" if style == "dropout" else weights
    if keys_first:
        return f"{v if columns else f'{v}^T'} {weights}"
    return f"{weights} {f'{v}^T' if columns else v}"


@settings(max_examples=300)
@given(right_formulas(largest=3))
def test_a_right_formula_never_reports_a_trap_even_if_its_sizes_coincide(formula):
    answer = check_formula(formula.text, formula.shapes)
    assert answer.verdict == "fits", [trap.sentence for trap in answer.traps]
    assert answer.shape(answer.rows[-1]) == formula.result


@settings(max_examples=100)
@given(right_formulas(largest=40))
def test_a_right_formula_is_described_in_words(formula):
    answer = check_formula(formula.text, formula.shapes)
    assert answer.verdict == "fits"
    assert "so the" in answer.reading[0] or "are the tokens" in answer.reading[0]
    assert any("queries attend to" in sentence or "1 query attends to" in sentence for sentence in answer.reading)


@st.composite
def given_attention(draw: st.DrawFn) -> Formula:
    """Q, K and V given without weights, with whatever else people give: d_k, d_v, t, d_model, heads."""
    t, s, k, v = (draw(st.integers(1, 8)) for _ in range(4))
    s = draw(st.sampled_from([s, t]))
    columns, turned = draw(st.booleans()), draw(st.booleans())
    shapes = {"Q": _laid(t, k, columns), "K": _laid(s, k, columns), "V": _laid(s, v, columns)}
    heads = draw(st.integers(1, 4))
    numbers = {"d_k": k, "d_v": v, "heads": heads, "d_model": heads * k, "d": heads * k}
    numbers |= {"t": t} if s == t else {}
    shapes |= {name: str(number) for name, number in numbers.items() if draw(st.booleans())}
    text = _attention({"Q": "Q", "K": "K", "V": "V"}, columns, turned, "/ sqrt(d_k)", "plain", "")
    return Formula(text, shapes, (v, t) if columns != turned else (t, v))


@settings(max_examples=300)
@given(given_attention())
def test_given_queries_keys_and_values_never_report_a_trap(formula):
    answer = check_formula(formula.text, formula.shapes)
    assert answer.verdict == "fits", [trap.sentence for trap in answer.traps]
    assert answer.shape(answer.rows[-1]) == formula.result


SQUARE = {
    **dict.fromkeys("X Y E F R P L N W_Q W_K W_V W_O W_1 W_2 W_3 W_4".split(), "4x4"),
    **dict.fromkeys("b_1 b_2 gamma beta".split(), "4"),
}
ROWS = "Q = X W_Q; K = X W_K; V = X W_V; "
COLUMNS = "Q = W_Q X; K = W_K X; V = W_V X; "

UNUSUAL = [
    ROWS + "softmax((Q K^T + Q R^T) / sqrt(d_k)) V",  # relative positions
    ROWS + "softmax((Q K^T + Q R^T + K R^T) / sqrt(3 d_k)) V",
    ROWS + "relu(Q) (relu(K)^T V)",  # linear attention
    ROWS + "softmax_rows(Q) (softmax_columns(K)^T V)",
    ROWS + "softmax(Q (E K)^T / sqrt(d_k)) (F V)",  # tokens projected to fewer
    ROWS + "softmax(Q (W_3 K)^T / sqrt(d_k)) (W_4 V)",
    ROWS + "softmax(LayerNorm(Q) LayerNorm(K)^T / sqrt(d_k)) V",
    ROWS + "softmax((Q R)(K R)^T / sqrt(d_k)) V",  # rotations
    COLUMNS + "V softmax((R K)^T (R Q) / sqrt(d_k))",
    ROWS + "softmax(Q K^T / tau) V",
    ROWS + "softmax(Q K^T / sqrt(d_k) + M) V",
    ROWS + "A = softmax(Q K^T / sqrt(d_k)); A A X",
    ROWS + "Z = softmax(Q K^T / sqrt(d_k)) V; [X; Z]",
    ROWS + "H = LayerNorm(X + softmax(Q K^T / sqrt(d_k)) V W_O); LayerNorm(H + relu(H W_1 + b_1) W_2 + b_2)",
    COLUMNS + "H = gamma ⊙ LayerNorm(X + W_O V softmax(K^T Q / sqrt(d_k))) + beta; LayerNorm(H + W_2 relu(W_1 H + b_1) + b_2)",
    COLUMNS + "A = softmax_rows(Q^T K / sqrt(d_k)); W_O V A^T + X",
    "softmax(X W_Q W_K^T X^T / sqrt(d_k)) X W_V",
    "W_V X softmax(X^T W_K^T W_Q X / sqrt(d_k))",
    "Q = L W_Q; K = X W_K; V = X W_V; softmax(Q K^T / sqrt(d_k)) V",  # learned queries
    "Q = W_Q X; K = W_K E; V = W_V N; V softmax(K^T Q / sqrt(d_k))",  # a memory of keys and values
    "Q = (Y + P) W_Q; K = (X + E) W_K; V = X W_V; softmax(Q K^T / sqrt(d_k)) V",
    "Y = X + W_2 gelu(W_1 X); Y + gelu(Y W_3) W_4",  # tokens and features mixed alternately
    "softmax(X W_1 Y^T) Y",
    "A = softmax(X W_Q (X W_K)^T) X W_V; B = softmax(Y W_Q (Y W_K)^T) Y W_V; [A; B]",  # two sequences concatenated
    "softmax(X X^T / sqrt(d)) X",
    "X softmax(X^T X / sqrt(d))",
    "Q = X; K = X; V = X; softmax(Q K^T / sqrt(d)) V",
    "x = relu(b_1 W_1); x = x W_2",
]


@pytest.mark.parametrize("text", UNUSUAL)
def test_an_unusual_formula_reports_no_trap(text):
    shapes = {name: shape for name, shape in SQUARE.items() if f"{name} =" not in text}
    answer = check_formula(text, shapes)
    assert answer.verdict == "fits", [trap.sentence for trap in answer.traps]


RIGHT_SCALES = [
    ("sqrt(d_k)", "X=128x768 W_Q=768x768 W_K=768x768 W_V=768x768 d_k=64 heads=12"),
    ("sqrt(64)", "X=128x768 W_Q=768x64 W_K=768x64 W_V=768x64"),
    ("8", "X=128x768 W_Q=768x64 W_K=768x64 W_V=768x64"),
    ("sqrt(768/12)", "X=128x768 W_Q=768x64 W_K=768x64 W_V=768x64"),
    ("sqrt(d/h)", "X=n x d W_Q=d x d_k W_K=d x d_k W_V=d x d_k"),
    ("sqrt(d)", "X=n x D W_Q=D x d W_K=D x d W_V=D x d"),
    ("sqrt(d)", "X=n x d W_Q=d x d W_K=d x d W_V=d x d"),
    ("sqrt(d)", "X=128x768 W_Q=768x64 W_K=768x64 W_V=768x64"),
]


@pytest.mark.parametrize(("scale", "shapes"), RIGHT_SCALES)
def test_a_scale_that_may_be_right_reports_no_trap(scale, shapes):
    assert check_formula(f"{ROWS}softmax(Q K^T / {scale}) V", [shapes]).verdict == "fits"
