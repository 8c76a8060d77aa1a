"""Responses of the trace page: runs rebuilt from an address, cells that add up, changes and their effects."""

import shutil
import threading
import time

import numpy as np
import pytest
from trace_client import Client, unpacked

import glassformer as gf
from glassformer.lab.pages import trace_models
from glassformer.lab.pages.trace import TraceState
from glassformer.lab.pages.trace_edits import edited, with_mask
from glassformer.lab.pages.trace_sessions import Cache
from glassformer.lab.pages.trace_slices import page_of
from glassformer.numbers import open_checkpoint
from glassformer.numbers import run as evaluate
from glassformer.program import build

WHO = "Tom a été entarté cet été. Who was entarté?"


@pytest.fixture(scope="module")
def client():
    return Client()


def test_the_first_run_is_the_question_about_tom(client):
    found = client.found("open")
    assert found["text"] == WHO
    assert found["tokens"][:4] == ["Tom", "a", "été", "entarté"]
    assert found["tokens"][7] == "Who"


@pytest.mark.parametrize(
    ("question", "answer"), [("Who was entarté?", 0), ("What happened to Tom?", 3), ("When was Tom entarté?", 5)]
)
def test_the_bundled_model_answers_with_its_attention(client, question, answer):
    _, arrays = client.found("tensor", text=f"Tom a été entarté cet été. {question}", name="layers.0.attention.weights")
    assert arrays["after"][7].argmax() == answer


def test_the_accuracy_on_the_bundled_digits_is_as_stated():
    model = open_checkpoint(trace_models.HOME / "digits")
    with np.load(trace_models.DIGITS) as stored:
        pixels, labels = stored["image"][:, None] * (2.0 / trace_models.WHITE) - 1.0, stored["label"]
    right = (model.run(image=pixels).output.argmax(-1) == labels).mean()
    assert f"{right:.1%}" == "96.7%"
    assert "Test accuracy: 96.7% of the images." in trace_models.bundled()["digits"]["made"]


def test_the_bundled_models_are_small_and_say_how_they_were_made():
    assert sum(path.stat().st_size for path in trace_models.HOME.rglob("*") if path.is_file()) < 900_000
    assert set(trace_models.bundled()) == {path.name for path in trace_models.HOME.iterdir() if path.is_dir()}
    for about in trace_models.bundled().values():
        assert "Trained in" in about["made"]


def test_a_cell_is_what_explain_says_and_its_terms_add_up(client):
    run = gf.run(trace_models.HOME / "tom", text=WHO)
    found = client.found("cell", text=WHO, cell="layers.0.attention.scores[head=0,t=7,s=0]")
    there = run.explain("layers.0.attention.scores", head=0, t=7, s=0)
    assert found["value"] == there.value
    assert found["rule"] == there.rule
    assert found["how"]["kind"] == "divided"
    total = sum(term["value"] for term in found["terms"]) + found["rest"]["sum"]
    assert total / found["how"]["by"] == pytest.approx(there.value, abs=1e-12)


def test_every_number_in_the_arithmetic_says_which_cell_it_is(client):
    found = client.found("cell", text=WHO, cell="layers.0.attention.q[t=7,head=0,d_k=3]")
    doors = [part for term in found["terms"] for part in term["parts"] if isinstance(part, dict)]
    assert {door["id"].split("[")[0] for door in doors} == {"x", "layers.0.attention.W_Q", "layers.0.attention.b_Q"}
    for door in doors[:10]:
        assert client.found("cell", text=WHO, cell=door["id"])["value"] == door["value"]
    texts = "".join(part if isinstance(part, str) else part["text"] for part in found["numbers"])
    assert texts == gf.run(trace_models.HOME / "tom", text=WHO).explain("layers.0.attention.q", t=7, head=0, d_k=3).numbers(
        most=6
    )


def test_a_parameter_and_an_input_end_the_trail(client):
    found = client.found("cell", text=WHO, cell="layers.0.attention.W_Q[d_model=1,head=0,d_k=2]")
    assert (found["source"], found["terms"], found["numbers"]) == ("parameter", [], [])
    assert client.found("cell", text=WHO, cell="tokens[t=0]")["source"] == "input"


def test_latex_is_ready_to_paste(client):
    found = client.found("cell", model="random", text="a b", cell="layers.0.attention.scores[head=0,t=0,s=1]")
    assert found["copy"].startswith(r"\mathrm{scores}\left[0, 0, 1\right] = \frac{")
    assert found["latex"] == r"\mathrm{scores} = \frac{q \, k^{\top}}{\sqrt{d_{k}}}"


