"""An encoder-decoder in Trace: two texts, cross-attention between them, and a target that is written token by token."""

import numpy as np
import pytest
from tiny_seq2seq import saved_translator
from trace_client import Client

import glassformer as gf

SPEC = "transformer d_model=8 heads=2 d_ff=16 layers=2 vocab=20"
RANDOM = {"model": "random", "spec": SPEC, "text": "Tom a été entarté"}


@pytest.fixture(scope="module")
def client():
    return Client()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return saved_translator(tmp_path_factory.mktemp("models") / "tiny")


def test_both_texts_have_their_words_and_the_three_attentions_their_sides(client):
    opened = client.found("open", **RANDOM)
    assert (opened["tokens"], opened["target"]) == (["Tom", "a", "été", "entarté"], ["start", "Tom", "was"])
    assert [stack["name"] for stack in opened["stacks"]] == ["encoder", "decoder"]
    keys = {step["name"]: step["keys"] for step in opened["steps"] if step["name"].endswith("layers.1.cross.weights")}
    assert keys == {"decoder.layers.1.cross.weights": "source"}
    own = next(step for step in opened["steps"] if step["name"] == "decoder.layers.1.attention.weights")
    assert (own["stack"], own["layer"], own["keys"]) == ("decoder", 1, "target")
    header, arrays = client.found("heads", **RANDOM)
    of_decoder = [f"decoder.layers.{layer}.{kind}.weights" for layer in (0, 1) for kind in ("attention", "cross")]
    assert header["names"] == [*(f"encoder.layers.{layer}.attention.weights" for layer in (0, 1)), *of_decoder]
    assert arrays["decoder.layers.0.cross.weights"].shape == (2, 3, 4)


def test_cross_attention_is_that_of_the_run(client):
    run = gf.run(SPEC, text="Tom a été entarté", target="start Tom was")
    header, arrays = client.found("tensor", **RANDOM, name="decoder.layers.1.cross.weights", at={"head": 1})
    assert (header["rows"]["axis"], header["columns"]["axis"]) == ("u", "s")
    np.testing.assert_allclose(arrays["after"], run["decoder.layers.1.cross.weights"][0, 1], atol=1e-6)
    cell = client.found("cell", **RANDOM, cell="decoder.layers.1.cross.weights[head=1,u=2,s=3]")
    assert cell["value"] == run["decoder.layers.1.cross.weights"][0, 1, 2, 3]
    assert '"was"' in cell["label"] and '"entarté"' in cell["label"]


def test_after_each_token_the_most_probable_ones_are_listed_and_the_one_that_follows(client):
    run = gf.run(SPEC, text="Tom a été entarté", target="start Tom was")
    listed = client.found("open", **RANDOM)["output"]["next"]
    assert len(listed) == 3
    for logits, row in zip(run.output[0], listed, strict=True):
        shares = np.exp(logits) / np.exp(logits).sum()
        assert [one["id"] for one in row[:5]] == np.argsort(-shares)[:5].tolist()
        assert [one["probability"] for one in row] == pytest.approx([shares[one["id"]] for one in row])
    assert [[one["token"] for one in row if one["taken"]] for row in listed] == [["Tom"], ["was"], []]


def test_a_target_of_ids_continues_from_the_words(client):
    opened = client.found("open", **RANDOM)
    wanted = [*opened["ids"], 9]
    longer = client.found("open", **RANDOM, ids=",".join(map(str, wanted)))
    assert (longer["ids"], longer["target"]) == (wanted, ["start", "Tom", "was", "#9"])
    assert longer["output"]["next"][2][-1] | {"before": 0} == longer["output"]["next"][2][-1] | {
        "before": 0,
        "taken": True,
        "id": 9,
    }
    before = [one["probability"] for one in opened["output"]["next"][1]]
    assert [one["probability"] for one in longer["output"]["next"][1]] == pytest.approx(before)  # a later token changes nothing


