"""Checks of arguments."""

from pathlib import Path

import numpy as np
import pytest

from glassformer.arguments import as_list, one_of, path, require, text, whole, yes_no
from glassformer.errors import GlassformerError


@pytest.mark.parametrize("value", [True, 1, np.bool_(True), np.int64(1)])
def test_true_and_one_are_true(value):
    assert yes_no("train", value) is True


@pytest.mark.parametrize("value", ["no", "yes", "", None, 2, 1.0, [], np.zeros(2), b"1"])
def test_other_values_are_not_booleans(value):
    with pytest.raises(GlassformerError, match="train must be True or False"):
        yes_no("train", value)


def test_numpy_integers_are_whole_numbers():
    found = whole("digits", np.int32(4), most=17)
    assert (found, type(found)) == (4, int)


@pytest.mark.parametrize("value", [True, 1.0, "4", None, -1, 18, pytest.param(10**5000, id="long"), np.array([4])])
def test_the_message_names_the_range_of_a_whole_number(value):
    with pytest.raises(GlassformerError, match="digits must be a whole number from 0 to 17"):
        whole("digits", value, most=17)


def test_an_unknown_choice_suggests_the_closest():
    assert one_of("pool", "mean", ("mean", "first")) == "mean"
    with pytest.raises(GlassformerError) as refusal:
        one_of("pool", "maen", ("mean", "first"))
    assert str(refusal.value) == "pool=maen is not known. Did you mean 'mean'? One of mean, first."
    with pytest.raises(GlassformerError, match=r"pool=None is not known\. One of mean, first\."):
        one_of("pool", None, ("mean", "first"))


def test_a_path_is_a_nonempty_string_or_path():
    assert path("folder", "a/b") == path("folder", Path("a/b")) == Path("a/b")
    for wrong in ("", "  ", b"a", None, 1, "a\0b", "\ud800", "x" * 5000, ["a"]):
        with pytest.raises(GlassformerError, match="folder must be a path"):
            path("folder", wrong)


def test_other_types_are_refused_by_name():
    assert text("question", "how many?") == "how many?"
    with pytest.raises(GlassformerError, match="question=5 is not allowed: question must be a string, found int"):
        text("question", 5)
    require(dict, {}, "expected a mapping")
    with pytest.raises(GlassformerError) as refusal:
        require(dict, "bert-base", "expected a mapping")
    assert str(refusal.value) == "expected a mapping, found bert-base."


def test_a_single_value_becomes_a_list_of_one():
    assert as_list((1, 2)) == [1, 2] and as_list(5) == [5] and as_list(np.array(5)) == [np.array(5)]
