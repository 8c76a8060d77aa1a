"""A run beside the plainest loop of PyTorch: transformers' BERT, AdamW, the same batches. Losses, rates and weights are equal."""

import pytest
import torch
from tiny_training import Quiet, logged, opinions
from torch.nn.utils import clip_grad_norm_
from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification

from glassformer.training import loop
from glassformer.training.data import load_data
from glassformer.training.feed import Feed
from glassformer.training.running import plan
from glassformer.training.runs import Run
from glassformer.training.tokenizers import Tokenizer
from glassformer.training.worker import current_worker

RATE, CLIP, DECAY, EPOCHS, WARMUP = 3e-3, 0.5, 0.1, 3, 0.25


def started(folder):
    """A folder with a BERT classifier of random weights, without dropout, and pairs of texts to classify."""
    opinions(folder, rows=120)
    data = load_data(folder / "pairs.csv", text="first,second")
    tokenizer = Tokenizer.train(list(data.train.texts()), vocab=200)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=tokenizer.vocab, num_hidden_layers=2, hidden_size=16, num_attention_heads=2, intermediate_size=32,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, id2label=dict(enumerate(data.labels)),
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder / "start")
    tokenizer.save(folder / "start" / "tokenizer.json")
    return data, folder / "start"


def plain_loop(model, feed, total):
    """Losses and learning rates of the same batches in the loop that everybody writes."""
    matrices = [one for one in model.parameters() if one.ndim > 1]
    vectors = [one for one in model.parameters() if one.ndim == 1]
    groups = [{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=RATE)
    rise = round(WARMUP * total)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: (step + 1) / rise if step < rise else (total - step) / (total - rise)
    )
    found = []
    for epoch in range(EPOCHS):
        for batch in feed.stream.batches(epoch):
            given = {"attention_mask": batch.attend.long(), "token_type_ids": batch.segments, "labels": batch.labels}
            loss = model(input_ids=batch.inputs, **given).loss
            optimizer.zero_grad()
            loss.backward()
            clip_grad_norm_(model.parameters(), CLIP)
            found.append((loss.item(), schedule.get_last_lr()[0]))
            optimizer.step()
            schedule.step()
    return found


@pytest.mark.parametrize("lengths", ["cut", "whole"])
def test_a_run_is_the_plain_loop_step_by_step(lengths, tmp_path, monkeypatch):
    monkeypatch.setattr(Run, "draw_curves", lambda _: None)
    data, start = started(tmp_path)
    settings = {"lr": RATE, "clip": CLIP, "weight_decay": DECAY, "epochs": EPOCHS, "warmup": WARMUP, "decay": "linear"}
    settings |= {"batch_size": 16, "log_every": 1, "max_length": 10 if lengths == "cut" else 64, "threads": 1}
    planned = plan(data, str(start), {}, settings)
    run = Run.create(tmp_path / "run", planned.spec, planned.settings, planned.tokenizer, data, source={}, start=planned.start)
    assert run.about["start"]["fresh"] == []  # the head as well comes from the folder
    loop.train(run, data, Quiet())
    ours = [(line["loss"], line["lr"]) for line in logged(run)]
    model = AutoModelForSequenceClassification.from_pretrained(start).train()
    feed = Feed(run, data, current_worker(), loop.begun(run.path, run.spec, torch.device("cpu"), run.about, run.settings))
    theirs = plain_loop(model, feed, len(ours))
    assert len(ours) == EPOCHS * -(-len(data.train) // 16)
    for mine, plain in zip(ours, theirs, strict=True):
        assert mine == pytest.approx(plain, rel=2e-5)
    last = AutoModelForSequenceClassification.from_pretrained(run.path / "last")
    for (name, mine), plain in zip(last.named_parameters(), model.parameters(), strict=True):
        if "key.bias" not in name:  # its gradient is zero but for rounding, which AdamW scales up
            assert torch.allclose(mine, plain, rtol=1e-4, atol=2e-5), name
    assert max(line for line, _ in ours) > min(line for line, _ in ours) + 0.05  # something was learned
