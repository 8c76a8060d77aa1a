"""Float64 runs of decoders and encoder-decoders, against transformers; their words, their attention and their ledgers."""

import json

import numpy as np
import pytest
import tiny_decoders
import tiny_seq2seq
from tiny_models import all_in_float64, guest

import glassformer as gf
from glassformer.errors import GlassformerError
from glassformer.numbers import open_checkpoint
from glassformer.numbers.contributions.rules import Rules

CLOSE = 1e-10
SPEC = "transformer layers=2 d_model=8 heads=2 d_ff=12 vocab=20"
GPT2 = "gpt2 layers=2 d_model=8 heads=2 vocab=20"
LLAMA = "llama-3-8b layers=2 d_model=8 heads=4 kv_heads=2 vocab=20"
SENTENCES = {"text": "time flies like an arrow", "target": "le temps vole"}
WRITERS = ["T5ForConditionalGeneration", "BartForConditionalGeneration", "MarianMTModel", "M2M100ForConditionalGeneration"]


def saved(model, folder):
    model.save_pretrained(folder)
    return folder


def with_tokenizer(folder, words=("<pad>", "<s>", "</s>", "a", "small", "cat", "un", "petit", "chat")):
    """A tokenizer of whole words, which ends each text with </s>."""
    tokenizers = guest("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<pad>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    made.save(str(folder / "tokenizer.json"))
    return folder


@pytest.mark.parametrize("family", tiny_decoders.DECODERS)
def test_a_decoder_in_float64_gives_the_logits_of_transformers(family, tmp_path):
    torch, model = guest("torch"), tiny_decoders.tiny(family, {})
    tokens = np.array([[5, 9, 3, 3, 30], [1, 2, 3, 4, 5]])
    run = open_checkpoint(saved(model, tmp_path)).run(tokens=tokens)
    with all_in_float64(), torch.no_grad():
        theirs = model(torch.tensor(tokens)).logits.numpy()
    assert np.abs(run["head.logits"] - theirs).max() < CLOSE


@pytest.mark.parametrize("name", WRITERS)
def test_an_encoder_decoder_in_float64_gives_logits_and_cross_attention_of_transformers(name, tmp_path):
    torch, model = guest("torch"), tiny_seq2seq.tiny(name)
    tokens, target = np.array([[5, 9, 3, 2], [4, 2, 1, 1]]), np.array([[2, 7, 8], [2, 11, 12]])
    attend = np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
    run = open_checkpoint(saved(model, tmp_path)).run(tokens=tokens, attend=attend, target_tokens=target)
    with all_in_float64(), torch.no_grad():
        given = {"input_ids": tokens, "attention_mask": attend, "decoder_input_ids": target}
        theirs = model(**{key: torch.tensor(value) for key, value in given.items()}, output_attentions=True)
    assert np.abs(run["head.logits"] - theirs.logits.numpy()).max() < CLOSE
    for layer, weights in enumerate(theirs.cross_attentions):
        ours = run.attention(layer=layer, batch=0).weights[0]
        assert ours.shape == weights[0].shape
        assert np.abs(ours - weights[0].numpy()).max() < CLOSE


def test_audio_and_a_target_are_the_inputs(tmp_path):
    torch, model = guest("torch"), tiny_seq2seq.tiny("WhisperForConditionalGeneration")
    frames, target = np.random.default_rng(0).normal(size=(1, 5, 14)), np.array([[2, 7, 8]])
    run = open_checkpoint(saved(model, tmp_path)).run(frames=frames, target_tokens=target)
    with all_in_float64(), torch.no_grad():
        theirs = model(input_features=torch.tensor(frames), decoder_input_ids=torch.tensor(target)).logits.numpy()
    assert np.abs(run["head.logits"] - theirs).max() < CLOSE


def test_a_target_follows_the_token_that_begins_a_text_without_the_one_that_ends_it(tmp_path):
    folder = with_tokenizer(saved(tiny_seq2seq.tiny("MarianMTModel", decoder_start_token_id=1), tmp_path))
    run = open_checkpoint(folder).run("a small cat", target=["un petit chat"])
    assert run["target"].tolist() == [[1, 6, 7, 8]]
    assert run.target == [["<s>", "un", "petit", "chat"]]
    assert run.tokens == [["a", "small", "cat", "</s>"]]
    settings = {"decoder_start_token_id": 1, "eos_token_id": 2, "forced_bos_token_id": 5}
    (folder / "generation_config.json").write_text(json.dumps(settings))
    assert open_checkpoint(folder).run("a", target="un")["target"].tolist() == [[1, 5, 6]]  # as a translation begins


def test_targets_of_different_lengths_are_padded_and_masked(tmp_path):
    checkpoint = open_checkpoint(with_tokenizer(saved(tiny_seq2seq.tiny("BartForConditionalGeneration"), tmp_path)))
    both = checkpoint.run(["a small cat", "a cat"], target=["un chat", "un petit chat"])
    alone = checkpoint.run("a small cat", target="un chat")
    assert np.abs(both["head.logits"][0, :3] - alone["head.logits"][0]).max() < 1e-12


def test_every_cell_has_the_words_of_its_own_text():
    run = gf.run(SPEC, **SENTENCES)
    cross = run.explain("decoder.layers.1.cross.weights", head=0, u=1, s=4)
    assert cross.label == 'decoder.layers.1.cross.weights[head 0, u 1 "temps", s 4 "arrow"]'
    assert 's 2 "vole"' in run.explain("decoder.layers.0.attention.weights", head=0, u=2, s=2).label
    assert 't 0 "time", s 4 "arrow"' in run.explain("encoder.layers.0.attention.weights", head=0, t=0, s=4).label
    down = run.explain("head.logits", u=2, vocab=7).text(depth=12, most=2)
    assert "decoder.layers.1.out" in down


def test_a_cell_of_cross_attention_opens_down_to_the_tokens_of_the_source():
    run = gf.run(SPEC.replace("layers=2", "layers=1"), text="time flies", target="le temps")
    found, open_ = set(), [run.explain("decoder.layers.0.cross.scores", head=1, u=1, s=0)]
    while open_:
        one = open_.pop()
        for ref in one.refs:
            if (ref.tensor.name, str(ref.cell)) not in found:
                found.add((ref.tensor.name, str(ref.cell)))
                open_.append(one.open(ref))
    assert {"encoder.embeddings.E_token", "encoder.layers.0.attention.W_V", "decoder.layers.0.cross.W_K"} <= {
        name for name, _ in found
    }


def test_a_word_has_one_id_in_both_texts():
    run = gf.run(SPEC, text="Tom sleeps", target="voilà Tom")
    assert run["tokens"][0, 0] == run["target"][0, 1]


def test_a_change_of_a_target_token_moves_no_earlier_logit_and_no_encoder_state():
    run = gf.run(SPEC, **SENTENCES)
    moved = run.what_if({"target": {(0, 1): 9}})
    assert np.abs(moved.change("head.logits")[0, 0]).max() == 0
    assert np.abs(moved.change("head.logits")[0, 1:]).max() > 0.01
    assert not any(name.startswith("encoder.") for name in moved.rerun)
    assert moved.after.target == run.target


def test_cross_attention_has_source_and_target_on_its_sides():
    found = gf.run(SPEC, **SENTENCES).attention(layer=0, head=1)
    assert (found.kind, found.queries, found.keys) == ("cross", SENTENCES["target"].split(), SENTENCES["text"].split())
    assert found.grid(0, 1).shape == (3, 5)
    first, heading, *rows = found.text().splitlines()
    assert first == "cross-attention, layer 0, head 1: each row is a target token, each column a source token"
    assert heading.split() == found.keys
    assert [row.split()[0] for row in rows] == found.queries
    document = found.to_dict()
    assert (document["kind"], document["queries"], document["keys"]) == ("cross", found.queries, found.keys)


def test_the_other_kinds_of_attention_are_those_of_the_stacks():
    run = gf.run(SPEC, **SENTENCES)
    assert run.attention(kind="encoder").weights.shape == (2, 2, 5, 5)
    decoder = run.attention(kind="decoder")
    assert decoder.keys == decoder.queries == SENTENCES["target"].split()
    assert np.triu(decoder.weights, 1).max() == 0  # no token attends to a later one


@pytest.mark.parametrize(
    ("what", "given", "told"),
    [
        (SPEC, {"text": "a b"}, "an encoder-decoder needs a source and a target: also give target (--target TEXT"),
        (SPEC, {"target": "a b"}, "an encoder-decoder needs a source and a target: also give text (--text TEXT"),
        (SPEC, {"text": "a", "target": " "}, "the target is empty: give at least one word."),
        (SPEC, {"text": "a", "target": "b", "target_tokens": [1]}, "target and target_tokens are both given."),
        (SPEC, {"text": "a", "target_tokens": [20]}, "target[0, 0] = 20 is out of range: the vocabulary has rows 0 to 19."),
        (SPEC, {"text": "a", "target_tokens": 5}, "target_tokens=5 is not allowed: target_tokens must be a list of ids"),
        (GPT2, {"text": "a", "target": "b"}, "a target is for encoder-decoders only"),
        (SPEC + " u=2", {"text": "a", "target": "a b c"}, "u=2 contradicts the input, which has u=3. Leave u out."),
    ],
)
def test_a_mistake_about_the_target_is_one_line(what, given, told):
    with pytest.raises(GlassformerError) as error:
        gf.run(what, **given)
    assert str(error.value).startswith(told)


def test_mistakes_about_a_checkpoints_target_are_one_line(tmp_path):
    folder = with_tokenizer(saved(tiny_seq2seq.tiny("BartForConditionalGeneration"), tmp_path))
    checkpoint = open_checkpoint(folder)
    for given, told in (
        ({"text": "a"}, "an encoder-decoder needs a source and a target"),
        (
            {"text": "a", "target": "un " * 30},
            "target 0 has 31 tokens including the start token, but the decoder has 19",
        ),
        ({"text": ["a", "cat"], "target": "un"}, "there are 2 sources and 1 targets: give one target for each source."),
        ({"tokens": [[1]], "target_tokens": [[]]}, "target has shape [1, 0]: at least one token is needed."),
        ({"target": "un"}, "this encoder-decoder needs text=… or tokens=…, found nothing."),
    ):
        with pytest.raises(GlassformerError) as error:
            checkpoint.run(**given)
        assert str(error.value).startswith(told)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "decoder_start_token_id": None}))
    (folder / "generation_config.json").unlink()
    with pytest.raises(GlassformerError, match="has no decoder_start_token_id, the start token of a target"):
        open_checkpoint(folder).run("a", target="un")


