"""Raw rows become texts and label names; unsuitable ones are counted, truncated, skipped or refused."""

import math

import pytest

from glassformer.errors import GlassformerError
from glassformer.training.data.readers import Raw
from glassformer.training.data.row_options import RowOptions, Tally
from glassformer.training.data.texts import MOST_CHARACTERS, gather


def gathered(*pairs, labelled=True, **asked):
    tally = Tally()
    raw = [Raw(f"f line {number}", *pair) for number, pair in enumerate(pairs, 1)]
    return gather(raw, RowOptions(**asked), tally, "f", labelled=labelled), tally.notes()


def test_labels_are_names_whatever_they_were():
    rows, notes = gathered(("a", "x "), ("b", 2), ("c", True), ("d", 3.0), (" e ", "NA"))
    assert (rows.task, rows.inputs, rows.labels) == ("classify", list("abcde"), ["x", "2", "true", "3", "NA"])
    assert notes == ()


def test_empty_texts_are_skipped_with_a_count_or_refused():
    rows, notes = gathered(("a", 1), ("", 1), (None, 1), (" \n", 2), ("b", 2))
    assert rows.inputs == ["a", "b"]
    assert notes == ("skipped: empty texts: 3 (first: f line 2)",)
    with pytest.raises(GlassformerError, match=r"^f line 2 is an empty text. on_empty='skip' skips empty texts.$"):
        gathered(("a", 1), ("", 1), on_empty="refuse")


@pytest.mark.parametrize("label", [None, "", "  ", "nan", "NaN", math.nan])
def test_a_row_without_a_label_is_refused_or_skipped(label):
    with pytest.raises(
        GlassformerError, match=r"^f line 2 has no label \(empty or NaN\). on_bad='skip' \(--skip-bad\) skips such rows.$"
    ):
        gathered(("a", 1), ("b", label))
    rows, notes = gathered(("a", 1), ("b", label), on_bad="skip")
    assert rows.inputs == ["a"]
    assert notes == ("skipped: rows without a label: 1 (first: f line 2)",)


def test_a_million_characters_are_cut_with_a_note_or_refused():
    rows, notes = gathered(("x" * 1_000_000, 1))
    assert [len(text) for text in rows.inputs] == [MOST_CHARACTERS]
    assert notes == ("truncated to 100,000 characters: 1 (first: f line 1)",)
    with pytest.raises(
        GlassformerError, match=r"f line 1 has more than 100,000 characters. Split it, or truncate it with on_long='cut'."
    ):
        gathered(("x" * 1_000_000, 1), on_long="refuse")


def test_without_labels_it_is_plain_text():
    rows, _ = gathered(("a",), ("b",), labelled=False)
    assert (rows.task, rows.inputs, rows.labels) == ("mlm", ["a", "b"], None)


def test_two_ways_to_write_a_letter_are_one_label():
    rows, _ = gathered(("a", "e\u0301t\u00e9"), ("b", "\u00e9te\u0301"))
    assert rows.labels == ["\u00e9t\u00e9"] * 2


def test_a_row_that_could_not_be_read_is_refused_or_skipped():
    raw = [Raw("f line 1", "a", "x"), Raw("f line 2", None, None, "f line 2 has 3 fields.")]
    with pytest.raises(GlassformerError, match=r"^f line 2 has 3 fields. on_bad='skip' \(--skip-bad\) skips such rows.$"):
        gather(raw, RowOptions(), Tally(), "f", labelled=True)
    tally = Tally()
    assert gather(raw, RowOptions(on_bad="skip"), tally, "f", labelled=True).inputs == ["a"]
    assert tally.notes() == ("skipped: rows that cannot be read: 1 (first: f line 2)",)


def test_a_nul_character_is_refused_by_its_column_or_skipped_with_a_count():
    with pytest.raises(GlassformerError, match=r"^f line 1: review has a NUL character \(\\u0000\): remove it."):
        gathered(("a\0", 1), text="review")
    rows, notes = gathered(("a\0", 1), ("b", 1), on_bad="skip")
    assert (rows.inputs, notes) == (["b"], ("skipped: texts with a NUL character: 1 (first: f line 1)",))


def test_words_without_tags_are_plain_text():
    rows, _ = gathered((["je", "suis"],), labelled=False)
    assert (rows.task, rows.inputs) == ("mlm", ["je suis"])


def test_lists_make_it_a_tagging_task():
    rows, notes = gathered((["a", " b "], ["x", "y"]), ([], []), (["c"], [1]))
    assert (rows.task, rows.inputs, rows.labels) == ("tag", [("a", "b"), ("c",)], [("x", "y"), ("1",)])
    assert notes == ("skipped: empty texts: 1 (first: f line 2)",)


BAD = [
    ([(5, 1)], "f line 1: expected a text, found 5. Is it the right column?"),
    ([("a", 0.37)], "f line 1: a label must be a name or a whole number, found 0.37. Is it the right column?"),
    ([("a", "x" * 300)], "is not a valid label: give one line of at most 200 characters."),
    ([("a", "x\ny")], "f line 1: 'x?y' is not a valid label"),
    ([("\ud800", 1)], "f line 1 has an unpaired surrogate, which is not a character. on_bad='skip'"),
    ([("a", 1), ("b\0c", 1)], "f line 2: text has a NUL character (\\u0000): remove it. on_bad='skip'"),
    ([(["a", "b\0"], ["x", "y"])], "f line 1: word 2 has a NUL character (\\u0000): remove it."),
    (
        [(["a", "b"], ["x"])],
        "f line 1 has 2 words and 1 tags. Each word needs one tag. on_bad='skip' (--skip-bad) skips such rows.",
    ),
    ([(["a", "b"], "x")], "f line 1 has 2 words and no list of tags but x. Write a text with one label as a string."),
    ([(["a", ""], ["x", "y"])], "f line 1 has an empty word or tag, or one that is not text."),
    ([(["a"], [None])], "f line 1 has an empty word or tag"),
    ([(["a"], ["x"]), ("b", "x")], "f line 2 has a text where the rows before it have a list of words."),
    ([("b", "x"), (["a"], ["x"])], "f line 2 has a list of words where the rows before it have a text."),
    ([(["a"] * 20_000, ["x"] * 20_000)], "f line 1 has 20,000 words; a row has at most 10,000. Split it."),
    ([("", 1)], "f has no usable row. skipped: empty texts: 1 (first: f line 1)."),
    ([], "f has no usable row."),
]


@pytest.mark.parametrize(("pairs", "message"), BAD)
def test_a_bad_row_is_one_line(pairs, message):
    with pytest.raises(GlassformerError) as error:
        gathered(*pairs)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"on_bad": "ignore"}, "on_bad=ignore is not known: one of refuse, skip."),
        ({"on_bad": "refuze"}, "on_bad=refuze is not known: one of refuse, skip. Did you mean 'refuse'?"),
        (
            {"text": "label"},
            "text=label and label=label are the same column: the input would contain the label. "
            "Name two columns (--text, --label).",
        ),
        ({"on_empty": None}, "on_empty=None is not known: one of refuse, skip."),
        ({"on_long": "skip"}, "on_long=skip is not known: one of cut, refuse."),
        ({"resize": (0, 5)}, "resize=(0, 5) is not allowed: give a side in pixels, or (height, width), from 1 to 4,096."),
    ],
)
def test_a_wrong_option_lists_the_choices(option, message):
    with pytest.raises(GlassformerError) as error:
        RowOptions(**option)
    assert str(error.value) == message