def test_a_head_of_cross_attention_and_a_word_of_the_source_can_be_taken_away(client):
    run = gf.run(SPEC, text="Tom a été entarté", target="start Tom was")
    mix = run["decoder.layers.1.cross.mix"].copy()
    mix[:, :, 1] = 0
    there = run.what_if({"decoder.layers.1.cross.mix": mix})
    found = client.found("open", **RANDOM, edits=["drop:decoder.1.cross.1"])
    assert found["moved"] == pytest.approx(there.moved)
    assert found["edits"] == ["cross-attention head 1 of layer 1 of the decoder ablated"]
    _, arrays = client.found("tensor", **RANDOM, edits=["mask:1"], name="decoder.layers.0.cross.weights")
    assert (arrays["after"][:, 1] == 0).all()
    assert arrays["after"].sum(-1) == pytest.approx(np.ones(3), abs=1e-6)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"edits": ["drop:0.1"]}, "'drop:0.1' is not a head: write one as drop:encoder.0.1, drop:decoder.0.1"),
        ({"edits": ["drop:encoder.0.cross.1"]}, "is not a head"),
        ({"ids": "1,x"}, "ids=1,x is not allowed: write token ids with commas, such as 0,17,4."),
        ({"ids": "20"}, "target[0, 0] = 20 is out of range: the vocabulary has rows 0 to 19."),
        (
            {"model": "tom", "text": "", "spec": "", "target": "a b"},
            "target is what a decoder reads beside an encoder, and this model has one stack",
        ),
    ],
)
def test_what_cannot_be_traced_is_refused_in_one_line(client, asked, said):
    assert said in client.refused("open", **{**RANDOM, **asked})


def test_a_checkpoint_shows_what_it_writes(folder):
    client = Client(str(folder))
    assert client.lab.address.startswith("/trace?model=")
    asked = {"model": str(folder), "text": "a small house"}
    opened = client.found("open", **asked)
    written = gf.translate(folder, "a small house", max_new_tokens=12)[0]
    assert opened["tokens"] == ["a", "small", "house", "</s>"]
    assert opened["ids"] == [1, *written.tokens]
    chosen = [next(one["id"] for one in row if one["taken"]) for row in opened["output"]["next"][:-1]]
    assert chosen == written.tokens
    assert not {0, 1} & {one["id"] for row in opened["output"]["next"] for one in row}  # ruled out by the model's files
    typed = client.found("open", **asked, target="une petite")
    assert typed["target"] == ["<s>", "une", "petite"]


@pytest.mark.parametrize("width", [2, 4])
def test_the_beams_end_where_translate_ends(folder, width):
    client = Client(str(folder))
    found = client.ask("beams", model=str(folder), text="a small house", beams=width).json()
    written = gf.translate(folder, "a small house", beams=width, max_new_tokens=12)[0]
    assert found["best"]["ids"] == [1, *written.tokens]
    assert found["best"]["score"] == pytest.approx(written.score, abs=1e-5)
    assert all(len(step) == width for step in found["steps"])
    for place, step in enumerate(found["steps"]):
        scores = [one["score"] for one in step]
        assert scores == sorted(scores, reverse=True)
        assert {len(one["ids"]) for one in step} == {place + 2}


def test_the_score_of_a_hypothesis_is_the_sum_of_its_log_probabilities(client):
    pytest.importorskip("torch")
    one = client.ask("beams", **RANDOM, beams=3).json()["steps"][2][1]
    ids = ",".join(map(str, one["ids"]))
    rows = client.found("open", **RANDOM, ids=ids)["output"]["next"]
    taken = [next(item["probability"] for item in row if item["taken"]) for row in rows[:-1]]
    assert np.log(taken).sum() == pytest.approx(one["score"], abs=1e-9)
    assert "beams=9 is not allowed here" in client.refused("beams", **RANDOM, beams=9)
