"""The icicle: pieces as wide as their share, inside each other."""

import re
from xml.etree import ElementTree

import pytest

import glassformer as gf
from glassformer.show.icicle import icicle_svg, slices


@pytest.mark.parametrize("name", ["bert-base", "vit-b16", "albert-base", "layer"])
def test_the_pieces_of_every_piece_sum_to_it(name):
    count = gf.count(name)

    def check(piece):
        if piece.parts:
            assert sum(inner.count for inner in piece.parts.values()) == piece.count
        for inner in piece.parts.values():
            check(inner)

    tree = slices(count)
    assert tree.count == count.total
    check(tree)
    assert tree.to_dict()["parts"][0]["count"] <= count.total


def test_widths_are_shares():
    picture = icicle_svg(gf.count("bert-base"))
    widths = {found[2]: float(found[1]) for found in re.finditer(r'width="([\d.]+)%"[^>]*><title>(\S+):', picture)}
    assert widths["layers"] == pytest.approx(100 * 85_054_464 / 109_482_240, abs=0.001)
    assert widths["layers.ffn.W_1"] == pytest.approx(100 * 28_311_552 / 109_482_240, abs=0.001)
    ElementTree.fromstring(picture)


def test_a_count_of_nothing_is_drawn_too():
    empty = gf.count("attention", only="biases", biases="q")
    ElementTree.fromstring(icicle_svg(empty))
