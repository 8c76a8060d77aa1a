"""Claims about a spec that a document carries, in blocks and below a question."""

import pytest

from glassformer.answers.documents import check_text

BLOCK = """# Mine

```glassformer
spec: layer d_model=64 heads=4 d_k=16 d_ff=120
params = 32440
params = 27648
params(W_O) = 16640
# a remark
spec: bert-base
- params ≈ 110M
nonsense
```
3 + 4 = 7
"""
ASKED = """How many parameters does a single Transformer encoder layer have?

Input dimension: 64

Number of heads in multi-head attention: 4

Dimension of each head: 16

Dimension of feed-forward network: 120

{answer}
"""


def graded(text):
    return [(found.line, found.verdict) for found in check_text(text).questions]


def test_a_block_contains_claims_about_a_spec_and_other_lines_are_counted():
    assert graded(BLOCK) == [(5, "right"), (6, "convention"), (7, "wrong"), (10, "right"), (11, "unclear")]
    assert check_text(BLOCK).counts == {"right": 4, "wrong": 1, "carried": 0, "unclear": 1}


def test_the_spec_may_follow_the_expression():
    assert check_text(BLOCK).questions[3].judged.name == "params @ bert-base"


def test_a_claim_without_a_spec_is_not_understood():
    assert graded("```glassformer\nparams = 5\n```\n") == [(2, "unclear")]


def test_an_answer_may_be_worked_out_in_the_same_line():
    text = "```glassformer\nspec: bert-base\nparams(ffn, layer=0) = 2·768·3072 + 3072 + 768 = 4,722,432\n```\n"
    (found,) = check_text(text).questions
    assert found.judged.claim == "2·768·3072 + 3072 + 768 = 4,722,432"


def test_a_document_cannot_open_files(tmp_path):
    secret = tmp_path / "secret.toml"
    secret.write_text("layers = 7\n", encoding="utf-8")
    (found,) = check_text(f"```glassformer\nspec: {secret}\nparams = 3\n```\n").questions
    assert found.verdict == "unclear"
    assert "a document cannot name files" in found.sentence


@pytest.mark.parametrize(
    ("answer", "verdict"), [("32,440", "right"), ("27648", "convention"), ("Answer: 27648", "convention"), ("31000", "wrong")]
)
def test_an_answer_alone_on_its_line_is_judged_where_the_layer_is_described(answer, verdict):
    assert graded(ASKED.format(answer=answer)) == [(11, verdict)]


@pytest.mark.parametrize(
    "text",
    [
        ASKED.replace("Dimension of feed-forward network: 120", "").format(answer="27648"),
        ASKED.replace("encoder layer", "decoder").format(answer="27648"),
        ASKED.replace("Dimension of each head: 16", "Input dimension: 128").format(answer="27648"),
        ASKED.format(answer="see the book"),
    ],
)
def test_nothing_is_judged_if_something_is_missing(text):
    assert graded(text) == []
