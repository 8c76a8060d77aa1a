"""The global first token, which attends to all tokens and to which all attend, with own projections (Beltagy et al. 2020)."""

from __future__ import annotations

from glassformer.program.axes import Axis, Tensor
from glassformer.program.operations import Contract, Join, Slice
from glassformer.program.parts import CONTRACT, linear
from glassformer.program.program import Writer
from glassformer.program.roles import Role
from glassformer.spec import BiasPlace, EncoderSpec

PROJECTIONS: dict[str, tuple[BiasPlace, Role]] = {
    "Q": ("q", "global query"),
    "K": ("k", "global key"),
    "V": ("v", "global value"),
}


class GlobalToken:
    """The projections of global tokens, and the attention of the first token if it is global."""

    def __init__(self, write: Writer, spec: EncoderSpec, queries: Tensor, memory: Tensor, product: Contract) -> None:
        self.write, self.spec, self.queries, self.memory, self.product = write, spec, queries, memory, product
        self.reads = spec.global_attention == "first"
        if not self.reads:
            self._stored()

    def _stored(self) -> None:
        """Add the parameters only."""
        head, d_model = Axis("head", self.spec.heads), Axis("d_model", self.spec.d_model)
        for letter, (place, role) in PROJECTIONS.items():
            width = Axis("d_v", self.spec.head_v) if letter == "V" else Axis("d_k", self.spec.head_k)
            self.write.parameter(f"W_{letter}G", role, d_model, head, width)
            if self.spec.bias(place):
                self.write.parameter(f"b_{letter}G", role, head, width, kind="bias")

    def _made(self, letter: str, x: Tensor) -> Tensor:
        place, role = PROJECTIONS[letter]
        width = Axis("d_v", self.spec.head_v) if letter == "V" else Axis("d_k", self.spec.head_k)
        into = (Axis("head", self.spec.heads), width)
        return linear(self.write, f"{letter.lower()}_global", role, x, f"{letter}G", into, bias=self.spec.bias(place))

    def scores(self, q: Tensor, k: Tensor, square: tuple[Axis, ...]) -> Tensor:
        """The scores of all tokens; the first token uses the global query and key projections."""
        if not self.reads:
            return self.write.step("scores", "scores", self.product, q, k, axes=square)
        t = square[-2]
        local = self.write.step("local_scores", "local scores", self.product, q, k, axes=square)
        first = self.write.step("first", "slice", Slice(t.name, 0, 1), self.queries)
        one = (*square[:-2], t._replace(size=1), square[-1])
        asked, answers = self._made("Q", first), self._made("K", self.memory)
        of_first = self.write.step("global_scores", "global scores", self.product, asked, answers, axes=one)
        rest = self.write.step("rest", "slice", Slice(t.name, 1, t.size), local)
        return self.write.step("scores", "scores", Join(t, t.name), of_first, rest)

    def mix(self, weights: Tensor, v: Tensor, axes: tuple[Axis, ...]) -> Tensor:
        """The weighted sum of values for each token; the first token uses the global value projection."""
        if not self.reads:
            return self.write.step("mix", "mix", CONTRACT, weights, v, axes=axes)
        t = axes[1]
        one = (axes[0], t._replace(size=1), *axes[2:])
        local = self.write.step("local_mix", "local mix", CONTRACT, weights, v, axes=axes)
        of_first = self.write.step("weights_first", "slice", Slice(t.name, 0, 1), weights)
        read = self.write.step("global_mix", "global mix", CONTRACT, of_first, self._made("V", self.memory), axes=one)
        rest = self.write.step("mix_rest", "slice", Slice(t.name, 1, t.size), local)
        return self.write.step("mix", "mix", Join(t, t.name), read, rest)
