"""Checked claims read well in every form, and foreign text in them stays text."""

import pytest

from glassformer.answers.problems import check_worked
from glassformer.show import present

FLYING = {"Q": [0, 1], "K": [[1, 1], [0, -1]], "V": [[1, 1], [-1, -1]], "memory_tokens": ["flying", "arrows"], "title": "Flying"}


def test_a_mistake_is_shown_with_its_sentence_and_the_step_done_right():
    text = present(check_worked(FLYING, {"weights": "[0.8808, 0.1192]", "output": "[0.7616, 0.7616]"})).text()
    assert (
        text
        == """\
Flying: 1 carried forward, 1 wrong

wrong. weights = [0.8808, 0.1192]
  it is [0.8044, 0.1956]

weights: 1/√d_k left out [no_scaling]
  the dot products were not divided by √2: this gives exactly these numbers
  The dot products are divided by √d_k before the softmax; without this, the weights are too peaked.
  done right: scores = dot / √d_k, d_k = 2
  scores[flying] = 1 / √2 ≈ 0.7071, exactly 1/√2
  scores[arrows] = (−1) / √2 ≈ −0.7071, exactly −1/√2
  scores = [0.7071, −0.7071]

carried forward. output = [0.7616, 0.7616]
  it follows from weights as claimed: no new error
  it is [0.6089, 0.6089]"""
    )


def test_right_answers_are_short():
    assert present(check_worked(FLYING, {"output": "[0.6089, 0.6089]"})).text().splitlines() == [
        "Flying: right",
        "",
        "right. output = [0.6089, 0.6089]",
    ]


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_every_form_has_verdict_claim_and_code(form):
    page = getattr(present(check_worked(FLYING, {"weights": "[0.8808, 0.1192]"})), form)()
    assert "wrong" in page and "0.8808" in page and "scaling" in page


def test_tags_in_names_are_shown_and_not_run():
    hostile = {**FLYING, "memory_tokens": ["<script>alert(1)</script>", "b"], "title": "<img src=x onerror=alert(1)>"}
    view = present(check_worked(hostile, {"weights": "[0.8808, 0.1192]"}))
    for page in (view.html(), view.markdown()):
        assert "<script" not in page and "<img" not in page


def test_a_result_prints_itself():
    import glassformer.show  # noqa: F401 - it tells results how they look

    assert str(check_worked(FLYING, {"output": "[0.6089, 0.6089]"})).startswith("Flying: right")
