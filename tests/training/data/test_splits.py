"""Splits: the same for the same seed, whatever the order of the rows; classes in proportion; equal texts together."""

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import GlassformerError
from glassformer.training.data.splits import (
    NOISE,
    always_one,
    check_label_column,
    check_shares,
    content_keys,
    doubts,
    into_parts,
    label_order,
    leaks,
    numbered,
)
from glassformer.training.data.texts import Rows

SHARES = (0.8, 0.1, 0.1)


def classified(count=100, classes=2):
    return Rows("classify", [f"text number {i}" for i in range(count)], [f"c{i % classes}" for i in range(count)])


def members(parts):
    return {name: sorted(zip(rows.inputs, rows.labels, strict=True)) for name, rows in parts.items()}


def test_the_shares_come_out():
    parts, notes = into_parts({"train": classified(1000, 4)}, SHARES, 0)
    assert {name: len(rows) for name, rows in parts.items()} == {"train": 800, "validation": 100, "test": 100}
    assert sorted(text for rows in parts.values() for text in rows.inputs) == sorted(classified(1000).inputs)
    assert notes == []
    for name, count in (("validation", 25), ("test", 25), ("train", 200)):
        assert {label: parts[name].labels.count(label) for label in set(parts[name].labels)} == dict.fromkeys(
            ("c0", "c1", "c2", "c3"), count
        )


def test_the_order_of_the_rows_is_of_no_importance_and_the_seed_is():
    rows = classified(200, 3)
    places = list(range(200))
    random.Random(1).shuffle(places)
    one, other = (into_parts({"train": some}, SHARES, 5)[0] for some in (rows, rows.take(places)))
    assert members(one) == members(other)
    assert members(one) != members(into_parts({"train": rows}, SHARES, 6)[0])


def test_the_split_of_a_seed_is_written_down():
    # If this changes, the same file and seed give another split than they did yesterday: change it knowingly.
    parts, _ = into_parts({"train": classified(40)}, SHARES, 0)
    assert [text.split()[-1] for text in parts["test"].inputs] == ["9", "16", "28", "33"]
    assert parts["train"].inputs == sorted(parts["train"].inputs, key=lambda text: int(text.split()[-1]))


def test_equal_texts_are_in_one_part():
    texts = [variant for i in range(50) for variant in (f"Text, {i}!", f"text {i}", f"TEXT {i} …")]
    parts, _ = into_parts({"train": Rows("classify", texts, ["a", "b", "a"] * 50)}, SHARES, 0)
    keys = {name: set(content_keys(rows)) for name, rows in parts.items()}
    assert not keys["train"] & keys["validation"] | keys["train"] & keys["test"] | keys["validation"] & keys["test"]
    assert sum(map(len, keys.values())) == 50


def test_vowel_signs_tell_texts_apart_and_punctuation_does_not():
    assert len(set(content_keys(Rows("mlm", ["का", "के", "की", "का।", "été", "ete", "...", "?"], None)))) == 7


@given(st.lists(st.integers(1, 30), min_size=2, max_size=8), st.integers(0, 5))
def test_every_class_keeps_a_training_row_and_no_row_is_lost(sizes, seed):
    labels = [f"c{number}" for number, size in enumerate(sizes) for _ in range(size)]
    rows = Rows("classify", [f"row {i}" for i in range(len(labels))], labels)
    try:
        parts, _ = into_parts({"train": rows}, (0.6, 0.2, 0.2), seed)
    except GlassformerError as error:
        assert "rows are too few" in str(error)
        return
    assert set(parts["train"].labels) == set(labels)
    assert sum(len(part) for part in parts.values()) == len(labels)
    if min(sizes) >= 3:
        assert abs(len(parts["test"]) - 0.2 * len(labels)) <= 1


def test_given_parts_stay_and_missing_ones_are_cut_from_training():
    given = {"train": classified(90), "test": Rows("classify", ["only this"], ["c0"])}
    parts, notes = into_parts(given, SHARES, 0)
    assert parts["test"].inputs == ["only this"]
    assert (len(parts["train"]), len(parts["validation"])) == (80, 10)
    assert notes == ["drawn from the training rows because not given: validation"]


def test_rows_of_training_in_another_part_are_noted():
    parts = {"train": classified(10), "test": Rows("classify", ["Text number 3.", "new"], ["c0", "c1"])}
    assert leaks(parts) == ["1 of the 2 test rows are also in training: the test accuracy is too high"]


def test_two_ways_to_write_a_letter_are_one_text():
    assert len(set(content_keys(Rows("mlm", ["\u00e9t\u00e9", "e\u0301te\u0301", "\u00c9T\u00c9"], None)))) == 1


