"""What an encoder lacks and a decoder may have: neutral values, so that one program serves both."""

from __future__ import annotations


class NoDecoder:
    """The fields of `DecoderSpec`, as an encoder answers them."""

    @property
    def predicts_next(self) -> bool:
        return False

    @property
    def residual(self) -> str:
        return "sequential"

    @property
    def input_norm(self) -> bool:
        return True

    @property
    def output_norm(self) -> bool:
        return False

    @property
    def norm_offset(self) -> bool:
        return False

    @property
    def query_key_norm(self) -> str:
        return "none"

    @property
    def score_divisor(self) -> int | None:
        return None

    @property
    def score_cap(self) -> float | None:
        return None

    @property
    def logit_cap(self) -> float | None:
        return None

    @property
    def rotary_width(self) -> int | None:
        return None

    @property
    def rotary_scaling(self) -> str:
        return "none"

    @property
    def token_norm(self) -> bool:
        return False

    @property
    def output_scale(self) -> str:
        return "none"

    @property
    def logit_offset(self) -> bool:
        return False

    @property
    def relative_backward(self) -> bool:
        """Whether all rows of a relative table are for earlier keys."""
        return False
