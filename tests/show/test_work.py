"""A worked problem on paper: text, Markdown, LaTeX and HTML say the same, and nothing foreign gets through."""

import re

import pytest

from glassformer.numbers.by_hand import parse_problem, solve
from glassformer.show import present
from glassformer.show.work import Worksheet

FLYING = {
    "title": "Flying",
    "q": [0, 1],
    "k": {"flying": [1, 1], "arrows": [0, -1]},
    "v": {"flying": [1, 1], "arrows": [-1, -1]},
}
TWO_HEADS = {"X": [[1, 0], [0, 2]], "heads": 2, "W_Q": "identity", "W_K": "identity", "W_V": "identity", "mask": "causal"}
PROBLEMS = [
    FLYING,
    TWO_HEADS,
    {"layer_norm": [1, 2, 3, 4], "eps": 1e-5, "gamma": 2},
    {"positions": 2, "d_model": 4},
    {"x": [1, -2], "W1": [[1, 2], [3, 4]], "W2": [[1], [1]], "activation": "gelu"},
    {"kind": "rope", "x": [1, 2], "position": 2},
    {"sparsemax": [1, 2, 2.5]},
    {"alignment": "cosine", "q": ["1/3", 2], "k": [[1, 0], [0, 0]]},
]


def sheet(document, digits=4) -> Worksheet:
    return Worksheet(solve(parse_problem(document)), digits)


def test_each_step_has_its_rule_its_arithmetic_and_its_result():
    assert sheet(FLYING).text() == (
        """Flying
Shown to 4 decimals; computed in full precision.

Given
   q = [0  1]    k = flying ⎡1   1⎤    v = flying ⎡ 1   1⎤
                     arrows ⎣0  −1⎦        arrows ⎣−1  −1⎦

1. dot = q kᵀ
     dot[flying] = 0 · 1 + 1 · 1 = 1
     dot[arrows] = 0 · 0 + 1 · (−1) = −1
          flying  arrows
   dot = [     1      −1]

2. scores = dot / √d_k    d_k = 2
     scores[flying] = 1 / √2 ≈ 0.7071, exactly 1/√2
     scores[arrows] = (−1) / √2 ≈ −0.7071, exactly −1/√2
             flying   arrows
   scores = [0.7071  −0.7071]

3. weights = softmax(scores)
     weights[flying] = exp(0.7071) / (exp(0.7071) + exp(−0.7071)) = 2.0281 / 2.5212 ≈ 0.8044
     weights[arrows] = exp(−0.7071) / (exp(0.7071) + exp(−0.7071)) = 0.4931 / 2.5212 ≈ 0.1956
              flying  arrows
   weights = [0.8044  0.1956]

4. output = weights v
     output[1] = 0.8044 · 1 + 0.1956 · (−1) ≈ 0.6089
     output[2] = 0.8044 · 1 + 0.1956 · (−1) ≈ 0.6089
   output = [0.6089  0.6089]"""
    )


def test_digits_are_those_requested():
    assert "weights = [0.80443  0.19557]" in sheet(FLYING, 5).text()
    assert "weights = [   0.8     0.2]" in sheet(FLYING, 1).text()


def test_heads_are_side_by_side_and_masked_scores_are_minus_infinity():
    text = sheet(TWO_HEADS).text()
    assert "W_Q: the identity, 2 × 2" in text
    assert "   masked (head 1) = ⎡1  −∞⎤    masked (head 2) = ⎡0  −∞⎤" in text
    assert "masked = scores, but −∞ where a key comes after its query" in text


def test_columns_are_written_as_columns():
    text = sheet({**TWO_HEADS, "heads": 1, "convention": "columns", "mask": "none"}).text()
    assert "q = W_Q x" in text
    assert "dot = kᵀ q" in text
    assert "weights = softmax(scores) of each column" in text
    assert "output = v weights" in text


def test_a_large_step_shows_its_first_cells_and_says_how_many_are_left():
    text = sheet({"A": [[1] * 6] * 6, "B": [[1] * 6] * 6}).text()
    assert text.count("output[") == 6
    assert "… and 30 more in the same way" in text


def test_other_conventions_of_layer_norm_are_named():
    text = sheet({"layer_norm": [1, 2, 3, 4]}).text()
    assert "unbiased variance, divided by n − 1 = 3              [−1.1619  −0.3873  0.3873  1.1619]              0.1797" in text


def test_rounding_is_shown_with_its_effect():
    solution = solve(parse_problem(FLYING))
    text = Worksheet(solution.rounded(2), 2, solution).text()
    assert "Every intermediate result is rounded to 2 decimals before it is used." in text
    assert "= 2.03 / 2.52 ≈ 0.81" in text
    assert "output    [0.62  0.62]           [0.6089  0.6089]              0.0111" in text


