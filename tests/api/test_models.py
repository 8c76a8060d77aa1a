"""`gf.encode`, `gf.predict`, `gf.verify` and `gf.export`: what the commands do, in memory or into files."""

import io
import json

import numpy as np
import pytest
from checkpoint_files import CONFIG, add_tokenizer, bert_folder, tensors_of

import glassformer as gf
from glassformer import GlassformerError

CLASSES = {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "glass", "1": "wall"}}
TEXTS = ["time flies", "an arrow", "time"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return add_tokenizer(bert_folder(tmp_path_factory.mktemp("models") / "bert"))


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    home = tmp_path_factory.mktemp("models") / "classifier"
    return add_tokenizer(bert_folder(home, tensors=tensors_of(CONFIG | CLASSES), **CLASSES))


def test_vectors_in_memory_are_those_of_a_loaded_model(folder):
    found = gf.encode(folder, TEXTS)
    assert np.array_equal(found.values, gf.load(folder).encode(TEXTS))
    assert (found.rows, found.cut, found.left_out, found.out) == (3, 0, 0, None)


def test_texts_come_as_one_text_as_many_as_a_generator_or_from_a_file(folder, tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    wanted = gf.encode(folder, TEXTS).values
    for given in (iter(TEXTS), tuple(TEXTS), tmp_path / "texts.txt"):
        assert np.array_equal(gf.encode(folder, given).values, wanted)
    assert np.allclose(gf.encode(folder, TEXTS[0]).values, wanted[:1], atol=1e-6)


def test_rows_go_into_a_file_or_a_stream_instead_of_memory(folder, tmp_path):
    wanted = gf.encode(folder, TEXTS).values
    written = gf.encode(folder, TEXTS, out=tmp_path / "vectors.npy")
    assert (written.values, written.to_dict()) == (
        None,
        {"out": str(tmp_path / "vectors.npy"), "rows": 3, "cut": 0, "left_out": 0},
    )
    assert np.array_equal(np.load(tmp_path / "vectors.npy"), wanted)
    stream = io.BytesIO()
    assert gf.encode(folder, TEXTS, out=stream).rows == 3
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["line"] for line in lines] == [1, 2, 3]
    assert np.array_equal(np.array([line["embedding"] for line in lines], dtype=np.float32), wanted)


def test_empty_texts_are_left_out_and_long_ones_cut_when_asked(folder):
    found = gf.encode(folder, ["time", "", "time flies " * 100], truncate=True, empty="skip")
    assert (found.rows, found.cut, found.left_out, len(found.values)) == (2, 1, 1, 2)
    assert found.longest == gf.load(folder).longest


def test_predictions_are_those_of_a_loaded_model(classifier):
    found, wanted = gf.predict(classifier, TEXTS), gf.load(classifier).predict(TEXTS)
    assert [one.to_dict() for one in found.values] == [one.to_dict() for one in wanted]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda folder: gf.encode(folder, []), "there are no texts: the input is empty."),
        (lambda folder: gf.encode(folder, [""]), "text is empty"),
        (lambda folder: gf.encode(folder, ["a", ""]), "text 2 is empty"),
        (lambda folder: gf.encode(folder, TEXTS, device="gpu"), "--device gpu is not known: cpu or cuda."),
        (
            lambda folder: gf.encode(folder, TEXTS, out="x.txt"),
            "--out x.txt: the name must end in one of .npy, .jsonl, .parquet.",
        ),
        (lambda folder: gf.predict(folder, TEXTS, out="x.npy"), "--out x.npy: the name must end in one of .jsonl, .parquet."),
        (lambda folder: gf.predict(folder), "no input: give texts or images."),
        (lambda folder: gf.predict(folder, TEXTS, images="a.png"), "--images and texts are both given: choose one."),
        (lambda folder: gf.predict(folder, images=np.zeros((2, 3))), "images has shape [2, 3] and type float64: "),
        (lambda folder: gf.predict(folder, images="nowhere.png"), "no such file or folder: nowhere.png"),
        (lambda folder: gf.export(folder), "no output: give one of --onnx OUT.onnx, --folder OUT and --own OUT."),
        (lambda folder: gf.export(folder, own="a", folder="b"), "no output: give one of"),
        (lambda folder: gf.export(folder, onnx="a.onnx", dtype="bfloat16"), "--dtype bfloat16 is for folders"),
    ],
)
def test_a_mistake_is_one_line(folder, call, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GlassformerError) as refusal:
        call(folder)
    assert said in str(refusal.value)
    assert not list(tmp_path.iterdir())


def test_a_certificate_holds_or_says_why_not(folder, tmp_path):
    found = gf.verify(folder, original=False)
    assert found.holds and (found.verdict, found.parameters) == ("exact", 1544)
    refused = gf.verify(bert_folder(tmp_path / "m", num_hidden_layers=3))
    assert not refused.holds and refused.verdict == "refused"


def test_an_exported_folder_is_the_same_model(folder, tmp_path):
    found = gf.export(folder, own=tmp_path / "own", dtype="float32")
    assert (found.path, found.model_class, found.parameters, found.verdict) == (tmp_path / "own", "BertModel", 1544, "exact")
    assert np.array_equal(gf.load(folder).encode(TEXTS), gf.encode(tmp_path / "own", TEXTS, pool="mean").values)
    with pytest.raises(GlassformerError, match="is in our own layout, and --folder OUT writes the layout of transformers"):
        gf.export(tmp_path / "own", folder=tmp_path / "other")


# A head that the file does not hold ----------------------------------------------------------------------------------------

HEAD = "BertForSequenceClassification"


def test_predictions_of_a_random_head_are_refused_unless_requested(folder):
    with pytest.raises(GlassformerError, match=r"lacks head.*random weights.*--fresh-head"):
        gf.predict(folder, TEXTS, as_class=HEAD)
    assert gf.predict(folder, TEXTS, as_class=HEAD, fresh_head=True).rows == len(TEXTS)


def test_an_export_with_a_random_head_is_refused_unless_requested(folder, tmp_path):
    with pytest.raises(GlassformerError, match="random weights"):
        gf.export(folder, folder=tmp_path / "out", as_class=HEAD)
    assert not (tmp_path / "out").exists()
    gf.export(folder, folder=tmp_path / "out", as_class=HEAD, fresh_head=True)
    assert gf.predict(tmp_path / "out", TEXTS).rows == len(TEXTS)  # there it is the file's own


def test_vectors_that_do_not_depend_on_the_head_need_no_permission(folder):
    assert np.array_equal(gf.encode(folder, TEXTS, as_class=HEAD).values, gf.encode(folder, TEXTS).values)
