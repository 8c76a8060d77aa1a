"""Fields read from text the way people write them."""

import numpy as np
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
    ("activation", "GELU", "gelu"),
    ("layers", np.int64(3), 3),
    ("norm", "Pre", "pre"),
    ("dropout", "-0", 0.0),
    ("dropout", np.float32(0.5), 0.5),
]


@pytest.mark.parametrize(("name", "text", "value"), READ)
def test_a_field_is_read_as_people_write_it(name, text, value):
    assert accept(name, text) == value


@pytest.mark.parametrize("text", ["ten", "1e3", "0x10", "", "9" * 40, "１２", "--3", "10**9", "NaN", "1,5", "1,0", "1_", "_1"])
def test_what_is_no_whole_number_is_refused(text):
    with pytest.raises(GlassformerError, match=r"^layers=.* is not allowed: layers is a whole number"):
        accept("layers", text)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("hidden_size", "d_model"), ("num_attention_heads", "heads"), ("vocab_size", "vocab"), ("D_MODEL", "d_model")],
)
def test_a_name_from_elsewhere_leads_to_the_field(name, meant):
    with pytest.raises(GlassformerError, match=rf"unknown field '{name}'\. Did you mean '{meant}'\?"):
        accept(name, "3")


def test_what_is_refused_is_shown_as_it_was_written():
    for name, text, said in (
        ("biases", "q;k", "biases=q;k is not allowed: biases is all, none or a list of q, k"),
        ("dropout", "10%", "dropout=10% is not allowed: dropout is a share from 0 up to, but not including, 1."),
        ("dropout", "1", "dropout=1.0 is not allowed: dropout is a share from 0 up to, but not including, 1."),
    ):
        with pytest.raises(GlassformerError) as refusal:
            accept(name, text)
        assert str(refusal.value).startswith(said)


def test_an_unknown_field_names_the_nearest():
    with pytest.raises(GlassformerError, match=r"unknown field 'head_s'\. Did you mean 'heads'\?"):
        accept("head_s", "3")
