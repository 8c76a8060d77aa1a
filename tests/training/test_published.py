"""best/ and last/: transformers opens them where one of its classes is the encoder, and says the same as we do."""

import json

import numpy as np
import pytest
import torch
from tiny_training import BERT_CONFIG

import glassformer as gf
from glassformer.configs.huggingface.drafts import drafts
from glassformer.configs.presets import preset
from glassformer.model import Encoder
from glassformer.model.checkpoints.export import class_for, save
from glassformer.model.sentences.loaded_model import load
from glassformer.spec import EncoderSpec
from glassformer.training.data import load_data
from glassformer.training.drafting import with_published_head
from glassformer.training.published import describe_tokens, publish
from glassformer.training.tokenizers import Tokenizer

transformers = pytest.importorskip("transformers")

TEXTS = ["a red thing", "a blue thing, number 7"]
SMALL = {"d_model": 16, "heads": 2, "layers": 2, "positions": 24}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "rows.txt"
    path.write_text("".join(f"a {word} thing, number {i}\n" for i in range(40) for word in ("red", "blue")), encoding="utf-8")
    return Tokenizer.train(load_data(path).train.texts(), vocab=60)


def bert(tokenizer, **fields):
    torch.manual_seed(3)
    return Encoder(preset("bert-tiny").replace(**SMALL, vocab=tokenizer.vocab, **fields))


def opened(kind, folder):
    model, said = kind.from_pretrained(folder, output_loading_info=True)
    assert not any(said.values()), said
    return model.eval()


@pytest.mark.parametrize(("head", "kind"), [("classify", "SequenceClassification"), ("tag", "TokenClassification")])
def test_transformers_gives_the_same_outputs(tmp_path, tokenizer, head, kind):
    encoder = bert(tokenizer, head=head, classes=3)
    publish(encoder, tmp_path / "best", ("warm", "cold", "other"), start={}, beside=None, trained="all")
    tokenizer.save(tmp_path / "best" / "tokenizer.json")
    describe_tokens(tmp_path / "best")
    model = opened(getattr(transformers, f"AutoModelFor{kind}"), tmp_path / "best")
    assert model.config.id2label == {0: "warm", 1: "cold", 2: "other"}
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "best")
    assert [theirs(text)["input_ids"] for text in TEXTS] == [list(one.ids) for one in tokenizer.encode_all(TEXTS)]
    with torch.no_grad():
        said = model(**theirs(TEXTS[:1], return_tensors="pt")).logits.softmax(-1)[0].numpy()
    ours = load(tmp_path / "best").predict(TEXTS[:1])[0]
    rows = [ours.values] if head == "classify" else [token.prediction.values for token in ours]
    assert np.allclose(said.reshape(-1, 3), [list(row.values()) for row in rows], atol=1e-6)


def test_masked_tokens_and_images_have_their_classes_too(tmp_path, tokenizer):
    publish(bert(tokenizer, head="mlm"), tmp_path / "mlm", (), start={}, beside=None, trained="all")
    opened(transformers.AutoModelForMaskedLM, tmp_path / "mlm")
    spec = preset("vit-ti16").replace(
        d_model=16, heads=2, layers=1, image=16, image_width=16, patch=8, head="classify", classes=2
    )
    publish(Encoder(spec), tmp_path / "vit", ("cat", "dog"), start={}, beside=None, trained="all")
    assert opened(transformers.AutoModelForImageClassification, tmp_path / "vit").config.id2label == {0: "cat", 1: "dog"}


def test_models_without_a_transformers_class_stay_in_our_layout(tmp_path):
    spec = EncoderSpec(**SMALL, vocab=60, norm="pre", pool="mean", head="classify", classes=2, position="learned")
    assert class_for(spec, BERT_CONFIG) is None
    publish(Encoder(spec), tmp_path / "best", ("a", "b"), start={}, beside=None, trained="all")
    assert sorted(path.name for path in (tmp_path / "best").iterdir()) == ["labels.json", "model.safetensors", "spec.json"]
    assert load(tmp_path / "best").labels == ["a", "b"]


def test_a_bert_with_grouped_queries_is_not_saved_as_bert(tokenizer):
    spec = bert(tokenizer, head="mlm").spec
    config = next(drafts(spec))
    assert class_for(spec, config) == "BertForMaskedLM"
    assert class_for(spec.replace(kv_heads=spec.heads), config) == "BertForMaskedLM"
    assert class_for(spec.replace(kv_heads=1), config) is None


