"""The number commands in Python: run a forward pass, run an experiment, work a problem by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassformer.arguments import in_order, path, words
from glassformer.checkpoints.folder import RUN
from glassformer.configs.reading import What, request
from glassformer.errors import GlassformerError, shown

if TYPE_CHECKING:
    from glassformer.numbers import Checkpoint, Run
    from glassformer.numbers.by_hand import Solution
    from glassformer.numbers.experiments import Experiment


def experiments() -> dict[str, str]:
    """Return the experiments and the claim that each of them tests."""
    from glassformer.numbers.experiments import CLAIMS

    return dict(CLAIMS)


def experiment(name: str, *, seed: int = 0, text: str | None = None, **fields: Any) -> Experiment:
    """Test a textbook claim with actual numbers: `gf.experiment("order")`."""
    from glassformer.numbers import experiments

    return experiments.experiment(name, seed=seed, text=text, **fields)


def run(  # noqa: PLR0913 - one argument for each kind of input
    what: What,
    *,
    text: str | None = None,
    tokens: Sequence[int] | None = None,
    target: str | None = None,
    target_tokens: Sequence[int] | None = None,
    picture: Any = None,
    frames: Any = None,
    seed: int | None = None,
    as_class: str | None = None,
    **fields: Any,
) -> Run:
    """Run a forward pass and keep every number: of a checkpoint folder on text or ids, or of a spec with small seeded weights.

    `picture` is the input of an image encoder: a file, or numbers [channel, row, column], scaled as in training. `frames` is
    the input of an audio encoder: an .npy file, or numbers [mel, frame]. An encoder-decoder also needs a `target`; for a
    checkpoint, the start token is added. `target_tokens` are used unchanged.
    """
    from glassformer.numbers.seeded import seeded_run

    _refuse_odd(text=text, tokens=tokens, target=target, target_tokens=target_tokens)
    inputs = {"text": text, "tokens": tokens, "picture": picture, "frames": frames}
    inputs |= {"target": target, "target_tokens": target_tokens}
    if isinstance(what, str | Path) and holds_weights(what):
        _refuse_changes(what, fields, seed)
        return _run_checkpoint(what, as_class, inputs)
    for name, reads in (("picture", "images"), ("frames", "audio")):
        if inputs[name] is not None:
            raise GlassformerError(
                f"{name} needs a checkpoint that reads {reads}; the input of a spec without weights comes from the seed."
            )
    requested = request(what, as_class=as_class, decoders=True, **fields)
    ids, target_ids = (list(given) if given is not None else None for given in (tokens, target_tokens))
    for name, said, numbers in (("t", text, ids), ("u", target, target_ids)):
        if given := said.split() if isinstance(said, str) else numbers:
            _require_size(name, getattr(requested, name), len(given))
            _require_size("batch", requested.batch, 1)
    return seeded_run(
        requested.spec,
        batch=requested.batch,
        t=requested.t,
        u=requested.u,
        words=text,
        ids=ids,
        target=target,
        target_ids=target_ids,
        seed=0 if seed is None else seed,
    )


def _refuse_odd(**given: Any) -> None:
    """Refuse ids that are not a list, and a text together with ids."""
    for text, tokens in (("text", "tokens"), ("target", "target_tokens")):
        if given[tokens] is not None and not in_order(given[tokens]):
            value = f"{tokens}={shown(given[tokens])}"
            raise GlassformerError(f"{value} is not allowed: {tokens} must be a list of ids, such as [101, 2023, 102].")
        if given[text] is not None and given[tokens] is not None:
            raise GlassformerError(f"{text} and {tokens} are both given. Give only one.")


# Inputs other than text: the input of the checkpoint, its argument, and its option.
NOT_TEXT = {"image": ("images", "picture", "picture (--picture FILE)"), "frames": ("audio", "frames", "frames (--frames FILE)")}


def _refuse_changes(what: str | Path, fields: Mapping[str, Any], seed: int | None) -> None:
    """Refuse fields and a seed for a checkpoint: its weights fit only the encoder they were saved from."""
    if fields:
        name = next(iter(fields))
        raise GlassformerError(
            f"{shown(name)}={shown(fields[name])} cannot be changed: {shown(str(what))} holds weights, which fit only the "
            f"encoder they were saved from. Leave {shown(name)} out, or name its config file to use seeded weights."
        )
    if seed is not None:
        raise GlassformerError(
            f"seed={shown(seed)} has no effect: {shown(str(what))} holds weights. Leave the seed out, or name its config file "
            "to use seeded weights."
        )


def _run_checkpoint(what: str | Path, as_class: str | None, inputs: Mapping[str, Any]) -> Run:
    """Run a checkpoint on the one input that was given, which must be of the kind it reads, and on a target."""
    from glassformer.numbers import open_checkpoint

    checkpoint = open_checkpoint(what, as_class=as_class)
    given = {name: _from_file(name, value, checkpoint) for name, value in inputs.items() if value is not None}
    reads = checkpoint.spec.reads
    aims = {name: given.pop(name) for name in ("target", "target_tokens") if name in given}
    if "target_tokens" in aims:
        aims["target_tokens"] = [list(aims["target_tokens"])]
    if reads in NOT_TEXT:
        kind, wanted, option = NOT_TEXT[reads]
        if [*given] != [wanted]:
            raise GlassformerError(f"this encoder reads {kind}: give {option}, and no other input.")
        return checkpoint.run(**{reads: given[wanted]}, **aims)
    if [*given] == ["text"]:
        return checkpoint.run(text=given["text"], **aims)
    if [*given] == ["tokens"]:
        return checkpoint.run(tokens=[list(given["tokens"])], **aims)
    raise GlassformerError("this model reads text: give either text or tokens.")


def _from_file(name: str, value: Any, checkpoint: Checkpoint) -> Any:
    """Read a picture or frames given as a file; return any other input unchanged."""
    if name not in ("picture", "frames") or not isinstance(value, str | Path):
        return value
    if name == "picture":
        from glassformer.encoding.pictures import reading_of

        return reading_of(checkpoint.spec, checkpoint.folder).pixels([path(name, value)])[0]
    from glassformer.encoding.arrays import read_array

    found = read_array(path(name, value), wanted="Give an .npy file of numbers [mel, frame].")
    if found.ndim not in (2, 3) or found.dtype.kind not in "fiu":
        raise GlassformerError(
            f"--frames {shown(str(value))} has shape {list(found.shape)} and type {found.dtype}; expected numbers [mel, frame]."
        )
    return found


def _require_size(name: str, size: int | None, found: int) -> None:
    """Refuse a size that contradicts the input, which would otherwise be ignored silently."""
    if size not in (None, found):
        raise GlassformerError(f"{name}={size} contradicts the input, which has {name}={found}. Leave {name} out.")


def holds_weights(what: str | Path) -> bool:
    """Whether a path is a folder with a checkpoint's weights, or a training run (of which the best weights are used)."""
    try:
        return (Path(what) / RUN).is_file() or any(Path(what).glob("*.safetensors*"))
    except (OSError, ValueError, NotImplementedError):
        return False


def work(problem: str | Path | Mapping[str, Any], *, ask: str | Sequence[str] | None = None) -> Solution:
    """Work out a problem by hand, step by step: a problem file, or its content as a mapping.

    `ask` replaces what the problem asks for: `"weights,output"`. `.rounded(2)` of the solution rounds every step to two
    decimals, as with a pocket calculator.
    """
    from glassformer.numbers import by_hand

    if isinstance(problem, Mapping):
        found = by_hand.parse_problem(dict(problem), "the given mapping")
    else:
        found = by_hand.load_problem(path("problem", problem))
    if ask is not None:
        found = found.replace(ask=tuple(words("ask", ask)))
    return by_hand.solve(found)
