"""A decoder in Trace continues with a token: the new text is one that the model can read again."""

import pytest
from trace_client import Client

import glassformer as gf

RANDOM = {"model": "random", "spec": "gpt2 d_model=8 heads=2 d_ff=16 layers=2 vocab=12", "text": "Tom a été entarté"}


def last(opened):
    return opened["output"]["next"][-1]


def test_a_decoder_on_words_continues_with_the_words_that_it_has():
    client = Client()
    opened = client.found("open", **RANDOM)
    assert {one["text"] for row in opened["output"]["next"][:-1] for one in row} == {""}
    taken = next(one for one in last(opened) if one["text"])
    assert taken["text"] == f"{RANDOM['text']} {taken['token']}"
    assert client.found("open", **{**RANDOM, "text": taken["text"]})["tokens"] == taken["text"].split()
    assert all(one["text"] == "" for one in last(opened) if one["token"].startswith("#"))


def test_a_decoder_with_a_tokenizer_continues_with_its_tokens(tmp_path):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    vocab = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    folder = gf.save(gf.Decoder(gf.spec(f"gpt2 layers=1 d_model=16 heads=2 d_ff=24 vocab={len(vocab)}")), tmp_path / "tiny")
    tokenizer = Tokenizer(models.BPE(vocab, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))
    client = Client(str(folder))
    opened = client.found("open", model=str(folder), text="an ant")
    assert opened["tokens"] == ["a", "n", "␣", "a", "n", "t"]
    for one in last(opened):
        assert one["text"].startswith("an ant")
        if "\ufffd" not in one["text"]:
            assert client.found("open", model=str(folder), text=one["text"])["t"] == 7
