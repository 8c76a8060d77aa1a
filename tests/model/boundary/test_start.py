"""Initialization: models that do not fit are refused without allocation, and initial weights are as documented."""

import resource
import time

import pytest
import torch
from model_cases import BERT, VIT

from glassformer.errors import GlassformerError
from glassformer.model import Encoder
from glassformer.model.boundary import start
from glassformer.spec import EncoderSpec


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (EncoderSpec(vocab=30_000, d_model=100_000, heads=100, layers=9), "1,083,0"),
        (
            EncoderSpec(d_model=10**9, heads=1, layers=1),
            "too many parameters, which need more than 9.2 EB, the most that can be addressed.",
        ),
        (EncoderSpec(vocab=10**9, d_model=10**9, heads=1, layers=1), "Nothing was allocated."),
        (EncoderSpec(d_model=4, heads=10**9, d_k=10**9, layers=1), "parameters, which need"),
        (EncoderSpec(image=10**9, patch=10**9, channels=10**9, d_model=8, heads=1), "parameters, which need"),
        (EncoderSpec(d_model=10_000, heads=10, layers=300), "360,0"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_before_memory_is_allocated(spec, said):
    before, clock = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(GlassformerError) as refusal:
        Encoder(spec)
    assert said in str(refusal.value)
    assert "Nothing was allocated" in str(refusal.value) and "\n" not in str(refusal.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB; the smallest of these needs 433 GB
    assert time.process_time() - clock < 20


def test_other_errors_are_not_taken_for_a_lack_of_memory():
    with pytest.raises(RuntimeError, match="broadcast"), start.laid_out():
        torch.zeros(2, 3) + torch.zeros(2, 4)


def test_the_refusal_counts_against_what_is_free(monkeypatch):
    Encoder(BERT)
    monkeypatch.setattr(start, "free_bytes", lambda _: 10_000)
    with pytest.raises(GlassformerError, match=r"which need \d+.\d kB, and 10.0 kB are free, of which 80% may be used"):
        Encoder(BERT)
    Encoder(BERT, device="meta")  # asks for no memory


def test_free_memory_is_the_smallest_of_the_reported_values(tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal:  100 kB\nMemAvailable:    64 kB\n", encoding="ascii")
    assert start._available(tmp_path / "meminfo") == 65536
    assert start._available(tmp_path / "nothing") is None
    assert start._left_in_container(tmp_path) is None
    (tmp_path / "memory.max").write_text("5000\n", encoding="ascii")
    (tmp_path / "memory.current").write_text("2000\n", encoding="ascii")
    assert start._left_in_container(tmp_path) == 3000
    (tmp_path / "memory.max").write_text("max\n", encoding="ascii")
    assert start._left_in_container(tmp_path) is None


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (12_300, "12.3 kB"), (4 * 10**12, "4.0 TB"), (2 * 10**22, "20,000.0 EB")],
)
def test_bytes_are_formatted_with_a_suitable_unit(size, words):
    assert start.in_words(size) == words


def test_fresh_weights_are_normal_with_a_cut_tail_and_biases_are_zero():
    torch.manual_seed(0)
    views = dict(Encoder(BERT.replace(vocab=5000, layer_scale=True, head="mlm", pooler="none", tie=False)).ledger())
    for name, view in views.items():
        symbol = name.rpartition(".")[2]
        if symbol[:2] in ("W_", "E_"):
            assert view.abs().max() <= 0.04
        else:
            assert (view == {"gamma": 1.0, "lambda_1": 0.1, "lambda_2": 0.1}.get(symbol, 0.0)).all(), name
    table = views["embeddings.E_token"]
    assert abs(float(table.mean())) < 3e-4
    assert 0.016 < float(table.std()) < 0.02  # the standard deviation of 0.02 after truncation


def test_the_seed_decides_the_start():
    def table(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return dict(Encoder(VIT).ledger())["embeddings.W_patch"]

    assert torch.equal(table(1), table(1))
    assert not torch.equal(table(1), table(2))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_model_is_created_in_the_requested_precision(dtype):
    encoder = Encoder(BERT, dtype=dtype)
    assert {parameter.dtype for parameter in encoder.parameters()} == {dtype} == {encoder.here.dtype}


def test_a_spec_without_parameters_is_a_model_too():
    encoder = Encoder(EncoderSpec(d_model=4, heads=1, layers=0))
    x = torch.randn(2, 3, 4)
    assert list(encoder.parameters()) == []
    assert torch.equal(encoder.eval()(x).states, x)


def test_a_model_made_without_memory_can_be_given_it_later():
    encoder = Encoder(BERT.replace(position="relative"), device="meta").to_empty(device="cpu")
    encoder.reset_parameters()
    assert encoder.eval()(torch.tensor([[1, 2, 3]])).states.isfinite().all()
    assert encoder.buckets.steps.tolist() == Encoder(BERT.replace(position="relative")).buckets.steps.tolist()


@pytest.mark.parametrize("device", ["gpu", "", "cuda:99", -1, 1.5, [], "cpu:nonsense", 10**40])
def test_a_device_that_is_not_there_is_one_line(device):
    with pytest.raises(GlassformerError) as refusal:
        Encoder(BERT, device=device)
    assert "cannot be used here" in str(refusal.value) and "Try device='cpu'." in str(refusal.value)


def test_a_precision_may_be_named():
    assert Encoder(BERT, dtype="bf16").here.dtype == torch.bfloat16


@pytest.mark.parametrize("dtype", [torch.int64, torch.complex64, "float33", 32, True, float])
def test_a_precision_that_no_weights_have_is_refused(dtype):
    with pytest.raises(GlassformerError, match=r"is not known.* One of float64, float32"):
        Encoder(BERT, dtype=dtype)


@pytest.mark.parametrize(
    ("given", "said"), [("bert-base", "found bert-base."), ({"layers": 2}, "found dict."), (None, "found None.")]
)
def test_an_encoder_is_built_from_a_spec(given, said):
    with pytest.raises(GlassformerError) as refusal:
        Encoder(given)
    assert str(refusal.value) == f"an encoder is built from a spec, as in gf.Encoder(gf.spec('bert-tiny')), {said}"


def test_weights_come_as_a_mapping():
    with pytest.raises(GlassformerError, match="weights are a mapping from names of the ledger to arrays, found list"):
        Encoder(BERT).load_ledger([1])
