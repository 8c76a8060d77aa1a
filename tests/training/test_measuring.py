"""Predicted and measured costs are both reported, and agree."""

from pathlib import Path

import pytest
import torch
from tiny_training import Quiet, logged, tiny_run
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from glassformer.model import fast
from glassformer.model.fast.checkpointing import checkpoint_layers
from glassformer.training import loop
from glassformer.training.choosing import Choice, choose_trained, parameter_counts, to_training
from glassformer.training.data import load_data
from glassformer.training.data.batches import BatchStream
from glassformer.training.data.examples import Extent
from glassformer.training.data.prepare import prepare
from glassformer.training.fitting import small_spec, tokenizer_for
from glassformer.training.measuring import FlopCounter, Gauge, peak_flops, predicted_at
from glassformer.training.prediction import prediction
from glassformer.training.runs import Run
from glassformer.training.settings import Settings
from glassformer.training.starting import first_weights
from glassformer.training.tasks import TASKS
from glassformer.training.worker import Worker, number_format

CPU = torch.device("cpu")


def test_flops_are_counted_as_pytorch_counts_them():
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    x = torch.randn(3, 5, 16, requires_grad=True)
    counts = []
    for counter in (FlopCounter(), FlopCounterMode(display=False)):
        with sdpa_kernel(SDPBackend.MATH), counter:
            layer(x).sum().backward()
        counts.append(counter.flops if isinstance(counter, FlopCounter) else counter.get_total_flops())
    assert counts[0] == counts[1] > 2 * 3 * 15 * 16 * 16


def measured(data, fields=None, length=24, **settings):
    chosen = Settings(**{"batch_size": 8, "max_length": length, "vocab": 300} | settings)
    rows = load_data(data)
    tokenizer = tokenizer_for(rows, chosen)
    spec = small_spec(rows, tokenizer, chosen).replace(
        **{"d_model": 32, "heads": 2, "layers": 2, "dropout": 0.0} | (fields or {})
    )
    encoder = fast.apply(first_weights(Path("none"), spec, CPU))
    choose_trained(encoder, {}, chosen)
    if chosen.checkpointing == "yes":
        checkpoint_layers(encoder)
    predicted = prediction(spec, chosen, choice=Choice.of(spec, {}, chosen))
    counts = parameter_counts(spec, {}, chosen)
    assert counts["parameters"] == predicted["parameters"] == sum(one.numel() for one in encoder.parameters())
    assert 4 * (counts["parameters"] + 3 * counts["trained"]) == predicted["bytes_by"]["fixed"]
    to_training(encoder)
    examples = prepare(rows.validation, tokenizer, max_length=length, mlm_probability=chosen.mlm_probability)
    batch = BatchStream(examples, batch_size=8).at(0, 0)
    gauge = Gauge(predicted, CPU, torch.float32)
    return gauge.one_step(encoder, batch, TASKS[rows.task], lambda: number_format(Worker(CPU), "fp32"))["step"]


@pytest.mark.parametrize(
    ("data", "settings", "flops", "size"),
    [
        ("lid-words", {}, 1e-6, 0.10),
        ("digits", {}, 0.01, 0.10),
        ("lid-words", {"train_only": "head"}, 1e-6, 0.05),
        ("topic", {"freeze": "embeddings,layers.0"}, 1e-6, 0.02),
        ("topic", {"freeze": "layers.1,head"}, 1e-6, 0.02),
        ("topic", {"lora": 4}, 0.02, 0.02),
        ("topic", {"checkpointing": "yes"}, 1e-6, 0.02),
        ("topic", {"checkpointing": "yes", "dropout": 0.1}, 1e-6, 0.02),
        ("lid-words", {"checkpointing": "yes"}, 1e-6, 0.1),
        ("digits", {"checkpointing": "yes"}, 0.01, 0.1),
        ("topic", {"checkpointing": "yes", "lora": 4}, 0.02, 0.02),
        ("topic", {"lora": 8, "lora_on": "all-linear", "dropout": 0.1}, 0.02, 0.02),
        ("topic", {"lora": 4, "lora_on": "output,ffn"}, 1e-6, 0.02),
    ],
    ids=lambda value: " ".join(map(str, value.values())) if isinstance(value, dict) else None,
)
def test_a_step_costs_what_was_predicted(data, settings, flops, size):
    fields = {name: value for name, value in settings.items() if name == "dropout"}
    settings = {name: value for name, value in settings.items() if name != "dropout"}
    step = measured(data, fields, **settings)
    assert step["flops"] == pytest.approx(step["predicted_flops"], rel=flops)
    assert step["bytes"] == pytest.approx(step["predicted_bytes"], rel=size)


