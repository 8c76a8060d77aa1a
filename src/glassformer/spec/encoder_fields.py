"""The fields of a spec: widths, depth and choices, named as in the paper."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Self, get_args

from glassformer.spec.viewed import Viewed

Block = Literal["layer", "attention"]
Mixing = Literal["attention", "fourier"]
Position = Literal[
    "none",
    "learned",
    "sinusoidal",
    "sinusoidal_halves",
    "sinusoidal_stored",
    "sinusoidal_2d_stored",
    "rotary",
    "rotary_2d",
    "rotary_stored",
    "relative",
    "learned_relative",
    "relative_2d",
    "learned_relative_2d",
    "alibi",
    "disentangled",
    "learned_disentangled",
    "convolution",
    "convolution_relative",
]
RotaryPairs = Literal["halves", "adjacent"]
Tables = Literal["shared", "per_layer"]
RelativeTerms = Literal["both", "content_to_position", "position_to_content"]
RelativeProjections = Literal["shared", "own"]
ConvolutionNorm = Literal["none", "group", "layer"]
PositionNorm = Literal["weight", "output"]
NormPlace = Literal["post", "pre"]
NormKind = Literal["layer", "rms", "scale"]
FinalNorm = Literal["none", "all", "pooled"]
Pointwise = Literal["relu", "gelu", "gelu_tanh", "quick_gelu", "silu", "tanh"]
Activation = Literal[Pointwise, "reglu", "geglu", "geglu_tanh", "swiglu"]
BottleneckReads = Literal["keys", "all"]
BiasPlace = Literal[
    "q",
    "k",
    "v",
    "output",
    "ffn",
    "ffn_output",
    "norm",
    "patch",
    "convolution",
    "embedding",
    "pooler",
    "head",
    "classes",
    "decoder",
]
Scale = Literal["d_k", "d_model", "none"]
Attend = Literal["all", "causal"]
GlobalAttention = Literal["none", "stored", "first", "question"]
EmbeddingScale = Literal["none", "sqrt_d_model"]
Pool = Literal["first", "mean", "last", "class_tokens"]
HeadReads = Literal["pooled", "first", "each", "mean", "first_and_mean"]
Pooler = Literal["none", "dense", "norm", "attention"]
Head = Literal[
    "none",
    "classify",
    "distilled",
    "tag",
    "tag_patches",
    "mlm",
    "pretrain",
    "project",
    "restore",
    "compare_codes",
    "letters_of_codes",
    "store_codes",
]
TOKEN_HEADS: tuple[Head, ...] = ("tag", "tag_patches", "mlm")  # they read every token and need no pooler
CODED_HEADS: tuple[Head, ...] = ("compare_codes", "letters_of_codes", "store_codes")  # they have codes that stand for sound
UNPOOLED_HEADS: tuple[Head, ...] = ("restore", *CODED_HEADS)
MASKED_HEADS: tuple[Head, ...] = ("mlm", "pretrain")  # they predict masked tokens
Residual = Literal["sequential", "parallel"]
RotaryScaling = Literal["none", "dynamic", "llama3", "longrope", "yarn"]
OutputScale = Literal["none", "sqrt_d_model"]
QueryKeyNorm = Literal["none", "head", "all"]
HeadHidden = Literal["none", Pointwise]

ALL_BIASES: tuple[BiasPlace, ...] = get_args(BiasPlace)
# The projections of a layer that may keep groups of features apart, in the order of the field `groups`.
GROUPED: tuple[BiasPlace, ...] = ("q", "k", "v", "output", "ffn", "ffn_output")

# A gated feed-forward block multiplies two projections; this function is applied to the first.
GATES: dict[str, Pointwise] = {
    "reglu": "relu",
    "geglu": "gelu",
    "geglu_tanh": "gelu_tanh",
    "swiglu": "silu",
}


def _is(default: Any, doc: str) -> Any:
    """Return a field with its one-line doc, which is shown by `--help`, the docs and the lab's tooltips."""
    return field(default=default, metadata={"doc": doc})


