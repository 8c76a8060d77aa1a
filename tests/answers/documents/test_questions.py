"""Questions about a spec that a document carries."""

from glassformer.answers.documents import check_document
from glassformer.answers.documents.findings import Question

BLOCK = """# Mine

```glassformer
spec: layer d_model=64 heads=4
params = 27648
shape of weights = 4 x 32 x 32
# a remark
spec: bert-base
- params ≈ 110M
nonsense
```
3 + 4 = 7
"""


def test_a_fenced_block_carries_questions():
    found = check_document(BLOCK, name="a.md", kind="md")
    assert found.questions == (
        Question(5, ("layer", "d_model=64", "heads=4"), "params", "27648"),
        Question(6, ("layer", "d_model=64", "heads=4"), "shape of weights", "4 x 32 x 32"),
        Question(9, ("bert-base",), "params", "110M"),
    )


def test_what_is_no_question_is_counted_and_the_rest_is_read():
    found = check_document(BLOCK, name="a.md", kind="md")
    assert [(one.line, one.verdict) for one in found.findings] == [(10, "unclear"), (12, "right")]


def test_front_matter_carries_questions():
    text = "---\ntitle: mine\nspec: layer d_model=64\nparams of d_model=64 = 12\n---\n3 + 4 = 7\n"
    found = check_document(text, name="a.md", kind="md")
    assert [(one.line, one.question, one.claim) for one in found.questions] == [(4, "params of d_model=64", "12")]
    assert found.counts["right"] == 1


def test_other_front_matter_is_text():
    found = check_document("---\ntitle: 3 + 4 = 7\n---\n", name="a.md", kind="md")
    assert found.questions == ()
    assert found.counts["right"] == 1


def test_a_question_without_a_spec_is_not_understood():
    found = check_document("```glassformer\nparams = 5\n```\n", name="a.md", kind="md")
    assert found.questions == ()
    assert found.counts["unclear"] == 1


def test_an_answer_may_be_worked_out_in_the_same_line():
    text = "```glassformer\nspec: bert-base\nparams of ffn in one layer = 2·768·3072 + 3072 + 768 = 4,722,432\n```\n"
    (found,) = check_document(text, name="a.md", kind="md").questions
    assert (found.question, found.claim) == ("params of ffn in one layer", "2·768·3072 + 3072 + 768 = 4,722,432")
