"""The sizes of a model are found next to words of the glossary, and nowhere else."""

import pytest

from glassformer.answers.documents.lines import lines_of
from glassformer.answers.documents.settings import settings_in


def sizes(text, part=0):
    return settings_in(lines_of(text, latex=False)).at(part)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hidden size 512, feed-forward width 2048, 6 layers, 8 heads.", {"d_model": 512, "d_ff": 2048, "layers": 6, "heads": 8}),
        ("The encoder has 8 layers, each with 8 attention heads:", {"layers": 8, "heads": 8}),
        ("Number of heads in multi-head attention: 4", {"heads": 4}),
        ("Dimension of each head: 16", {"d_k": 16}),
        ("Dimension of feed-forward network: 120", {"d_ff": 120}),
        ("Input dimension: 64", {"d_model": 64}),
        ("$d_{\\text{model}} = 64$, $h = 2$ and $d_v = 16$", {"d_model": 64, "heads": 2, "d_v": 16}),
        ("768 (BERT hidden size) × 5", {"d_model": 768}),
        ("12 heads, the number of layers being 12", {"heads": 12, "layers": 12}),
        ("eight heads read 512 tokens", {"heads": 8, "t": 512}),
        ("64 dimensions per head", {"d_k": 64}),
        ("the number of heads $S = 8$", {"heads": 8}),
        ("one layer: 6,553,600 + 2,079,152 = 8,632,752", {}),
        ("W_O: 768 × 768 × 12 = 7,077,888", {}),
    ],
)
def test_sizes_are_found_by_the_words_next_to_them(text, found):
    assert sizes(text) == found


def test_a_size_with_two_values_is_ignored_unless_its_part_has_one():
    text = "# A\n8 heads\n# B\n12 heads\n# C\n"
    assert (sizes(text, 1), sizes(text, 2), sizes(text, 3)) == ({"heads": 8}, {"heads": 12}, {})
