"""Fields read from text the way people write them."""

import pytest

from glassformer.spec import ALL_BIASES, GlassformerError
from glassformer.spec.fields import accept

READ = [
    ("vocab", "40_000", 40000),
    ("vocab", "30,522", 30522),
    ("vocab", "none", None),
    ("layers", " 8 ", 8),
    ("eps", "1e-12", 1e-12),
    ("biases", "none", ()),
    ("biases", "all", ALL_BIASES),
    ("biases", "norm,q", ("q", "norm")),
    ("biases", False, ()),
    ("tie", "no", False),
    ("tie", "true", True),
    ("pooler", "false", "none"),
    ("pooler", "true", "dense"),
    ("pooler", False, "none"),
    ("activation", "gelu-tanh", "gelu_tanh"),
    ("share_layers", "true", 1),
    ("share_layers", "false", None),
    ("share_layers", True, 1),
]


@pytest.mark.parametrize(("name", "text", "value"), READ)
def test_a_field_is_read_as_people_write_it(name, text, value):
    assert accept(name, text) == value


@pytest.mark.parametrize("text", ["ten", "1e3", "0x10", "", "9" * 40, "１２x", "--3", "10**9", "NaN"])
def test_what_is_no_whole_number_is_refused(text):
    with pytest.raises(GlassformerError, match=r"^layers=.* is not allowed: layers is a whole number"):
        accept("layers", text)


def test_an_unknown_field_names_the_nearest():
    with pytest.raises(GlassformerError, match=r"unknown field 'head_s'\. Did you mean 'heads'\?"):
        accept("head_s", "3")
