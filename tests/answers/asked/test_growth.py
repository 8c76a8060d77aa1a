"""Complexity: the exact count, and a class that the counts at other lengths and widths bear out."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.asked.growth import Growth, monomial
from glassformer.answers.judging import check
from glassformer.spec import GlassformerError
from glassformer.spec.reading import request

CLASSES = [
    ("complexity of self-attention", "O(n² · d)", 2 * 512**2 * 512),
    ("time complexity of scaled dot-product attention", "O(n² · d)", 2 * 512**2 * 512),
    ("complexity of the FFN with respect to the sequence length", "O(n · d²)", 2 * 512 * 512 * 2048),
    ("computational complexity of one encoder layer", "O(n² · d + n · d²)", 2 * 512**3 + 12 * 512**3),
    ("complexity of the output projection", "O(n · d²)", 512**3),
    ("complexity of the model", "O(n² · d + n · d²)", 6 * 14 * 512**3),
    ("space complexity of self-attention", "O(n²)", 8 * 512**2),
]


@pytest.mark.parametrize(("question", "growth", "count"), CLASSES)
def test_the_class_and_the_exact_count(question, growth, count):
    found = ask(question, request("transformer-base", t=512))
    assert (found.growth.text, found.value) == (growth, count)
    assert found.convention.startswith(growth)


@pytest.mark.parametrize("question", [question for question, _, _ in CLASSES])
def test_the_class_is_borne_out_by_counts_at_other_sizes(question):
    """Between a large size and its double the count grows by the power of the class."""
    terms = [dict(term) for term in ask(question, request("transformer-base", t=8)).growth.terms]
    counts = [ask(question, request("transformer-base", t=t)).value for t in (2**20, 2**21)]
    assert counts[1] / counts[0] == pytest.approx(2 ** max(term.get("n", 0) for term in terms), rel=0.02)
    wide = [ask(question, request("transformer-base", t=8, d_model=d, d_ff=4 * d)).value for d in (2048, 4096)]
    assert wide[1] / wide[0] == pytest.approx(2 ** max(term.get("d", 0) for term in terms), rel=0.02)


CLAIMS = [
    ("complexity of self-attention", "O(n^2 d)", "right"),
    ("complexity of self-attention", "O(n²·d)", "right"),
    ("complexity of self-attention", "$\\mathcal{O}(n^2 \\cdot d_{model})$", "right"),
    ("complexity of self-attention", "O(h n^2 d_k)", "right"),
    ("complexity of self-attention", "Θ(T² d)", "right"),
    ("complexity of self-attention", "O(n²)", "convention"),
    ("complexity of self-attention", "quadratic in the sequence length", "convention"),
    ("complexity of self-attention", "O(n^2 d + n d^2)", "convention"),
    ("complexity of self-attention", "268435456", "wrong"),
    ("complexity of self-attention", "O(n d)", "linear_instead_of_quadratic"),
    ("complexity of self-attention", "linear", "linear_instead_of_quadratic"),
    ("complexity of self-attention", "O(n d^2)", "no_quadratic_term"),
    ("complexity of self-attention", "O(n^3)", "wrong"),
    ("complexity of one layer", "O(n d^2)", "no_quadratic_term"),
    ("complexity of one layer", "O(n^2 d)", "convention"),
    ("complexity of ffn", "O(n d²)", "right"),
    ("complexity of ffn", "O(n^2)", "wrong"),
]


@pytest.mark.parametrize(("question", "claim", "wanted"), CLAIMS)
def test_a_claimed_class_is_judged(question, claim, wanted):
    found = check(question, request("transformer-base", t=64), claim)
    assert found.verdict == (wanted if wanted in ("right", "convention") else "wrong")
    codes = [code for finding in found.findings for code in finding.codes]
    assert codes == ([wanted] if "_" in wanted else [])
    assert str(found)


def test_a_count_is_judged_where_a_count_is_claimed():
    assert check("complexity of self-attention", request("transformer-base", t=512), "268,435,456").verdict == "right"


@pytest.mark.parametrize("claim", ["O(n^2 bananas)", "O(n(n + d))", "O()", "O(" + "n" * 500 + ")"])
def test_a_class_that_is_not_understood_is_refused(claim):
    with pytest.raises(GlassformerError, match="complexity"):
        check("complexity of self-attention", request("transformer-base"), claim)


def pairs_within(window, t):
    return sum(abs(query - key) <= window // 2 for query in range(t) for key in range(t))


@pytest.mark.parametrize(("window", "t"), [(8, 64), (7, 30), (2, 5), (100, 12)])
def test_a_window_makes_one_length_a_width(window, t):
    found = ask("complexity of self-attention", request("transformer-base", window=window, t=t))
    assert found.growth.text == "O(n · w · d)"
    assert found.value == 2 * 512 * pairs_within(window, t)
    assert "with the projections" in found.others[0].convention
    assert found.others[0].value == found.value + 4 * t * 512 * 512


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("O(n w d)", "right"),
        ("O(n·w)", "convention"),
        ("O(n)", "convention"),
        ("linear in n", "convention"),
        ("O(n^2 d)", "wrong"),
    ],
)
def test_claims_about_a_window(claim, verdict):
    assert check("What is the complexity of sliding window attention?", None, claim).verdict == verdict


def test_layers_that_are_not_alike_have_no_one_class():
    with pytest.raises(GlassformerError, match="some have a window"):
        ask("complexity of self-attention", request("transformer-base", window=8, global_every=3))


def test_a_logarithm_is_no_class_of_attention():
    assert check("complexity of self-attention", request("transformer-base"), "O(n log n)").verdict == "wrong"


def test_what_is_outgrown_is_left_out():
    terms = [monomial([("n", 2), ("d", 1)]), monomial([("n", 1), ("d", 1)]), monomial([("d", 2), ("n", 1)])]
    assert Growth.of(terms).text == "O(n² · d + n · d²)"
