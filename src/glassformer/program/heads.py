"""The parts after the last layer: pooling, pooler, task head."""

from __future__ import annotations

import math
from collections.abc import Callable

from glassformer.program.attention import attention
from glassformer.program.axes import Axis, Tensor
from glassformer.program.codes import compared, letters_of_both, stored
from glassformer.program.operations import (
    Add,
    Cap,
    Join,
    LeaveOutQuestion,
    Mean,
    Multiply,
    Pointwise,
    Scale,
    Slice,
    Softmax,
    Stack,
    Take,
    Total,
)
from glassformer.program.parts import AFFINE, CONTRACT, feed_forward, linear, norm
from glassformer.program.program import Writer
from glassformer.program.restoring import restored
from glassformer.program.roles import Role
from glassformer.spec import GATES, TOKEN_HEADS, EncoderSpec

LOGITS: tuple[str, Role] = ("logits", "logits")
PLAIN_LOGITS: tuple[str, Role] = ("uncapped", "uncapped logits")

BESIDE_POOLING: dict[str, Callable[[Writer, EncoderSpec, Tensor], None]] = {
    "restore": restored,
    "compare_codes": compared,
    "letters_of_codes": letters_of_both,
    "store_codes": stored,
}


def finish(write: Writer, spec: EncoderSpec, x: Tensor, real: Tensor | None) -> None:
    """Pooler and head of the spec."""
    head, classes = write.at("head", "head"), (Axis("class", spec.classes),)
    if spec.predicts_next:
        _next_token(write, head, spec, x)
        return
    if spec.head in TOKEN_HEADS:
        _of_each_token(write, head, spec, x, real)
        return
    if spec.head in BESIDE_POOLING:
        BESIDE_POOLING[spec.head](head, spec, x)
        return
    if not spec.has_pooler:
        return
    pooled = _pooled(write, spec, x, real)
    if spec.head == "pretrain":
        _masked_tokens(write, head, spec, x)
        linear(head, "next", "next logits", pooled, "N", classes, bias=spec.bias("classes"))
    elif spec.head == "distilled":
        _distilled(head, spec, x)
    elif spec.head == "project":
        linear(head, "out", "projection", pooled, "P", classes, bias=spec.bias("head"))
    elif spec.head == "classify":
        x = _layer_sum(write, head, spec, x) if spec.layer_sum else x
        if spec.head_reads == "each":
            _averaged(head, spec, _patches(head, spec, x), real)
            return
        _classifier(head, spec, pooled if spec.head_reads == "pooled" else _summary(head, spec, x, real))


def _of_each_token(write: Writer, head: Writer, spec: EncoderSpec, x: Tensor, real: Tensor | None) -> None:
    """A head over every token, and the unused pooler that some models store."""
    if spec.has_pooler:
        _pooled(write, spec, x, real)
    if spec.layer_sum:
        x = _layer_sum(write, head, spec, x)
    if spec.head == "mlm":
        _masked_tokens(write, head, spec, x)
    else:
        _classifier(head, spec, _patches(head, spec, x) if spec.head == "tag_patches" else x)


def _pooled(write: Writer, spec: EncoderSpec, x: Tensor, real: Tensor | None) -> Tensor:
    inside = write.at("pooler", "pooler")
    if spec.pooler == "attention":
        return _attention_pooler(inside, spec, x, real)
    if spec.pool == "mean":
        pooled = _mean(inside, spec, x, real)
    elif spec.pool == "class_tokens":
        first = inside.step("class_tokens", "slice", Slice("t", 0, spec.class_tokens), x)
        pooled = inside.step("mean", "mean", Mean("t"), first)
    else:
        pooled = _token(inside, "pooled token", x, real, 0 if spec.pool == "first" else -1)
    if spec.norm_after_last == "pooled":
        pooled = norm(write, spec, "final_norm", pooled)
    if spec.pooler == "dense":
        into = (Axis("d_pooled", spec.d_model),)
        dense = linear(inside, "dense", "pooler hidden", pooled, "P", into, bias=spec.bias("pooler"))
        pooled = inside.step("out", "pooled", Pointwise("tanh"), dense)
    if spec.pooler == "norm":
        pooled = norm(inside, spec, "norm", pooled, eps=spec.pooler_eps)
    return pooled


def _patches(inside: Writer, spec: EncoderSpec, x: Tensor) -> Tensor:
    """The tokens without class token and registers: patches or text."""
    before = spec.class_tokens + spec.registers
    return inside.step("patches", "slice", Slice("t", before, x.axis("t").size), x) if before else x


