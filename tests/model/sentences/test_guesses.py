"""A masked-token head guesses tokens: the same ones, as likely, as transformers says."""

import json

import pytest
import torch
from checkpoint_files import CONFIG, add_tokenizer, bert_folder, tensors_of
from tiny_models import guest

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.model.sentences.guesses import mask_of


def folder(path, architecture="BertForMaskedLM"):
    said = {"architectures": [architecture]}
    add_tokenizer(bert_folder(path, tensors=tensors_of({**CONFIG, **said}), **said))
    tokens = path / "tokenizer.json"
    document = json.loads(tokens.read_text(encoding="utf-8").replace('"walls"', '"[MASK]"'))
    mask = {**document["added_tokens"][0], "id": document["model"]["vocab"]["[MASK]"], "content": "[MASK]"}
    document["added_tokens"].append(mask)
    tokens.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("architecture", ["BertForMaskedLM", "BertForPreTraining"])
def test_the_guesses_are_those_of_transformers(tmp_path, architecture):
    path = folder(tmp_path / "m", architecture)
    model = gf.load(path, dtype="float64")
    letters, mask = mask_of(model.tokenizer)
    text = f"the {letters} of {letters}"
    said = model.predict(text)
    ids = torch.tensor([model.tokenizer.encode(text).ids])
    original = getattr(guest("transformers"), architecture).from_pretrained(path, dtype=torch.float64).eval()
    with torch.no_grad():
        theirs = original(ids)
    logits = theirs.logits if architecture == "BertForMaskedLM" else theirs.prediction_logits
    assert [one.place for one in said] == (ids[0] == mask).nonzero().flatten().tolist()
    for one in said:
        best = logits[0, one.place].softmax(-1).topk(5)
        assert list(one.guesses.values()) == pytest.approx(best.values.tolist(), rel=1e-5)
        assert list(one.guesses) == [model.tokenizer.id_to_token(i) or f"token {i}" for i in best.indices.tolist()]
        assert [guess["token"] for guess in one.to_dict()["guesses"]] == list(one.guesses)


def test_a_text_without_a_mask_is_named(tmp_path):
    model = gf.load(folder(tmp_path / "m"))
    letters, _ = mask_of(model.tokenizer)
    with pytest.raises(GlassformerError) as caught:
        model.predict([f"the {letters}", "the glass"])
    assert str(caught.value) == f"text 1 has no {letters}: write it where a token is to be guessed."


def test_a_tokenizer_without_a_mask_is_reported():
    class Bare:
        def token_to_id(self, _):
            return None

    with pytest.raises(GlassformerError, match=r"has no token for a mask \(\[MASK\] or <mask>\)"):
        mask_of(Bare())


def test_answer_positions_are_not_classes(tmp_path):
    model = gf.load(folder(tmp_path / "m", "BertForQuestionAnswering"))
    with pytest.raises(GlassformerError, match=r"predicts no classes: its head marks where an answer begins and ends\."):
        model.predict("the glass")
