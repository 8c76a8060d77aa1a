"""The attention of a run, by layer and head, as an object that prints."""

import numpy as np
import pytest

from glassformer.errors import GlassformerError
from glassformer.numbers.attention import cut
from glassformer.numbers.seeded import seeded_run
from glassformer.spec import EncoderSpec

SPEC = EncoderSpec(d_model=8, heads=2, layers=3)
SENTENCE = "Tom a été entarté cet été"


@pytest.fixture
def found():
    return seeded_run(SPEC, words=SENTENCE, seed=3)


def test_a_grid_is_the_runs_own_weights(found):
    one = found.attention(layer=1, head=1)
    np.testing.assert_array_equal(one.grid(1, 1), found["layers.1.attention.weights"][0, 1])
    assert one.weights.shape == (1, 1, 6, 6)
    assert found.attention().weights.shape == (3, 2, 6, 6)
    assert found.attention(layer=-1).layers == (2,)


def test_a_small_grid_prints_in_full(found):
    text = str(found.attention(layer=0, head=0))
    assert text.startswith("layer 0, head 0: each row is a query, each column a key\n")
    assert len(text.splitlines()) == 8
    assert f"{found['layers.0.attention.weights'][0, 0, 3, 4]:.4f}" in text.splitlines()[5]


def test_a_wide_grid_prints_the_strongest_keys():
    long = seeded_run(SPEC, words=" ".join(f"w{i}" for i in range(30)), seed=3).attention(layer=0, head=0)
    first = long.text().splitlines()[1]
    strongest = int(np.argmax(long.grid(0, 0)[0]))
    assert f"w{strongest} ({strongest})" in first
    assert "24 of 30 tokens are shown" in long.text()


def test_many_heads_print_one_line_each(found):
    assert len(found.attention().text().splitlines()) == 1 + 3 * 2


def test_without_words_positions_are_named_by_number():
    assert seeded_run(SPEC, t=3).attention().words == ["0", "1", "2"]


def test_a_negative_index_counts_from_the_end(found):
    assert (found.attention(layer=-1, head=-2).layers, found.attention(layer=-1, head=-2).heads) == ((2,), (0,))


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"layer": 3}, "layer 3 does not exist: this run has layer 0 to 2, or -3 to -1 counted from the end."),
        ({"head": 2}, "head 2 does not exist: this run has head 0 to 1, or -2 to -1 counted from the end."),
        ({"batch": 1}, "batch 1 does not exist: this run has batch 0 to 0, or -1 to -1 counted from the end."),
        ({"layer": -4}, "layer -4 does not exist: this run has layer 0 to 2, or -3 to -1 counted from the end."),
        ({"layer": "x"}, "layer x does not exist"),
    ],
)
def test_a_missing_layer_or_head_is_refused(found, choice, message):
    with pytest.raises(GlassformerError, match=message):
        found.attention(**choice)


def test_no_layers_no_attention():
    with pytest.raises(GlassformerError, match="layers=0, so there is no attention"):
        seeded_run(SPEC.replace(layers=0, norm="pre"), words="a b").attention()


def test_labels_are_one_short_line():
    assert cut("Donaudampfschiff") == "Donaudamp…"
    assert cut("a\n\u202eb") == "a??b"
