"""Saliency: gradient × input, integrated gradients and attention rollout, each with its completeness gap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from glassformer.arguments import one_of, whole
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text
from glassformer.files.texts import Text
from glassformer.insight.grid import Grid
from glassformer.insight.hooks import tapped
from glassformer.insight.taps import Hook
from glassformer.insight.targets import Given, Target, given, target
from glassformer.model.encoder import Output
from glassformer.model.fast.inference import evaluating, every_module
from glassformer.spec.viewed import Viewed

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

Method = Literal["integrated", "gradient", "rollout"]
Baseline = Literal["padding", "zero"]

FEWEST_STEPS, MOST_STEPS = 32, 1024
SMALL_GAP = 0.005  # relative gap at which the number of steps is sufficient
TOKENS_AT_ONCE = 4096
TOKEN = "embeddings.token"


class Gap(NamedTuple):
    """Completeness: the expected and the actual sum of the scores."""

    wanted: float
    total: float

    @property
    def relative(self) -> float:
        """|total − wanted| / |wanted|."""
        return abs(self.total - self.wanted) / abs(self.wanted) if self.wanted else abs(self.total)


@dataclass(frozen=True, repr=False)
class Saliency(Viewed):
    """A score for each token, word and head."""

    model: str
    of: str
    method: Method
    value: float
    tokens: tuple[str, ...]
    scores: tuple[float, ...]
    words: tuple[tuple[str, float], ...]
    heads: tuple[tuple[float, ...], ...]  # [layer][head]: gradient × head output; empty for rollout
    gap: Gap
    steps: int | None = None
    baseline: Baseline | None = None

    def __str__(self) -> str:
        return self.presented().text()

    def __repr__(self) -> str:
        return f"<Saliency of {len(self.tokens)} tokens for {self.of} by {self.method}: gap {self.gap.relative:.2%}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as a JSON document."""
        plain = {name: value for name, value in vars(self).items() if name not in ("gap", "words")}
        words = [{"word": word, "score": score} for word, score in self.words]
        return plain | {"words": words, "gap": {**self.gap._asdict(), "relative": self.gap.relative}}

    def grids(self) -> list[Grid]:
        """One row of tokens, and the heads."""
        texts = [[f"{score:.3g}" for score in self.scores]]
        name = f"{self.of} ({self.method})"
        found = [Grid(name, ["score"], list(self.tokens), [list(self.scores)], "score", texts=texts)]
        if self.heads:
            rows, columns = [f"layer {i}" for i in range(len(self.heads))], [f"{i}" for i in range(len(self.heads[0]))]
            found.append(Grid("gradient × mix by head", rows, columns, [list(row) for row in self.heads], "score"))
        return found


def saliency(
    model: LoadedModel,
    text: Text,
    *,
    of: str | None = None,
    method: Method = "integrated",
    steps: int | None = None,
    baseline: Baseline = "padding",
) -> Saliency:
    """Score the tokens of a text for one logit.

    integrated: gradients averaged on the straight line from the baseline to the token vectors; the scores sum to the change of
    the logit. `steps` is the number of nodes of a Gauss-Legendre rule; None doubles it until the gap is below half a
    percent. gradient: gradient × token vector; the scores need not sum to the logit, and the gap shows by how much they differ.
    rollout: attention weights averaged over heads, with half of each residual, multiplied through the layers; they sum to 1 and
    do not depend on `of`.
    """
    one_of("method", method, get_args(Method))
    one_of("baseline", baseline, get_args(Baseline))
    steps = whole("steps", steps, least=1, most=100_000) if steps is not None else None
    encoder = model.encoder
    with evaluating(every_module(encoder)):
        read = given(model, text)
        with torch.no_grad():
            wanted = target(model, read, of)
            value = float(wanted.of(encoder(read.ids, segments=read.segments))[0])
        if method == "rollout":
            scores, gap = _rollout(model, read, wanted)
            return _saliency(model, read, wanted, method, value, scores, gap)
        heads = _of_heads(model, read, wanted)
        path = _Path(model, read, wanted, baseline if method == "integrated" else "zero")
        if method == "gradient":
            scores = path.average(torch.ones(1), torch.ones(1))
            return _saliency(model, read, wanted, method, value, scores, Gap(value, float(scores.sum())), heads)
        change = value - path.at_baseline()
        for count in [steps] if steps is not None else _counts():
            scores = path.integrated(count)
            gap = Gap(change, float(scores.sum()))
            if gap.relative <= SMALL_GAP:
                break
        return _saliency(model, read, wanted, method, value, scores, gap, heads, steps=count, baseline=baseline)


def _counts() -> Iterator[int]:
    count = FEWEST_STEPS
    while count <= MOST_STEPS:
        yield count
        count *= 2


