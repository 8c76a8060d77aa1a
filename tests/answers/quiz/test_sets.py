"""Every question of every shipped set: its own key is right, its traps are wrong and named, for many seeds."""

import math

import numpy as np
import pytest

from glassformer.answers.quiz import load_set, shipped, variant
from glassformer.answers.quiz.quantity import OF_HEADS, Counted, Shaped
from glassformer.answers.quiz.worked import Worked

SEEDS = [*range(16), 106, 128, 165]  # in the last three, a mistake comes very near to the right numbers, or is huge


@pytest.fixture(scope="module")
def papers():
    return {name: [variant(load_set(name), seed, f"s{seed}") for seed in SEEDS] for name in shipped()}


@pytest.mark.parametrize("name", shipped())
def test_the_key_gets_full_marks(papers, name):
    for paper in papers[name]:
        judged = paper.judge({item.id: item.key.text for item in paper.items})
        assert {key: found.verdict for key, found in judged.items()} == {item.id: "right" for item in paper.items}
        assert all(found.credit == 1 for found in judged.values())


@pytest.mark.parametrize("name", shipped())
def test_every_wrong_option_is_wrong_and_names_its_mistake(papers, name):
    for paper in papers[name]:
        for item in paper.items:
            for option in item.options:
                found = item.key.judge(option.letter)
                assert found.right is option.right
                assert found.codes == (() if option.right else (option.code,))
                assert option.right or option.mistake.sentence
                assert item.key.judge(option.text) == found


@pytest.mark.parametrize("name", shipped())
def test_options_differ_and_the_right_one_changes_its_position(papers, name):
    places: dict[str, set[str]] = {}
    for paper in papers[name]:
        for item in paper.items:
            if item.options:
                assert len({option.text for option in item.options}) == len(item.options)
                assert sum(option.right for option in item.options) == 1
                places.setdefault(item.id, set()).add(item.key.value)
    assert all(len(letters) > 1 for letters in places.values())


@pytest.mark.parametrize("name", shipped())
def test_the_answer_of_a_known_mistake_is_wrong_and_named(papers, name):
    for paper in papers[name]:
        for item in paper.items:
            for wrong in [] if item.options else item.key.wrongs():
                found = item.key.judge(wrong.text)
                assert found.credit < 1, (item.id, wrong)
                assert wrong.code in found.codes, (item.id, item.key.text, wrong, found)


@pytest.mark.parametrize("name", shipped())
def test_no_wrong_option_is_right_under_any_reading(papers, name):
    for paper in papers[name]:
        for item in paper.items:
            for option in item.options:
                if not option.right:
                    assert not item.inner.judge(option.text).right, (item.id, option)
                    assert item.inner.judge(option.text).credit < 1, (item.id, option)


@pytest.mark.parametrize("name", shipped())
def test_a_mistake_about_heads_is_named_only_if_the_question_has_heads(papers, name):
    for paper in papers[name]:
        for item in paper.items:
            named = {wrong.code for wrong in item.key.wrongs()} | {option.code for option in item.options}
            if named & set(OF_HEADS):
                assert "head" in " ".join([item.text, item.template.answer, item.template.spec]).lower(), item.id


@pytest.mark.parametrize("name", shipped())
def test_no_right_answer_is_refused_for_its_notation(papers, name):
    for paper in papers[name]:
        for item in paper.items:
            for text in notations(item.key):
                found = item.key.judge(text)
                assert (found.verdict, found.credit, found.codes) == ("right", 1, ()), (item.id, item.key.text, text, found)


def notations(key):
    """The right answer in every notation that people use."""
    if isinstance(key, Counted):
        n = int(key.value)
        power = len(str(n)) - 1
        yield from (str(n), f"{n:,}", f"{n:_}", f"{n} parameters", f"= {n}", f"{n}.0", f"{n:,}".replace(",", " "), f"2 * {n} / 2")
        yield f"{str(n)[0]}.{str(n)[1:] or 0}e{power}"
        yield f"{n:,}".replace(",", ".")
    elif isinstance(key, Shaped):
        words = [str(size) for size in key.value]
        yield from (sign.join(words) for sign in (" x ", "x", "×", " × ", ", ", "*", " by "))
        yield from (f"[{', '.join(words)}]", f"({','.join(words)})", f"torch.Size([{', '.join(words)}])")
    elif isinstance(key, Worked):
        for digits in (key.digits, key.digits + 1, 6):
            text = np.array2string(
                np.round(key.value, digits), separator=", ", threshold=1000, floatmode="maxprec", max_line_width=10**6
            )
            yield from (text, text.replace("[", "(").replace("]", ")"), text.replace("-", "−"), f"y = {text}")
        if key.value.ndim == 1:
            yield ", ".join(f"{value:.{key.digits + 1}f}" for value in key.value)


@pytest.mark.parametrize("name", shipped())
def test_questions_differ_between_students_and_not_between_runs(name):
    quiz = load_set(name)
    one, again, other = variant(quiz, 7, "Ada"), variant(quiz, 7, "Ada"), variant(quiz, 7, "Bo")
    assert [(item.text, item.key.text) for item in one.items] == [(item.text, item.key.text) for item in again.items]
    assert [(item.text, item.key.text) for item in one.items] != [(item.text, item.key.text) for item in other.items]


@pytest.mark.parametrize("name", shipped())
def test_no_hint_or_text_keeps_a_brace(papers, name):
    for paper in papers[name]:
        for item in paper.items:
            for text in (item.text, *item.hints, *(option.text for option in item.options)):
                assert "{" not in text
                assert "}" not in text


def test_the_course_question_has_its_known_answer():
    quiz = load_set("parameters")
    papers = [variant(quiz, seed) for seed in range(20)]
    firsts = [paper.items[0] for paper in papers]
    found = {(item.drawn["d"], item.drawn["h"], item.drawn["f"]): item.key.value for item in firsts}
    assert all(value == 3 * d * d + 2 * d * f for (d, _, f), value in found.items())
    totals = [paper.items[8] for paper in papers]
    for item in totals:
        V, P, L = (item.drawn[name] for name in "VPL")
        assert item.key.value == (V + P + 2) * 768 + L * (4 * 768**2 + 2 * 768 * 3072)


def test_worked_weights_are_those_of_the_formula():
    for seed in SEEDS:
        item = next(item for item in variant(load_set("worked-head"), seed).items if item.id == "softmax")
        x, y = item.drawn["a"], item.drawn["b"]
        scores = [(x[0] * k[2] + x[1] * k[3]) / math.sqrt(2) for k in (x, y)]
        powers = [math.exp(score) for score in scores]
        assert item.key.value.tolist() == pytest.approx([power / sum(powers) for power in powers])
