"""From data to an encoder and settings that fit it."""

import pytest

from glassformer.configs.presets import preset
from glassformer.errors import GlassformerError
from glassformer.training.data import load_data
from glassformer.training.fitting import _patch, fitted, rate_for, small_spec, suggested, tokenizer_for
from glassformer.training.settings import Settings


@pytest.mark.parametrize(("data", "vocab"), [("lid-words-romanised", 500), ("topic", 8000)])
def test_a_tokenizer_is_as_large_as_its_texts_can_fill(data, vocab):
    assert suggested(load_data(data))["vocab"] == vocab


def test_a_checkpoint_takes_small_steps_and_a_head_alone_large_ones():
    data = load_data("lid-words")
    assert suggested(data, checkpoint=True) == {"lr": 5e-5, "epochs": 3}
    assert suggested(data, checkpoint=True, only="head")["lr"] == 1e-2


def test_wide_encoders_and_deep_ones_with_norms_after_the_sums_take_smaller_steps():
    base, small = preset("bert-base"), small_spec(load_data("digits"), None, Settings())
    assert rate_for(small, 1e-3) == 1e-3
    assert rate_for(base, 1e-3) == pytest.approx(1e-4, rel=0.1)  # Devlin et al. 2019
    assert rate_for(base.replace(layers=24), 1e-3) < rate_for(base, 1e-3) < rate_for(base.replace(norm="pre"), 1e-3)
    assert rate_for(base.replace(norm="pre"), 1e-3) == rate_for(base.replace(norm="pre", layers=24), 1e-3)


@pytest.mark.parametrize(("data", "patch", "patches"), [("digits", 2, 16), ("fashion-mnist-small", 4, 49)])
def test_an_image_is_cut_into_few_patches(data, patch, patches):
    spec = small_spec(load_data(data), None, Settings())
    assert (spec.patch, (spec.image_size[0] // patch) ** 2) == (patch, patches)


@pytest.mark.parametrize(
    ("height", "width", "patch"),
    [(8, 8, 2), (28, 28, 4), (32, 32, 8), (224, 224, 32), (130, 130, 26), (31, 31, 5), (13, 13, 2), (16, 400, 16), (1, 1, 1)],
)
def test_an_image_of_any_size_has_few_patches_and_loses_few_pixels(height, width, patch):
    assert _patch(height, width) == patch


def test_training_on_audio_is_refused():
    with pytest.raises(GlassformerError, match=r"^this spec reads audio \(mels=80\), and training on audio is not supported"):
        fitted(preset("whisper-tiny"), {}, load_data("digits"), None, Settings())


def test_lower_case_is_a_setting():
    data = load_data("lid-words")
    one, two = (tokenizer_for(data, Settings(vocab=600, case=case)) for case in ("keep", "lower"))
    assert one.encode(["Google"]) != one.encode(["google"]) and two.encode(["Google"]) == two.encode(["google"])
