"""A row of a table claims that the formula in one column gives the number in the next, where its header calls them so."""

import pytest

from glassformer.answers.documents import check_text
from glassformer.answers.documents.tables import row_with_sign

HEADER = "| Part | {} | {} |\n|---|---|---|\n"


def table(row: str, formula: str = "Formula", number: str = "Parameters") -> str:
    return HEADER.format(formula, number) + row + "\n"


@pytest.mark.parametrize(
    "row",
    [
        "| W_1 | 320 × 1280 | 409,600 |",
        "| **W_1 and b_1** | (320 x 1280) + 1280 | **410,880** |",
        "| words | 7,000 words x 320 | 2,240,000 |",
        "| norm | 2 * 320 | 640 |",
        "| rounded | 320 × 1280 | 0.41M |",
    ],
)
def test_a_right_row_is_right(row):
    found = check_text(table(row))
    assert (found.counts["right"], found.wrong) == (1, 0)


def test_a_wrong_row_is_wrong_and_its_slip_is_named():
    found = check_text(table("| W_1 | 320 × 1280 | 409,060 |"))
    (wrong,) = found.of("wrong")
    assert (wrong.line, wrong.due) == (3, "409,600")
    assert "are swapped" in wrong.sentence


@pytest.mark.parametrize(
    "text",
    [
        table("| W_1 | 320 × 1280 | 409,060 |", "Shape", "Step"),  # the header claims nothing
        table("| all layers | 320 × 1280 | 2,457,600 |"),  # six of them
        table("| W_1 | see above | 409,060 |"),
        "| W_1 | 320 × 1280 | 409,060 |\n",  # no header
        "Formula and parameters: | 320 × 1280 | 409,060 |\n",
    ],
)
def test_nothing_is_reported_if_the_two_columns_need_not_agree(text):
    found = check_text(text)
    assert (found.counts["right"], found.wrong) == (0, 0)


def test_every_character_of_a_row_keeps_its_position():
    text = table("| **W_1** | 320 × 1280 | **409,600** |")
    start = text.index("| **W_1**")
    row = row_with_sign(text, start, len(text) - 1)
    assert row is not None and len(row) == len(text) - 1 - start
    assert row.index("320") == text.index("320") - start
    assert row.index("409,600") == text.index("409,600") - start