def _mean(inside: Writer, spec: EncoderSpec, x: Tensor, real: Tensor | None) -> Tensor:
    padding = () if real is None else (real.seen(s="t"),)
    return inside.step("mean", "mean", Mean("t"), _patches(inside, spec, x), *padding)


def _token(inside: Writer, role: Role, x: Tensor, real: Tensor | None, index: int) -> Tensor:
    """The first or the last token that is not padding."""
    return inside.step("token", role, Take("t", index), x, *([real.seen(s="t")] if real is not None else []))


def _summary(inside: Writer, spec: EncoderSpec, x: Tensor, real: Tensor | None) -> Tensor:
    """The input of a classifier that does not read the pooled vector."""
    if spec.head_projection is not None:
        width = (Axis("d_projected", spec.head_projection),)
        x = linear(inside, "projected", "projected token", x, "T", width, bias=spec.bias("head"))
    if spec.head_reads == "first":
        return _token(inside, "first token", x, real, 0)
    if spec.head_reads == "mean":
        return _mean(inside, spec, x, real)
    first, mean = _token(inside, "first token", x, real, 0), _mean(inside, spec, x, real)
    return inside.step("joined", "joined", Join(Axis("d_joined", 2 * spec.d_model), "d_model"), first, mean)


def _layer_sum(write: Writer, inside: Writer, spec: EncoderSpec, last: Tensor) -> Tensor:
    """A learned weighted sum of the hidden states of all layers (Peters et al. 2018, Yang et al. 2021)."""
    states = write.program.hidden
    states = [*states[:-1], last] if spec.layer_sum_normed else states
    depth = Axis("depth", spec.layers + 1)
    stacked = inside.step("states", "stacked states", Stack(depth), *states)
    weights = inside.parameter("layer_weights", "layer weights", depth, kind="scale")
    shares = inside.step("shares", "layer shares", Softmax("depth"), weights)
    weighted = inside.step("weighted", "weighted states", Multiply(), stacked, shares)
    return inside.step("summed", "summed states", Total("depth"), weighted)


def _attention_pooler(inside: Writer, spec: EncoderSpec, x: Tensor, real: Tensor | None) -> Tensor:
    """A learned query reads all tokens, and a feed-forward block follows (SigLIP)."""
    one = Axis("t", 1)
    query = inside.parameter("query", "pooler query", one, Axis("d_model", spec.d_model), kind="token")
    read = attention(inside.at("attention", "attention"), spec, query, x.seen(t="s"), real=real)
    normed = norm(inside, spec, "norm", read)
    out = feed_forward(inside.at("ffn", "ffn"), spec, normed)
    added = inside.step("sum", "pooler residual", Add(), read, out)
    return inside.step("out", "pooled", Take("t", 0), added)


def _averaged(head: Writer, spec: EncoderSpec, x: Tensor, real: Tensor | None) -> None:
    """Logits of each token, and their mean (EuroBERT)."""
    logits = _classifier(head, spec, x, "token_logits", "token logits")
    head.step("logits", "logits", Mean("t"), logits, *([real.seen(s="t")] if real is not None else []))


def _classifier(head: Writer, spec: EncoderSpec, x: Tensor, symbol: str = "logits", role: Role = "logits") -> Tensor:
    if spec.head_block:
        added = head.step("sum", "ffn residual", Add(), x, feed_forward(head.at("ffn", "ffn"), spec, x))
        every = linear(
            head,
            "token_logits",
            "token logits",
            norm(head, spec, "norm", added),
            "C",
            (Axis("class", spec.classes),),
            bias=spec.bias("classes"),
        )
        return head.step("logits", "logits", LeaveOutQuestion(), every)
    if spec.head_hidden != "none":
        hidden = linear(head, "hidden", "head hidden", x, "H", (Axis("d_head", x.axes[-1].size),), bias=spec.bias("head"))
        x = head.step("active", "head activation", Pointwise(spec.head_hidden), hidden)
        if spec.head_norm:
            x = norm(head, spec, "norm", x)
    return linear(head, symbol, role, x, "C", (Axis("class", spec.classes),), bias=spec.bias("classes"))


def _distilled(head: Writer, spec: EncoderSpec, x: Tensor) -> None:
    """Two classifiers, on the class and the distillation token; the prediction is their mean (DeiT)."""
    classes, bias = (Axis("class", spec.classes),), spec.bias("classes")
    first = head.step("class_token", "first token", Take("t", 0), x)
    one = linear(head, "class_logits", "logits", first, "C", classes, bias=bias)
    second = head.step("distillation_token", "second token", Take("t", 1), x)
    other = linear(head, "distillation_logits", "distillation logits", second, "D", classes, bias=bias)
    head.step("logits", "logits", Scale(0.5, "1/2"), head.step("sum", "logit sum", Add(), one, other))


