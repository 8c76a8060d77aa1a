"""Labels as names, sets of names and numbers; anything else is a one-line error."""

import math

import pytest

from glassformer.errors import GlassformerError
from glassformer.training.data.label_values import class_names, is_missing, label_name, number_value


@pytest.mark.parametrize("value", [None, "", "  ", "NaN", math.nan])
def test_empty_and_nan_are_missing(value):
    assert is_missing(value) and label_name(value, "row 1") is None


@pytest.mark.parametrize(("value", "wanted"), [("0.5", 0.5), (3, 3.0), (" -1e3 ", -1000.0), (2.5, 2.5)])
def test_numbers_are_read(value, wanted):
    assert number_value(value) == wanted


@pytest.mark.parametrize("value", ["abc", "", None, "nan", "inf", 1e16, True, [1], "1_000", "1,5", 10**400])
def test_non_finite_numbers_become_none(value):
    assert number_value(value) is None


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("b|a", ("a", "b")), (["b", "a", "b"], ("a", "b")), ("a", ("a",)), ("", ()), ([], ()), (3, ("3",)), (None, None)],
)
def test_several_classes_are_a_list_or_have_bars_between_them(value, wanted):
    assert class_names(value, "row 1") == wanted


@pytest.mark.parametrize(("value", "way"), [(0.25, "--task regress"), (["a", "b"], "--task multilabel")])
def test_a_label_of_another_task_names_the_task(value, way):
    with pytest.raises(GlassformerError, match=f"row 1: a label must be a name or a whole number, .*{way}"):
        label_name(value, "row 1")
