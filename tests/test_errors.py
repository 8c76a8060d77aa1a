"""Error messages are one printable line."""

import pytest

from glassformer.errors import GlassformerError, listed, nearest, shown


def test_a_message_is_one_line():
    assert str(GlassformerError("a\n b\t c")) == "a b c"


@pytest.mark.parametrize(
    ("value", "text"),
    [("a\x1b[31mb", "a?[31mb"), ("x" * 61, "x" * 60 + "…"), ("\u202e", "?"), ("\ud800", "?"), ([1, "a"], "[1, 'a']")],
    ids=ascii,
)
def test_an_untrusted_value_is_shown_safely(value, text):
    assert shown(value) == text


def test_a_long_list_is_cut_and_the_rest_counted():
    assert listed(["a", "b"]) == "a, b"
    assert listed([]) == ""
    assert listed(["abcd"] * 40) == ", ".join(["abcd"] * 20) + " and 20 more"
    assert listed(["a" * 10, "b" * 10, "c"], limit=22) == f"{'a' * 10}, {'b' * 10} and 1 more"


def test_the_closest_name_is_suggested():
    assert nearest("hedas", ["heads", "layers"]) == " Did you mean 'heads'?"
    assert nearest("zzz", ["heads"]) == ""
    assert nearest("GELU", ["relu", "gelu"]) == " Did you mean 'gelu'?"
    assert nearest("bertmodel", ["BertModel"]) == " Did you mean 'BertModel'?"


def test_a_value_without_a_repr_is_shown_by_its_type():
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert shown(10**5000) == "<int>"  # Python writes out no more than 4,300 digits
    assert shown(Mute()) == "<Mute>"
    assert nearest(7, ["heads"]) == ""
