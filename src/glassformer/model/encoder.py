"""The encoder, top to bottom: embeddings, blocks, final norm, pooler, head."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.model import checks, names, start
from glassformer.model.attention import Attention, Look
from glassformer.model.disentangled import RelativeVectors
from glassformer.model.dropout import Dropout
from glassformer.model.embeddings import Embeddings
from glassformer.model.feed_forward import FeedForward
from glassformer.model.heads import HEADS, AttentionPooler, MaskedTokens, Pooler, Reading, has_pooler, pool, reads_one
from glassformer.model.layouts import Layout, Padded, Rule, Sight
from glassformer.model.norms import RESIDUALS, LayerScale, Norm, SubLayer, unnormed
from glassformer.model.positions import RelativeTable, Turn, buckets_of, rotary, unturned
from glassformer.model.unpadding import Inside, inside
from glassformer.spec import EncoderSpec
from glassformer.spec.arguments import require, yes_no


class Output(NamedTuple):
    """What one pass gives; a part that the spec has not, or that was not asked for, is None or empty."""

    states: Tensor  # [batch, t, d_model], after the final norm; with only_logits [n, d_model], of the tokens that the head reads
    pooled: Tensor | None  # [batch, d_model]
    logits: Tensor | None  # of the head: by input, by token, or by position asked for
    weights: dict[int, Tensor]  # layer -> [batch, head, t, s], for the layers in return_weights
    hidden: tuple[Tensor, ...]  # what enters the first layer, then what each layer gives
    next_logits: Tensor | None = None  # head=pretrain: whether the second segment follows the first


class Place(NamedTuple):
    """What a layer is apart from its weights, which it may share with other layers."""

    owner: str  # the block whose weights it uses
    rule: Rule
    rotary_base: float | None
    normed: bool  # whether its attention reads normalised input, where norms stand before sub-layers

    @classmethod
    def of(cls, spec: EncoderSpec, number: int) -> Place:
        window = spec.layer_window(number)
        local = window is not None and spec.rotary_base_local is not None
        base = (spec.rotary_base_local if local else spec.rotary_base) if spec.position == "rotary" else None
        rule = Rule(spec.attend == "causal", window)
        return cls(str(spec.layer_weights(number)), rule, base, spec.first_norm or number > 0)


class Block(nn.Module):
    """An encoder layer: attention and feed-forward, each added to what came in."""

    def __init__(self, spec: EncoderSpec, *, normed: bool) -> None:
        super().__init__()
        scaled = LayerScale if spec.layer_scale else nn.Identity  # Identity takes, and ignores, any arguments
        self.attention, self.ffn = Attention(spec, by_distances=spec.disentangled), FeedForward(spec)
        self.norm_1 = Norm(spec, spec.d_model) if normed or spec.norm == "post" else nn.Identity()
        self.norm_2 = Norm(spec, spec.d_model)
        self.scale_1, self.scale_2 = scaled(spec, 1), scaled(spec, 2)
        self.dropout = Dropout(spec.dropout)
        self.residual, self.pre = RESIDUALS[spec.norm], spec.norm == "pre"

    def forward(self, x_BTD: Tensor, look: Look) -> Tensor:
        x_BTD = self.residual(x_BTD, self.first_norm(look), partial(self.attend, look=look), look.read_at)
        return self.residual(x_BTD, self.norm_2, self.transform, None)

    def first_norm(self, look: Look) -> SubLayer:
        """ModernBERT's first layer reads the embeddings, which were normalised already, as they are."""
        return self.norm_1 if look.normed or not self.pre else unnormed

    def attend(self, y_BTD: Tensor, look: Look) -> Tensor:
        return self.scale_1(self.dropout(self.attention(y_BTD, y_BTD, look)))

    def transform(self, y_BTD: Tensor) -> Tensor:
        return self.scale_2(self.dropout(self.ffn(y_BTD)))

    def weights(self, x_BTD: Tensor, look: Look) -> Tensor:
        """Who attends to whom in this layer, given what enters it."""
        y_BTD = self.first_norm(look)(x_BTD) if self.pre else x_BTD
        return self.attention.weights(y_BTD, y_BTD, look)