def _masked_tokens(write: Writer, head: Writer, spec: EncoderSpec, x: Tensor) -> None:
    """Dense layer, activation and norm if the head has them, then a product with the token table (tied) or another matrix."""
    table = next(p.tensor for p in write.program.parameters if p.role == "token")
    if spec.head_dense:
        into = (Axis("d_head", spec.vocab_width),)
        hidden = linear(head, "hidden", "head hidden", x, "H", into, bias=spec.bias("head"))
        function = GATES.get(spec.activation, spec.activation) if spec.head_hidden == "none" else spec.head_hidden
        active = head.step("active", "head activation", Pointwise(function), hidden)
        x = norm(head, spec, "norm", active, kind="layer" if spec.norm_kind == "scale" else None)
    if spec.wide_output:
        _wide_logits(head, spec, x, table)
        return
    vocab, width = table.axes[0], x.axes[-1]
    if spec.tie:
        weight = head.tied("W_vocab", table._replace(axes=(vocab, width)))
    else:
        weight = head.parameter("W_vocab", "logits", width, vocab)
    if spec.spare_bias:
        head.parameter("b_spare", "spare bias", vocab, kind="bias")
    bias = (head.parameter("b_vocab", "logits", vocab, kind="bias"),) if spec.bias("decoder") else ()
    head.step("logits", "logits", AFFINE if bias else CONTRACT, x, weight, *bias, axes=(*x.axes[:-1], vocab))


def _wide_logits(head: Writer, spec: EncoderSpec, x: Tensor, table: Tensor) -> None:
    """The first features times the token table (or an untied matrix of that size), plus the rest times another matrix."""
    (vocab, narrow), features = table.axes, x.axes[-1]
    rest = Axis("d_rest", features.size - narrow.size)
    first = head.step("first_features", "slice", Slice(features.name, 0, narrow.size), x)
    last = head.step("last_features", "slice", Slice(features.name, narrow.size, features.size), x)
    weight = head.tied("W_vocab", table) if spec.tie else head.parameter("W_vocab", "logits", narrow, vocab)
    if spec.spare_bias:
        head.parameter("b_spare", "spare bias", vocab, kind="bias")
    of_table, axes = [first.seen(**{features.name: narrow.name}), weight], (*x.axes[:-1], vocab)
    if spec.bias("decoder"):
        of_table.append(head.parameter("b_vocab", "logits", vocab, kind="bias"))
    one = head.step("table_logits", "table logits", AFFINE if len(of_table) == 3 else CONTRACT, *of_table, axes=axes)
    own = head.parameter("W_rest", "rest logits", rest, vocab)
    other = head.step("rest_logits", "rest logits", CONTRACT, last.seen(**{features.name: rest.name}), own, axes=axes)
    head.step("logits", "logits", Add(), one, other)


def _next_token(write: Writer, head: Writer, spec: EncoderSpec, x: Tensor) -> None:
    """Logits of the next token: a product with the token table (tied) or another matrix, without a hidden layer."""
    table = next(step.inputs[1] for step in reversed(write.program.steps) if step.role == "token")
    if spec.output_scale == "sqrt_d_model":
        x = head.step("scaled", "scaled output", Scale(1 / math.sqrt(spec.d_model), "1/√d_model"), x)
    if spec.embedding_size is not None:
        x = linear(head, "projected", "projected output", x, "U", table.axes[1:], bias=spec.bias("embedding"))
    vocab, width = table.axes[0], x.axes[-1]
    weight = head.tied("W_vocab", table) if spec.tie else head.parameter("W_vocab", "logits", width, vocab)
    bias = (head.parameter("b_vocab", "logits", vocab, kind="bias"),) if spec.bias("decoder") else ()
    changed = spec.logit_cap is not None or spec.logit_offset
    symbol, role = PLAIN_LOGITS if changed else LOGITS
    logits = head.step(symbol, role, AFFINE if bias else CONTRACT, x, weight, *bias, axes=(*x.axes[:-1], vocab))
    if spec.logit_offset:
        symbol, role = ("offset", "offset logits") if spec.logit_cap is not None else LOGITS
        logits = head.step(symbol, role, Add(), logits, head.constant("c_vocab", "logit offset", vocab))
    if spec.logit_cap is not None:
        head.step("logits", "logits", Cap(spec.logit_cap), logits)
