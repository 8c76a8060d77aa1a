"""What a caller hands in, checked at the door."""

from pathlib import Path

import numpy as np
import pytest

from glassformer.spec import GlassformerError
from glassformer.spec.arguments import listing, one_of, path, require, text, whole, yes_no


@pytest.mark.parametrize("value", [True, 1, np.bool_(True), np.int64(1)])
def test_a_yes_is_true_or_one(value):
    assert yes_no("train", value) is True


@pytest.mark.parametrize("value", ["no", "yes", "", None, 2, 1.0, [], np.zeros(2), b"1"])
def test_the_word_no_is_no_flag(value):
    with pytest.raises(GlassformerError, match="train is True or False"):
        yes_no("train", value)


def test_a_whole_number_may_be_numpys():
    found = whole("digits", np.int32(4), most=17)
    assert (found, type(found)) == (4, int)


@pytest.mark.parametrize("value", [True, 1.0, "4", None, -1, 18, pytest.param(10**5000, id="long"), np.array([4])])
def test_the_range_of_a_whole_number_is_said(value):
    with pytest.raises(GlassformerError, match="digits is a whole number from 0 to 17"):
        whole("digits", value, most=17)


def test_one_of_a_few_words_names_the_nearest():
    assert one_of("pool", "mean", ("mean", "first")) == "mean"
    with pytest.raises(GlassformerError) as refusal:
        one_of("pool", "maen", ("mean", "first"))
    assert str(refusal.value) == "pool=maen is not known. Did you mean 'mean'? One of mean, first."
    with pytest.raises(GlassformerError, match=r"pool=None is not known\. One of mean, first\."):
        one_of("pool", None, ("mean", "first"))


def test_a_path_is_a_text_or_a_path_with_a_name():
    assert path("folder", "a/b") == path("folder", Path("a/b")) == Path("a/b")
    for wrong in ("", "  ", b"a", None, 1, "a\0b", "\ud800", "x" * 5000, ["a"]):
        with pytest.raises(GlassformerError, match="folder is a path"):
            path("folder", wrong)


def test_other_kinds_are_refused_by_name():
    assert text("question", "how many?") == "how many?"
    with pytest.raises(GlassformerError, match="question=5 is not allowed: question is a text, found int"):
        text("question", 5)
    require(dict, {}, "a mapping is wanted")
    with pytest.raises(GlassformerError) as refusal:
        require(dict, "bert-base", "a mapping is wanted")
    assert str(refusal.value) == "a mapping is wanted, found bert-base."


def test_what_is_no_list_stands_for_itself():
    assert listing((1, 2)) == [1, 2] and listing(5) == [5] and listing(np.array(5)) == [np.array(5)]