@pytest.mark.parametrize("trained", ["all", "head"])
def test_a_trained_body_goes_where_transformers_finds_it(tmp_path, tokenizer, trained):
    body = bert(tokenizer, pooler="none")
    config = BERT_CONFIG | {"vocab_size": tokenizer.vocab, "max_position_embeddings": 24}
    save(body, tmp_path / "model", config=config, as_class="BertModel")
    tokenizer.save(tmp_path / "model" / "tokenizer.json")
    encoder = bert(tokenizer, pool="mean", pooler="none", head="classify", classes=2)
    start = {"config": json.loads((tmp_path / "model" / "config.json").read_text(encoding="utf-8"))}
    publish(encoder, tmp_path / "best", ("a", "b"), start=start, beside=tmp_path / "model", trained=trained)
    assert (tmp_path / "best" / "body").is_dir() == (trained == "all")
    if trained == "all":
        found = gf.verify(tmp_path / "best" / "body")  # transformers adds a random pooler, which is not compared
        assert found.holds and len(found.comparisons) == 3
        model = transformers.AutoModel.from_pretrained(tmp_path / "best" / "body").eval()
        words = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "best" / "body" / "tokenizer.json"))
        with torch.no_grad():
            mean = model(**words(TEXTS[:1], return_tensors="pt")).last_hidden_state.mean(1)
        vector = (mean / mean.norm()).numpy()
        tokenizer.save(tmp_path / "best" / "tokenizer.json")
        assert np.allclose(load(tmp_path / "best").encode(TEXTS[:1]), vector, atol=1e-6)


FAMILIES = {
    "bert-tiny": {},
    "roberta-base": {"position_offset": 1},
    "distilbert-base": {},
    "modernbert-base": {"layers": 4, "window": 8},
    "deberta-v3-base": {"relative_buckets": 8, "relative_distance": 16},
}
HEADS = {"classify": "SequenceClassification", "tag": "TokenClassification", "mlm": "MaskedLM"}


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_new_encoder_of_a_published_family_is_a_model_of_transformers(tmp_path, tokenizer, family, head):
    classes = {} if head == "mlm" else {"classes": 3}
    spec = preset(family).replace(**SMALL | {"d_ff": 32, "vocab": tokenizer.vocab, "head": head} | classes | FAMILIES[family])
    torch.manual_seed(3)
    encoder = Encoder(with_published_head(spec, ())).eval()
    publish(encoder, tmp_path / "best", () if head == "mlm" else ("a", "b", "c"), start={}, beside=None, trained="all")
    tokenizer.save(tmp_path / "best" / "tokenizer.json")
    describe_tokens(tmp_path / "best")
    model = opened(getattr(transformers, f"AutoModelFor{HEADS[head]}"), tmp_path / "best")
    words = transformers.AutoTokenizer.from_pretrained(tmp_path / "best")
    given = words([*TEXTS, "something unknown: zyx"], return_tensors="pt", padding=True)
    with torch.no_grad():
        said = model(input_ids=given["input_ids"], attention_mask=given["attention_mask"]).logits
        ours = encoder(given["input_ids"], given["attention_mask"].bool()).logits
    real = given["attention_mask"].bool() if head != "classify" else slice(None)
    assert (said[real] - ours[real]).abs().max() < 1e-5


def test_the_head_is_that_of_the_family_unless_a_field_says_otherwise():
    spec = preset("roberta-base").replace(position_offset=1, head="classify", classes=3)
    made = with_published_head(spec, ())
    assert (made.pooler, made.head_hidden) == ("none", "tanh")
    assert with_published_head(spec, {"pool"}) == spec
    plain = preset("bert-base").replace(head="classify", classes=3)
    assert with_published_head(plain, ()) == plain


def test_the_body_of_a_new_classifier_on_the_mean_goes_where_transformers_finds_it(tmp_path, tokenizer):
    encoder = bert(tokenizer, pool="mean", pooler="none", head="classify", classes=2).eval()
    publish(encoder, tmp_path / "best", ("a", "b"), start={}, beside=None, trained="all")
    assert gf.verify(tmp_path / "best" / "body").holds
    body = transformers.AutoModel.from_pretrained(tmp_path / "best" / "body").eval()
    tokens = torch.arange(4, 12).reshape(1, 8)
    views = dict(encoder.ledger())
    with torch.no_grad():
        mean = body(tokens).last_hidden_state.mean(1)
        assert torch.allclose(mean @ views["head.W_C"] + views["head.b_C"], encoder(tokens).logits, atol=1e-6)


@pytest.mark.parametrize("model", ["roberta-base", "modernbert-base"])
def test_a_new_run_of_a_preset_opens_in_transformers(tmp_path, model):
    path = tmp_path / "rows.csv"
    rows = [f"a {word} thing number {i},{label}\n" for i in range(60) for word, label in (("red", "warm"), ("blue", "cold"))]
    path.write_text("text,label\n" + "".join(rows), encoding="utf-8")
    words = f"{model} d_model=16 heads=2 layers=2 d_ff=32"
    run = gf.train(path, words, epochs=1, vocab=80, max_length=16, out=tmp_path / "run", progress=False).folder
    theirs = opened(transformers.AutoModelForSequenceClassification, run / "best")
    given = transformers.AutoTokenizer.from_pretrained(run / "best")(TEXTS, return_tensors="pt", padding=True)
    with torch.no_grad():
        said = theirs(input_ids=given["input_ids"], attention_mask=given["attention_mask"]).logits.softmax(-1).numpy()
    assert np.allclose(said, [list(one.values.values()) for one in gf.load(run).predict(TEXTS)], atol=1e-6)
    assert gf.verify(run / "best").holds
