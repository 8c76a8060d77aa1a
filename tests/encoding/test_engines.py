"""Other engines compute the same: compared before use, refused above the bound, and `auto` takes the quickest and says why."""

from importlib.util import find_spec

import numpy as np
import pytest
from checkpoint_files import CONFIG, WORDS, add_tokenizer, bert_folder, tensors_of

import glassformer as gf
from glassformer import GlassformerError
from glassformer.encoding.engines import choice, graphs
from glassformer.encoding.engines.certificate import Certificate

INSTALLED = [name for name in graphs.PACKAGES if not graphs.missing(name)]
needs_one = pytest.mark.skipif(not INSTALLED, reason="neither onnxruntime nor OpenVINO is installed")
TEXTS = [" ".join(WORDS[i % 7 : i % 7 + 1 + i % 5]) for i in range(40)]


@pytest.fixture
def model(tmp_path):
    return add_tokenizer(bert_folder(tmp_path / "m"))


@needs_one
@pytest.mark.parametrize("engine", INSTALLED)
def test_vectors_are_those_of_torch_and_the_difference_is_written_down(model, engine):
    found = gf.encode(model, TEXTS, engine=engine)
    np.testing.assert_allclose(found.values, gf.encode(model, TEXTS).values, atol=1e-5)
    (certificate,) = found.engine.certificates
    assert certificate.engine == found.to_dict()["engine"] == engine
    assert 0 <= certificate.difference < 1e-5


@needs_one
def test_a_job_continues_with_the_engine_and_the_graph_that_it_began_with(model, tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text("\n".join(TEXTS) + "\n")
    job = {"shard_rows": 10, "workers": 1, "engine": "auto"}
    monkeypatch.setattr(choice, "_quickest", lambda found: choice.Choice(found[0].engine, "a test", found))
    first = gf.encode_files(model, tmp_path / "in.txt", tmp_path / "out", **job)
    assert first.manifest["engine"] == INSTALLED[0] == first.manifest["job"]["engine"]
    assert first.manifest["certificates"][0]["difference"] < 1e-5
    shards = {file.name: file.read_bytes() for file in (tmp_path / "out" / "shards").iterdir()}
    (tmp_path / "out" / "shards" / "00000-000001.parquet").unlink()
    (tmp_path / "out" / ".onnx-left").mkdir()
    monkeypatch.setattr(choice, "_quickest", lambda _: pytest.fail("chosen again"))
    again = gf.encode_files(model, tmp_path / "in.txt", tmp_path / "out", **job)
    assert (again.made, again.kept) == (1, 3)
    assert {file.name: file.read_bytes() for file in (tmp_path / "out" / "shards").iterdir()} == shards
    assert not (tmp_path / "out" / ".onnx-left").exists()
    with pytest.raises(GlassformerError, match="contains another job: its engine is "):
        gf.encode_files(model, tmp_path / "in.txt", tmp_path / "out", **job | {"engine": "torch"})


@needs_one
@pytest.mark.slow
def test_predictions_are_those_of_torch_and_wrong_ones_are_refused(tmp_path, monkeypatch):
    config = {**CONFIG, "architectures": ["BertForSequenceClassification"], "id2label": {"0": "bad", "1": "good"}}
    model = add_tokenizer(bert_folder(tmp_path / "c", tensors=tensors_of(config), **config))
    opened = graphs.opened

    def wrong(*given):
        compute = opened(*given)
        return lambda arrays: {name: part + 0.01 for name, part in compute(arrays).items()}

    found, wanted = (gf.predict(model, TEXTS, engine=name).values for name in (INSTALLED[0], "torch"))
    np.testing.assert_allclose([one.probability for one in found], [one.probability for one in wanted], atol=1e-5)
    monkeypatch.setattr(choice, "opened", wrong)
    with pytest.raises(GlassformerError, match=r"differ from those of PyTorch by 1\.0e-02, more than 1e-04\. Use --engine torch"):
        gf.predict(model, TEXTS, engine=INSTALLED[0])


def test_the_quickest_exact_engine_is_taken_with_the_rates_of_all():
    exact, off = Certificate("onnx", 60, 1e-7, 1e-4, 90.0, 80.0), Certificate("openvino", 60, 0.1, 1e-4, 200.0, 85.0)
    found = choice._quickest([exact, off])
    assert (found.engine, found.why) == ("onnx", "onnx 90 texts/s, torch 85 texts/s, openvino refused: it differs by 1.0e-01")
    assert choice._quickest([off]).engine == "torch"


def test_what_an_engine_cannot_do_is_one_line(model, monkeypatch):
    for given, told in (
        ({"engine": "onyx"}, "engine=onyx"),
        (
            {"engine": "onnx", "dtype": "bfloat16"},
            "--engine onnx computes with --dtype float32, not bfloat16. Use --engine torch.",
        ),
    ):
        with pytest.raises(GlassformerError, match=told):
            gf.encode(model, "the glass", **given)
    monkeypatch.setattr(graphs, "find_spec", lambda name: None if name == "openvino" else find_spec(name))
    with pytest.raises(GlassformerError, match=r"--engine openvino needs openvino: pip install 'glassformer\[openvino\]'"):
        gf.encode(model, "the glass", engine="openvino")
    monkeypatch.setattr(choice, "missing", lambda _: ["onnxruntime"])
    found = gf.encode(model, "the glass", engine="auto").engine
    assert found.to_dict() == {"engine": "torch", "why": "no other engine is installed", "certificates": []}