@pytest.mark.parametrize("depth", ["direct", "input"])
@pytest.mark.parametrize("what", [GPT2, LLAMA, SPEC])
def test_the_contributions_to_a_logit_add_up(what, depth):
    given = SENTENCES if what == SPEC else {"text": SENTENCES["text"]}
    run = gf.run(what, **given)
    place = {"u": 2} if what == SPEC else {"t": 4}
    found = run.contributions("head.logits", Rules(depth=depth), **place, vocab=3)
    assert abs(found.gap) < 1e-12
    assert {"encoder", "decoder"} >= {line.stack for line in found.lines if line.stack}
    if what == SPEC and depth == "direct":
        assert {line.part for line in found.lines} >= {"attention", "cross", "ffn"}
        words = {(line.part, line.position): found.word(line.position, target=line.target) for line in found.lines}
        assert words["cross", 4] == "arrow"
        assert words["attention", 2] == "vole"


def test_a_stored_offset_of_the_logits_is_a_contribution(tmp_path):
    checkpoint = open_checkpoint(saved(tiny_seq2seq.tiny("BartForConditionalGeneration"), tmp_path))
    run = checkpoint.run(tokens=[[5, 6, 2]], target_tokens=[[2, 7]])
    found = run.contributions("head.logits", u=1, vocab=4)
    assert abs(found.gap) < 1e-10
    (offset,) = (line.value for line in found.lines if line.name == "head.c_vocab")
    assert offset == pytest.approx(run["head.c_vocab"][4])


def test_attribute_names_the_next_token(tmp_path):
    folder = with_tokenizer(saved(tiny_seq2seq.tiny("MarianMTModel", vocab_size=9, decoder_vocab_size=9), tmp_path))
    found = gf.attribute(folder, "a small cat", target="un petit", of="token=chat")
    run = gf.run(folder, text="a small cat", target="un petit")
    assert found.label == "logit of 'chat' after position 2"
    assert found.value == pytest.approx(run["head.logits"][0, 2, 8])
    best = int(np.argmax(run["head.logits"][0, -1]))
    assert gf.attribute(folder, "a small cat", target="un petit").value == pytest.approx(run["head.logits"][0, -1, best])
    with pytest.raises(GlassformerError, match="does not fit a model that predicts the next token: give token=WORD"):
        gf.attribute(folder, "a", target="un", of="class=chat")
