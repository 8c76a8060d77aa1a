"""`gf.attribute`: on a checkpoint, the numbers are those of the fast model, and their parts add up."""

import json

import numpy as np
import pytest
from checkpoint_files import CONFIG, add_tokenizer, bert_folder, tensors_of

import glassformer as gf
from glassformer import GlassformerError

CLASSIFIER = {
    **CONFIG,
    "architectures": ["BertForSequenceClassification"],
    "id2label": {"0": "plain", "1": "glass", "2": "wall"},
    "label2id": {"plain": 0, "glass": 1, "wall": 2},
}


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classifier")
    return add_tokenizer(bert_folder(folder, tensors=tensors_of(CLASSIFIER), **CLASSIFIER))


def test_a_class_logit_is_the_one_of_the_fast_model(classifier):
    pytest.importorskip("torch")
    found = gf.attribute(classifier, "the glass walls", of="class=glass against=wall")
    said = gf.load(classifier, dtype="float64").predict("the glass walls").values
    assert found.value == pytest.approx(np.log(said["glass"] / said["wall"]), rel=1e-9)
    assert found.total == pytest.approx(found.value, rel=1e-9)
    assert found.label == "logit of 'glass' − logit of 'wall'"


def test_without_a_quantity_it_is_the_predicted_class(classifier):
    found = gf.attribute(classifier, "every number")
    logits = found.run["head.logits"][0]
    assert found.value == logits.max()
    assert found.label == f"logit of '{list(CLASSIFIER['id2label'].values())[int(logits.argmax())]}'"


def test_a_similarity_of_minilm_is_the_product_of_its_vectors(minilm):
    pytest.importorskip("torch")
    texts = ["a river bank", "the shore of a river"]
    one, other = gf.load(minilm, dtype="float64").encode(texts)
    for options in ({}, {"norms": "opened"}, {"depth": "input", "patterns": "opened"}):
        found = gf.attribute(minilm, texts, **options)
        assert found.value == pytest.approx(float(one @ other), rel=1e-9)
        assert abs(found.gap) <= 1e-9 * abs(found.value)


def test_the_document_has_every_line_with_its_word(minilm):
    document = json.loads(json.dumps(gf.attribute(minilm, "a bank", of="layers.5.attention.scores head=0 t=0 s=1").to_dict()))
    assert sum(line["value"] for line in document["lines"]) == pytest.approx(document["value"], rel=1e-9)
    assert {line["word"] for line in document["lines"]} >= {"[CLS]", "a", "bank", "[SEP]"}


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ("the glass", {"of": "class=glas"}, "there is no class 'glas'. Did you mean 'glass'?"),
        ("the glass", {"of": "layers.0.attention.mixed"}, "Did you mean 'layers.0.attention.mix'?"),
        ("the glass", {"of": "similarity"}, "similarity compares two texts, found 1"),
        (["a", "b", "c"], {}, "3 texts are given: give one text, or two for similarity."),
        ([], {}, "no input: give a text"),
        ("the glass", {"depth": "deep"}, "depth=deep is not known. One of direct, input."),
        ("the glass", {"seed": 3}, "seed=3 has no effect"),
        (["the", "glass"], {"pool": "least"}, "pool=least is not known"),
    ],
)
def test_bad_input_is_one_line(classifier, texts, options, message):
    with pytest.raises(GlassformerError) as refused:
        gf.attribute(classifier, texts, **options)
    assert message in str(refused.value)


def test_a_spec_has_no_similarity_and_tokens_by_number():
    with pytest.raises(GlassformerError, match="name a checkpoint folder"):
        gf.attribute("bert-tiny", ["a", "b"])
    with pytest.raises(GlassformerError, match="give the id of a token"):
        gf.attribute("bert-tiny", "a b", of="token=a t=0", vocab=20, head="mlm")
    found = gf.attribute("bert-tiny", "a b", of="token=7 t=0", vocab=20, head="mlm")
    assert found.value == found.run["head.logits"][0, 0, 7]
