"""Totals without an equals sign."""

import pytest

from glassformer.answers.documents import check_text

ITEMS = "- first: $768 \\times 3072 = 2,359,296$\n- second: $3072 \\times 768 = 2,359,296$\n"


def total(text):
    (found,) = [one for one in check_text(text, name="a.md", kind="md").findings if one.kind == "total"]
    return found


@pytest.mark.parametrize(
    "line",
    [
        "- Total: 4,718,592",
        "Total weights: **4,718,592**",
        "Sum of both: $4,718,592$.",
        "Total = 4,718,592",
        "Total ≈ 4.7 million",
    ],
)
def test_a_total_of_the_items_above_is_right(line):
    found = total(ITEMS + line)
    assert (found.verdict, found.due) == ("right", "4,718,592")
    assert found.sentence == "The items in lines 1 and 2 add up to this number."


def test_items_may_be_plain_numbers():
    assert total("- tables: 30,720,000\n- positions: 393,216\n\nTotal: 31,113,216").verdict == "right"


def test_totals_add_up_to_a_grand_total():
    text = f"{ITEMS}Total: 4,718,592\n- third: 5 × 7 = 35\n- fourth: 6 × 7 = 42\nTotal: 77\nOverall total: 4,718,669"
    assert check_text(text, name="a.md", kind="md").findings[-1].verdict == "right"


def test_a_slip_in_a_total_is_found():
    found = total(ITEMS + "Total: 4,718,692")
    assert (found.verdict, found.due) == ("wrong", "4,718,592")
    assert found.codes == ("digit_wrong",)


@pytest.mark.parametrize(
    "line",
    [
        "Total: 4,722,432",
        "Total with biases: 4,718,692",
        "Total runtime: 3",
        "Total parameters: 7,077,888",
        "Total, about: 5,000,000",
    ],
)
def test_a_total_of_something_else_is_not_judged(line):
    assert [one.kind for one in check_text(ITEMS + line).findings] == ["arithmetic", "arithmetic"]


def test_a_total_may_be_a_product_if_the_text_says_so():
    assert total("- rows: 768\n- columns: 3072\nProduct: 2,359,296").verdict == "right"


def test_an_error_in_an_item_is_carried_forward():
    found = total("- first: 768 × 8 = 6,145\n- second: 5 × 7 = 35\nTotal: 6,180")
    assert (found.verdict, found.put_right, found.sources) == ("carried", "6,179", (1,))


def test_a_repeated_result_is_recognised():
    found = total("a: 31,114,752 + 187,556,672 = 218,671,424\n\nTotal number of weights ≈ 218 million")
    assert (found.verdict, found.due) == ("right", "218,671,424")
