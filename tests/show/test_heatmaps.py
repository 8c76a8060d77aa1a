"""Heat maps: the PNG in the page contains the grid, as read by an independent decoder."""

import base64
import io
import re

import numpy as np
import pytest

from glassformer.numbers.seeded import seeded_run
from glassformer.show.colours import SEQUENTIAL, mixed
from glassformer.show.heatmaps import LEVELS, heat_map, png, scale_bar, small_multiples, word_panel
from glassformer.spec import EncoderSpec

Image = pytest.importorskip("PIL.Image")
SPEC = EncoderSpec(d_model=8, heads=2, layers=2)


def read(data):
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def test_another_reader_sees_the_colours():
    grid = np.array([[0, LEVELS - 1], [10, 20], [30, 40]])
    pixels = read(png(grid, SEQUENTIAL))
    assert pixels.shape == (3, 2, 3)
    for place in np.ndindex(*grid.shape):
        assert "#" + "".join(f"{part:02x}" for part in pixels[place]) == mixed(SEQUENTIAL, grid[place] / (LEVELS - 1))


def test_a_page_holds_a_picture_for_each_theme():
    text = heat_map(np.eye(3), "a head", size=30)
    light, dark = (read(base64.b64decode(found)).astype(int) for found in reversed(re.findall(r"base64,([\w+/=]+)", text)))
    assert tuple(light[0, 1]) == (255, 255, 255)
    assert int(dark[0, 1].sum()) < 120 < int(dark[0, 0].sum())
    assert "source" not in heat_map(np.eye(3), "a head", size=30, theme="light")


def test_nan_is_drawn_as_zero():
    assert heat_map(np.full((2, 2), np.nan), "x", size=4) == heat_map(np.zeros((2, 2)), "x", size=4)


def test_every_head_has_a_panel_and_words_are_words():
    hostile = '<img/src=x/onerror=alert(1)> "&amp; $x_1$'
    seen = seeded_run(SPEC, words=hostile).attention()
    assert small_multiples(seen).count("<picture>") == 4
    panel = word_panel(seen, 0, 1)
    assert "<img/src" not in panel
    assert panel.count("<bdi>") == 2 * len(seen.words)
    assert "coloured by its root" in scale_bar(linear=False)


def test_a_long_text_has_no_words_and_a_small_picture():
    seen = seeded_run(SPEC, words=" ".join(map(str, range(120)))).attention()
    assert "<bdi>" not in word_panel(seen, 0, 0)
    assert len(small_multiples(seen)) < 200_000


def test_weights_that_are_all_small_fill_the_scale():
    even = seeded_run(SPEC, words="a " * 10, seed=3).attention()  # equal words: every weight is a tenth
    assert small_multiples(even).count(heat_map(np.ones((10, 10)), "layer 0, head 0", size=44)) == 1
    assert heat_map(np.full((2, 2), 0.1), "x", size=8, top=0.1) == heat_map(np.ones((2, 2)), "x", size=8)
    assert scale_bar(linear=True, top=0.1).endswith(" 0.1</p>")