@dataclass(frozen=True, kw_only=True, repr=False)
class EncoderFields(Viewed):
    """Widths, depth and choices, named as in the paper, without checks: `EncoderSizes` adds derived sizes,
    `EncoderSpec` the rules between fields."""

    d_model: int = _is(512, "width of the residual stream")
    heads: int = _is(8, "attention heads per layer")
    kv_heads: int | None = _is(None, "key/value heads, each shared by a group of query heads; same as heads if not given")
    d_k: int | None = _is(None, "width of one head's queries and keys; d_model / heads if not given")
    d_v: int | None = _is(None, "width of one head's values; same as d_k if not given")
    d_ff: int | None = _is(None, "inner width of the feed-forward block; 4 · d_model if not given")
    layers: int = _is(6, "number of layers")
    block: Block = _is("layer", "what one layer contains: a full encoder layer, or only its attention sub-layer")

    mixing: Mixing = _is(
        "attention",
        "how a layer mixes positions: attention, or the real part of a Fourier transform over positions and features (FNet)",
    )
    funnel: tuple[int, ...] = _is(
        (),
        "number of layers in each block; the sequence is pooled to half its length between blocks, and further layers read it at "
        "full length again (4,4,4 in Funnel)",
    )
    funnel_repeats: tuple[int, ...] = _is((), "with a funnel: how often each layer of a block is applied in a row (1,1,1)")
    layer_adapter: int | None = _is(
        None, "width of an adapter, a small feed-forward block after each layer with its own norm (16 in MMS)"
    )
    bottleneck: int | None = _is(
        None, "width inside each layer, which narrows its input and widens its output again (MobileBERT)"
    )
    bottleneck_reads: BottleneckReads = _is(
        "keys",
        "with a bottleneck: queries and keys read a separate bottleneck and values the wide input, or all of them read it",
    )
    ffn_blocks: int = _is(1, "feed-forward blocks of a layer, one after the other (4 in MobileBERT)")

    vocab: int | None = _is(None, "vocabulary size, the rows of the token embedding table; none: no token embedding")
    embedding_size: int | None = _is(None, "width of the embedding tables; if given, a projection to d_model follows")
    token_kernel: int | None = _is(
        None,
        "neighbouring tokens whose embeddings are projected together, before positions are added (3 in MobileBERT)",
    )
    embedding_norm: bool = _is(False, "a norm after the embeddings")
    embedding_scale: EmbeddingScale = _is("none", "factor on the token embeddings")
    token_dropout: int | None = _is(
        None, "id of the mask token: masked tokens become zeros, and the others are scaled up by the number masked (ESM-2)"
    )
    segments: int | None = _is(None, "rows of the segment (token type) table; none: no such table")
    tasks: int | None = _is(
        None, "rows of a table of task vectors, the first of which is added to every token (ERNIE 3.0); none: no such table"
    )
    languages: int | None = _is(
        None,
        "rows of a table of language vectors, stored and not read: no language is known by default (XLM); none: no such table",
    )
    page: int | None = _is(
        None, "coordinates on a page: rows of the tables for x, y, height and width of each token's box (1024 in LayoutLM)"
    )
    page_parts: tuple[int, ...] = _is(
        (),
        "widths of the vectors for the sides of a box and for its height and width, which are concatenated (128,128 in "
        "LayoutLMv3); none: they are added",
    )
    page_relative: tuple[int, ...] = _is(
        (),
        "a score bias by the distance of two boxes on a page: buckets, and the distance from which all share the last one "
        "(64,256 in LayoutLMv3)",
    )
    beside_picture: tuple[int, ...] = _is(
        (), "size, patch and channels of an image of the page, whose parameters are stored but not used (224,16,3 in LayoutLMv3)"
    )
    positions: int | None = _is(None, "maximum sequence length; rows of a learned position table")
    position: Position = _is("none", "position encoding")
    complete_up_to: int | None = _is(
        None,
        "longest text with full attention; longer ones need block-sparse attention, which is not implemented (BigBird)",
    )
    position_offset: int = _is(0, "rows of the position table before position 0 (2 in RoBERTa and BART)")
    relative_buckets: int = _is(32, "rows of a relative position table")
    relative_distance: int = _is(128, "distance from which relative positions share the last bucket")
    relative_tables: Tables = _is("shared", "one relative table for all layers, or one per layer")
    relative_terms: RelativeTerms = _is("both", "disentangled attention: which terms are added to the scores")
    relative_projections: RelativeProjections = _is(
        "shared", "disentangled attention: project the relative table with W_Q and W_K, or with separate matrices"
    )
    relative_norm: bool = _is(False, "disentangled attention: a norm on the relative table (DeBERTa-v2 and v3)")
    relative_scaled: bool = _is(False, "the relative bias is divided by √d_k, as the scores are (LayoutLMv3)")
    relative_gate: bool = _is(False, "each token scales its row of the relative bias by a gate computed from it (WavLM)")
    rotary_base: float = _is(10000.0, "base of the rotary angles")
    rotary_base_local: float | None = _is(None, "base of the rotary angles in local layers; rotary_base if not given")
    rotary_pairs: RotaryPairs = _is(
        "halves", "features that are rotated as a pair: i and i + d_k/2, or 2i and 2i + 1 (RoFormer, NeoBERT)"
    )
    rotary_values: bool = _is(False, "rotary positions also rotate values (RoFormer)")
    rotary_divisor: float = _is(1.0, "rotary angles are divided by this (a part of NTK scaling in GTE)")

    position_kernel: int = _is(128, "kernel size of a positional convolution, in positions")
    position_groups: int = _is(16, "number of groups of a positional convolution")
    position_layers: int = _is(1, "number of positional convolutions, one after the other (5 in data2vec)")
    position_norm: PositionNorm = _is(
        "weight", "positional convolution: weight norm (wav2vec 2.0), or a norm without parameters on its output (data2vec)"
    )

    norm: NormPlace = _is("post", "norm after the residual sum (2017 paper, BERT) or before the sub-layer (ViT, T5)")
    norm_kind: NormKind = _is("layer", "LayerNorm, RMSNorm (no mean, no beta), or only gamma and beta (MobileBERT)")
    final_norm: FinalNorm | None = _is(
        None, "norm after the last layer: on all tokens, on the pooled token only, or none; if not given, all with norm=pre"
    )
    first_norm: bool = _is(True, "whether layer 0 has a norm before its attention (false in ModernBERT)")
    layer_scale: bool = _is(False, "a learned factor per feature on each sub-layer's output (DINOv2, BEiT)")
    eps: float = _is(1e-5, "added to the variance inside the norms")

    activation: Activation = _is("relu", "activation of the feed-forward block; names with glu are gated")
    biases: tuple[BiasPlace, ...] = _is(
        ALL_BIASES, "which projections and norms have a bias: all, none, or a list of places (ffn_output is a part of ffn)"
    )
    groups: tuple[int, ...] = _is(
        (), "number of groups of each projection: q, k, v, output, ffn and ffn_output (4,4,4,1,4,4 in SqueezeBERT)"
    )
    beside_kernel: int | None = _is(
        None, "kernel size of a convolution parallel to layer 0, added to its output (DeBERTa-v2 xlarge); none: no convolution"
    )
    beside_groups: int = _is(1, "number of groups of the convolution parallel to layer 0")
    beside_activation: Pointwise = _is("tanh", "activation of the convolution parallel to layer 0")
    scale: Scale = _is("d_k", "attention scores are divided by the square root of this")
    attend: Attend = _is("all", "which keys a query may attend to, before any window or padding mask")
    window: int | None = _is(None, "local attention: a query attends to keys at most window / 2 positions away")
    global_every: int | None = _is(None, "with a window: every n-th layer, starting at layer 0, attends globally")
    global_attention: GlobalAttention = _is(
        "none",
        "with a window: tokens that attend to all tokens and to which all attend, through separate projections (Longformer): "
        "the first token, those of a question, or none (the projections are only stored)",
    )
    landmarks: int | None = _is(
        None, "number of landmarks through which all tokens attend (Nyströmformer): counted, not computed; none: full attention"
    )
    value_kernel: int | None = _is(
        None, "kernel size of a convolution over values, added to the output of a head (65 in Nyströmformer)"
    )
    share_layers: int | None = _is(None, "number of distinct layers when layers share weights (1 in ALBERT)")
    layer_cycle: int = _is(1, "consecutive layers in a group that shares weights (ALBERT's inner_group_num)")

    image: int | None = _is(None, "height of the input image in pixels, and its width unless image_width is given")
    image_width: int | None = _is(None, "width of the input image, if not square")
    patch: int | None = _is(
        None, "height of a patch in pixels, and its width unless patch_width is given; none: not an image encoder"
    )
    patch_width: int | None = _is(None, "width of a patch, if not square")
    patch_stride: int | None = _is(
        None,
        "pixels from one patch to the next, vertically and, unless patch_stride_width is given, horizontally; the patch "
        "size if not given",
    )
    patch_stride_width: int | None = _is(None, "pixels from one patch to the next horizontally, if different")
    video_frames: int | None = _is(None, "frames of a video that are read at once; none: a single image")
    tube: int = _is(1, "frames over which a patch of a video extends (2 in VideoMAE and ViViT)")
    channels: int = _is(3, "colour channels of the image")
    class_tokens: int = _is(0, "learned tokens before the patches: class token, distillation token")
    registers: int = _is(0, "learned register tokens without a position")
    mask_ratio: float = _is(
        0.0, "share of the patches that are randomly masked before the first layer (0.75 in ViT-MAE): counted, not computed"
    )
    restore: tuple[int, ...] = _is(
        (), "head=restore: width, layers, heads and d_ff of the decoder that restores masked patches (512,8,16,2048 in ViT-MAE)"
    )
    mask_token: bool = _is(False, "a learned vector that replaces masked patches or audio (a parameter even if unused)")

    mels: int | None = _is(
        None, "features per audio frame: mel bins (two frames make one position), or 1 for raw audio; none: not audio"
    )
    samples: int | None = _is(
        None, "length of raw audio in samples (usually 16000 per second), read by the convolutions of conv_kernels"
    )
    conv_widths: tuple[int, ...] = _is((), "raw audio: output features of each convolution (512,512,…)")
    conv_kernels: tuple[int, ...] = _is((), "raw audio: kernel size of each convolution, in frames (10,3,3,3,3,2,2)")
    conv_strides: tuple[int, ...] = _is((), "raw audio: stride of each convolution, in frames (5,2,2,2,2,2,2)")
    conv_norm: ConvolutionNorm = _is(
        "none",
        "raw audio: a norm of each feature over time after the first convolution (group), or over features after each (layer)",
    )
    feature_norm: bool = _is(False, "raw audio: a norm on the output of the convolutions, before the projection to d_model")

    pool: Pool = _is(
        "first", "which tokens represent the whole input: the first or last one, or the mean of all or of the class tokens"
    )
    pooler: Pooler = _is(
        "none", "layer after pooling: dense + tanh (BERT), a norm (BEiT), attention with a learned query (SigLIP)"
    )
    spare_pooler: bool = _is(False, "keep an unused pooler next to a head that reads tokens (SqueezeBERT, FNet)")
    pooler_eps: float | None = _is(
        None, "eps of the norm in the pooler or in the decoder of patches, if different from that of the layers (VideoMAE)"
    )
    head: Head = _is("none", "task head: classify the input, tag each token, predict masked tokens, project")
    classes: int = _is(2, "outputs of the head (classes, tags or projected features)")
    head_reads: HeadReads = _is(
        "pooled",
        "what a classify head reads: the pooled vector, the first token, each token (logits are averaged), their mean, or both",
    )
    codebooks: tuple[int, ...] = _is(
        (),
        "quantisation of audio for pre-training: groups, codes per group, width of all groups together, and width of the space "
        "in which codes are compared (2,320,256,256 in wav2vec 2.0)",
    )
    head_hidden: HeadHidden = _is("none", "activation of the head's hidden dense layer; none: no such layer (mlm always has one)")
    head_norm: bool = _is(False, "a norm after the head's hidden layer")
    head_block: bool = _is(
        False,
        "head=tag: a feed-forward block and a norm of its sum before the classes, which leave out tokens of the question "
        "(BigBird's question answering), counted, not computed",
    )
    head_dense: bool = _is(True, "whether a masked-token head has a hidden dense layer and a norm before its output matrix")
    head_projection: int | None = _is(
        None, "width to which a classifier projects each token before taking the mean (wav2vec 2.0)"
    )
    layer_sum: bool = _is(False, "the head reads a learned weighted sum of the input of layer 0 and the outputs of all layers")
    layer_sum_normed: bool = _is(False, "the last of these states is the one after the final norm (Whisper)")
    head_width: int | None = _is(
        None, "width of an untied masked-token head's hidden layer; that of the token table if not given"
    )
    wide_output: bool = _is(
        False,
        "the output matrix of a masked-token head has more features than the token table, d_model in all (MobileBERT)",
    )
    tie: bool = _is(True, "masked-token heads use the token embedding table as their output matrix")
    adapters: tuple[int, ...] = _is(
        (),
        "low-rank adapters that are stored for every matrix but not applied: tasks and rank (5,4 in jina-embeddings-v3)",
    )
    contact_head: bool = _is(False, "a linear map of all attention weights to one number, stored but not computed (ESM-2)")
    spare_bias: bool = _is(False, "a second vocabulary bias that is stored but never added (untied BERT and RoBERTa heads)")

    dropout: float = _is(0.1, "dropout probability during training")

    def replace(self, **fields: Any) -> Self:
        """Return the same spec with some fields changed."""
        return dataclasses.replace(self, **fields)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that differ from the defaults, ready for JSON or TOML; `EncoderSpec(**…)` restores the spec."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in changed_fields(self).items()}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed_fields(self).items())})"


def changed_fields(spec: EncoderFields) -> dict[str, Any]:
    """Return the fields that differ from the defaults, with their values."""
    kind: Any = type(spec)
    return {name: getattr(spec, name) for name, default in defaults(kind).items() if getattr(spec, name) != default}


@lru_cache(maxsize=8)
def defaults(of: Any = EncoderFields) -> dict[str, Any]:
    """Return field name -> default value, in the order of the fields."""
    return {item.name: item.default for item in dataclasses.fields(of)}


@lru_cache(maxsize=8)
def field_docs(of: Any = EncoderFields) -> dict[str, str]:
    """Return field name -> one-line doc."""
    return {item.name: item.metadata["doc"] for item in dataclasses.fields(of)}
