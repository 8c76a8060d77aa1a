"""Code in a document: comments and assertions claim, assignments define, nothing else is judged."""

from glassformer.answers.documents import check_text


def verdicts(code, after=""):
    found = check_text(f"```python\n{code}\n```\n{after}", name="a.md", kind="md")
    return [(one.verdict, one.kind) for one in found.findings]


def test_comments_are_judged():
    assert verdicts("x = f()  # 768 * 8 = 6,144") == [("right", "arithmetic")]
    assert verdicts("# 768 * 8 = 6,145") == [("wrong", "arithmetic")]


def test_assertions_are_judged():
    assert verdicts("assert 768 * 8 == 6_145") == [("wrong", "arithmetic")]
    assert verdicts("if 3 == 4:") == []


def test_assignments_define():
    assert verdicts("heads = 8\nd_k = 64", "heads × d_k = 512\n")[-1] == ("right", "arithmetic")


def test_code_is_not_a_claim():
    for line in ("x = 3 if y else 4", "f(a=1, b=2)", "a, b = 1, 2", "print('3 = 4')", "x += 1", "for i in range(3): y = 2"):
        assert verdicts(line) == []


def test_a_fence_without_a_language_is_prose():
    found = check_text("```\n768 x 8 = 6,145\n```\n", name="a.md", kind="md")
    assert found.counts["wrong"] == 1
