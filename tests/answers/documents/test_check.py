"""A whole solution: right claims, wrong claims, and claims that carry an earlier error forward."""

import json

import pytest

from glassformer.answers.documents import check_text

COUNTED = r"""# How large is the model?

1. Tables

- tokens (40k):  $40,000 \times 768 = 30,720,000$
- positions:  $512 \times 768 = 393,216$
- segments:  $2 \times 768 = 1,536$
- together:  $30,720,000 + 393,216 + 1,536 \approx 31,114,752$

2. Layers

- queries, keys, values:  $3 \times (768 \times 768) \times 8 = 14,155,008$
- output:  $768 \times 768 \times 8 = 4,569,984$
- Total attention: 18,725,992
- in:  $768 \times 3072 = 2,359,296$
- out:  $3072 \times 768 = 2,359,296$
- Total feed-forward: 4,718,592
- one layer:  $18,725,992 + 4,718,592 = 23,444,584$
- eight layers:  $23,444,584 \times 8 = 187,556,672$

$31,114,752$  (tables) +  $187,556,672$  (layers)  $\approx 218,671,424$

Total weights of the model  $\approx$  218 million.

Scores: $(q * k) / \sqrt{d} = ([0, 1] * [1, 1]) / \sqrt{2} = 1 / \sqrt{2}$

- $\text{Softmax}(\text{first}) = \exp(1 / \sqrt{2}) / (\exp(1 / \sqrt{2}) + \exp(-1 / \sqrt{2})) \approx 0.6225$
- $\text{Softmax}(\text{second}) = \exp(-1 / \sqrt{2}) / (\exp(1 / \sqrt{2}) + \exp(-1 / \sqrt{2})) \approx 0.3775$
- mixed:  $0.6225 * [1, 1] + 0.3775 * [-1, -1] \approx [0.245, 0.245]$

Head: $768 \text{ (hidden size)} \times 5 \text{ (classes)} = 3,840$, bias: $5 = 5$, both: $3,840 + 5 \approx 3,845$
"""


@pytest.fixture(scope="module")
def counted():
    return check_text(COUNTED, name="counted.md", kind="md")


def finding(document, text):
    (found,) = [one for one in document.findings if text in one.text]
    return found


def test_everything_in_a_solution_is_judged(counted):
    assert counted.counts == {"right": 11, "wrong": 5, "carried": 5, "unclear": 0}
    assert counted.summary() == "11 right, 5 wrong, 5 carried forward, 0 not understood"


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("= 14,155,008", "14,155,776"),
        ("= 4,569,984", "4,718,592"),
        ("18,725,992", "18,724,992"),
        (r"\approx 0.6225", "0.8044"),
        (r"\approx 0.3775", "0.1956"),
    ],
)
def test_wrong_lines_are_corrected(counted, text, due):
    (found,) = [one for one in counted.of("wrong") if text in one.text]
    assert found.due == due


def test_a_new_slip_after_carried_errors_is_recognised(counted):
    found = finding(counted, "Total attention")
    assert (found.verdict, found.due, found.put_right, found.sources) == ("wrong", "18,724,992", "18,874,368", (12, 13))
    assert found.codes == ("digit_wrong",)


@pytest.mark.parametrize(
    ("text", "true", "source"),
    [
        ("= 23,444,584", "23,592,960", 14),
        ("= 187,556,672", "188,743,680", 18),
        ("218,671,424", "219,858,432", 19),
        ("218 million", "219,858,432", 21),
    ],
)
def test_sums_carry_the_errors_forward(counted, text, true, source):
    found = finding(counted, text)
    assert (found.verdict, found.put_right, found.sources) == ("carried", true, (source,))


def test_wrong_weights_imply_another_gap_and_are_carried_into_the_mix(counted):
    assert "Weights 0.6225/0.3775 imply a score gap of 0.5 instead of 1.414." in counted.of("wrong")[3].judged.notes
    mixed = finding(counted, "[0.245, 0.245]")
    assert (mixed.verdict, mixed.put_right, mixed.sources) == ("carried", "[0.609, 0.609]", (27, 28))


def test_findings_point_at_their_text(counted):
    for one in counted.findings:
        assert counted.text.count("\n", 0, one.end) + 1 == one.line
        assert " ".join(counted.text[one.start : one.end].split()) == one.text


def test_the_answer_is_one_json_document_and_always_the_same(counted):
    document = json.loads(json.dumps(counted.to_dict()))
    assert document["counts"]["wrong"] == 5
    assert check_text(COUNTED, name="counted.md", kind="md").to_dict() == counted.to_dict()


def test_the_same_lines_in_latex():
    latex = COUNTED.replace("# How", r"\section{How}").replace("%", r"\%")
    assert check_text(latex, name="a.tex", kind="tex").counts["wrong"] == 5


FORMULA = r"""\begin{align}
N &= 12 \times 768^2 \\
  &= 12 \times 589{,}824 \\
  &= 7{,}077{,}888 \\
M &= 3 \times 4 = 13
\end{align}
"""


def test_rows_of_an_aligned_formula_are_one_chain():
    found = check_text(FORMULA, name="a.tex", kind="tex")
    assert [(one.line, one.verdict) for one in found.findings] == [
        (3, "right"),
        (4, "right"),
        (5, "wrong"),
    ]


def test_sizes_below_matrices_are_checked():
    dots = r"\begin{bmatrix} \cdots & \cdots \\ \cdots & \cdots \end{bmatrix}"
    right = rf"$Q = {dots}_{{32 \times 32}} = {dots}_{{32 \times 64}} {dots}_{{64 \times 32}}$"
    wrong = right.replace(r"_{32 \times 32}", r"_{64 \times 64}")
    assert check_text(right, name="a.md", kind="md").counts["right"] == 1
    assert [one.due for one in check_text(wrong, name="a.md", kind="md").of("wrong")] == ["[32, 32]"]


def test_a_shape_stated_twice_is_confirmed():
    found = check_text(r"- $W \in \mathbb{R}^{64 \times (2 \times 16)}$ 64×32", name="a.md", kind="md")
    assert [(one.verdict, one.kind, one.due) for one in found.findings] == [("right", "shape", "[64, 32]")]
