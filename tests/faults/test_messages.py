"""Thirty-four common errors: each is provoked, and its message names field, value, rule and way out."""

import errno
import json
import math
import subprocess
import sys
from functools import cache

import pytest
from checkpoint_files import CONFIG, add_tokenizer, bert_folder, file_bytes, header_and_data, sharded, tensors_of
from faults.rows import MESSAGES

import glassformer as gf
from glassformer.errors import GlassformerError

torch = pytest.importorskip("torch")

FAULTS = {}
BERT = gf.spec("bert-tiny", vocab=30522, positions=512, segments=2)


def fault(number, *wanted):
    """A function that provokes the error and returns the message, or raises it; and the words that the message must contain."""

    def register(make):
        FAULTS[number] = (make, wanted)
        return make

    return register


@cache
def encoder(spec=BERT):
    return gf.Encoder(spec).eval()


def changed_config(tmp_path, **changes):
    return bert_folder(tmp_path, **changes)


def with_weights(tmp_path, data):
    folder = bert_folder(tmp_path)
    (folder / "model.safetensors").write_bytes(data)
    return folder


def command(*words):
    """The command line in a separate process: its output and exit code."""
    words = [sys.executable, "-m", "glassformer", *map(str, words)]
    return subprocess.run(words, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)


# What goes into a model ---------------------------------------------------------------------------------------------------


@fault(1, "600", "positions=512", "tokens[:, :512]", "drops the last 88")
def _(tmp_path):
    encoder()(torch.ones(1, 600, dtype=torch.long))


@fault(2, "tokens[0,1] = 30522", "30522 entries", "0 to 30521")
def _(tmp_path):
    for wrong in (-1, 10**12):
        with pytest.raises(GlassformerError, match=rf"^tokens\[0,1\] = {wrong} is out of range: .* 0 to 30521"):
            encoder()(torch.tensor([[5, wrong]]))
    encoder()(torch.tensor([[5, 30522]]))


@fault(3, "segments[0,1] = 2", "segments=2", "0 to 1")
def _(tmp_path):
    encoder()(torch.tensor([[5, 6]]), segments=torch.tensor([[0, 2]]))


@fault(4, "text 1", "empty", "contains no tokens", "empty=skip")
def _(tmp_path):
    attend = torch.tensor([[1, 1], [0, 0]])
    with torch.no_grad():  # a mask without a real token: one rule on every path, and no NaN
        found = encoder()(torch.tensor([[4, 5], [6, 7]]), attend=attend, return_weights=[0])
    assert found.states.isfinite().all()
    assert not found.weights[0][1].any()
    gf.load(add_tokenizer(bert_folder(tmp_path))).encode(["the glass", ""])


@fault(5, "empty sequence", "(1, 0)", "at least 1 token")
def _(tmp_path):
    encoder()(torch.ones(1, 0, dtype=torch.long))


@fault(6, "(batch, t)", "(2,)", "tokens[None]")
def _(tmp_path):
    with pytest.raises(GlassformerError, match=r"^tokens must be a tensor, got list\. Pass torch\.tensor"):
        encoder()([5, 6])
    encoder()(torch.tensor([5, 6]))


@fault(7, "tokens", "whole numbers (int64)", "float32")
def _(tmp_path):
    encoder()(torch.tensor([[5.0, 6.0]]))


@fault(8, "attend is (1, 6)", "tokens is (1, 4)", "must agree")
def _(tmp_path):
    encoder()(torch.ones(1, 4, dtype=torch.long), attend=torch.ones(1, 6, dtype=torch.long))


@fault(9, "attend", "0 and 1", "-inf at [0,3]", "pass attend == 0")
def _(tmp_path):
    for wrong, said in ((math.nan, "nan"), (-1.0, "-1"), (0.5, "0.5")):
        with pytest.raises(GlassformerError, match=rf"found {said} at \[0,0\]"):
            encoder()(torch.ones(1, 4, dtype=torch.long), attend=torch.tensor([[wrong, 1.0, 1.0, 1.0]]))
    encoder()(torch.ones(1, 4, dtype=torch.long), attend=torch.tensor([[0.0, 0.0, 0.0, -math.inf]]))


# What a config says -------------------------------------------------------------------------------------------------------


@fault(10, "num_attention_heads = 5", "hidden_size = 8", "Try 4 heads of 2")
def _(tmp_path):
    for wrong in (0, -12):
        with pytest.raises(GlassformerError, match=rf"num_attention_heads = {wrong} is not allowed"):
            gf.load(changed_config(tmp_path, num_attention_heads=wrong))
    gf.load(changed_config(tmp_path, num_attention_heads=5))


@fault(11, "config.json has d_model=1,000,000,000", "values in total", "Nothing was allocated", "Use the config.json")
def _(tmp_path):
    with pytest.raises(GlassformerError, match=r"parameters, which need .*B.*\. Nothing was allocated\."):
        gf.Encoder(BERT.replace(d_model=10**9, heads=1))
    gf.load(changed_config(tmp_path, hidden_size=10**9))


