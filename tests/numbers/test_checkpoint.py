"""Checkpoint folders: a real one against transformers, text as input, and the message for every kind of bad folder."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoint_files import (
    CONFIG,
    WORDS,
    add_tokenizer,
    bert_folder,
    file_bytes,
    header_and_data,
    sharded,
    tensors_of,
    write_tensors,
)
from tiny_models import guest

from glassformer.errors import GlassformerError
from glassformer.numbers import open_checkpoint

MASKED = {**CONFIG, "architectures": ["BertForMaskedLM"]}


def refusal(folder: Path, **options: Any) -> str:
    """What is said on opening a folder and running it."""
    with pytest.raises(GlassformerError) as caught:
        open_checkpoint(folder, **options).run(tokens=[[1, 2, 3]])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 300
    return str(caught.value)


# A real checkpoint -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def theirs(minilm: Path) -> Any:
    torch, transformers = guest("torch"), guest("transformers")
    model = transformers.BertModel.from_pretrained(minilm, dtype=torch.float64, attn_implementation="eager").eval()

    def forward(run: Any) -> Any:
        mask = {"attention_mask": torch.as_tensor(run["attend"]).long()} if "attend" in run else {}
        with torch.no_grad():
            return model(torch.as_tensor(run["tokens"]), output_hidden_states=True, **mask)

    return forward


def text_of(checkpoint: Any, tokens: int) -> str:
    """A text that the tokenizer cuts into so many tokens, its two special ones included."""
    words = [WORDS[number % len(WORDS)] for number in range(tokens)]
    return next(text for n in range(1, tokens) if len(checkpoint.tokenizer.encode(text := " ".join(words[:n])).ids) >= tokens)


def largest_difference(run: Any, answer: Any) -> float:
    real = run["attend"] if "attend" in run else np.ones(run["tokens"].shape, dtype=bool)
    layers = [np.abs(ours - state.numpy())[real].max() for ours, state in zip(run.hidden, answer.hidden_states, strict=True)]
    return max(*layers, np.abs(run["pooler.out"] - answer.pooler_output.numpy()).max())


def test_minilm_has_22_713_216_parameters(minilm):
    checkpoint = open_checkpoint(minilm)
    assert checkpoint.parameters == 22_713_216
    assert (checkpoint.family, checkpoint.model_class, checkpoint.spec.layers) == ("bert", "BertModel", 6)


@pytest.mark.parametrize("tokens", [3, 4, 9, 17, 50, 128, 200])
def test_every_layer_of_minilm_agrees_with_transformers(minilm, theirs, tokens):
    checkpoint = open_checkpoint(minilm)
    run = checkpoint.run(text_of(checkpoint, tokens))
    assert run["tokens"].shape[1] >= tokens
    assert largest_difference(run, theirs(run)) < 1e-10


def test_a_padded_batch_of_minilm_agrees_with_transformers_and_with_single_texts(minilm, theirs):
    checkpoint = open_checkpoint(minilm)
    texts = [text_of(checkpoint, tokens) for tokens in (3, 60, 200)]
    batch = checkpoint.run(texts)
    assert not batch["attend"].all()
    assert largest_difference(batch, theirs(batch)) < 1e-10
    for row, text in enumerate(texts):
        single = checkpoint.run(text)
        length = single["tokens"].shape[1]
        assert np.abs(batch["layers.5.out"][row, :length] - single["layers.5.out"][0]).max() < 1e-12
        assert batch.tokens[row][:length] == single.tokens[0]


def test_random_cells_of_minilm_can_be_explained(minilm):
    run = open_checkpoint(minilm).run(["Tom a été entarté cet été.", "Time flies like an arrow; fruit flies like a banana."])
    rng = np.random.default_rng(3)
    for step in rng.choice(np.array(run.program.steps, dtype=object)[:, 0], 60):
        cell = {axis.name: int(rng.integers(axis.size)) for axis in step.axes}
        found = run.explain(step.name, **cell)
        if math.isinf(found.value):
            assert found.evaluated == found.value
        else:
            assert found.evaluated == pytest.approx(found.value, rel=1e-9, abs=1e-12)


def test_a_pair_of_texts_fills_the_segments_of_minilm(minilm, theirs):
    run = open_checkpoint(minilm).run(("Is glass a liquid?", "No."))
    assert run["segments"].max() == 1
    assert run.tokens[0].count("[SEP]") == 2


# Runs ------------------------------------------------------------------------------------------------------------------


def test_weights_are_read_on_access_and_never_twice(tmp_path):
    checkpoint = open_checkpoint(bert_folder(tmp_path))
    first, second = checkpoint.run(tokens=[[1, 2]]), checkpoint.run(tokens=[[3]])
    assert first["layers.0.ffn.W_1"] is second["layers.0.ffn.W_1"]
    assert first["layers.0.ffn.W_1"].dtype == np.float64
    assert len(checkpoint.weights) == len(first.program.parameters)


def test_only_the_bytes_of_the_requested_tensor_are_read(tmp_path, monkeypatch):
    checkpoint = open_checkpoint(bert_folder(tmp_path))
    asked: list[int] = []
    from_file = np.fromfile
    monkeypatch.setattr(np, "fromfile", lambda *args, **kinds: asked.append(kinds["count"]) or from_file(*args, **kinds))
    assert checkpoint.weights["layers.1.attention.b_V"].shape == (2, 4)
    assert asked == [8]


def test_one_row_of_tokens_is_a_batch_of_one(tmp_path):
    checkpoint = open_checkpoint(bert_folder(tmp_path))
    assert (checkpoint.run(tokens=[1, 2, 3]).output == checkpoint.run(tokens=[[1, 2, 3]]).output).all()


def test_padding_changes_nothing(tmp_path):
    checkpoint = open_checkpoint(bert_folder(tmp_path))
    padded = checkpoint.run(tokens=[[1, 2, 3, 0, 0]], attend=[[1, 1, 1, 0, 0]])
    assert np.abs(padded["layers.1.out"][:, :3] - checkpoint.run(tokens=[[1, 2, 3]])["layers.1.out"]).max() < 1e-14


def test_a_run_that_keeps_one_layer_has_the_same_numbers_and_names_dropped_values(tmp_path):
    checkpoint = open_checkpoint(bert_folder(tmp_path))
    whole, part = checkpoint.run(tokens=[[1, 2, 3]]), checkpoint.run(tokens=[[1, 2, 3]], layers=[1])
    assert (part.output == whole.output).all()
    assert [(a == b).all() for a, b in zip(part.hidden, whole.hidden, strict=True)] == [True] * 3
    assert part.explain("layers.1.attention.weights", head=0, t=1, s=2).evaluated > 0
    assert "layers.0.attention.W_Q" not in part.values
    assert sum(value.nbytes for value in part.values.values()) < 0.7 * sum(value.nbytes for value in whole.values.values())
    with pytest.raises(GlassformerError, match=r"layers\.0\.attention\.q was not kept in this run"):
        part["layers.0.attention.q"]
    with pytest.raises(GlassformerError, match=r"was not kept in this run: rerun"):
        part.what_if({"x": {(0, 0, 0): 1.0}})
    assert part.what_if({"layers.0.out": {(0, 0, 0): 1.0}}).moved
    with pytest.raises(GlassformerError, match="layers=7 does not exist: this encoder has layers 0 to 1"):
        checkpoint.run(tokens=[[1]], layers=[7])


def test_shared_layers_that_are_kept_keep_their_weights(tmp_path):
    config = {**CONFIG, "model_type": "albert", "architectures": ["AlbertModel"], "embedding_size": 4, "num_hidden_layers": 3}
    (tmp_path / "config.json").write_text(json.dumps(config))
    write_tensors(tmp_path / "model.safetensors", tensors_of(config))
    run = open_checkpoint(tmp_path).run(tokens=[[1, 2]], layers=[2])
    assert run.explain("layers.2.attention.q", t=0, head=0, d_k=0).evaluated == pytest.approx(
        run["layers.2.attention.q"][0, 0, 0, 0]
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "this encoder needs text=… or tokens=…, found nothing."),
        ({"tokens": [[1]], "text": "x"}, "this encoder needs text=… or tokens=…, found text and tokens."),
        ({"image": [[1]]}, "this encoder needs text=… or tokens=…, found image."),
        ({"tokens": [[1, 31]]}, "tokens[0, 1] = 31 is out of range: "),
        ({"tokens": [[1.0]]}, "tokens must be whole numbers, got float64."),
        ({"tokens": [["a"]]}, "tokens must be numbers, found ndarray of <U1."),
        ({"tokens": [[]]}, "tokens has shape [1, 0]: at least one token is needed."),
        ({"tokens": 3}, "tokens must be rows of token ids, one row per text: [[101, 2054, 102]]."),
        ({"tokens": [[1] * 17]}, "t=17 is too long: the position table has positions=16. Give a smaller t or more positions."),
        (
            {"tokens": [[1, 2]], "segments": [[0, 2]]},
            "segments[0, 1] = 2 is out of range: ",
        ),
        ({"tokens": [[1, 2]], "attend": [[1, 1, 0]]}, "attend has shape [1, 3], expected [1, 2] (batch, s)."),
        (
            {"tokens": [[1, 2], [3]]},
            "the rows have different lengths: pad them to one length, and mark the real tokens with attend=….",
        ),
    ],
)
def test_a_bad_input_is_refused_in_one_line(tmp_path, given, said):
    with pytest.raises(GlassformerError) as caught:
        open_checkpoint(bert_folder(tmp_path)).run(**given)
    assert str(caught.value).startswith(said)


def test_a_run_that_does_not_fit_into_memory_is_refused_before_it_starts(tmp_path, monkeypatch):
    checkpoint = open_checkpoint(bert_folder(tmp_path))
    tokens = [[1] * 16] * 100
    whole = sum(value.nbytes for value in checkpoint.run(tokens=tokens).values.values())
    monkeypatch.setattr("glassformer.numbers.checkpoint.free_memory", lambda: int(0.8 * whole))
    with pytest.raises(GlassformerError, match=r"^this run needs 0\.0 GB of memory, but only 0\.0 GB are free: give fewer or"):
        checkpoint.run(tokens=tokens)
    assert checkpoint.run(tokens=tokens, layers=[]).output.shape == (100, 8)


# Text ------------------------------------------------------------------------------------------------------------------


def said_of(folder: Path, text: Any, **options: Any) -> str:
    with pytest.raises(GlassformerError) as caught:
        open_checkpoint(folder).run(text, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_text_becomes_words_tokens_segments_and_a_mask(tmp_path):
    run = open_checkpoint(add_tokenizer(bert_folder(tmp_path))).run(["the glass walls be seen", ("all", "the")])
    assert run.tokens == [
        ["[CLS]", "the", "glass", "walls", "be", "seen", "[SEP]"],
        ["[CLS]", "all", "[SEP]", "the", "[SEP]", "[PAD]", "[PAD]"],
    ]
    assert run["segments"].tolist() == [[0] * 7, [0, 0, 0, 1, 1, 0, 0]]
    assert run["attend"].tolist() == [[True] * 7, [True] * 5 + [False] * 2]
    assert '"glass"' in run.explain("layers.0.attention.v", batch=0, s=2, head=0, d_v=0).label


def test_token_ids_get_their_words(tmp_path):
    checkpoint = open_checkpoint(add_tokenizer(bert_folder(tmp_path)))
    assert checkpoint.run(tokens=[[2, 1, 30]]).tokens == [["[CLS]", "[UNK]", "[30]"]]


def test_a_text_that_is_too_long_is_never_truncated_silently(tmp_path):
    folder = add_tokenizer(bert_folder(tmp_path))
    long = " ".join(["glass"] * 40)
    assert said_of(folder, ["the", long]) == (
        "text 1 has 42 tokens, but this model has 16 positions. Split the text, or truncate it with truncate=True "
        "(drops the last 26)."
    )
    cut = open_checkpoint(folder).run(long, truncate=True).tokens[0]
    assert (len(cut), cut[0], cut[-1]) == (16, "[CLS]", "[SEP]")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "text 0 is empty: it has only special tokens. To run them ([CLS] [SEP]), give tokens=[2, 3]."),
        (
            ["the", "  \n"],
            "text 1 is empty: it has only special tokens. To run them ([CLS] [SEP]), give tokens=[2, 3].",
        ),
        ("glass \ud800", "text 0 has an invalid character (U+D800) at position 6."),
        ([], "text is an empty list: give one text or more."),
        (["the", 3], "text 1 must be a text or a pair of texts, found 3."),
        (("a", "b", "c"), "text 0 must be a text or a pair of texts, found ('a', 'b', 'c')."),
        ("x" * 1_000_001, "text 0 has 1,000,001 characters; at most 1,000,000 are allowed."),
    ],
)
def test_a_bad_text_is_refused_in_one_line(tmp_path, text, said):
    assert said_of(add_tokenizer(bert_folder(tmp_path)), text) == said


def test_a_missing_tokenizer_is_named(tmp_path):
    guest("tokenizers")
    folder = bert_folder(tmp_path / "m")
    assert said_of(folder, "the").startswith("tokenizer.json is missing in ")
    assert said_of(folder, "the").endswith("/m: text cannot be tokenized. Add the file, or give tokens=… as ids.")


def test_a_missing_tokenizers_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert said_of(bert_folder(tmp_path), "the") == (
        "text needs the tokenizers package: pip install 'glassformer[text]', or give tokens=… as ids."
    )


def test_a_broken_tokenizer_is_one_line(tmp_path):
    guest("tokenizers")
    folder = bert_folder(tmp_path)
    (folder / "tokenizer.json").write_text("{}")
    assert said_of(folder, "the").startswith("tokenizer.json cannot be used: ")
    assert said_of(folder, "the").endswith(". Use the file that was published with the model.")


def test_a_tokenizer_that_panics_is_one_line(tmp_path, capfd):
    bomb = {"type": "Split", "pattern": {"Regex": "(x+x+)+y"}, "behavior": "Isolated", "invert": False}
    folder = add_tokenizer(bert_folder(tmp_path), changes={"pre_tokenizer": bomb})
    assert said_of(folder, "x" * 60).startswith("text 0 cannot be tokenized: ")
    capfd.readouterr()  # the package prints a trace of its own


def test_a_tokenizer_of_another_model_is_named(tmp_path):
    folder = add_tokenizer(bert_folder(tmp_path, tensors=tensors_of({**CONFIG, "vocab_size": 6}), vocab_size=6))
    assert said_of(folder, "walls") == (
        'text 0: token "walls" has id 21, but the ids of this model are 0 to 5. '
        "tokenizer.json (23 tokens) belongs to another model."
    )


# Bad folders -----------------------------------------------------------------------------------------------------------


def test_a_missing_folder_is_refused_with_a_similar_name(tmp_path):
    bert_folder(tmp_path / "minilm")
    said = refusal(tmp_path / "minilmm")
    assert said.startswith("no such folder: ")
    assert said.endswith("minilmm. Did you mean 'minilm'? A model is a folder with config.json and model.safetensors.")


def test_a_file_instead_of_a_folder_is_named(tmp_path):
    folder = bert_folder(tmp_path)
    assert refusal(folder / "config.json").endswith("is a file: a model is a folder with config.json and model.safetensors.")


def test_a_folder_without_config_is_named(tmp_path):
    assert refusal(tmp_path).startswith("config.json is missing in ")
    assert refusal(tmp_path).endswith(": it describes the model. Add it.")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "pytorch_model.bin",
            "pytorch_model.bin is a pickle file: it can run code, so it is never opened. "
            "Use model.safetensors from the same repository.",
        ),
        ("tf_model.h5", "tf_model.h5 holds weights for TensorFlow. Use model.safetensors from the same repository."),
        ("flax_model.msgpack", "flax_model.msgpack holds weights for Flax. Use model.safetensors from the same repository."),
        (
            "pytorch_model.bin.index.json",
            "pytorch_model.bin.index.json is the index of pickle files, which are never opened. "
            "Use model.safetensors from the same repository.",
        ),
    ],
)
def test_weights_in_another_format_are_refused_with_the_way_out(tmp_path, name, said):
    (bert_folder(tmp_path) / "model.safetensors").rename(tmp_path / name)
    assert refusal(tmp_path) == said


def test_a_folder_without_weights_is_named(tmp_path):
    (bert_folder(tmp_path) / "model.safetensors").rename(tmp_path / "other.safetensors")
    said = refusal(tmp_path)
    assert said.endswith(
        "contains no weights: model.safetensors is missing. It has other.safetensors: rename it if these are the weights."
    )


def test_a_corrupt_file_is_named(tmp_path):
    path = bert_folder(tmp_path) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    assert refusal(tmp_path).startswith("model.safetensors is incomplete: its header describes ")


def test_a_config_of_a_larger_model_allocates_nothing(tmp_path):
    assert refusal(bert_folder(tmp_path, hidden_size=10**9, intermediate_size=10**9)) == (
        "config.json has d_model=1,000,000,000, but model.safetensors has only 1,544 values in total. Nothing was allocated. "
        "Use the config.json that belongs to these weights."
    )
    assert refusal(bert_folder(tmp_path, num_hidden_layers=1000)).startswith(
        "config.json has 1,000 layers, but model.safetensors has 2"
    )


def test_a_class_whose_head_is_not_in_the_file_is_refused(tmp_path):
    said = refusal(bert_folder(tmp_path), as_class="BertForSequenceClassification")
    assert said == "model.safetensors does not fit config.json: of 41 tensors, 2 missing (classifier.weight, classifier.bias)."


@pytest.mark.parametrize(("number", "word"), [(np.nan, "NaN"), (np.inf, "∞"), (-np.inf, "−∞")])
def test_a_nonfinite_weight_is_named_by_tensor_index_and_count(tmp_path, number, word):
    tensors = tensors_of(CONFIG)
    tensors["encoder.layer.1.output.dense.weight"][2, 5] = number
    tensors["encoder.layer.1.output.dense.weight"][3, 5] = number
    folder = bert_folder(tmp_path, tensors=tensors)
    assert refusal(folder) == (
        f"encoder.layer.1.output.dense.weight[2, 5] is {word} (2 of 96 values are not finite). "
        "allow_nonfinite=True reads them anyway."
    )
    if word == "NaN":
        assert np.isnan(open_checkpoint(folder, allow_nonfinite=True).run(tokens=[[1]]).output).all()


def test_weights_so_large_that_their_sum_overflows_are_still_numbers(tmp_path):
    tensors = tensors_of(CONFIG, dtype="float64")
    tensors["pooler.dense.bias"][:] = 1e308
    assert np.isfinite(open_checkpoint(bert_folder(tmp_path, tensors=tensors)).run(tokens=[[1]]).output).all()


def test_copies_of_a_tied_matrix_must_be_equal(tmp_path):
    tensors = tensors_of(MASKED)
    tensors["cls.predictions.decoder.weight"] = tensors["bert.embeddings.word_embeddings.weight"].copy()
    folder = bert_folder(tmp_path, tensors=tensors, architectures=["BertForMaskedLM"])
    assert open_checkpoint(folder).run(tokens=[[1, 2]]).output.shape == (1, 2, 31)
    tensors["cls.predictions.decoder.weight"][4, 4] += 1
    assert refusal(bert_folder(tmp_path, tensors=tensors, architectures=["BertForMaskedLM"])) == (
        "cls.predictions.decoder.weight and bert.embeddings.word_embeddings.weight have different values, but the model uses "
        "one tensor for both. If they were trained separately, set tie_word_embeddings to false in config.json."
    )


def test_an_unsupported_number_format_is_named(tmp_path):
    tensors = tensors_of(CONFIG)
    tensors["pooler.dense.bias"] = np.zeros(8, dtype=np.int64)
    assert refusal(bert_folder(tmp_path, tensors=tensors)) == (
        "pooler.dense.bias is stored as I64, which is not supported: F64, F32, F16, BF16 are."
    )


def test_a_file_that_shrinks_while_it_is_open_is_named(tmp_path):
    checkpoint = open_checkpoint(bert_folder(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(GlassformerError, match=r"model\.safetensors became shorter while it was open"):
        checkpoint.run(tokens=[[1]])


# Sharded files -----------------------------------------------------------------------------------------------------------


def test_a_sharded_checkpoint_gives_the_same_numbers(tmp_path):
    one = open_checkpoint(bert_folder(tmp_path / "one")).run(tokens=[[1, 2, 3]])
    two = open_checkpoint(sharded(tmp_path / "two")).run(tokens=[[1, 2, 3]])
    assert (one.output == two.output).all()


HOSTILE = [
    "../outside.safetensors",
    "/etc/passwd",
    "..",
    "",
    "sub/file.safetensors",
    "..\\outside.safetensors",
    "C:\\secret.safetensors",
    "\\\\server\\share.safetensors",
    "file:secret.safetensors",
    "nul\0byte.safetensors",
    "x" * 300 + ".safetensors",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_shard_outside_the_folder_is_refused(tmp_path, name):
    write_tensors(tmp_path / "outside.safetensors", {"pooler.dense.bias": np.zeros(8, dtype=np.float32)})
    said = refusal(sharded(tmp_path / "m", **{"pooler.dense.bias": name}))
    assert said.startswith('model.safetensors.index.json names "') or "names a file outside the model folder" in said
    assert said.endswith("Refused.")


def test_the_refusal_of_an_outside_shard_names_it(tmp_path):
    assert refusal(sharded(tmp_path, **{"pooler.dense.bias": "../outside.safetensors"})) == (
        'model.safetensors.index.json names a file outside the model folder ("../outside.safetensors"). Refused.'
    )


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    write_tensors(tmp_path / "outside.safetensors", tensors_of(CONFIG))
    folder = bert_folder(tmp_path / "m")
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(tmp_path / "outside.safetensors")
    said = refusal(folder)
    assert said.startswith("model.safetensors is a link to a file outside the model folder (")
    assert said.endswith("Refused: copy it into the folder.")


def test_the_links_of_the_download_cache_are_followed(tmp_path):
    snapshot = bert_folder(tmp_path / "models--x" / "snapshots" / "abc")
    blobs = tmp_path / "models--x" / "blobs"
    blobs.mkdir()
    for name in ("config.json", "model.safetensors"):
        (snapshot / name).rename(blobs / f"sha-{name}")
        (snapshot / name).symlink_to(Path("../../blobs") / f"sha-{name}")
    assert open_checkpoint(snapshot).run(tokens=[[1]]).output.shape == (1, 8)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_opened(tmp_path):
    folder = sharded(tmp_path, **{"pooler.dense.bias": "pipe.safetensors"})
    os.mkfifo(folder / "pipe.safetensors")
    assert refusal(folder) == "pipe.safetensors is not a regular file: model.safetensors.index.json names it."


def test_an_index_with_a_wrong_file_is_named(tmp_path):
    assert refusal(sharded(tmp_path / "a", **{"pooler.dense.bias": "model-00001-of-00002.safetensors"})) == (
        "model.safetensors.index.json names model-00001-of-00002.safetensors as the file of pooler.dense.bias, "
        "which is not in it (1 such)."
    )
    assert refusal(sharded(tmp_path / "b", **{"pooler.dense.bias": "gone.safetensors"})) == (
        "gone.safetensors is not in the model folder: model.safetensors.index.json names it."
    )
    assert refusal(sharded(tmp_path / "c", **{"pooler.dense.bias": 3})) == (
        "model.safetensors.index.json: weight_map must map tensor names to file names."
    )


def test_a_tensor_in_two_files_is_named(tmp_path):
    folder = sharded(tmp_path, **{"extra": "more.safetensors"})
    write_tensors(folder / "more.safetensors", {"pooler.dense.bias": np.zeros(8, dtype=np.float32)})
    assert refusal(folder) == "tensor pooler.dense.bias is in two files, model-00002-of-00002.safetensors and more.safetensors."


def test_nothing_outside_the_folder_is_ever_opened(tmp_path):
    """Python reports each file that is opened; of those that opening a hostile folder asks for, none lies elsewhere."""
    opened: list[str] = []
    watching = [True]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event == "open" and isinstance(arguments[0], str):
            opened.append(arguments[0])

    folder = sharded(tmp_path / "m")
    document = json.loads((folder / "model.safetensors.index.json").read_text())
    sys.addaudithook(watch)
    rng = np.random.default_rng(0)
    for _ in range(300):
        parts = [HOSTILE[rng.integers(len(HOSTILE))], *rng.choice(list("./\\:a\0~"), rng.integers(0, 4))]
        document["weight_map"]["pooler.dense.bias"] = "".join(map(str, rng.permutation(np.array(parts, dtype=object))))
        (folder / "model.safetensors.index.json").write_text(json.dumps(document))
        with pytest.raises(GlassformerError):
            open_checkpoint(folder)
    watching.clear()
    assert opened
    assert [path for path in opened if not os.path.realpath(path).startswith(str(tmp_path))] == []


def test_mutated_files_give_a_checkpoint_or_one_short_line(tmp_path):
    folder = bert_folder(tmp_path)
    header, data = header_and_data(tensors_of(CONFIG))
    good = file_bytes(header, data)
    rng = np.random.default_rng(5)
    for _ in range(200):
        changed = bytearray(good)
        for place in rng.integers(0, len(file_bytes(header)), rng.integers(1, 4)):
            changed[place] = rng.integers(256)
        (folder / "model.safetensors").write_bytes(bytes(changed))
        try:
            open_checkpoint(folder)
        except GlassformerError as error:
            assert "\n" not in str(error)
            assert len(str(error)) <= 300
