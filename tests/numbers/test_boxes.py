"""Boxes on a page: where they are checked, and what each side adds."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers import legible_weights, run
from glassformer.program import build
from glassformer.spec import EncoderSpec

PAGE = EncoderSpec(vocab=9, page=6, d_model=4, heads=2, layers=1, embedding_norm=True)
TOKENS = np.array([[1, 2, 3]])
BOXES = np.array([[[0, 1, 2, 5], [3, 3, 3, 3], [1, 0, 5, 4]]])


def ran(boxes):
    program = build(PAGE, t=3)
    weights = legible_weights(program, 0)
    return run(program, weights, {"tokens": TOKENS, **({} if boxes is None else {"boxes": boxes})}), weights


def test_each_side_the_height_and_the_width_have_their_rows():
    found, weights = ran(BOXES)
    tables = {letter: weights[f"embeddings.E_{letter}"] for letter in "xyhw"}
    left, upper, right, lower = np.moveaxis(BOXES, -1, 0)
    wanted = tables["x"][left] + tables["y"][upper] + tables["x"][right] + tables["y"][lower]
    wanted = wanted + tables["h"][lower - upper] + tables["w"][right - left] + weights["embeddings.E_token"][TOKENS]
    assert np.abs(found["embeddings.sum"] - wanted).max() < 1e-15
    explained = found.explain("embeddings.width", t=2, d_model=1)
    assert "E_w" in str(explained)


def test_without_boxes_all_sides_are_zero():
    assert (ran(None)[0].output == ran(np.zeros((1, 3, 4), dtype=int))[0].output).all()


@pytest.mark.parametrize("box", [[0, 0, 6, 0], [-1, 0, 0, 0], [3, 0, 2, 0], [0, 4, 0, 3]])
def test_an_invalid_box_is_refused_in_one_line(box):
    boxes = BOXES.copy()
    boxes[0, 1] = box
    with pytest.raises(GlassformerError, match=r"^boxes\[0, 1\] = \[.*\] is not a box \[left, upper, right, lower\]") as caught:
        ran(boxes)
    assert "\n" not in str(caught.value)
    with pytest.raises(GlassformerError, match="boxes must be whole numbers"):
        ran(BOXES / 1.0)


def test_a_page_needs_tokens():
    with pytest.raises(GlassformerError, match=r"^page=6 places tokens of width d_model: give vocab"):
        PAGE.replace(vocab=None)
