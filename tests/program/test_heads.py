"""Task heads: which of their products have a bias."""

import pytest

import glassformer as gf
from glassformer.program import build
from glassformer.spec import ALL_BIASES, EncoderSpec

TEXT = {"vocab": 9, "d_model": 8, "heads": 2, "layers": 1, "pooler": "dense", "classes": 10}
IMAGE = {"image": 4, "patch": 2, "class_tokens": 2, "d_model": 8, "heads": 2, "layers": 1, "classes": 10}
HEADS = {
    "classify": TEXT,
    "tag": TEXT,
    "mlm": TEXT,
    "pretrain": TEXT,
    "project": TEXT,
    "distilled": IMAGE,
    "tag_patches": IMAGE,
}


def biases_of(spec: EncoderSpec) -> list[str]:
    return [parameter.name for parameter in build(spec, t=None if spec.one_length else 3).parameters if parameter.kind == "bias"]


@pytest.mark.parametrize("head", HEADS)
def test_a_head_has_no_bias_where_biases_are_none(head):
    spec = EncoderSpec(**HEADS[head], head=head)
    assert any(name.startswith("head.") for name in biases_of(spec))
    assert biases_of(spec.replace(biases=())) == []


@pytest.mark.parametrize(
    ("head", "of_classes"), [("classify", ["b_C"]), ("tag", ["b_C"]), ("pretrain", ["b_N"]), ("distilled", ["b_C", "b_D"])]
)
def test_the_bias_of_the_classes_is_a_place_of_its_own(head, of_classes):
    spec = EncoderSpec(**HEADS[head], head=head)
    without = spec.replace(biases=tuple(place for place in ALL_BIASES if place != "classes"))
    gone = set(biases_of(spec)) - set(biases_of(without))
    assert gone == {f"head.{name}" for name in of_classes}
    assert biases_of(spec.replace(biases=("classes",))) == [f"head.{name}" for name in of_classes]


@pytest.mark.parametrize("name", ["t5-small", "modernbert-base"])
def test_a_preset_without_biases_in_its_layers_keeps_the_bias_of_its_classes(name):
    """T5ForTokenClassification and ModernBertForTokenClassification have `classifier.bias`."""
    head = {row.name: row.count for row in gf.count(name, head="tag", classes=7, only="head").rows}
    assert head["head.b_C"] == 7
    assert gf.count(name, head="tag", classes=7, biases="none", only="head").total == head["head.W_C"]
