"""Numbers as people write them are read with their own precision, and nothing else is read."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.answers.problems.figures import read_figures
from glassformer.errors import GlassformerError


@pytest.mark.parametrize(
    "text",
    [
        "[[1.5, 2.25], [3, 4]]",
        "[1.5 2.25; 3 4]",
        "[[1.5 2.25]\n [3 4]]",
        "((1.5, 2.25), (3, 4))",
        "= [[1.5, 2.25], [3, 4]]",
        "[1.5, 2.25; 3, 4]",
        "[[ +1.5 , 2.25 ] ; [ 3 , 4. ]]",
    ],
)
def test_a_matrix_is_read_however_it_is_written(text):
    assert read_figures(text).values.tolist() == [[1.5, 2.25], [3.0, 4.0]]


def test_every_number_has_its_own_precision_and_a_whole_number_that_of_its_finest_neighbour():
    figures = read_figures("[0.62, 0.3775, 1]")
    assert figures.units.tolist() == pytest.approx([0.01, 0.0001, 0.0001])
    assert read_figures("[1, 2]").whole and not figures.whole


def test_fractions_roots_percents_powers_and_infinity_are_numbers():
    assert read_figures("[7/3, 1/√2, 1 / sqrt(2), -√3]").values.tolist() == pytest.approx([7 / 3, 0.5**0.5, 0.5**0.5, -(3**0.5)])
    assert read_figures("[62.25%, 100%]").values.tolist() == [0.6225, 1.0]
    assert read_figures("[62%, 38%]").rooms.tolist() == [0.005, 0.005]
    assert read_figures("1.5e-3").values == 0.0015
    assert read_figures("[0.5, −inf]").values[1] < -1e9
    assert read_figures("[- 0.5, −∞]").values[0] == -0.5


def test_minus_signs_belong_to_the_numbers_that_they_touch():
    assert read_figures("[1 -2; -0.5 4]").values.tolist() == [[1.0, -2.0], [-0.5, 4.0]]
    assert read_figures("[1, - 2]").values.tolist() == [1.0, -2.0]


def test_lists_and_numbers_from_files_are_read_too():
    assert read_figures([[0.5, "1/3"], [1, 2]]).values.tolist() == [[0.5, 1 / 3], [1.0, 2.0]]
    assert read_figures(0.25).values.shape == ()
    assert read_figures(np.array([[0.1 + 0.2, 1 / 3]])).values.tolist() == [[0.1 + 0.2, 1 / 3]]


def test_the_text_contains_only_the_numbers():
    assert read_figures("= [0.50, -1/2;  3, 4]").text == "[[0.50, −1/2], [3, 4]]"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[0.5, foo]", "'foo', which is not a number"),
        ("[0.5, <script>alert(1)</script>]", "is not a number"),
        ("[[1, 2], [3]]", "rows of different lengths: every row needs as many numbers as the first"),
        ("[1, [2]]", "rows of different lengths"),
        ("[1, 2", "not closed"),
        ("1, 2]", "not opened"),
        ("[]", "rows of different lengths, or no numbers"),
        ("", "no numbers"),
        ("[nan]", "is not a number"),
        ("[__import__('os')]", "is not a number"),
        ("9**9**9**9", "is not a number"),
        ("[1/2/3, 4]", "is not a number"),
        ("[3 - 1, 2]", "is not a number"),
        ("[1, 2/]", "is not a number"),
        ("[" * 100_000, "characters"),
        ("[" * 1000, "nested too deeply"),
        ("1" * 5000, "is not a number"),
    ],
)
def test_anything_but_numbers_is_a_one_line_error(text, why):
    with pytest.raises(GlassformerError, match=why) as caught:
        read_figures(text, "weights")
    assert len(str(caught.value)) < 300


def test_ten_megabytes_are_refused_at_once():
    start = time.process_time()
    with pytest.raises(GlassformerError, match="characters"):
        read_figures("[" + "0.5," * 2_500_000 + "]")
    assert time.process_time() - start < 1


@given(st.text(max_size=60) | st.text("[](),;0123456789.-+e%/√ ", max_size=60))
def test_any_text_is_numbers_or_a_one_line_error(text):
    try:
        figures = read_figures(text)
    except GlassformerError as error:
        assert "\n" not in str(error)
    else:
        assert figures.values.size == len(figures.texts) and np.isfinite(figures.values).all()
