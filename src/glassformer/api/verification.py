"""How `verify` compares outputs: our model in two precisions, our float64 run, and the original model if available."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.errors import GlassformerError
from glassformer.files.name_tables import OWN
from glassformer.files.paths import path_text

if TYPE_CHECKING:
    from glassformer.checkpoints.folder import CheckpointFolder
    from glassformer.model.checkpoints.answers import Answer, Given
    from glassformer.model.checkpoints.certificate import Certificate, Comparison
    from glassformer.numbers.checkpoint import Checkpoint
    from glassformer.spec import Seq2SeqSpec


def certify(folder: Path, *, as_class: str | None, seed: int, original: bool, allow_nonfinite: bool) -> Certificate:
    """Return the certificate of an existing folder; for a folder that cannot be loaded, one that says why it is refused."""
    from glassformer.checkpoints.adapter_folder import is_adapter
    from glassformer.checkpoints.matching import MismatchError
    from glassformer.model.checkpoints import certificate
    from glassformer.model.checkpoints.loading import open_for_model

    try:
        if is_adapter(folder):
            return _of_adapters(folder, as_class=as_class, seed=seed, original=original, allow_nonfinite=allow_nonfinite)
        opened = open_for_model(folder, as_class=as_class, decoders=True)
        found = certificate.certificate(opened)
        return _with_comparisons(found, opened, seed=seed, original=original, allow_nonfinite=allow_nonfinite)
    except GlassformerError as error:
        return certificate.refused(str(folder), str(error), error.match if isinstance(error, MismatchError) else None)


def _of_adapters(folder: Path, *, as_class: str | None, seed: int, original: bool, allow_nonfinite: bool) -> Certificate:
    """Merge the adapters into their base model, and return the certificate of the merged model."""
    from dataclasses import replace
    from tempfile import TemporaryDirectory

    from glassformer.model.adapters.opening import load_adapted
    from glassformer.model.checkpoints.export import save

    loaded = load_adapted(folder, as_class=as_class, allow_nonfinite=allow_nonfinite)
    with TemporaryDirectory() as place:
        merged = Path(place) / "merged"
        save(loaded.encoder, merged, config=loaded.folder.config, as_class=loaded.folder.model_class)
        found = certify(merged, as_class=None, seed=seed, original=original, allow_nonfinite=allow_nonfinite)
    note = f"These are the adapters of {path_text(folder)}, merged into {path_text(loaded.folder.path)}."
    return replace(found, folder=str(folder), notes=[note, *found.notes])


def _with_comparisons(
    found: Certificate, folder: CheckpointFolder, *, seed: int, original: bool, allow_nonfinite: bool
) -> Certificate:
    """Run the models one after the other, so that only one is in memory, and compare their outputs."""
    from dataclasses import replace

    import torch

    from glassformer.model.checkpoints.answers import example, our_answer
    from glassformer.model.checkpoints.certificate import BOUNDS, compare
    from glassformer.model.checkpoints.loading import load_encoder

    given = example(folder, seed=seed)
    answers: dict[str, Answer] = {}
    for name in ("float64", "float32"):
        torch.manual_seed(seed)  # so that a fresh head is the same in both
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
        notes.append("Not compared with the original model.")
    elif folder.family == OWN or folder.fresh:
        notes.append("Not compared with an original model: transformers does not support this model.")
    else:
        try:
            comparisons.append(_with_original(folder, given, answers["float64"]))
        except GlassformerError as error:
            notes.append(f"Not compared with the original model: {error}")
    return replace(found, given=given.words, comparisons=comparisons, notes=notes)


def _with_original(folder: CheckpointFolder, given: Given, ours: Answer) -> Comparison:
    """Compare with the original in float64, or in float32 if its float64 result is NaN (0/0 in fully padded rows)."""
    import torch

    from glassformer.model.checkpoints.certificate import BOUNDS, compare
    from glassformer.model.checkpoints.original import their_answer

    for dtype in ("float64", "float32"):
        theirs = their_answer(folder, given.parts, dtype=getattr(torch, dtype))
        what = f"model in float64, original in {dtype}"
        found = compare(what, ours, theirs, bound=BOUNDS["original"], real=given.real)
        if math.isfinite(found.worst):
            break
    return found


def _float64_run(folder: CheckpointFolder, given: Given, *, allow_nonfinite: bool) -> Answer:
    """Return the output of the program's float64 run, which reads the weights itself; without a fresh head."""
    from glassformer.configs.huggingface import FAMILIES
    from glassformer.model.checkpoints.answers import Answer
    from glassformer.numbers import open_checkpoint, run
    from glassformer.program import build
    from glassformer.spec import Seq2SeqSpec

    foreign = folder.family != OWN
    base = FAMILIES[folder.family].base if foreign and folder.fresh else folder.model_class if foreign else None
    checkpoint = open_checkpoint(folder.path, as_class=base, allow_nonfinite=allow_nonfinite)
    spec = checkpoint.spec
    if isinstance(spec, Seq2SeqSpec):
        return _run_of_both_stacks(checkpoint, spec, given)
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


def _run_of_both_stacks(checkpoint: Checkpoint, spec: Seq2SeqSpec, given: Given) -> Answer:
    """Return the output of the program of an encoder-decoder."""
    from glassformer.model.checkpoints.answers import Answer
    from glassformer.numbers import run
    from glassformer.program import build

    parts = given.parts
    length = None if spec.one_length else parts[spec.reads].shape[1]
    target = parts["target"]
    program = build(spec, batch=len(target), t=length, u=target.shape[1], padded="attend" in parts)
    done = run(program, checkpoint.weights, parts)
    layers = range(spec.decoder.layers)
    hidden = [done[name] for name in ("decoder.x", *(f"decoder.layers.{layer}.out" for layer in layers))]
    names = {"encoder.final_norm": "source", "decoder.final_norm": "states", "head.logits": "logits"}
    return Answer(tuple(hidden), {name: done[step] for step, name in names.items() if step in done})
