"""Models that write are saved as a class of transformers where one fits, which then writes the same."""

import pytest
from tiny_writing import continuing, translating

import glassformer as gf
from glassformer.training.layouts import drafted

transformers = pytest.importorskip("transformers")
TOKENS = {"pad_token_id": 0, "eos_token_id": 3, "bos_token_id": 2}
FITTING = {
    "m2m100-418m position_offset=1": "m2m_100",
    "opus-mt-en-fr": "marian",
    "bart-base-seq2seq": "bart",
    "t5-small-seq2seq": "t5",
    "gpt2": "gpt2",
    "llama-2-7b": "llama",
    "transformer": None,  # its sines and cosines alternate, which no class of transformers has
    "m2m100-418m": None,  # positions from 2: with our padding token 0, M2M100 counts from 1
}


@pytest.mark.parametrize("name", FITTING)
def test_a_preset_finds_the_family_it_came_from(name):
    found = drafted(gf.spec(name), TOKENS)
    assert (None if found is None else found["model_type"]) == FITTING[name]


def inputs_of(tokenizer, texts):
    found = tokenizer(texts, return_tensors="pt", padding=True)
    return {key: found[key] for key in ("input_ids", "attention_mask")}


PAIRED = ["m2m100-418m positions=64 position_offset=1", "opus-mt-en-fr", "bart-base-seq2seq", "t5-small-seq2seq d_k=16"]


@pytest.mark.parametrize("model", PAIRED)
def test_transformers_translates_as_the_run_does(model, tmp_path):
    run = translating(tmp_path, model, lr=5e-3, epochs=4)
    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(run.folder / "best").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(run.folder / "best")
    texts = ["the red cat", "the old moon is new"]
    for beams in (1, 4):
        ours = gf.translate(run.folder, texts, beams=beams, max_new_tokens=12)
        found = theirs.generate(**inputs_of(tokenizer, texts), num_beams=beams, max_new_tokens=12, do_sample=False)
        assert [one.strip() for one in tokenizer.batch_decode(found, skip_special_tokens=True)] == ours.texts
    assert gf.verify(run.folder).holds


@pytest.mark.parametrize("model", ["gpt2 positions=32", "llama-2-7b positions=32"])
def test_transformers_continues_as_the_run_does(model, tmp_path):
    run = continuing(tmp_path, model, epochs=4)
    theirs = transformers.AutoModelForCausalLM.from_pretrained(run.folder / "best").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(run.folder / "best")
    (ours,) = gf.generate(run.folder, ["the red"], max_new_tokens=12).texts
    found = theirs.generate(**inputs_of(tokenizer, ["the red"]), max_new_tokens=12, do_sample=False)
    assert tokenizer.decode(found[0], skip_special_tokens=True).strip() == f"the red{ours}".strip()
    assert gf.verify(run.folder).holds


def test_models_without_a_class_use_our_own_layout(tmp_path):
    run = translating(tmp_path)
    names = {path.name for path in (run.folder / "best").iterdir()}
    assert names == {"spec.json", "model.safetensors", "tokenizer.json", "generation_config.json"}
    assert len(gf.translate(run.folder, ["the red cat"], max_new_tokens=5).texts) == 1
