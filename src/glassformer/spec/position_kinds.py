"""Properties of the position encoding: tables, fixed sines and cosines, rotations and relative biases."""

from __future__ import annotations

from functools import cached_property


class PositionKinds:
    """What follows from the fields of a spec about positions."""

    position: str
    relative_buckets: int
    relative_terms: str
    rotary_values: bool

    @cached_property
    def patch_grid(self) -> tuple[int, int]:
        """Number of whole patches vertically and horizontally."""
        raise NotImplementedError

    @property
    def learns_positions(self) -> bool:
        """Whether there is a position table (learned, or stored and frozen)."""
        return self.position.startswith("learned") or self.stores_waves

    @property
    def stores_waves(self) -> bool:
        """Whether the position table holds waves: it is stored, but not trained."""
        return self.position in ("sinusoidal_stored", "sinusoidal_2d_stored")

    @property
    def computes_positions(self) -> bool:
        """Whether positions are waves that no table stores."""
        return self.position in ("sinusoidal", "sinusoidal_halves")

    @property
    def rotary(self) -> bool:
        """Whether queries and keys are rotated by their position, in a sequence or in an image."""
        return self.position.startswith("rotary")

    @property
    def stores_rotation(self) -> bool:
        """Whether the sines and cosines of rotary positions are a table: it is stored, but not trained (RoFormer)."""
        return self.position == "rotary_stored"

    @property
    def counts_from_start(self) -> bool:
        """Whether the states of a text depend on its first position; rotations depend on distances only."""
        return self.learns_positions or self.computes_positions or self.stores_rotation or self.rotary_values

    @property
    def relative(self) -> bool:
        """Whether a table adds terms to the attention scores by distance."""
        return "relative" in self.position or self.disentangled

    @property
    def alibi(self) -> bool:
        """Whether scores fall linearly with distance, at a rate of each head's own (ALiBi, in both directions)."""
        return self.position == "alibi"

    @property
    def by_distance(self) -> bool:
        """Whether anything is added to the attention scores by distance, learned or computed."""
        return self.relative or self.alibi

    @property
    def disentangled(self) -> bool:
        """Whether attention is disentangled (DeBERTa): the relative table holds vectors that act as queries and keys."""
        return "disentangled" in self.position

    @property
    def content_to_position(self) -> bool:
        """Whether queries attend to the vectors of relative positions."""
        return self.disentangled and self.relative_terms != "position_to_content"

    @property
    def position_to_content(self) -> bool:
        """Whether the vectors of relative positions attend to the keys."""
        return self.disentangled and self.relative_terms != "content_to_position"

    @property
    def score_terms(self) -> int:
        """Number of products summed in an attention score; the scale grows with it."""
        return 1 + self.content_to_position + self.position_to_content

    @cached_property
    def relative_rows(self) -> int:
        """Rows of a relative table: the buckets, or one per offset between two patches plus three for the class token."""
        if self.position.endswith("2d"):
            return (2 * self.patch_grid[0] - 1) * (2 * self.patch_grid[1] - 1) + 3
        return self.relative_buckets
