"""A Dataset knows its parts, and its fingerprint changes with anything that training would see."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.training.data import Split, load_data
from glassformer.training.data.images import Pictures


def split(texts=("a", "b"), targets=(0, 1), task="classify"):
    return Split("train", task, list(texts), None if targets is None else np.array(targets))


def test_an_unknown_part_is_named():
    with pytest.raises(
        GlassformerError, match=r"lid has no part 'tests'. Did you mean 'test'\? It has train, validation, test, tes"
    ):
        load_data("lid").part("tests")


def test_extras_are_the_parts_beyond_the_three():
    assert load_data("lid4").extras == ("test_udhr",)
    assert load_data("topic").extras == ()


def test_images_have_no_texts():
    with pytest.raises(GlassformerError, match=r"images have no texts"):
        load_data("digits").train.texts()


def test_tagged_words_are_read_with_blanks_between():
    assert next(load_data("lid-words-romanised").train.texts()) == "flag : Bharat"


@pytest.mark.parametrize(
    "other",
    [
        split(texts=("a", "c")),
        split(texts=("b", "a")),
        split(texts=("ab", "")),
        split(targets=(1, 0)),
        split(targets=None, task="mlm"),
        split(texts=("a",), targets=(0,)),
    ],
    ids=["text", "order", "where a text ends", "label", "task", "rows"],
)
def test_the_fingerprint_of_a_split_changes_with_its_content(other):
    assert split().fingerprint == split().fingerprint
    assert split().fingerprint != other.fingerprint


def test_the_fingerprint_of_words_and_of_pictures_changes_with_one_of_them():
    words = [Split("x", "tag", [("a", "b"), ("c",)], [(0, 1), tags]) for tags in ((0,), (1,))]
    assert words[0].fingerprint != words[1].fingerprint
    pixels = np.zeros((2, 1, 2, 2), dtype=np.uint8)
    brighter = pixels.copy()
    brighter[1, 0, 1, 1] = 1
    pictures = [Split("x", "image", Pictures((1, 2, 2), 255, some), np.array([0, 1])) for some in (pixels, brighter)]
    assert pictures[0].fingerprint != pictures[1].fingerprint


def test_the_fingerprint_of_a_set_is_written_down():
    # If this changes, no run on this set can be resumed any more: change it knowingly.
    assert load_data("digits").fingerprint[:16] == "d2c68db39dbae905"
    assert load_data("lid-words").fingerprint[:8] == "744c26b3"
