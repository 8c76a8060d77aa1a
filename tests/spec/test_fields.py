"""Parsing field values from text."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.spec import ALL_BIASES
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
    ("activation", "GELU", "gelu"),
    ("layers", np.int64(3), 3),
    ("norm", "Pre", "pre"),
    ("dropout", "-0", 0.0),
    ("dropout", np.float32(0.5), 0.5),
]


@pytest.mark.parametrize(("name", "text", "value"), READ)
def test_common_spellings_are_parsed(name, text, value):
    assert accept(name, text) == value


@pytest.mark.parametrize("text", ["ten", "1e3", "0x10", "", "9" * 40, "１２", "--3", "10**9", "NaN", "1,5", "1,0", "1_", "_1"])
def test_text_that_is_not_a_whole_number_is_refused(text):
    with pytest.raises(GlassformerError, match=r"^layers=.* is not allowed: layers must be a whole number"):
        accept("layers", text)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("hidden_size", "d_model"), ("num_attention_heads", "heads"), ("vocab_size", "vocab"), ("D_MODEL", "d_model")],
)
def test_names_from_other_libraries_suggest_our_field(name, meant):
    with pytest.raises(GlassformerError, match=rf"unknown field '{name}'\. Did you mean '{meant}'\?"):
        accept(name, "3")


def test_a_refused_value_is_shown_as_written():
    for name, text, message in (
        ("biases", "q;k", "biases=q;k is not allowed: biases must be all, none or a list of q, k"),
        ("dropout", "10%", "dropout=10% is not allowed: dropout must be a number from 0 up to, but not including, 1."),
        ("dropout", "1", "dropout=1.0 is not allowed: dropout must be a number from 0 up to, but not including, 1."),
    ):
        with pytest.raises(GlassformerError) as refusal:
            accept(name, text)
        assert str(refusal.value).startswith(message)


def test_an_unknown_field_suggests_the_closest():
    with pytest.raises(GlassformerError, match=r"unknown field 'head_s'\. Did you mean 'heads'\?"):
        accept("head_s", "3")
