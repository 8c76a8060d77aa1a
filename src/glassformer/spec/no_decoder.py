"""What an encoder lacks and a decoder may have: neutral values, so that one program serves both."""

from __future__ import annotations


class NoDecoder:
    """The fields of `DecoderSpec`, as an encoder answers them."""

    residual: str = "sequential"
    input_norm: bool = True
    output_norm: bool = False
    norm_offset: bool = False
    query_key_norm: str = "none"
    score_divisor: int | None = None
    score_cap: float | None = None
    logit_cap: float | None = None
    rotary_width: int | None = None
    rotary_scaling: str = "none"
    rotary_factor: float = 1.0
    rotary_slow: float = 1.0
    rotary_fast: float = 4.0
    trained_positions: int | None = None
    rotary_amplitude: float = 1.0
    project_first: bool = False
    token_norm: bool = False
    output_scale: str = "none"
    logit_offset: bool = False

    @property
    def predicts_next(self) -> bool:
        """Whether logits of the next token follow the last layer."""
        return False

    @property
    def relative_backward(self) -> bool:
        """Whether all rows of a relative table are for earlier keys."""
        return False