class _Path:
    """The straight line from the baseline to the vectors of the tokens; special tokens are unchanged."""

    def __init__(self, model: LoadedModel, read: Given, wanted: Target, baseline: Baseline) -> None:
        source = model.encoder.embeddings.source
        table = getattr(source, "E_token", None)
        if table is None:
            raise GlassformerError(f"this encoder reads {model.spec.reads}, not tokens: saliency needs a text.")
        self.model, self.read, self.wanted = model, read, wanted
        self.end_TE = table.detach()[read.ids[0]]
        self.start_TE = torch.zeros_like(self.end_TE)
        if baseline == "padding":
            own = torch.tensor([word is not None for word in read.words], device=table.device)[:, None]
            self.start_TE = torch.where(own, table.detach()[model.folder.padding], self.end_TE)

    def run(self, vectors_NTE: Tensor) -> Tensor:
        """The number for each row of token vectors, [n]."""
        rows = vectors_NTE.shape[0]
        encoder = tapped(self.model.encoder, {TOKEN: lambda _: vectors_NTE})
        segments = None if self.read.segments is None else self.read.segments.expand(rows, -1)
        return self.wanted.of(encoder(self.read.ids.expand(rows, -1), segments=segments))

    @torch.no_grad()
    def at_baseline(self) -> float:
        return float(self.run(self.start_TE[None])[0])

    def integrated(self, count: int) -> Tensor:
        """(x − baseline) · the mean gradient, by a Gauss-Legendre rule of `count` nodes."""
        nodes, weights = np.polynomial.legendre.leggauss(count)
        return self.average(torch.from_numpy((nodes + 1) / 2), torch.from_numpy(weights / 2))

    def average(self, places_N: Tensor, weights_N: Tensor) -> Tensor:
        """Σ weight · gradient at each node, times the difference to the baseline, summed over features: [t], in float64."""
        way_TE = self.end_TE - self.start_TE
        mean_TE = torch.zeros(way_TE.shape, dtype=torch.float64)
        at_once = max(1, TOKENS_AT_ONCE // way_TE.shape[0])
        for places, weights in zip(places_N.split(at_once), weights_N.split(at_once), strict=True):
            vectors = (self.start_TE + places.to(way_TE)[:, None, None] * way_TE).requires_grad_()
            (gradient_NTE,) = torch.autograd.grad(self.run(vectors).sum(), vectors)
            mean_TE += torch.einsum("n,nte->te", weights.double(), gradient_NTE.double().cpu())
        return (mean_TE * way_TE.double().cpu()).sum(-1)


def _of_heads(model: LoadedModel, read: Given, wanted: Target) -> tuple[tuple[float, ...], ...]:
    """Gradient × mix of every head: the first-order effect of scaling its output."""
    seen: dict[str, Tensor] = {}
    names = [f"layers.{layer}.attention.mix" for layer in range(model.spec.layers)]
    hooks: Mapping[str, Hook] = {name: partial(_kept, seen, name) for name in names}
    value = wanted.of(tapped(model.encoder, hooks)(read.ids, segments=read.segments)).sum()
    gradients = torch.autograd.grad(value, [seen[name] for name in names]) if names else ()
    pairs = zip([seen[name] for name in names], gradients, strict=True)
    return tuple(tuple((mix * gradient).sum((0, 1, 3)).tolist()) for mix, gradient in pairs)


def _kept(seen: dict[str, Tensor], name: str, value: Tensor) -> Tensor:
    """Keep the tensor of a step and require its gradient, even if no parameter is trained."""
    seen[name] = value if value.requires_grad else value.detach().requires_grad_()
    return seen[name]


@torch.no_grad()
def _rollout(model: LoadedModel, read: Given, wanted: Target) -> tuple[Tensor, Gap]:
    """Abnar and Zuidema (2020): (A + I) / 2 of each layer, multiplied; the row of the position that the head reads."""
    output: Output = model.encoder(read.ids, segments=read.segments, return_weights=range(model.spec.layers))
    count = len(read.tokens)
    flow_TS = torch.eye(count, dtype=torch.float64)
    for layer in range(model.spec.layers):
        weights_TS = output.weights[layer][0].double().mean(0).cpu()
        flow_TS = (weights_TS + torch.eye(count, dtype=torch.float64)) / 2 @ flow_TS
    if wanted.position is not None:
        scores = flow_TS[wanted.position]
    else:
        pool = model.spec.pool if model.spec.head_reads not in ("each", "mean") else "mean"
        scores = flow_TS.mean(0) if pool == "mean" else flow_TS[0 if pool == "first" else -1]
    return scores, Gap(1.0, float(scores.sum()))


def _saliency(  # noqa: PLR0913 - the fields of the result
    model: LoadedModel,
    read: Given,
    wanted: Target,
    method: Method,
    value: float,
    scores_T: Tensor,
    gap: Gap,
    heads: tuple[tuple[float, ...], ...] = (),
    *,
    steps: int | None = None,
    baseline: Baseline | None = None,
) -> Saliency:
    scores = tuple(scores_T.tolist())
    words: dict[tuple[bool, int], tuple[str, float]] = {}
    for number, (token, word, score) in enumerate(zip(read.tokens, read.words, scores, strict=True)):
        key = (word is None, number if word is None else word)
        letters, before = words.get(key, ("", 0.0))
        words[key] = letters + token.removeprefix("##").lstrip("Ġ▁"), before + score
    name, tokens = path_text(model.folder.path), tuple(read.tokens)
    return Saliency(name, wanted.label, method, value, tokens, scores, tuple(words.values()), heads, gap, steps, baseline)
