"""DecoderSpec: the description of a decoder-only model (GPT-2, Llama, …): an encoder's fields and a few more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from glassformer.errors import GlassformerError
from glassformer.spec.encoder_fields import Attend, OutputScale, QueryKeyNorm, Residual, RotaryScaling, _is
from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.fields import field_text
from glassformer.spec.rotary_scales import COMPUTED


@dataclass(frozen=True, kw_only=True, repr=False)
class DecoderSpec(EncoderSpec):
    """Description of a decoder-only model: each token attends to itself and to earlier ones, and predicts the next token."""

    attend: Attend = _is("causal", "which keys a query may attend to, before any window or padding mask")
    next_token: bool = _is(True, "logits of the next token after the last layer, if there is a vocabulary")
    residual: Residual = _is("sequential", "whether the feed-forward block reads the output of the attention, or its input")
    input_norm: bool = _is(True, "with norm=pre: a norm before each sub-layer (false in OLMo 2)")
    output_norm: bool = _is(False, "a norm on each sub-layer's output, before the residual sum (Gemma 2, OLMo 2)")
    norm_offset: bool = _is(False, "norms multiply by 1 + gamma instead of gamma (Gemma)")
    query_key_norm: QueryKeyNorm = _is("none", "a norm on queries and keys: of each head, or of all heads together")
    score_divisor: int | None = _is(None, "attention scores are divided by its square root, whatever scale says")
    score_cap: float | None = _is(None, "attention scores become cap · tanh(scores / cap)")
    logit_cap: float | None = _is(None, "logits become cap · tanh(logits / cap)")
    rotary_width: int | None = _is(None, "features of each head that rotary positions rotate; all if not given")
    rotary_scaling: RotaryScaling = _is(
        "none", "rotary angles scaled for longer texts; dynamic and longrope are described and counted, not computed"
    )
    rotary_factor: float = _is(1.0, "with rotary_scaling=llama3 or yarn: the angles of slow pairs are divided by this")
    rotary_slow: float = _is(1.0, "pairs of features are slow if they turn fewer times than this over trained_positions")
    rotary_fast: float = _is(4.0, "pairs of features keep their angles if they turn more often than this")
    trained_positions: int | None = _is(None, "with rotary_scaling=llama3 or yarn: positions before the scaling")
    rotary_amplitude: float = _is(1.0, "sines and cosines of scaled angles are multiplied by this (yarn)")
    project_first: bool = _is(False, "with embedding_size: tokens are projected to d_model before positions are added (OPT 350M)")
    token_norm: bool = _is(False, "a norm on the token embeddings, before positions are added (BlenderBot small)")
    output_scale: OutputScale = _is("none", "the last hidden states are divided by this before the logits (T5)")
    logit_offset: bool = _is(False, "a stored number for each token, not trained, is added to its logit (Marian, BART)")
    global_offset: int = _is(0, "with global_every: the first layer that attends globally")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, allowed, why in FIXED:
            if getattr(self, name) not in allowed:
                raise GlassformerError(
                    f"{name}={field_text(getattr(self, name))} is not implemented for decoders: {why}. Leave {name} out."
                )
        if self.residual == "parallel" and self.norm != "pre":
            raise GlassformerError("residual=parallel needs norm=pre: both sub-layers read the same normed input. Add norm=pre.")
        if self.project_first and self.segments is not None:
            raise GlassformerError(f"segments={self.segments} is not implemented with project_first=true. Leave segments out.")
        near = self.relative_buckets // 2  # distances with their own bucket
        if self.relative and self.relative_distance <= near:
            raise GlassformerError(
                f"relative_distance={self.relative_distance} is too small for relative_buckets={self.relative_buckets}: decoders "
                f"only look back, so each distance below {near} has its own bucket. Give relative_distance={near + 1} or more."
            )
        if self.rotary_width is not None and (self.rotary_width % 2 or self.rotary_width > self.head_k):
            raise GlassformerError(
                f"rotary_width={self.rotary_width} is not allowed: it must be even and at most d_k={self.head_k}."
            )
        self._require_scaling()
        if self.global_every is not None and self.global_offset >= self.global_every:
            raise GlassformerError(
                f"global_offset={self.global_offset} is not allowed: it must be less than global_every={self.global_every}."
            )

    def _require_scaling(self) -> None:
        """Refuse scaled angles without the numbers that they need."""
        if self.rotary_scaling not in COMPUTED:
            return
        if self.trained_positions is None:
            raise GlassformerError(
                f"rotary_scaling={self.rotary_scaling} needs trained_positions, the length before the scaling, such as "
                "trained_positions=8192."
            )
        if self.rotary_fast <= self.rotary_slow:
            raise GlassformerError(
                f"rotary_fast={self.rotary_fast:g} is not allowed: it must be larger than rotary_slow={self.rotary_slow:g}."
            )
        if self.rotary_scaling == "yarn" and self.rotary_base <= 1:
            raise GlassformerError(f"rotary_base={self.rotary_base:g} is not allowed with rotary_scaling=yarn: it must exceed 1.")

    @property
    def relative_backward(self) -> bool:
        """Whether all rows of a relative table are for earlier keys: later ones are masked."""
        return True

    def layer_window(self, layer: int) -> int | None:
        """Return the attention window of a layer; None for global attention."""
        return super().layer_window(layer - self.global_offset)

    @property
    def predicts_next(self) -> bool:
        """Whether logits of the next token follow the last layer."""
        return self.next_token and self.vocab is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that differ from the defaults, with the preset that says that this is a decoder."""
        return {"base": "decoder", **super().to_dict()}

    def own_fields(self) -> dict[str, Any]:
        """Return the fields that differ from those of a new decoder."""
        return {name: value for name, value in self.to_dict().items() if name != "base"}


# Fields of an encoder that a decoder does not have, the values allowed, and why.
FIXED: tuple[tuple[str, tuple[Any, ...], str], ...] = (
    ("attend", ("causal",), "a decoder's tokens attend to themselves and to earlier tokens"),
    ("block", ("layer",), "a decoder consists of whole layers"),
    ("head", ("none",), "a decoder predicts the next token"),
    ("pooler", ("none",), "a decoder predicts the next token"),
    ("final_norm", (None, "none", "all"), "nothing is pooled"),
    ("image", (None,), "a decoder reads tokens"),
    ("mels", (None,), "a decoder reads tokens"),
    ("mixing", ("attention",), "a Fourier transform reads later tokens"),
    ("beside_kernel", (None,), "a convolution would see later tokens"),
    (
        "position",
        ("none", "learned", "sinusoidal", "sinusoidal_halves", "sinusoidal_stored", "rotary", "relative", "learned_relative"),
        "distances to later tokens have no meaning there",
    ),
)