def test_a_classifier_of_the_first_token_computes_one_token_after_the_last_attention():
    step = measured("topic", {"pool": "first", "pooler": "dense"}, length=64)
    assert step["flops"] == pytest.approx(step["predicted_flops"], rel=1e-6)
    every = measured("topic", {"pool": "mean"}, length=64)
    assert step["flops"] < 0.8 * every["flops"]


@pytest.mark.parametrize("length", [64, pytest.param(128, marks=pytest.mark.slow)])
def test_attention_with_dropout_on_a_cpu_keeps_its_weights(length):
    step = measured("topic", {"dropout": 0.1}, length=length)
    assert step["bytes"] == pytest.approx(step["predicted_bytes"], rel=0.01)
    assert step["predicted_bytes"] > 1.3 * measured("topic", length=length)["predicted_bytes"]


def test_a_masked_token_step_applies_its_head_to_few_tokens(tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text(
        "".join(f"the number {i} comes after the number {i - 1} and before {i + 1}\n" for i in range(200)), encoding="utf-8"
    )
    step = measured(path)
    assert step["flops"] == pytest.approx(step["predicted_flops"], rel=0.05)
    more = measured(path, mlm_probability=0.5)
    assert more["flops"] == pytest.approx(more["predicted_flops"], rel=0.1)  # special tokens are never masked
    assert more["flops"] > 1.2 * step["flops"]


def test_the_prediction_for_other_sizes_is_the_algebras(tmp_path):
    rows = load_data("lid-words")
    chosen = Settings(batch_size=4, max_length=64, vocab=300)
    spec = small_spec(rows, tokenizer_for(rows, chosen), chosen)
    said = prediction(spec, chosen)
    other = prediction(spec, chosen.replace(batch_size=7, max_length=29))
    assert predicted_at(said, Extent.of([29] * 7)) == pytest.approx((other["matrix_flops"], other["bytes"]), rel=1e-6)
    assert predicted_at({}, Extent.of([29] * 7)) is None


def test_a_peak_that_a_step_exceeds_is_discarded(tmp_path, monkeypatch):
    monkeypatch.setattr("glassformer.training.measuring.peak_flops", lambda *_: 1.0)  # a machine that was busy elsewhere
    run, data = tiny_run(tmp_path / "run", epochs=1)
    about = run.about | {"predicted": prediction(run.spec, run.settings)}
    figures = loop.train(Run(run.path, run.spec, run.settings, None, about), data, Quiet())
    assert all(0 < line["share"] <= 1 for line in logged(run))
    assert figures["measured"]["peak"] > 1e6


def test_the_share_of_the_peak_is_in_the_log_and_at_the_end(tmp_path):
    run, data = tiny_run(tmp_path / "run", epochs=1)
    about = run.about | {"predicted": prediction(run.spec, run.settings)}
    figures = loop.train(Run(run.path, run.spec, run.settings, None, about), data, Quiet())
    assert all(0 < line["share"] <= 1 for line in logged(run))
    assert 0 < figures["measured"]["share"] <= 1 and figures["measured"]["per_second"] > 0


def test_the_peak_is_a_rate_that_a_machine_can_have():
    assert 1e8 < peak_flops(CPU, torch.float32) < 1e14
