"""The columns that are asked for, and one line for those that contradict each other."""

import pytest

from glassformer.errors import GlassformerError
from glassformer.training.data.row_options import RowOptions


def test_columns_have_commas_between_them():
    assert RowOptions(text="premise, hypothesis").texts == ("premise", "hypothesis")
    assert RowOptions().texts == ("text",)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"text": "a,label"}, "text=a,label and label=label are the same column"),
        ({"text": "a,b,a"}, "text=a,b,a names a twice"),
        ({"text": "a,,b"}, "text=a,,b has an empty name"),
        (
            {"task": "regres"},
            "task=regres is not known: one of auto, classify, regress, multilabel, embed. Did you mean 'regress'?",
        ),
    ],
)
def test_a_contradiction_is_one_line(asked, message):
    with pytest.raises(GlassformerError) as error:
        RowOptions(**asked)
    assert message in str(error.value)
