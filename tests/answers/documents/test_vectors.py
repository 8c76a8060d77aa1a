"""Coordinates taken from vectors, and variables whose heads add up to the width."""

from solution_texts import CUT_OUT, VARIABLES

from glassformer.answers.documents import check_text


def test_coordinates_that_are_not_the_last_are_noticed():
    (note,) = check_text(CUT_OUT).remarks
    assert (note.kind, note.codes) == ("note", ("other_coordinates",))
    assert note.sentence == (
        "The values used, [1, 1] and [-1, -1], are not the last 2 coordinates of the given vectors, [1, 0] and [-1, 1]; "
        "they are coordinates 4 to 5."
    )
    assert sum(check_text(CUT_OUT).counts.values()) == 0


def test_coordinates_are_wrong_if_the_text_says_which_to_use():
    said = "The first two, next two and last two coordinates are Q, K and V.\n"
    (found,) = check_text(CUT_OUT.replace("Two dimensions", f"{said}\nTwo dimensions")).remarks
    assert (found.kind, found.verdict) == ("remark", "wrong")


def test_heads_that_add_up_to_the_width_are_confirmed():
    found = check_text(VARIABLES).remarks
    assert [(one.line, one.verdict) for one in found] == [(4, "right"), (5, "right")]
    assert found[0].sentence == "q_heads: 12 heads of 64 make 12 × 64 = 768, the width of the tokens."


def test_other_heads_are_ignored():
    assert check_text(VARIABLES.replace("12, 64", "12, 60")).remarks == ()