class BareAttention(nn.Module):
    """The attention sub-layer alone: no residual, no norm, no feed-forward block."""

    def __init__(self, spec: EncoderSpec, *, normed: bool) -> None:
        super().__init__()
        self.attention = Attention(spec, by_distances=spec.disentangled)

    def forward(self, x_BTD: Tensor, look: Look) -> Tensor:
        return self.attention(x_BTD, x_BTD, look)

    def weights(self, x_BTD: Tensor, look: Look) -> Tensor:
        return self.attention.weights(x_BTD, x_BTD, look)


BLOCKS = {"layer": Block, "attention": BareAttention}


class Encoder(nn.Module):
    """An encoder of any spec, ready to train: `Encoder(spec)(tokens).states`."""

    here: Tensor  # holds no number: it knows device and dtype, even where a spec has no parameters

    def __init__(
        self,
        spec: EncoderSpec,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | str | None = None,
        fresh: bool = True,
    ) -> None:
        """`fresh=False` leaves the weights as the memory was found, for a loader that fills every one of them."""
        super().__init__()
        require(EncoderSpec, spec, "an encoder is built from a spec, as in gf.Encoder(gf.spec('bert-tiny'))")
        self.spec = spec
        for name in ("longest", "image_size", "head_k"):
            getattr(spec, name)  # worked out now: in Python 3.11 torch.compile cannot enter a cached property
        self.places = tuple(Place.of(spec, number) for number in range(spec.layers))
        normed: dict[str, bool] = {}  # block -> whether any layer that uses it normalises what its attention reads
        for place in self.places:
            normed[place.owner] = normed.get(place.owner, False) or place.normed
        own_tables = spec.relative and spec.relative_tables == "per_layer"
        with start.laid_out():
            self.embeddings = Embeddings(spec)
            self.buckets = buckets_of(spec) if spec.relative else None
            table = RelativeVectors if spec.disentangled else RelativeTable
            self.relative = table(spec) if spec.relative and normed and not own_tables else None
            self.tables = nn.ModuleDict({owner: table(spec) for owner in normed} if own_tables else {})
            self.layers = nn.ModuleDict({owner: BLOCKS[spec.block](spec, normed=reads) for owner, reads in normed.items()})
            self.final_norm = Norm(spec, spec.d_model) if spec.norm_after_last == "all" else nn.Identity()
            pooler = AttentionPooler if spec.pooler == "attention" else Pooler
            self.pooler = pooler(spec) if has_pooler(spec) else None
            self.head = HEADS[spec.head](spec) if spec.head != "none" else None
            self.register_buffer("here", torch.empty(0), persistent=False)
        start.allocate(self, device, dtype)
        start.fill_constants(self)
        if yes_no("fresh", fresh):
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Fresh weights: see `start.fill`."""
        start.fill(self)

    def forward(
        self,
        inputs: Tensor,
        attend: Tensor | None = None,
        segments: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        predict_at: Tensor | None = None,
        only_logits: bool = False,
        return_weights: Collection[int] = (),
        return_hidden: bool = False,
    ) -> Output:
        """One pass over tokens [batch, t], an image [batch, channel, row, column], sound [batch, mel, frame] or vectors.

        `attend` is True at real tokens. `positions` are the positions where they are not 0, 1, 2, … `predict_at` chooses
        where a masked-token head predicts: True there, or flat indices (row · t + column), which torch.compile prefers.
        With `only_logits` the last layer goes on, after its attention, for the tokens alone that the head reads.
        """
        given = checks.Inputs(inputs, attend, segments, positions, predict_at)
        given = checks.checked(self.spec, given, self.here, return_weights)
        layout, return_hidden = Padded(given.attend), yes_no("return_hidden", return_hidden)
        if yes_no("only_logits", only_logits):
            checks.check_only_logits(self.spec, looked_at=bool(return_weights) or return_hidden)
            return self.run(given, layout, only_logits=True)
        return self.run(given, layout, return_weights=return_weights, return_hidden=return_hidden)

    def run(
        self,
        given: checks.Inputs,
        layout: Layout,
        *,
        only_logits: bool = False,
        return_weights: Collection[int] = (),
        return_hidden: bool = False,
    ) -> Output:
        """`forward` for inputs that were checked, lying in any layout."""
        x_BTD = self.embeddings(given.inputs, given.segments, given.positions)
        looked_at = bool(return_weights) or return_hidden  # a packed row has no rectangle to show
        row = Inside(layout, given.positions) if looked_at else inside(self, x_BTD, layout, given.positions)
        shape, x_BTD = x_BTD.shape, row.enter(x_BTD)
        weights, hidden = {}, [x_BTD] if return_hidden else []
        read_at = self.read_at(x_BTD, row, given.predict_at) if only_logits else None
        for number, (block, look) in enumerate(self.looks(x_BTD.new_empty((*x_BTD.shape[:2], 0)), row.layout, row.positions_BT)):
            if number in return_weights:  # beside the layer: looking on changes nothing of what it computes
                weights[number] = block.weights(x_BTD, look)
            last = number == len(self.places) - 1
            x_BTD = block(x_BTD, look._replace(read_at=read_at) if last else look)
            if return_hidden:
                hidden.append(x_BTD)
        if read_at is not None:
            return self.said_of(self.final_norm(x_BTD[0]), layout)
        states_BTD = self.final_norm(row.leave(x_BTD, shape))
        pooled_BD = self.pooler(states_BTD, layout) if self.pooler is not None else None
        reading = Reading(states_BTD, pooled_BD, layout, self.embeddings.token_table, given.predict_at)
        logits, next_logits = self.head(reading) if self.head is not None else (None, None)
        return Output(states_BTD, pooled_BD, logits, weights, tuple(hidden), next_logits)

    def read_at(self, x_BTD: Tensor, row: Inside, predict_at: Tensor | None) -> Tensor | None:
        """Where the only tokens lie that the head reads, as flat places among those that the layers see; None: it reads all."""
        if not self.places:
            return None
        if isinstance(self.head, MaskedTokens):
            return None if predict_at is None else row.within(predict_at)
        if not isinstance(self.pooler, Pooler) or not reads_one(self.spec):
            return None
        places_BT1 = torch.arange(x_BTD.shape[0] * x_BTD.shape[1], device=x_BTD.device).view(*x_BTD.shape[:2], 1)
        return pool(places_BT1, row.layout, self.spec, self.spec.pool)[:, 0]

    def said_of(self, states_ND: Tensor, layout: Layout) -> Output:
        """What pooler and head make of the tokens that the head reads, where no others are left."""
        pooled_BD = self.pooler.finished(states_ND) if isinstance(self.pooler, Pooler) else None
        assert self.head is not None
        logits, next_logits = self.head(Reading(states_ND, pooled_BD, layout, self.embeddings.token_table, None))
        return Output(states_ND, pooled_BD, logits, {}, (), next_logits)

    def looks(self, like: Tensor, layout: Layout, positions_BT: Tensor | None) -> Iterator[tuple[Any, Look]]:
        """Each layer's block and what it sees. Masks and angles are made once for all layers that have the same.

        `like` has the batch and the positions of what enters, but none of its numbers: those would be kept to the end.
        """
        length = layout.length(like)
        buckets_TS = self.buckets(length, length, like.device) if self.buckets is not None else None
        shared = self.relative(buckets_TS) if self.relative is not None else None
        sights: dict[Rule, Sight] = {}
        turns: dict[float | None, Turn] = {None: unturned}
        positions = torch.arange(like.shape[1], device=like.device)[None] if positions_BT is None else positions_BT
        for place in self.places:
            if place.rotary_base is not None and place.rotary_base not in turns:
                turns[place.rotary_base] = rotary(positions, self.spec.head_k, place.rotary_base, self.here.dtype)
            table = self.tables[place.owner](buckets_TS) if self.tables else shared
            bias_HTS, distances = (None, table) if self.spec.disentangled else (table, None)
            if place.rule not in sights or (self.tables and bias_HTS is not None):
                sights[place.rule] = layout.sight(like, place.rule, bias_HTS)
            turn = turns[place.rotary_base]
            yield self.layers[place.owner], Look(sights[place.rule], turn, turn, place.normed, distances)

    def ledger(self) -> Iterator[tuple[str, Tensor]]:
        """Every parameter under its name in the ledger, as a view with the ledger's axes: `W_Q` is [d_model, head, d_k]."""
        return names.ledger(self)

    def load_ledger(self, weights: Mapping[str, Any]) -> None:
        """Fill every parameter from a mapping of ledger names to NumPy arrays or tensors; nothing may be missing or left."""
        names.load(self, weights)
