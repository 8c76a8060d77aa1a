"""Equations in HTML: well formed for every preset and both conventions, with fractions and indices."""

from xml.etree import ElementTree

import pytest

import glassformer as gf
from glassformer.algebra import notation
from glassformer.show.typeset import HtmlFormatter, equation, typeset


@pytest.mark.parametrize("convention", ["rows", "columns"])
@pytest.mark.parametrize("name", sorted(gf.presets()))
def test_every_equation_is_well_formed(name, convention):
    for row in notation(gf.build(name), HtmlFormatter(convention)).rows:
        made = ElementTree.fromstring(equation(row.left, row.right))
        assert {element.tag for element in made.iter()} <= {"span", "i", "sub", "sup"}
        assert "_" not in "".join(made.itertext())


def test_scores_are_a_fraction_over_a_root():
    rows = {row.name: row for row in notation(gf.build("layer"), HtmlFormatter()).rows}
    scores = rows["layers.0.attention.scores"]
    text = "".join(ElementTree.fromstring(equation(scores.left, scores.right)).itertext())
    assert text.replace("\u2009", " ") == "S = Q K⊤ / √dk"


def test_a_small_number_is_a_power_of_ten():
    assert typeset(HtmlFormatter().number(1e-12)) == "10<sup>−12</sup>"
    assert typeset(HtmlFormatter().number(2.5e-7)) == "2.5 · 10<sup>−7</sup>"
    assert HtmlFormatter().number(0.5) == "0.5"


def test_words_are_escaped():
    assert typeset(HtmlFormatter().words("s > t & <b>")) == "s &gt; t &amp; &lt;b&gt;"
