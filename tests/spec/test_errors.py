"""One line, whatever went in."""

import pytest

from glassformer.spec.errors import GlassformerError, listed, nearest, shown


def test_a_message_is_one_line():
    assert str(GlassformerError("a\n b\t c")) == "a b c"


@pytest.mark.parametrize(
    ("value", "text"),
    [("a\x1b[31mb", "a?[31mb"), ("x" * 61, "x" * 60 + "…"), ("\u202e", "?"), ("\ud800", "?"), ([1, "a"], "[1, 'a']")],
    ids=ascii,
)
def test_a_foreign_value_is_shown_without_harm(value, text):
    assert shown(value) == text


def test_a_list_that_is_long_is_cut_and_the_rest_counted():
    assert listed(["a", "b"]) == "a, b"
    assert listed([]) == ""
    assert listed(["abcd"] * 40) == ", ".join(["abcd"] * 20) + " and 20 more"
    assert listed(["a" * 10, "b" * 10, "c"], limit=22) == f"{'a' * 10}, {'b' * 10} and 1 more"


def test_the_nearest_name_is_offered():
    assert nearest("hedas", ["heads", "layers"]) == " Did you mean 'heads'?"
    assert nearest("zzz", ["heads"]) == ""
    assert nearest("GELU", ["relu", "gelu"]) == " Did you mean 'gelu'?"
    assert nearest("bertmodel", ["BertModel"]) == " Did you mean 'BertModel'?"


def test_what_cannot_be_written_out_is_named_by_its_kind():
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert shown(10**5000) == "<int>"  # Python writes out no more than 4,300 digits
    assert shown(Mute()) == "<Mute>"
    assert nearest(7, ["heads"]) == ""
