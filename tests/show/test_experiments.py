"""How experiments look: one table, one picture, and digits that do not depend on the machine."""

import pytest

import glassformer as gf
from glassformer.numbers.experiments import CLAIMS, EXPERIMENTS, experiment
from glassformer.show import present
from glassformer.show.experiment_pictures import experiment_figure
from glassformer.show.experiments import almost, list_of_experiments, number, wrapped
from glassformer.show.figures import save_picture


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_prints_its_claim_and_its_verdict(name):
    text = str(gf.experiment(name))
    assert text.startswith(f"experiment {name}, seed 0\n")
    assert CLAIMS[name] in " ".join(text.split())
    assert "The claim holds." in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_has_every_form(name):
    view = present(experiment(name))
    assert all(CLAIMS[name][:20] in form for form in (view.markdown(), view.html()))
    assert r"\begin{tabular}" in view.latex()
    assert gf.experiment(name)._repr_html_().startswith('<div class="glassformer">')


def test_a_claim_that_fails_says_where():
    text = str(gf.experiment("order", attend="causal"))
    assert "The claim does not hold:" in text
    assert "without positions the outputs permute with the tokens (equivariant): 3.153, expected ≤ 1e-12" in text


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("form", ["png", "svg"])
def test_an_experiment_has_a_picture(name, form, tmp_path):
    path = save_picture(experiment_figure(experiment(name)), tmp_path / f"{name}.{form}")
    assert path.stat().st_size > 10_000


def test_a_longer_sentence_has_a_picture_too(tmp_path):
    text = " ".join(f"word{i % 20}" for i in range(40))
    for name in ("order", "heads", "padding", "convention"):
        save_picture(experiment_figure(experiment(name, text=text)), tmp_path / f"{name}.png")


def test_digits_that_are_rounding_are_not_shown():
    assert (almost(0.0), almost(3e-16), almost(0.5)) == ("< 1e-12", "< 1e-12", "0.5")
    assert (number(0.0), number(3e-16), number(-0.123456)) == ("0", "< 1e-12", "−0.1235")


def test_the_list_names_them_all():
    assert [row[0] for row in list_of_experiments().rows if row[0]] == list(EXPERIMENTS)


def test_lines_are_wrapped_between_words():
    assert wrapped("aa bb cc", 5) == ["aa bb", "cc"]
    assert wrapped("a" * 9 + " b", 5) == ["a" * 9, "b"]
