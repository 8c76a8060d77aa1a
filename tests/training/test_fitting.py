"""From data to an encoder and settings that fit it."""

import pytest

from glassformer.training.data import load_data
from glassformer.training.fitting import small_spec, suggested, tokenizer_for
from glassformer.training.settings import Settings


@pytest.mark.parametrize(("data", "vocab"), [("lid-words-romanised", 500), ("topic", 8000)])
def test_a_tokenizer_is_as_large_as_its_texts_can_fill(data, vocab):
    assert suggested(load_data(data))["vocab"] == vocab


def test_a_checkpoint_takes_small_steps_and_a_head_alone_large_ones():
    data = load_data("lid-words")
    assert suggested(data, checkpoint=True) == {"lr": 5e-5, "epochs": 3}
    assert suggested(data, checkpoint=True, only="head")["lr"] == 1e-2


@pytest.mark.parametrize(("data", "patch", "patches"), [("digits", 2, 16), ("fashion-mnist-small", 4, 49)])
def test_an_image_is_cut_into_few_patches(data, patch, patches):
    spec = small_spec(load_data(data), None, Settings())
    assert (spec.patch, (spec.image_size[0] // patch) ** 2) == (patch, patches)


def test_small_letters_are_asked_for_by_a_setting():
    data = load_data("lid-words")
    one, two = (tokenizer_for(data, Settings(vocab=600, case=case)) for case in ("keep", "lower"))
    assert one.encode(["Google"]) != one.encode(["google"]) and two.encode(["Google"]) == two.encode(["google"])