def test_results_of_several_rows_are_seen_in_the_tables_too():
    problem = {"X": [[0.5, 1.1], [-1.2, 0.3]], "W_Q": "identity", "W_K": "identity", "W_V": [[1, 0], [0, 2]]}
    for convention in ("rows", "columns"):
        solution = solve(parse_problem(problem | {"convention": convention}))
        text = Worksheet(solution.rounded(1), 1, solution).text().partition("Effect of rounding")[2]
        written = "; ".join("  ".join(f"{cell:.3f}" for cell in row) for row in solution.values["output"]).replace("-", "−")
        assert f"[{written}]" in text
    norm = Worksheet(solve(parse_problem({"layer_norm": [[1, 2, 3], [4, 4, 7]]}))).text()
    assert "[−1.2247  0  1.2247; −0.7071  −0.7071  1.4142]" in norm
    wide = Worksheet(solve(parse_problem({"layer_norm": [list(range(10))] * 6}))).text()
    assert "  …; " in wide.partition("Under other conventions")[2]
    assert "; …]" in wide


def test_a_difference_of_decimals_is_a_decimal_and_not_a_rounded_number():
    text = Worksheet(solve(parse_problem({"layer_norm": [3.2, -1, 0.5, 7]}))).text()
    assert "(3.2 − 2.425) / 3.0400 = 0.775 / 3.0400" in text


def test_an_exact_form_is_shown_where_it_tells_more_than_the_decimal():
    scores = {"q": [-3.16, -0.39], "k": [[1.72, -2.81], [1, 0]], "v": [[1], [2]]}
    text = Worksheet(solve(parse_problem(scores))).text()
    assert "(−4.3393) / √2 ≈ −3.0683\n" in text
    assert "exactly −79/(25√2)" in text


def test_given_fractions_stay_fractions():
    assert "q = [1/3  2]" in sheet(PROBLEMS[-1]).text()


@pytest.mark.parametrize("document", PROBLEMS)
def test_latex_is_balanced_and_has_no_sign_that_it_cannot_set(document):
    latex = sheet(document).latex()
    depth = 0
    for sign in re.sub(r"\\[{}]", "", latex):
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    for kind in ("bmatrix", "gather*", "tabular"):
        assert latex.count(rf"\begin{{{kind}}}") == latex.count(rf"\end{{{kind}}}")
    assert not set(latex) & set("−√·≈∞×⎡⎤ᵀ…")
    assert latex.count(r"\left") == latex.count(r"\right")


def test_latex_sets_fractions_roots_and_powers():
    latex = sheet(FLYING).latex()
    assert (
        r"\mathrm{scores}\left[\text{arrows}\right] = \frac{-1}{\sqrt{2}} \approx -0.7071 \quad\text{exactly } -\frac{1}{"
        in latex
    )
    assert r"\frac{e^{0.7071}}{e^{0.7071} + e^{-0.7071}} = \frac{2.0281}{2.5212} \approx 0.8044" in latex
    assert r"k = \begin{bmatrix} 1 & 1 \\ 0 & -1 \end{bmatrix}" in latex
    assert r"W_{Q}\text{: the identity, 2 $\times$ 2}" in sheet(TWO_HEADS).latex()
    assert r"\mathrm{masked}^{(\text{head 1})} = \begin{bmatrix} 1 & -\infty  \\ 0 & 0 \end{bmatrix}" in sheet(TWO_HEADS).latex()


@pytest.mark.parametrize("document", PROBLEMS)
def test_markdown_keeps_its_formulas_between_dollars(document):
    markdown = sheet(document).markdown()
    assert "\n\n\n" not in markdown
    for line in markdown.splitlines():
        assert re.sub(r"\\\$|\$\\times\$", "", line).count("$") % 2 == 0, line


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_foreign_text_is_inert(form):
    bad = "<script>alert(1)</script>"
    words = {"kind": "attention", "X": {bad: [1, 2], "b\x1b[31m": [2, 1]}, "query": bad}
    page = getattr(sheet({"title": f"{bad} & $x$ \\input{{a}}", "softmax": {bad: 1, "b\x1b[31m": 2}}), form)()
    page += getattr(sheet(words), form)()
    assert "\x1b" not in page
    if form == "html":
        assert bad not in page
        assert "&lt;script&gt;" in page
    if form == "latex":
        assert "\\input" not in page
    if form == "markdown":
        assert not re.search(r"(?<!\\)<[a-zA-Z/!]", page)


def test_a_solution_finds_its_own_view():
    solution = solve(parse_problem(FLYING))
    assert present(solution).text() == sheet(FLYING).text() == str(solution)
