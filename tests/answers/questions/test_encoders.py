"""Questions that name their encoder need no spec beside them."""

import pytest

from glassformer.answers.asked import ask
from glassformer.answers.questions import encoder_named, parse_question
from glassformer.spec import GlassformerError
from glassformer.spec.presets import known_as
from glassformer.spec.reading import request

ASKED = {
    "How many parameters does the feed-forward block of BERT-large have?": ("bert-large", 201_449_472),
    "What fraction of BERT base's parameters are embeddings?": ("bert-base", 23_837_184 / 109_482_240),
    "params of bert-base-uncased": ("bert-base", 109_482_240),
    "How many parameters does DistilBERT have?": ("distilbert-base", 66_362_880),
    "In ViT-B/16, how many tokens enter the encoder?": ("vit-b16", 197),
    "What is d_k in transformer-base?": ("transformer-base", 64),
    "how many tokens can RoBERTa-base take at most?": ("roberta-base", 512),
    "maximum number of tokens of ModernBERT-base": ("modernbert-base", 8192),
    "longest input of bert-tiny": ("bert-tiny", 512),
    "What is the embedding size of ALBERT-base?": ("albert-base", 128),
    "What is the hidden size of ALBERT-base?": ("albert-base", 768),
    "What is the hidden size of ViT-Huge?": ("vit-h14", 1280),
}


@pytest.mark.parametrize(("text", "name", "value"), [(text, *wanted) for text, wanted in ASKED.items()])
def test_the_encoder_is_in_the_question(text, name, value):
    question = parse_question(text)
    assert encoder_named(question) == name
    assert ask(question, request(name)).value == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    "spelled", [str, str.upper, str.title, lambda name: name.replace("-", " "), lambda name: name.replace("-", "_")]
)
def test_every_name_is_found_however_it_is_spelled(spelled):
    parts = {"attention", "layer", "encoder"}  # words of any question
    for said, name in known_as().items():
        if name not in parts:
            assert encoder_named(parse_question(f"params of W_O in {spelled(said)}")) == name


def test_a_family_leaves_open_which():
    with pytest.raises(GlassformerError, match="leaves open which encoder: put one behind it, as in bert-base, bert-large"):
        encoder_named(parse_question("How many parameters does BERT have?"))


def test_a_question_without_a_name_says_how_to_put_one():
    with pytest.raises(GlassformerError, match="which encoder\\? 'params of W_O' names none"):
        encoder_named(parse_question("params of W_O"))


def test_another_encoder_than_the_spec_is_refused_by_its_published_name_too():
    assert ask("params of bert-base-uncased", request("bert-base")).value == 109_482_240
    with pytest.raises(GlassformerError, match="names another model than the spec"):
        ask("params of bert-base-uncased", request("bert-large"))
