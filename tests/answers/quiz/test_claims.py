"""No right answer is refused for the way in which it is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.answers.quiz.claims import grids, numbers, shapes

WAYS = [
    "{0}",
    "{0:,}", " {0} ", "{0}.", "{0:_}", "= {0}", "{0} parameters", "n = {0:,}", "${0}$", "**{0:,}**", "`{0}`", "{0}.0", "{0:,}.00",
    "+{0}", "about {0}",
]  # fmt: skip


@given(st.integers(1, 10**12))
def test_a_whole_number_is_read_however_it_is_written(n):
    written = [way.format(n) for way in WAYS]
    written += [f"{n:,}".replace(",", sign) for sign in (" ", "\u202f", "\u00a0", "'", "’", "_", "{,}", "\\,", ".")]
    digits = str(n)
    written += [f"{digits[0]}.{digits[1:] or 0}e{len(digits) - 1}", f"{digits[0]}.{digits[1:] or 0} × 10^{len(digits) - 1}"]
    written += [f"1 * {n}", f"{n} + 0", f"{n} × 1 = {n:,}"]
    for text in written:
        assert n in [number.value for number in numbers(text)], text


@pytest.mark.parametrize(
    ("text", "value"),
    [("3·64·64", 12288), ("4×64² + 2", 16386), ("2 x 512 x 8", 8192), ("(64+1)*10", 650), ("64^2", 4096), ("3*(64*16)*4", 12288)],
)
def test_an_unevaluated_product_is_evaluated(text, value):
    assert value in [number.value for number in numbers(text)]


@given(st.lists(st.integers(1, 4096), min_size=2, max_size=4))
def test_a_shape_is_read_however_it_is_written(sizes):
    words = [str(size) for size in sizes]
    joined = [sign.join(words) for sign in (" x ", "x", "X", " × ", "×", " * ", ", ", ",", " by ", r" \times ")]
    wrapped = [f"{left}{', '.join(words)}{right}" for left, right in ("[]", "()", ("torch.Size([", "])"), ("shape [", "]"))]
    more = [f"[{' '.join(words)}]", f"R^{{{' x '.join(words)}}}", f"W = {joined[0]}", f"${joined[-1]}$", f" {joined[0]}. "]
    for text in (*joined, *wrapped, *more):
        assert shapes(text) == [tuple(sizes)], text


@pytest.mark.parametrize("text", ["512", "(512,)", "[512]"])
def test_the_shape_of_a_vector(text):
    assert shapes(text) == [(512,)]


@given(st.lists(st.integers(-9999, 9999).map(lambda n: n / 1000), min_size=2, max_size=5))
def test_a_vector_is_read_however_it_is_written(values):
    words = [f"{value:.3f}" for value in values]
    ways = [f"[{', '.join(words)}]", f"({'; '.join(words)})", " ".join(words), ", ".join(words), f"[{' '.join(words)}]"]
    ways += [
        "; ".join(word.replace(".", ",") for word in words),
        f"y = [{', '.join(words)}]",
        "[" + ", ".join(words).replace("-", "−") + "]",
    ]
    for text in ways:
        assert any(cells.values == pytest.approx(values) for cells in grids(text)), text


@pytest.mark.parametrize(
    "text",
    [
        "[[1, 2], [3, 4]]",
        "1 2\n3 4",
        "[1, 2; 3, 4]",
        r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}",
        "[[1 2] [3 4]]",
        "[1, 2]\n[3, 4]",
    ],
)
def test_a_matrix_is_read_however_it_is_written(text):
    assert any(cells.shape == (2, 2) and cells.values == [1, 2, 3, 4] for cells in grids(text))


def test_fractions_and_roots_are_numbers():
    (cells, *_) = grids("[1/2, 1/√2]")
    assert cells.values == pytest.approx([0.5, 0.5**0.5])


NONE = [
    "",
    "abc",
    "<script>1</script>",
    "[" * 1000,
    "(" * 100_000,
    "1" * 100_000,
    "x" * 10_000_000,
    "\x00",
    "1e99999",
    "NaN",
    "inf",
]


@pytest.mark.parametrize("text", NONE, ids=range(len(NONE)))
def test_an_invalid_answer_is_rejected_quickly(text):
    assert numbers(text) == []
    assert grids(text) == []
    assert shapes(text) in ([], [(1, 1)])


@given(st.text(max_size=200))
def test_no_text_breaks_the_parser(text):
    numbers(text)
    shapes(text)
    grids(text)