@fault(12, "config.json has 1,000 layers", "2 (0 to 1)", "correct its number of layers")
def _(tmp_path):
    gf.load(changed_config(tmp_path, num_hidden_layers=1000))


@fault(13, "layer_norm_eps = -1 is not allowed", "positive number")
def _(tmp_path):
    with pytest.raises(GlassformerError, match="NaN is not a JSON number"):
        gf.load(changed_config(tmp_path, layer_norm_eps=math.nan))
    with pytest.raises(GlassformerError, match="layer_norm_eps = nan"):
        gf.spec({**CONFIG, "layer_norm_eps": math.nan})
    gf.load(changed_config(tmp_path, layer_norm_eps=-1))


@fault(14, "hidden_act", "__import__('os')", "gelu", "relu")
def _(tmp_path):
    gf.load(changed_config(tmp_path, hidden_act="__import__('os')"))


@fault(15, "config.json is not JSON", "it ends at character 25")
def _(tmp_path):
    folder = bert_folder(tmp_path)
    (folder / "config.json").write_text("")
    with pytest.raises(GlassformerError, match=r"config\.json is not JSON: it is empty"):
        gf.load(folder)
    (folder / "config.json").write_text("[" * 100_000)
    with pytest.raises(GlassformerError, match=r"config\.json is nested too deeply: at most 32 levels"):
        gf.load(folder)
    (folder / "config.json").write_text(json.dumps(CONFIG)[:25])
    gf.load(folder)


@fault(16, "config.json must be an object {…}", "found a list")
def _(tmp_path):
    folder = bert_folder(tmp_path)
    (folder / "config.json").write_text("[1, 2]")
    gf.load(folder)


# The files of a folder ----------------------------------------------------------------------------------------------------


