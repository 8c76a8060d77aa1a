"""Hooks by the names of the program's steps: a copy of the encoder whose parts call functions on these steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING

from torch import nn

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.insight.tapped.attention import (
    TappedAttention,
    TappedByDistances,
    TappedRelativeTable,
    TappedSlopes,
    TappedStoredRotation,
)
from glassformer.insight.tapped.embeddings import (
    TappedConvolvedPositions,
    TappedEmbeddings,
    TappedPatches,
    TappedRegisters,
    TappedSound,
    TappedTokens,
)
from glassformer.insight.tapped.heads import (
    TappedAttentionPooler,
    TappedClassifier,
    TappedClassify,
    TappedDistilled,
    TappedMaskedTokens,
    TappedPooler,
    TappedPretrain,
    TappedProject,
    TappedTag,
)
from glassformer.insight.tapped.layers import (
    TappedBareAttention,
    TappedBeside,
    TappedBlock,
    TappedEncoder,
    TappedFeedForward,
    TappedFourierBlock,
    TappedFourierMixing,
    TappedNorm,
)
from glassformer.insight.taps import Hook, Tapped, Taps
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.boundary.names import ledger_path
from glassformer.program import Program, Step, build
from glassformer.program.roles import Role
from glassformer.spec import DecoderSpec, EncoderSpec
from glassformer.spec.fields import field_text

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

TAPPED: tuple[type[Tapped], ...] = (
    *(
        TappedEncoder,
        TappedFourierBlock,  # subclasses come before their base class
        TappedBlock,
        TappedBareAttention,
        TappedAttention,
        TappedByDistances,
        TappedRelativeTable,
        TappedSlopes,
        TappedStoredRotation,
    ),
    *(TappedFeedForward, TappedNorm, TappedEmbeddings, TappedTokens, TappedPatches, TappedSound, TappedRegisters),
    *(TappedConvolvedPositions, TappedBeside, TappedFourierMixing),
    *(TappedPooler, TappedAttentionPooler, TappedClassifier, TappedClassify, TappedTag, TappedDistilled, TappedProject),
    *(TappedMaskedTokens, TappedPretrain),
)
TWINS = {one.__bases__[1]: one for one in TAPPED}  # plain part -> the part that calls hooks
# Steps that are never separate tensors: inputs of convolutions, weight norm, gates and layer sums, and steps inside a kernel.
NEVER_LAID_OUT: tuple[Role, ...] = (
    *("neighbours", "feature groups", "position neighbours", "position direction", "position length", "position weight"),
    *("position convolution", "layer weights", "layer shares", "stacked states", "weighted states"),
    *("grouped projection", "grouped convolution"),
    *("head features", "gate scores", "gate sums", "gate parts", "gate", "gated bias"),
)
IN_ONE_KERNEL = re.compile(r"^embeddings\.(conv_norm_\d+|position_norm(_\d+)?|position_cut(_\d+)?)\b")
LAYER = re.compile(r"^layers\.(\d+)")


# Fields of which the parts with hooks know nothing.
NOT_HOOKED: Mapping[str, Callable[[EncoderSpec], bool]] = {
    "bottleneck": lambda spec: spec.bottleneck is not None,
    "ffn_blocks": lambda spec: spec.ffn_blocks > 1,
    "norm_kind": lambda spec: spec.norm_kind == "scale",
    "token_kernel": lambda spec: spec.token_kernel is not None,
    "wide_output": lambda spec: spec.wide_output,
    "relative_scaled": lambda spec: spec.relative_scaled,
    "layer_adapter": lambda spec: spec.layer_adapter is not None,
    "page": lambda spec: spec.page is not None,
    "value_kernel": lambda spec: spec.value_kernel is not None,
    "funnel": lambda spec: bool(spec.funnel),
}


def step_names(spec: EncoderSpec) -> list[str]:
    """The steps of an encoder that can be hooked, in order, as names of the program."""
    return [step.name for step in _steps(spec)]


def _steps(spec: EncoderSpec) -> list[Step]:
    if spec.global_attention == "first":
        raise GlassformerError("hooks do not support global tokens yet. Set global_attention=stored to compute without them.")
    for field, given in NOT_HOOKED.items():
        if given(spec):
            raise GlassformerError(f"hooks do not support {field}={field_text(getattr(spec, field))} yet. Leave it out.")
    program: Program = build(spec, t=None if spec.one_length else 1, padded=not spec.one_length)
    return [step for step in program.steps if step.role not in NEVER_LAID_OUT and not IN_ONE_KERNEL.match(step.name)]


def checked_names(spec: EncoderSpec, names: Iterable[str]) -> list[str]:
    """The names, each of a step; `layers.*.attention.mix` stands for that step of every layer."""
    if isinstance(names, str):
        names = [names]
    known = step_names(spec)
    found: dict[str, None] = {}
    for name in names:
        if not isinstance(name, str):
            raise GlassformerError(f"a step is selected by its name, such as '{known[-1]}', found {shown(name)}.")
        every = [name.replace("*", str(number), 1) for number in range(spec.layers)] if "*" in name else [name]
        fitting = [one for one in every if one in known]
        if not fitting:
            inside = next((one for one in known if one.endswith(f".{name}")), None)
            hint = f" Did you mean '{inside}'?" if inside else nearest(every[0] if every else name, known)
            raise GlassformerError(f"there is no step '{shown(name)}' in this encoder.{hint}")
        found.update(dict.fromkeys(fitting))
    return list(found)


def tapped(encoder: Encoder, hooks: Mapping[str, Hook]) -> TappedEncoder:
    """A copy that shares all weights with the encoder and calls the hooks; parts without a hooked step are unchanged."""
    if not isinstance(hooks, Mapping) or not all(callable(hook) for hook in hooks.values()):
        raise GlassformerError('hooks must be a mapping from names of steps to functions: {"layers.0.attention.mix": f}.')
    if isinstance(encoder.spec, DecoderSpec):
        raise GlassformerError("hooks do not support decoders yet: use an encoder.")
    functions = {one: hook for name, hook in hooks.items() for one in checked_names(encoder.spec, [name])}
    blocks = {"", "embeddings"}  # the embeddings compute x and know the tokens
    for step in _steps(encoder.spec):
        if step.name in functions:
            owner = str(encoder.spec.layer_weights(step.block.layer)) if step.block.layer is not None else ""
            blocks |= {LAYER.sub(f"layers.{owner}", block.name) for block in step.block.around}
    made = _copied(encoder, "", blocks, Taps(functions))
    assert isinstance(made, TappedEncoder)
    return made


def _copied(module: nn.Module, path: str, blocks: set[str], taps: Taps) -> nn.Module:
    """A copy of the module in which parts of hooked blocks are replaced by tapped ones."""
    children = {name: part for name, part in module._modules.items() if part is not None}
    parts: dict[str, nn.Module | None] = {}
    for name, part in children.items():
        parts[name] = _copied(part, f"{path}.{name}" if path else name, blocks, taps)
    block = ledger_path(path).rstrip(".")
    twin = next((twin for plain, twin in TWINS.items() if isinstance(module, plain)), None) if block in blocks else None
    if twin is None and all(parts[name] is part for name, part in children.items()):
        return module
    other = copy(module)
    other._modules = module._modules | parts
    if twin is not None:
        other.__class__ = twin  # type: ignore[assignment]  # the same parameters
        other.__dict__ |= {"taps": taps, "place": LAYER.sub("layers.*", block)}
    return other


@contextmanager
def hooked(model: LoadedModel, hooks: Mapping[str, Hook]) -> Iterator[LoadedModel]:
    """Within the context, every pass of the model calls the hooks."""
    encoder, ready = model.encoder, model._made_ready
    model.encoder, model._made_ready = tapped(encoder, hooks), {}
    try:
        yield model
    finally:
        model.encoder, model._made_ready = encoder, ready
