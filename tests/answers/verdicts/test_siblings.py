"""A number of parameters that is right for another preset is called that, and no other number is."""

import pytest

from glassformer.answers.verdicts import check
from glassformer.configs.reading import request


def codes(relation: str, label: str) -> list[tuple[str, ...]]:
    return [finding.codes for finding in check(relation, request(label, decoders=True)).findings]


@pytest.mark.parametrize(
    ("relation", "label"),
    [
        ("params = 335,141,888", "bert-base"),
        ("params = 354,823,168", "gpt2"),
        ("params(ffn, layer=0) = 8,393,728", "bert-base"),
        ("params = 334M", "bert-base"),
    ],
)
def test_the_number_of_another_model_is_named(relation: str, label: str) -> None:
    assert codes(relation, label) == [("another_model",)]


@pytest.mark.parametrize(
    ("relation", "label"),
    [
        ("params = 335,141,889", "bert-base"),  # one off
        ("params(ffn, layer=0) = 2,099,712", "gpt2"),  # of a part, and of unrelated models only
        ("flops(ffn, layer=0) = 4,831,838,208", "vit-b16"),  # costs depend on the input
        ("params = 335,141,888", "bert-base layers=11"),  # not a preset
    ],
)
def test_other_numbers_have_no_explanation(relation: str, label: str) -> None:
    assert ("another_model",) not in codes(relation, label)
