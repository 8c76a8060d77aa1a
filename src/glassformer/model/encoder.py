"""The encoder, top to bottom: embeddings, blocks, final norm, pooler, head."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.model.attention import Attention, Context, Rotation, unrotated
from glassformer.model.core import Core, Layout, Padded, Rule
from glassformer.model.embeddings import Embeddings
from glassformer.model.feed_forward import FeedForward
from glassformer.model.heads import Classify, MaskedTokens, Pooler, Pretrain, Reading, Tag
from glassformer.model.norms import RESIDUALS, Norm, SubLayer, unnormed
from glassformer.model.variants.attention_pooler import AttentionPooler
from glassformer.model.variants.beside import Beside
from glassformer.model.variants.bottleneck import InBottleneck, NarrowAttention, SeveralFeedForwards
from glassformer.model.variants.funnel import Pools, funnel_passes
from glassformer.model.variants.layer_adapter import Adapts
from glassformer.model.variants.layer_scale import LayerScale
from glassformer.model.variants.mixing import MixesByFourier
from glassformer.model.variants.next_token import NextToken
from glassformer.model.variants.other_heads import WIDE, Contacts, Distilled, Project
from glassformer.model.variants.relative import Relation, parts_of, relations
from glassformer.model.variants.rotary import StoredRotation, rotations
from glassformer.model.variants.scores import additions_of
from glassformer.spec import EncoderSpec


class Inputs(NamedTuple):
    """The inputs of a forward pass."""

    inputs: Tensor
    attend: Tensor | None = None
    segments: Tensor | None = None
    positions: Tensor | None = None
    predict_at: Tensor | None = None
    boxes: Tensor | None = None


class Wanted(NamedTuple):
    """The outputs that the caller needs."""

    weights: Collection[int] = ()  # the layers whose attention weights are needed
    hidden: bool = False
    only_logits: bool = False  # whether only the logits are needed: a fast encoder leaves the rest out


USUAL = Wanted()


class Output(NamedTuple):
    """The outputs of a forward pass; parts that the spec lacks, or that were not requested, are None or empty."""

    states: Tensor  # [batch, t, d_model], after the final norm; of a fast encoder with only_logits, those that the head reads
    pooled: Tensor | None  # [batch, d_model]
    logits: Tensor | None  # of the head: by input, by token, or by requested position
    weights: dict[int, Tensor]  # layer -> [batch, head, t, s], for the layers in return_weights
    hidden: tuple[Tensor, ...]  # the input of the first layer, then the output of each layer
    next_logits: Tensor | None = None  # head=pretrain: whether the second segment follows the first


class Place(NamedTuple):
    """The properties of a layer other than its weights, which it may share with other layers."""

    owner: str  # the block whose weights it uses
    rule: Rule
    rotary_base: float | None
    normed: bool  # whether its attention reads normalised input (pre-norm)

    @classmethod
    def of(cls, spec: EncoderSpec, number: int) -> Place:
        window = spec.layer_window(number)
        local = window is not None and spec.rotary_base_local is not None
        base = (spec.rotary_base_local if local else spec.rotary_base) if spec.rotary else None
        rule = Rule(spec.attend == "causal", window, spec.global_attention == "first")
        return cls(str(spec.layer_weights(number)), rule, base, spec.first_norm or number > 0)


def self_attention(spec: EncoderSpec) -> Any:
    """The self-attention of a layer; an identity where layers have none."""
    if spec.bottleneck is not None and spec.bottleneck_reads == "keys":
        return NarrowAttention(spec)
    return Attention(spec, additions_of(spec)) if spec.attends else nn.Identity()


class Block(nn.Module):
    """An encoder layer: attention and feed-forward, each added to its input."""

    def __init__(self, spec: EncoderSpec, *, normed: bool) -> None:
        super().__init__()
        scaled = LayerScale if spec.layer_scale else nn.Identity  # Identity takes, and ignores, any arguments
        self.attention, self.ffn = self_attention(spec), FeedForward(spec)
        entered = spec.norm == "post" or spec.input_norm
        self.norm_1 = Norm(spec, spec.inner_width) if entered and (normed or spec.norm == "post") else nn.Identity()
        self.norm_2 = Norm(spec, spec.inner_width) if entered else nn.Identity()
        self.output_norm_1, self.output_norm_2 = (output_norm(spec) for _ in range(2))
        self.scale_1, self.scale_2 = scaled(spec, 1), scaled(spec, 2)
        self.dropout = nn.Dropout(spec.dropout)
        self.residual, self.pre = RESIDUALS[spec.norm], spec.norm == "pre"

    def forward(self, x_BTD: Tensor, context: Context) -> Tensor:
        entered_BTD = x_BTD
        x_BTD = self.residual(x_BTD, self.first_norm(context), partial(self.attend, context=context))
        return context.beside(entered_BTD, self.residual(x_BTD, self.norm_2, self.transform))

    def first_norm(self, context: Context) -> SubLayer:
        """In ModernBERT the first layer reads the embeddings without a norm, since they are normalised already."""
        return self.norm_1 if context.normed or not self.pre else unnormed

    def attend(self, y_BTD: Tensor, context: Context) -> Tensor:
        return self.scale_1(self.output_norm_1(self.dropout(self.attention(y_BTD, y_BTD, context))))

    def transform(self, y_BTD: Tensor) -> Tensor:
        return self.scale_2(self.output_norm_2(self.dropout(self.ffn(y_BTD))))

    def weights(self, x_BTD: Tensor, context: Context) -> Tensor:
        """The attention weights of this layer, given its input."""
        y_BTD = self.first_norm(context)(x_BTD) if self.pre else x_BTD
        return self.attention.weights(y_BTD, y_BTD, context)


class ParallelBlock(Block):
    """Both sub-layers read the input of the layer (GPT-J, GPT-NeoX)."""

    def forward(self, x_BTD: Tensor, context: Context) -> Tensor:
        left_BTD = x_BTD + self.attend(self.first_norm(context)(x_BTD), context) + self.transform(self.norm_2(x_BTD))
        return context.beside(x_BTD, left_BTD)


class FourierBlock(MixesByFourier, Block):
    """An encoder layer with a Fourier transform in place of attention (FNet)."""


class SeveralBlock(SeveralFeedForwards, Block):
    """An encoder layer with several feed-forward blocks, one after the other."""


class BottleneckBlock(InBottleneck, Block):
    """An encoder layer inside a bottleneck (MobileBERT)."""


class FunnelBlock(Pools, Block):
    """An encoder layer that may halve the length of the sequence (Funnel)."""


class AdaptedBlock(Adapts, Block):
    """An encoder layer with a small block after it (MMS)."""


def output_norm(spec: EncoderSpec) -> nn.Module:
    """A norm on the output of a sub-layer, if the spec has one (Gemma 2, OLMo 2)."""
    return Norm(spec, spec.d_model) if spec.output_norm else nn.Identity()


class BareAttention(nn.Module):
    """The attention sub-layer alone: no residual, no norm, no feed-forward block."""

    def __init__(self, spec: EncoderSpec, *, normed: bool) -> None:
        super().__init__()
        self.attention = self_attention(spec)

    def forward(self, x_BTD: Tensor, context: Context) -> Tensor:
        return self.attention(x_BTD, x_BTD, context)

    def weights(self, x_BTD: Tensor, context: Context) -> Tensor:
        return self.attention.weights(x_BTD, x_BTD, context)


BLOCKS: dict[tuple[str, str, str], type[Block | BareAttention]] = {
    ("layer", "sequential", "attention"): Block,
    ("layer", "sequential", "fourier"): FourierBlock,
    ("layer", "parallel", "attention"): ParallelBlock,
    ("attention", "sequential", "attention"): BareAttention,
}
POOLERS: dict[str, type[nn.Module]] = {"none": Pooler, "dense": Pooler, "norm": Pooler, "attention": AttentionPooler}
HEADS: dict[str, type[nn.Module]] = {
    "classify": Classify,
    "distilled": Distilled,
    "tag": Tag,
    "tag_patches": Tag,
    "mlm": MaskedTokens,
    "pretrain": Pretrain,
    "project": Project,
}


def head_of(spec: EncoderSpec) -> nn.Module | None:
    """The task head of the spec, if any."""
    if spec.predicts_next:
        return NextToken(spec)
    heads = HEADS | WIDE if spec.wide_output else HEADS
    return heads[spec.head](spec) if spec.head != "none" else None


def unrelated(owner: str) -> Relation:  # noqa: ARG001
    """No relative positions."""
    return Relation()


class PlainEncoder(nn.Module):
    """An encoder of any spec, as in the papers; `gf.Encoder` adds only memory limits, initial weights, checks and names."""

    rectangles_only = False  # whether a pass must be a padded batch, never a packed row or a replay
    here: Tensor  # an empty tensor that has the device and dtype even if a spec has no parameters

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.spec = spec
        self.places = tuple(Place.of(spec, number) for number in range(spec.layers))
        normed: dict[str, bool] = {}  # block -> whether any layer that uses it normalises what its attention reads
        for place in self.places:
            normed[place.owner] = normed.get(place.owner, False) or place.normed
        self.embeddings = Embeddings(spec)
        self.buckets, self.relative, self.tables = parts_of(spec, normed)
        self.rotary_table = StoredRotation(spec) if spec.stores_rotation and normed else None
        block = self.block_of(spec)
        self.layers = nn.ModuleDict({owner: block(spec, normed=reads) for owner, reads in normed.items()})
        self.final_norm = Norm(spec, spec.d_model) if spec.norm_after_last == "all" else nn.Identity()
        self.beside = Beside(spec) if spec.beside_kernel is not None else None
        self.pooler = POOLERS[spec.pooler](spec) if spec.has_pooler else None
        self.head = head_of(spec)
        self.contacts = Contacts(spec) if spec.contact_head else None
        self.register_buffer("here", torch.empty(0), persistent=False)

    def block_of(self, spec: EncoderSpec) -> Callable[..., nn.Module]:
        """The class of a layer."""
        if spec.bottleneck is not None or spec.ffn_blocks > 1:
            return SeveralBlock if spec.bottleneck is None else BottleneckBlock
        if spec.funnel or spec.layer_adapter is not None:
            return FunnelBlock if spec.funnel else AdaptedBlock
        return BLOCKS[spec.block, spec.residual, spec.mixing]

    def blocks(self) -> Iterator[nn.Module]:
        """Yield every block of layers once."""
        yield from self.layers.values()

    def run(self, given: Inputs, layout: Layout | None = None, wanted: Wanted = USUAL) -> Output:
        """One pass over checked inputs, which form a padded batch unless `layout` is given."""
        layout = Padded(given.attend) if layout is None else layout
        x_BTD = self.embeddings(given.inputs, given.segments, given.positions, given.attend, given.boxes)
        keeps = wanted.hidden or self.spec.layer_sum
        weights, hidden = {}, [x_BTD] if keeps else []
        contexts = self.contexts(x_BTD.shape[1], x_BTD.dtype, layout, given.positions, given)
        for number, (block, context) in enumerate(contexts):
            if number in wanted.weights:  # computed separately: returning weights does not change the layer's output
                weights[number] = block.weights(x_BTD, context)
            x_BTD = block(x_BTD, context)
            if keeps:
                hidden.append(x_BTD)
        states_BTD = self.final_norm(x_BTD)
        pooled_BD = self.pooler(states_BTD, layout) if self.pooler is not None else None
        output = self.read(states_BTD, pooled_BD, layout, given.predict_at, hidden)
        return output._replace(weights=weights, hidden=tuple(hidden) if wanted.hidden else ())

    def read(
        self,
        states_BTD: Tensor,
        pooled_BD: Tensor | None,
        layout: Layout,
        predict_at: Tensor | None,
        hidden: Sequence[Tensor] = (),
    ) -> Output:
        """The outputs of the head; `hidden` is the input of layer 0 and the output of each layer, for heads that sum them."""
        reading = Reading(states_BTD, pooled_BD, layout, self.embeddings.token_table, predict_at, tuple(hidden))
        logits, next_logits = self.head(reading) if self.head is not None else (None, None)
        return Output(states_BTD, pooled_BD, logits, {}, (), next_logits)

    def contexts(
        self, t: int, dtype: torch.dtype, layout: Layout, positions_BT: Tensor | None, given: Inputs | None = None
    ) -> Iterator[tuple[Any, Context]]:
        """Each layer's block and its context. Masks and angles are computed once for all layers that share them."""
        if self.spec.funnel:
            yield from funnel_passes(self, t, dtype, getattr(layout, "attend_BS", None), given and given.segments)
            return
        relation_of = unrelated if self.buckets is None else relations(self, layout.length(t), dtype, given and given.boxes)
        rotations = self.rotations(t, positions_BT)
        cores: dict[Rule, Core] = {}
        for number, place in enumerate(self.places):
            relation = relation_of(place.owner)
            if place.rule not in cores or relation.own:
                cores[place.rule] = layout.core(place.rule, relation.bias_HTS, t=t, dtype=dtype, device=self.here.device)
            rotate = rotations[place.rotary_base]
            context = Context(cores[place.rule], rotate, place.normed, relation.distances, gated_HTS=relation.gated_HTS)
            if self.beside is not None and number == 0:
                context = context._replace(beside=partial(self.beside, real_BT=getattr(layout, "attend_BS", None)))
            yield self.layers[place.owner], context

    def rotations(self, t: int, positions_BT: Tensor | None) -> dict[float | None, Rotation]:
        """The rotation for each base of rotary angles that a layer uses."""
        if not self.spec.rotary:
            return {None: unrotated}
        positions = torch.arange(t, device=self.here.device)[None] if positions_BT is None else positions_BT
        bases = (place.rotary_base for place in self.places)
        return rotations(self.spec, bases, positions, self.here.dtype, self.rotary_table)
