"""Laws of learning: padding has no gradient, and a loss is the sum of its parts."""

from __future__ import annotations

import numpy as np
import torch
from laws.cases import BATCH, LENGTH, Case
from laws.law import EXACT, law
from laws.of_sequences import padded
from laws.of_weights import bare
from laws.ways import DOUBLE, SINGLE, Way, apart, numbers

from glassformer.spec import EncoderSpec
from glassformer.training.data.examples import Batch, Extent
from glassformer.training.tasks import TASKS

FEW = 9  # no random spec has a larger vocabulary: ids from here on occur only in padding


def readable(spec: EncoderSpec) -> EncoderSpec | None:
    """Nothing but the embeddings reads the token table, and it has ids for padding alone."""
    if spec.one_length:
        return None
    return bare(spec).replace(**({"vocab": 2 * FEW} if spec.reads == "tokens" else {}))


@law(fit=readable, ways=(DOUBLE, SINGLE), **EXACT)
def padding_gets_no_gradient(way: Way, case: Case) -> float:
    given = padded(case)
    attend = torch.from_numpy(given.attend.copy())
    encoder = way.encoder(case.spec, case.weights)  # type: ignore[attr-defined]
    inputs, segments, _, _ = way.tensors(given)  # type: ignore[attr-defined]
    if case.spec.reads == "tokens":
        inputs = torch.where(attend, inputs % FEW, inputs % FEW + FEW)
    else:
        inputs.requires_grad_()
    encoder(inputs, attend, segments).states[attend].square().sum().backward()
    if case.spec.reads == "tokens":
        return float(encoder.embeddings.source.E_token.grad[FEW:].abs().max())
    return float(inputs.grad[~attend].abs().max())


def classifying(spec: EncoderSpec) -> EncoderSpec | None:
    """A task whose loss the training loop knows."""
    if spec.reads == "vectors" or spec.segments is not None or (spec.head == "tag" and spec.one_length):
        return None
    return spec.replace(head=spec.head if spec.head in ("tag", "mlm") else "classify", classes=3, dropout=0.0)


def part(case: Case, inputs: torch.Tensor, rows: slice) -> Batch:
    shape = (BATCH, LENGTH) if case.spec.head in ("tag", "mlm") else (BATCH,)
    highest = case.spec.vocab if case.spec.head == "mlm" else case.spec.classes
    labels = torch.from_numpy(np.random.default_rng(case.seed).integers(0, highest or 1, shape))[rows]
    attend = None if case.spec.one_length else torch.ones(inputs.shape[:2], dtype=torch.bool)[rows]
    return Batch(inputs[rows], attend, labels, (), 0, labels.numel(), labels.numel(), Extent(len(inputs[rows])))


@law(fit=classifying, ways=(DOUBLE, SINGLE), double=1e-5)
def the_loss_of_a_batch_is_the_sum_over_its_parts(way: Way, case: Case) -> float:
    """And so is its gradient. The loop takes the logits in float32, whatever the model is in."""
    inputs = way.tensors(case.given)[0]  # type: ignore[attr-defined]
    encoder = way.encoder(case.spec, case.weights)  # type: ignore[attr-defined]

    def learnt(*parts: slice) -> tuple[float, list[torch.Tensor]]:
        encoder.zero_grad()
        judge = TASKS[case.spec.head].judge
        losses = [judge(encoder, part(case, inputs, rows)).loss for rows in parts]
        torch.stack(losses).sum().backward()
        gradients = [p.grad.clone() for p in encoder.parameters() if p.grad is not None]
        return sum(loss.item() for loss in losses), gradients

    (whole, one), (halves, two) = learnt(slice(None)), learnt(slice(0, 1), slice(1, None))
    gaps = [abs(whole - halves) / max(1.0, abs(whole))]
    return max(gaps + [apart(numbers(a), numbers(b)) for a, b in zip(one, two, strict=True)])