def test_a_changed_number_moves_what_depends_on_it_as_what_if_says(client):
    run = gf.run(trace_models.HOME / "tom", text=WHO)
    there = run.what_if({"layers.0.attention.scores": {(0, 0, 7, 0): -3.0}})
    found = client.found("open", text=WHO, edits=["layers.0.attention.scores[head=0,t=7,s=0]=-3"])
    assert found["moved"] == pytest.approx(there.moved)
    header, arrays = client.found(
        "tensor", text=WHO, edits=["layers.0.attention.scores[head=0,t=7,s=0]=-3"], name="layers.0.attention.weights"
    )
    assert header["rows"] == {"axis": "t", "size": 11, "start": 0}
    np.testing.assert_allclose(arrays["difference"], there.change("layers.0.attention.weights")[0, 0], atol=1e-6)
    np.testing.assert_allclose(arrays["after"] - arrays["before"], arrays["difference"], atol=1e-6)


def test_a_number_that_was_typed_in_is_not_explained_with_the_arithmetic_that_no_longer_makes_it(client):
    scores = "layers.0.attention.scores[head=0,t=7,s=0]"
    before = client.found("cell", text=WHO, cell=scores)
    found = client.found("cell", text=WHO, edits=[f"{scores}=-20"], cell=scores)
    assert (found["source"], found["value"], found["was"], found["before"]) == ("edit", -20, before["value"], before["value"])
    assert (found["terms"], found["numbers"], found["how"]) == ([], [], {"kind": "given"})
    assert found["rule"].startswith("set by hand (was ")
    assert found["copy"] == r"\mathrm{scores}\left[0, 7, 0\right] = -20"
    beside = client.found("cell", text=WHO, edits=[f"{scores}=-20"], cell=scores.replace("s=0", "s=1"))
    assert (beside["source"], beside["was"]) == ("step", None)
    weight = client.found("cell", text=WHO, edits=[f"{scores}=-20"], cell=scores.replace("scores", "weights"))
    assert weight["how"]["own"] / weight["how"]["sum"] == pytest.approx(weight["value"], rel=1e-9)


EDITS = [
    ["layers.0.attention.scores[head=0,t=7,s=0]=-20", "layers.0.attention.q[t=7,head=0,d_k=0]=5"],
    ["layers.0.out[t=3,d_model=0]=0.5", "drop:0.0"],
    ["mask:2", "layers.0.attention.weights[head=0,t=0,s=1]=0.75"],
    ["swap:0,3", "x[t=1,d_model=0]=2", "layers.0.attention.W_V[d_model=0,head=0,d_v=0]=-3"],
]


@pytest.mark.parametrize("edits", EDITS)
def test_after_any_change_the_terms_that_are_shown_give_the_number_that_is_shown(client, edits):
    run = gf.run(trace_models.HOME / "tom", text=WHO)
    difference, _ = edited(with_mask(run) if edits[0].startswith("mask") else run, edits)
    draws = np.random.default_rng(0)
    sources = set()
    for name in difference.after:
        value = difference.after[name]
        moved = np.argwhere(value != difference.before[name])
        for place in (moved[:1].tolist() + moved[-1:].tolist()) or [[int(draws.integers(size)) for size in value.shape]]:
            found = difference.after.explain(
                name, **dict(zip([a.name for a in difference.after.tensor(name).axes], place, strict=True))
            )
            sources.add(found.source)
            assert found.evaluated == pytest.approx(found.value, rel=1e-9, abs=1e-9)
    assert sources >= {"edit", "step"}


def test_an_ablated_head_is_knocked_out(client):
    run = gf.run(trace_models.HOME / "words", text="flash wala camera")
    there = gf.knock_out(run, layer=0, heads=1)
    found = client.found("open", model="words", edits=["drop:0.1"])
    assert found["edits"] == ["head 1 of layer 0 ablated"]
    assert found["moved"] == pytest.approx(there.moved)


def test_a_masked_word_is_as_if_it_were_padding(client):
    tokens = open_checkpoint(trace_models.HOME / "words")
    plain = tokens.run("flash wala camera")
    attend = np.ones((1, 8), dtype=bool)
    attend[0, 3] = False
    there = tokens.run(tokens=plain["tokens"], attend=attend)
    _, arrays = client.found("tensor", model="words", edits=["mask:3"], name="head.logits")
    np.testing.assert_allclose(arrays["after"], there["head.logits"][0], atol=1e-5)
    np.testing.assert_allclose(arrays["before"], plain["head.logits"][0], atol=1e-5)


