"""The shape of a mask, as people write it."""

import numpy as np
import pytest

from glassformer.answers.asked import ask
from glassformer.answers.judging import check
from glassformer.spec.reading import request


@pytest.mark.parametrize(
    "question", ["shape of a causal mask", "What shape must the padding mask have to be broadcast over the scores?"]
)
def test_every_way_to_write_a_mask_is_broadcast_over_the_scores(question):
    asked = request("bert-base", batch=4, t=10)
    found = ask(question, asked)
    scores = np.zeros((4, 12, 10, 10))
    assert (scores + np.zeros(found.value)).shape == scores.shape
    for shape in (found.value, *(other.value for other in found.others)):
        assert check(question, asked, " x ".join(map(str, shape))).right
    assert not check(question, asked, "10 x 768").right


def test_a_padding_mask_has_a_flag_for_each_token():
    assert ask("shape of the padding mask", request("bert-base", batch=4, t=10)).value == (4, 10)