def test_nearly_equal_labels_are_noted():
    rows = Rows("classify", list("abcdefg"), ["Pos", "pos", "1", "1.0", "-1", "neg", "a  b"])
    assert doubts({"train": rows}, sorted(rows.labels)) == [
        "labels that differ only in case, spaces or a trailing .0, and are treated as different: '1' and '1.0', 'Pos' and 'pos'"
    ]


def test_equal_texts_with_different_labels_and_classes_never_judged_are_noted():
    parts = {
        "train": Rows("classify", ["a b", "A, b!", "c", "d"], ["x", "y", "x", "z"]),
        "validation": Rows("classify", ["c.", "e"], ["y", "x"]),
        "test": Rows("classify", ["f", "g", "h"], ["x", "y", "z"]),
    }
    assert doubts(parts, ["x", "y", "z"]) == [
        "equal inputs with different labels: 2",
        "labels without rows in validation: 1 of 3 (z)",
    ]


def test_the_default_baseline_is_the_most_frequent_label():
    parts = {"train": Rows("classify", list("abc"), ["x", "y", "x"]), "test": Rows("classify", list("def"), ["y", "x", "y"])}
    assert always_one(parts) == "always 'x': 33.3%"
    tagged = Rows("tag", [("a", "b", "c")], [("o", "o", "p")])
    assert always_one({"train": tagged, "test": tagged}) == "always 'o': 66.7%"
    plain = Rows("mlm", ["a"], None)
    assert always_one({"train": plain, "test": plain}) == "none"


def test_labels_are_sorted_and_numbers_as_numbers():
    numbers = {"train": Rows("classify", list("abcd"), ["10", "9", "-1", "2"])}
    assert label_order(numbers, "f") == ("-1", "2", "9", "10")
    words = {"train": Rows("tag", [("a", "b")], [("y", "x")])}
    assert label_order(words, "f") == ("x", "y")
    assert numbered("train", words["train"], ("x", "y")).targets == [(1, 0)]
    assert numbered("train", numbers["train"], ("-1", "2", "9", "10")).targets.tolist() == [3, 2, 0, 1]


BAD = [
    (
        {"test": (["a"], ["z"])},
        "f: the label 'z' is in test but not in training. Check its spelling, or remove those rows.",
    ),
    ({"validation": (["a", "b"], ["y", "z"])}, "f: the label 'y' (and 1 more) is in validation but not in training."),
    ({"test": ([], [])}, "f: the split test is empty."),
    ({"train": (["a", "b"], ["x", "x"])}, "f: every training row has the label 'x'. At least two classes are needed."),
    (
        {"train": ([str(i) for i in range(50)], [str(i) for i in range(50)])},
        "f has 50 different labels in 50 rows: this is not a label column. Choose another with label=… (--label).",
    ),
    (
        {"train": ([str(i) for i in range(50)], [f"0.{i}1" for i in range(50)])},
        "this is not a label column. To predict numbers, give task='regress' (--task regress). Choose another",
    ),
    ({"test": (["a"], ["C0"])}, "Did you mean 'c0'? Training has c0, c1."),
]


@pytest.mark.parametrize(("parts", "message"), BAD)
def test_labels_that_cannot_be_learned_are_one_line(parts, message):
    good = {name: (["a", "b"], ["c0", "c1"]) for name in ("train", "validation", "test")}
    made = {name: Rows("classify", *pair) for name, pair in (good | parts).items()}
    with pytest.raises(GlassformerError) as error:
        check_label_column(made["train"], "f")
        label_order(made, "f")
    assert message in str(error.value)


def test_too_few_rows_say_how_many_are_different():
    rows = Rows("mlm", ["a b", "A b", "c", "c!", "c"], None)
    with pytest.raises(
        GlassformerError, match=r"^5 rows, 2 of them different, are too few for .* each line is a text: split long"
    ):
        into_parts({"train": rows}, SHARES, 0)


def test_too_few_rows_for_three_parts_are_refused():
    with pytest.raises(GlassformerError, match=r"^3 rows are too few for split=\(0.8, 0.1, 0.1\): validation would be empty."):
        into_parts({"train": classified(3)}, SHARES, 0)


@pytest.mark.parametrize(
    "shares", [(0.8, 0.2), (0.8, 0.1, 0.2), (80, 10, 10), (1.0, 0.0, 0.0), (0.9, -0.1, 0.2), ("a", 0.5, 0.5)]
)
def test_shares_must_be_three_and_add_up(shares):
    with pytest.raises(GlassformerError, match=r"three positive shares"):
        check_shares(shares)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_key_of_a_text_is_that_text_in_small_letters_without_noise(text):
    plain = NOISE.sub("", unicodedata.normalize("NFC", text.casefold()))
    assert content_keys(Rows("mlm", [text], None)) == [(plain or text).encode()]