@pytest.mark.parametrize("model", ["tom", "words", "digits"])
def test_a_mask_that_lets_everything_through_moves_nothing(model):
    checkpoint = open_checkpoint(trace_models.HOME / model)
    goes_in = {"image": np.zeros((1, 1, 8, 8))} if model == "digits" else {"text": "Tom a camera"}
    run = checkpoint.run(**goes_in)
    inputs = {tensor.name: run[tensor.name] for tensor in run.program.inputs}
    inputs["attend"] = np.ones((1, run.program.sizes.t), dtype=bool)
    masked = with_mask(run)
    t = None if model == "digits" else run.program.sizes.t
    there = evaluate(build(run.program.spec, t=t, padded=True), checkpoint.weights, inputs)
    assert set(masked.values) == set(there.values)
    for name in there:
        np.testing.assert_array_equal(masked[name], there[name])


def test_swapped_words_take_their_places_in_the_list(client):
    found = client.found("open", text=WHO, edits=["swap:0,3"])
    assert found["tokens"][:4] == ["entarté", "a", "été", "Tom"]
    assert found["before_tokens"][0] == "Tom"
    there = gf.swap_tokens(gf.run(trace_models.HOME / "tom", text=WHO), 0, 3)
    assert found["moved"] == pytest.approx(there.moved)


def test_a_number_that_was_set_stays_set_whatever_changes_before_it():
    run = gf.run("layer", d_model=4, heads=2, d_ff=8, text="a b c")
    cell = "layers.0.attention.weights[head=0,t=0,s=1]=0.5"
    difference, _ = edited(run, [cell, "x[t=0,d_model=0]=3"])
    weights = difference.after["layers.0.attention.weights"][0, 0, 0]
    moved = edited(run, ["x[t=0,d_model=0]=3"])[0].after["layers.0.attention.weights"][0, 0, 0]
    assert weights[1] == 0.5
    np.testing.assert_array_equal(weights[[0, 2]], moved[[0, 2]])  # its neighbours follow what changed before them
    assert not np.array_equal(moved, run["layers.0.attention.weights"][0, 0, 0])


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"edits": ["drop:0.9"]}, "'drop:0.9' is not a head: this encoder has layers 0 to 0 and heads 0 to 0."),
        ({"edits": ["mask:99"]}, "'mask:99' is not a token: this run has tokens 0 to 10."),
        ({"edits": ["swap:0"]}, "'swap:0' is not a token"),
        ({"edits": ["tokens[t=0]=99999"]}, "tokens[0, 0] = 99999 is out of range: the vocabulary has rows 0 to 601."),
        ({"edits": ["x[t=0,d_model=0]=nan"]}, "nan is not a finite number"),
        ({"edits": ["foo"]}, "'foo' is not a cell"),
        ({"edits": ["foo[t=0]=1"]}, "there is no 'foo' in this run."),
        ({"edits": ["mask:1"] * 65}, "65 changes are too many: at most 64 at once."),
        ({"edits": "mask:1"}, "edits must be a list of texts"),
        ({"model": "/etc"}, "/etc is not in the folders that the lab was started with (none)"),
        ({"model": "random", "spec": "layer heads=7"}, "heads=7 does not divide d_model=512"),
        ({"model": "random", "spec": "layer heads"}, "'heads' is not a field"),
        ({"model": "random", "spec": "layer", "text": "a " * 9000}, "GB of memory; the lab uses at most 2.5 GB"),
        ({"model": "random", "spec": "whisper-tiny"}, "this encoder reads audio; the lab traces only text and images"),
        ({"model": "random", "spec": "bert-base"}, "parameters; at most 50,000,000 are made from a seed"),
        ({"model": "digits", "image": "20"}, "image=20 does not exist: the built-in images are 0 to 19."),
        ({"text": "x" * 20_001}, "the text has 20,001 characters; the lab traces at most 20,000."),
        ({"text": "Tom " * 70}, "text 0 has 70 tokens, but this model has 64 positions."),
        ({"seed": -1}, "seed=-1 is not allowed"),
        ({"text": 3}, "the request must have text as a string, found 3."),
    ],
)
def test_a_mistake_is_one_line(client, fields, line):
    assert line in client.refused("open", **({"text": WHO} | fields))


