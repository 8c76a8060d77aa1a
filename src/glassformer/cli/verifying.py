"""How `verify` asks its witnesses: our model in two precisions, our float64 run, and the original where it can be had."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.spec import GlassformerError
from glassformer.spec.huggingface.tensor_names import OWN

if TYPE_CHECKING:
    from glassformer.model.answers import Answer, Given
    from glassformer.model.certificate import Certificate, Comparison
    from glassformer.spec.checkpoint_folder import CheckpointFolder


def certify(folder: Path, *, as_class: str | None, seed: int, original: bool, allow_nonfinite: bool) -> Certificate:
    """The certificate of a folder that is there. A folder that cannot be loaded gets one too: refused, and why."""
    from glassformer.model import certificate
    from glassformer.model.checkpoints import open_for_model
    from glassformer.spec.huggingface.matching import MismatchError

    try:
        opened = open_for_model(folder, as_class=as_class)
        found = certificate.certificate(opened)
        return _with_comparisons(found, opened, seed=seed, original=original, allow_nonfinite=allow_nonfinite)
    except GlassformerError as error:
        return certificate.refused(str(folder), str(error), error.match if isinstance(error, MismatchError) else None)


def _with_comparisons(
    found: Certificate, folder: CheckpointFolder, *, seed: int, original: bool, allow_nonfinite: bool
) -> Certificate:
    """One model after the other, so that no two are in memory; what they answered is kept."""
    from dataclasses import replace

    import torch

    from glassformer.model.answers import example, our_answer
    from glassformer.model.certificate import BOUNDS, compare
    from glassformer.model.checkpoints import load_encoder

    given = example(folder, seed=seed)
    answers: dict[str, Answer] = {}
    for name in ("float64", "float32"):
        torch.manual_seed(seed)  # a fresh head is the same in both
        loaded = load_encoder(folder, dtype=name, allow_nonfinite=allow_nonfinite)
        answers[name] = our_answer(loaded.encoder, given.parts)
        del loaded
    run, notes = _float64_run(folder, given, allow_nonfinite=allow_nonfinite), []
    real = given.real
    comparisons: list[Comparison] = [
        compare("model in float64, float64 run", answers["float64"], run, bound=BOUNDS["float64"], real=real),
        compare("model in float32, float64 run", answers["float32"], run, bound=BOUNDS["float32"], real=real),
    ]
    if not original:
        notes.append("The original was not asked.")
    elif folder.family == OWN or folder.fresh:
        notes.append("There is no original to compare with: transformers does not have this model.")
    else:
        try:
            comparisons.append(_with_original(folder, given, answers["float64"]))
        except GlassformerError as error:
            notes.append(f"The original was not asked: {error}")
    return replace(found, given=given.words, comparisons=comparisons, notes=notes)


def _with_original(folder: CheckpointFolder, given: Given, ours: Answer) -> Comparison:
    """The original in float64, or in float32 where its float64 is no number: a padded row that sees nothing is 0/0 there."""
    import torch

    from glassformer.model.certificate import BOUNDS, compare
    from glassformer.model.original import their_answer

    for dtype in ("float64", "float32"):
        theirs = their_answer(folder, given.parts, dtype=getattr(torch, dtype))
        what = f"model in float64, original in {dtype}"
        found = compare(what, ours, theirs, bound=BOUNDS["original"], real=given.real)
        if math.isfinite(found.worst):
            break
    return found


def _float64_run(folder: CheckpointFolder, given: Given, *, allow_nonfinite: bool) -> Answer:
    """What the float64 run of the program gives, from weights that it reads itself. A fresh head is not in the file: no head."""
    from glassformer.model.answers import Answer
    from glassformer.numbers import open_checkpoint, run
    from glassformer.program import build
    from glassformer.spec.huggingface import FAMILIES

    foreign = folder.family != OWN
    base = FAMILIES[folder.family].base if foreign and folder.fresh else folder.model_class if foreign else None
    checkpoint = open_checkpoint(folder.path, as_class=base, allow_nonfinite=allow_nonfinite)
    spec = checkpoint.spec
    shape = next(iter(given.parts.values())).shape
    length = None if spec.one_length else shape[1]
    program = build(spec, batch=shape[0], t=length, padded="attend" in given.parts)
    named = {program.inputs[0].name if part == spec.reads else part: value for part, value in given.parts.items()}
    done = run(program, checkpoint.weights, named, layers=())
    outputs: dict[str, Any] = {"states": done["final_norm"] if spec.norm_after_last == "all" else done.hidden[-1]}
    if not folder.fresh:
        steps = {"pooler.out": "pooled", "head.logits": "logits", "head.out": "logits", "head.next": "next"}
        outputs |= {name: done[step] for step, name in steps.items() if step in done.program.tensors}
    return Answer(tuple(done.hidden), outputs)