@fault(17, "model.safetensors is a Git LFS pointer", "not weights", "git lfs pull")
def _(tmp_path):
    page = b"<!DOCTYPE html><html><head><title>404 Not Found</title></head></html>"
    with pytest.raises(GlassformerError, match=r'is an HTML page \("404 Not Found"\): the download failed'):
        gf.load(with_weights(tmp_path, page))
    gf.load(with_weights(tmp_path, b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 90868376\n"))


@fault(18, "model.safetensors is incomplete", "bytes", "(50 %)", "Download it again")
def _(tmp_path):
    whole = file_bytes(*header_and_data(tensors_of(CONFIG)))
    with pytest.raises(GlassformerError, match="1 more than its header describes"):
        gf.load(with_weights(tmp_path, whole + b"!"))
    gf.load(with_weights(tmp_path, whole[: len(whole) // 2 + 1]))


@fault(19, "model.safetensors", "header is not valid", 'byte 8 is "["', 'must be "{"', "damaged")
def _(tmp_path):
    whole = bytearray(file_bytes(*header_and_data(tensors_of(CONFIG))))
    whole[8] = ord("[")
    gf.load(with_weights(tmp_path, bytes(whole)))


@fault(20, "model.safetensors", "tensor a has 512 × 384 F32 = 786,432 bytes", "its data_offsets span 4")
def _(tmp_path):
    entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    both = {"a": entry, "b": {**entry, "data_offsets": [4, 12]}}
    with pytest.raises(GlassformerError, match="tensor b overlaps tensor a"):
        gf.load(with_weights(tmp_path, file_bytes(both, bytes(12))))
    with pytest.raises(GlassformerError, match="more bytes than any file can have"):
        gf.load(with_weights(tmp_path, file_bytes({"a": {**entry, "shape": [2**62, 2**62]}}, bytes(8))))
    gf.load(with_weights(tmp_path, file_bytes({"a": {**entry, "shape": [512, 384], "data_offsets": [0, 4]}}, bytes(4))))


@fault(21, "model.safetensors.index.json names a file outside the model folder", "../../outside/secret.safetensors", "Refused")
def _(tmp_path):
    with pytest.raises(GlassformerError, match=r"names a file outside the model folder|not a \.safetensors file"):
        gf.load(sharded(tmp_path / "a", **{"pooler.dense.bias": "/etc/passwd"}))
    with pytest.raises(GlassformerError, match="weight_map must map tensor names to file names"):
        gf.load(sharded(tmp_path / "b", **{"pooler.dense.bias": 3}))
    gf.load(sharded(tmp_path / "c", **{"pooler.dense.bias": "../../outside/secret.safetensors"}))


@fault(22, "pytorch_model.bin is a pickle file", "it can run code", "never opened", "Use model.safetensors")
def _(tmp_path):
    folder = bert_folder(tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    gf.load(folder)


@fault(23, "no such folder", "modell", "Did you mean 'model'?")
def _(tmp_path):
    bert_folder(tmp_path / "model")
    gf.load(tmp_path / "modell")


@fault(24, "encoder.layer.1.output.dense.weight[0, 0] is NaN", "1 of 96 values", "allow_nonfinite")
def _(tmp_path):
    tensors = tensors_of(CONFIG)
    tensors["encoder.layer.1.output.dense.weight"][0, 0] = math.nan
    gf.load(bert_folder(tmp_path, tensors=tensors))


# Training -----------------------------------------------------------------------------------------------------------------


@fault(25, "step 5: loss is nan", "lr", "Last good checkpoint: step 3", "Nothing was")
def _(tmp_path):
    from tiny_training import Quiet, tiny_run

    from glassformer.training import loop
    from glassformer.training.tasks import TASKS
    from glassformer.training.tasks.task import Judged

    run, data = tiny_run(tmp_path / "run")
    real, calls = loop.training_judge(TASKS["image"], data, run.settings), []

    def judge(*given):
        calls.append(1)
        judged = real(*given)
        return Judged(judged.loss * math.nan, judged.right) if len(calls) == 5 else judged

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "training_judge", lambda *_: judge)
        loop.train(run, data, Quiet())


@fault(26, "step-000006 is damaged", "using step-000003", "resuming after step 3 of 20")
def _(tmp_path):
    from tiny_training import Quiet, tiny_run

    from glassformer.training import loop

    run, data = tiny_run(tmp_path / "run")

    def stop(number):
        if number == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        loop.train(run, data, Quiet(stop))
    (newest,) = (run.checkpoints / "step-000006").glob("MANIFEST*")
    newest.write_bytes(newest.read_bytes()[:40])
    watch = Quiet()
    loop.train(run, data, watch)
    return " ".join(watch.said[:2])


@fault(27, "disk full saving step 3", "needs", "free", "Nothing was saved before.")
def _(tmp_path):
    from tiny_training import Quiet, tiny_run

    from glassformer.training import loop, state

    run, data = tiny_run(tmp_path / "run")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "write", full)
        loop.train(run, data, Quiet())


# Looking on ---------------------------------------------------------------------------------------------------------------


@fault(28, "glassformer: config.json", "num_attention_heads", "5")
def _(tmp_path):
    done = command("count", changed_config(tmp_path, num_attention_heads=5))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    return done.stderr.strip()


@fault(29, "weights of layer 1", "the same numbers")
def _(tmp_path):
    model = encoder(BERT.replace(layers=2))
    tokens = torch.tensor([[5, 6, 7]])
    with torch.no_grad():
        fused, looked = model(tokens), model(tokens, return_weights=[1])
    near = float((fused.states - looked.states).abs().max())
    assert near < 1e-5
    rows = looked.weights[1].sum(-1)
    assert torch.allclose(rows, torch.ones_like(rows))
    return f"nothing: the weights of layer 1 are there when asked for, and the rest has the same numbers to {near:.0e}"


@fault(30, "text 0", "cannot be tokenized", "retry-limit")
def _(tmp_path):
    pattern = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    gf.load(add_tokenizer(bert_folder(tmp_path), changes={"pre_tokenizer": pattern})).encode(["a" * 40 + "!"])


@fault(31, "invalid character (U+D800)", "position 0")
def _(tmp_path):
    gf.load(add_tokenizer(bert_folder(tmp_path))).encode(["\ud800 glass"])


@fault(32, "modules.json names a folder outside the model folder", "../../../outside", "Refused")
def _(tmp_path):
    folder = add_tokenizer(bert_folder(tmp_path))
    parts = [{"idx": 0, "name": "0", "path": "", "type": "this.s"}]
    (folder / "modules.json").write_text(json.dumps(parts))
    with pytest.raises(GlassformerError, match="names a part s, which is not in the program"):
        gf.load(folder).encode(["the glass"])
    parts = [{"idx": 0, "name": "0", "path": "../../../outside", "type": "sentence_transformers.models.Pooling"}]
    (folder / "modules.json").write_text(json.dumps(parts))
    gf.load(folder).encode(["the glass"])


@fault(33, "attend has shape [1, 4]", "expected [1, 2]")
def _(tmp_path):
    from glassformer.numbers import open_checkpoint

    open_checkpoint(bert_folder(tmp_path)).run(tokens=[[4, 5]], attend=[[1, 1, 1, 1]])


@fault(34, "exponent 387420489 is too large", "limit 64")
def _(tmp_path):
    (tmp_path / "a.md").write_text("first\n\n9**9**9 = 1\n")
    done = command("check", tmp_path / "a.md")
    assert done.returncode == 0
    return next(line.strip(" ?") for line in done.stdout.splitlines() if "exponent" in line)


# ----------------------------------------------------------------------------------------------------------------------------


def test_every_fault_is_made():
    assert list(FAULTS) == list(MESSAGES)


@pytest.mark.parametrize("number", FAULTS)
def test_a_message_names_the_field_the_value_the_rule_and_the_way_out(number, tmp_path, figure, capfd):
    make, wanted = FAULTS[number]
    try:
        said = make(tmp_path)
    except GlassformerError as error:
        said = str(error)
    said = said.replace(str(tmp_path), "…") if said else said
    assert said, "nothing was said"
    assert "\n" not in said
    assert len(said) <= 300
    assert [word for word in wanted if word not in said] == [], said
    figure(f"B{number}", said)