def test_cells_and_tensors_that_do_not_exist_are_reported_in_one_line(client):
    assert "head runs from 0 to 0" in client.refused("tensor", text=WHO, name="layers.0.attention.q", at={"head": 3})
    assert "there is no 'layers.9.out'" in client.refused("tensor", text=WHO, name="layers.9.out")
    assert "s=99 is out of range" in client.refused("cell", text=WHO, cell="layers.0.attention.scores[head=0,t=7,s=99]")
    assert "is not a cell" in client.refused("cell", text=WHO, cell="<b>")


def test_an_image_has_patches_classes_and_a_class_token(client):
    found = client.found("open", model="digits", image="3")
    assert found["image"] == {"grid": [4, 4], "patch": [2, 2], "before": 1}
    assert found["tokens"][:2] == ["class", "0,0"]
    assert found["output"]["classes"][0]["name"] == "3"
    _, arrays = client.found("tensor", model="digits", image="3", name="image")
    assert arrays["after"].shape == (8, 8)
    assert client.ask("open", model="random", spec="vit-b16 layers=1 d_model=8 heads=2 d_ff=16").status_code == 200


def test_a_masked_patch_gets_no_weight(client):
    _, arrays = client.found("tensor", model="digits", image="3", edits=["mask:6"], name="layers.1.attention.weights")
    assert (arrays["after"][:, 6] == 0).all()
    assert (arrays["before"][:, 6] > 0).all()


def test_a_large_run_comes_in_windows_and_thumbnails(client):
    text = " ".join(f"w{place}" for place in range(512))
    fields = {"model": "random", "spec": "layer d_model=8 heads=4 d_ff=8", "text": text}
    header, arrays = client.found("tensor", **fields, name="layers.0.attention.weights", at={"head": 2, "from_row": 500})
    assert header["rows"] == {"axis": "t", "size": 512, "start": 448}
    assert arrays["after"].shape == (64, 64)
    answer = client.ask("heads", **fields)
    header, arrays = unpacked(answer.content)
    assert arrays["layers.0.attention.weights"].shape == (4, 24, 24)
    assert len(answer.content) < 10_000
    _, arrays = client.found("tensor", **fields, name="layers.0.attention.weights", at={"head": 2, "from_row": 9, "whole_row": 1})
    assert arrays["after"].shape == (1, 512)
    assert arrays["after"].sum() == pytest.approx(1, abs=1e-4)


def test_a_run_too_large_to_keep_whole_is_kept_a_layer_at_a_time(client, monkeypatch):
    whole = client.found("tensor", model="words", name="layers.1.attention.weights")[1]["after"]
    monkeypatch.setattr(trace_models, "numbers_held", lambda _, layers: 10 if layers else 10**12)
    client = Client()
    found = client.found("open", model="words", layer=1)
    assert found["whole"] is False
    kept = {step["name"]: step["kept"] for step in found["steps"] if "kept" in step}
    assert kept["layers.1.attention.weights"]
    assert not kept["layers.0.attention.weights"]
    _, arrays = client.found("tensor", model="words", layer=1, name="layers.1.attention.weights")
    np.testing.assert_array_equal(arrays["after"], whole)
    assert "too large to keep in full" in client.refused("open", model="words", layer=1, edits=["drop:1.1"])


def test_a_run_that_is_kept_whole_stays_whole_when_memory_gets_short(monkeypatch):
    client = Client()
    assert client.found("open", model="words", text="flash wala camera")["whole"]
    monkeypatch.setattr(trace_models, "free_memory", lambda: 1000)
    found = client.found("open", model="words", text="flash wala camera", edits=["drop:0.1"])
    assert (found["whole"], found["edits"]) == (True, ["head 1 of layer 0 ablated"])
    assert "Use a shorter text" in client.refused("open", model="words", text="another camera")


def test_a_changed_run_does_not_push_out_the_run_it_came_from():
    client = Client()
    edits = ["mask:1", "drop:0.1"]
    found = client.found("open", model="words", edits=edits)
    desk: TraceState = client.client.app.app.state.trace
    (plain,), (changed,) = desk.runs.kept.values(), desk.changed.kept.values()
    kept = desk.runs.kept.copy()
    desk.runs.most_bytes = desk.changed.most_bytes = 1  # a large one: nothing else has room beside it
    for _ in range(2):
        assert client.found("open", model="words", edits=edits) == found
        client.found("heads", model="words", edits=edits)
    assert (desk.runs.kept, list(desk.changed.kept.values())) == (kept, [changed])
    own = {
        name for name in changed[0].difference.after.values if changed[0].difference.after[name] is not plain[0].values.get(name)
    }
    assert changed[1] >= sum(changed[0].difference.after[name].nbytes for name in own) > 0


