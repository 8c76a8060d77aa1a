"""How a continuation is chosen: greedy, by beam search or by sampling, and how long it may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from glassformer.arguments import whole, yes_no
from glassformer.errors import GlassformerError, shown


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What the caller asked for."""

    max_new_tokens: int = 64
    beams: int = 1
    length_penalty: float = 1.0  # scores of finished beams are divided by length^this
    early_stop: bool = False  # whether a search ends with as many finished beams as it is wide
    temperature: float | None = None  # any of these three asks for sampling
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        whole("max_new_tokens", self.max_new_tokens, least=1)
        whole("beams", self.beams, least=1)
        whole("seed", self.seed, least=0)
        yes_no("early_stop", self.early_stop)
        if self.top_k is not None:
            whole("top_k", self.top_k, least=1)
        if self.temperature is not None and not (_is_number(self.temperature) and 0 < self.temperature < float("inf")):
            raise GlassformerError(f"temperature={shown(self.temperature)} is not allowed: it must be above 0, such as 0.7.")
        if self.top_p is not None and not (_is_number(self.top_p) and 0 < self.top_p <= 1):
            raise GlassformerError(f"top_p={shown(self.top_p)} is not allowed: it must be above 0 and at most 1, such as 0.9.")
        if not (_is_number(self.length_penalty) and abs(self.length_penalty) < float("inf")):
            raise GlassformerError(f"length_penalty={shown(self.length_penalty)} is not allowed: it must be a number, such as 1.")
        if self.samples and self.beams > 1:
            raise GlassformerError(
                f"beams={self.beams} and sampling exclude each other: leave out beams, or temperature, top_k and top_p."
            )

    @property
    def samples(self) -> bool:
        """Whether tokens are drawn at random."""
        return not (self.temperature is self.top_k is self.top_p is None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