def test_every_tensor_of_every_bundled_model_can_be_shown_and_its_first_cell_opened(client):
    for model in trace_models.bundled():
        found = client.found("open", model=model)
        for step in found["steps"]:
            header, arrays = client.found("tensor", model=model, name=step["name"])
            cell = header["fixed"] | {header[side]["axis"]: 0 for side in ("rows", "columns") if header[side]["axis"]}
            inside = ",".join(f"{axis}={place}" for axis, place in cell.items())
            opened = client.found("cell", model=model, cell=f"{step['name']}[{inside}]")
            assert float(opened["value"]) == pytest.approx(float(arrays["after"][0, 0]), rel=1e-5, abs=1e-6)


def test_a_checkpoint_and_a_run_of_the_start_can_be_traced(tmp_path):
    run = tmp_path / "run"
    shutil.copytree(trace_models.HOME / "words", run / "best")
    (run / "tokenizer.json").write_bytes((run / "best" / "tokenizer.json").read_bytes())
    (run / "best" / "tokenizer.json").unlink()
    (run / "run.json").write_text("{}", encoding="utf-8")
    client = Client(str(run))
    found = client.found("open", model=str(run), text="flash wala camera")
    assert [tag["name"] for tag in found["output"]["tags"]][3] == "hi"
    assert "not in the folders" in client.refused("open", model=str(tmp_path))
    folder = Client(str(trace_models.HOME / "tom"))
    assert folder.lab.address.startswith("/trace?model=")
    assert folder.found("open", model=str(trace_models.HOME / "tom"), text=WHO)["t"] == 11


def test_tokens_are_text(client):
    found = client.found("open", model="random", text="<b>bold</b> \x1b[31m \u202e")
    assert found["tokens"][0] == "<b>bold</b>"
    assert all(word.isprintable() for word in found["tokens"])


def test_keys_that_several_heads_share_are_a_page_for_each_of_theirs():
    tensor = gf.build("layer", d_model=8, heads=4, kv_heads=2, t=3).tensors["layers.0.attention.k"]
    page = page_of(tensor, {"kv_head": 1})
    assert (page.rows.name, page.columns.name, page.fixed) == ("s", "d_k", {"batch": 0, "kv_head": 1})


def test_pages_lay_any_tensor_flat():
    run = gf.run("vit-b16", layers=1, d_model=8, heads=2, d_ff=16)
    for tensor in run.program.tensors.values():
        page = page_of(tensor, {})
        assert page.values(run.values[tensor.name]).shape == (page.rows.size, page.columns.size)


class TestCache:
    def test_the_oldest_goes_first_and_use_makes_young(self):
        shelf = Cache(2, 100)
        for key in "aba":
            shelf.get(key, lambda: object(), lambda _: 1)
        shelf.get("c", lambda: object(), lambda _: 1)
        assert list(shelf.kept) == ["a", "c"]

    def test_weight_is_bounded_and_the_newest_stays(self):
        shelf = Cache(10, 100)
        for size in (60, 60, 500):
            shelf.get(size, lambda: object(), lambda _, size=size: size)
        assert list(shelf.kept) == [500]
        assert shelf.making == {}

    def test_two_who_ask_at_once_make_it_once(self):
        shelf, made = Cache(4, 100), []

        def make():
            time.sleep(0.05)
            made.append(1)
            return len(made)

        threads = [threading.Thread(target=shelf.get, args=("a", make, lambda _: 1)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [1]

    def test_a_failure_is_not_kept(self):
        shelf = Cache(4, 100)
        with pytest.raises(ZeroDivisionError):
            shelf.get("a", lambda: 1 / 0, lambda _: 1)
        assert shelf.get("a", lambda: 2, lambda _: 1) == 2


def test_only_a_few_runs_are_kept(client):
    for place in range(20):
        client.found("open", model="random", text=f"a b c{place}")
    desk: TraceState = client.client.app.app.state.trace
    assert len(desk.runs.kept) <= desk.runs.most
    assert desk.runs.bytes <= desk.runs.most_bytes
