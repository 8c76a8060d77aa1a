"""Evaluation of decoders and encoder-decoders: loss of the reference, BLEU and chrF with 95% intervals, and the worst rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.encoding.evaluation import parts_of
from glassformer.encoding.measures import Measured, Worst
from glassformer.encoding.scores import RESAMPLES, Interval, bootstrap
from glassformer.errors import GlassformerError
from glassformer.files.paths import path_text

if TYPE_CHECKING:
    from torch import Tensor

    from glassformer.model.generation.settings import Choice
    from glassformer.model.generation.texts import TextGenerator, TextWriter
    from glassformer.model.generation.translations import Translator
    from glassformer.training.data.dataset import Dataset, Split

USUAL_CONTEXT = 1024  # tokens per segment of a long text, if the model has no smaller limit
BATCH_TOKENS = 2048  # of the model's inputs, padding included
IGNORE = -100


class Row(NamedTuple):
    """Tokens whose loss is computed, and what comes before them."""

    number: int  # of the text that they are from
    source: list[int]  # what the encoder reads; empty without one
    read: list[int]  # the decoder input
    labels: list[int]  # the token after each of these

    @property
    def size(self) -> int:
        """How many tokens a model reads for it."""
        return len(self.source) + len(self.read)


class Losses(NamedTuple):
    """For each text: the sum of the losses of its tokens, their number, and how many are predicted correctly."""

    sums: NDArray[np.float64]
    tokens: NDArray[np.int64]
    right: NDArray[np.int64]

    def figures(self) -> dict[str, Interval]:
        """Loss, perplexity and accuracy by token; a resample takes whole texts."""

        def loss(rows: NDArray[Any]) -> float:
            return float(self.sums[rows].sum() / max(self.tokens[rows].sum(), 1))

        return bootstrap(
            {
                "loss": loss,
                "perplexity": lambda rows: math.exp(min(loss(rows), 700.0)),
                "tokens predicted": lambda rows: float(self.right[rows].sum() / max(self.tokens[rows].sum(), 1)),
            },
            len(self.sums),
        )

    def by_token(self) -> NDArray[np.float64]:
        """The mean loss of each text."""
        found: NDArray[np.float64] = self.sums / np.maximum(self.tokens, 1)
        return found


def of_translations(
    model: Translator, data: Dataset, part: str, worst: int, choice: Choice, batch_tokens: int | None = None
) -> Measured:
    """Evaluate an encoder-decoder: the loss of the reference translations, then BLEU and chrF of the generated ones."""
    from glassformer.training import scoring

    splits = parts_of(data, part)
    sources = [text for split in splits for text in split.inputs]
    references = [text for split in splits for text in split.targets or ()]
    rows, cut = _pairs(model, sources, references)
    losses = _losses(model, rows, len(sources), batch_tokens or BATCH_TOKENS)
    written = list(model.write(sources, choice, name=_named(data, splits)))
    texts = [one.text for one in written]
    notes = [f"{cut:,} translations are cut to {model.room:,} tokens for the loss."] if cut else []
    if open_ended := sum(not one.ended for one in written):
        notes.append(f"{open_ended:,} translations were not finished after {choice.max_new_tokens} new tokens.")
    figures, signatures, off, measure = losses.figures(), {}, -losses.by_token(), "loss"
    if scoring.available():
        scored = scoring.resampled(texts, references, RESAMPLES)
        signatures = {name: one.signature for name, one in scored.items()}
        about = {"BLEU": scored["bleu"], "chrF": scored["chrf"]}
        intervals = {name: Interval(one.value, one.mean - one.reach, one.mean + one.reach) for name, one in about.items()}
        figures, off, measure = intervals | figures, np.array(scoring.row_scores(texts, references)), "chrF"
    else:
        notes.append(scoring.HINT)
    order = np.argsort(off, kind="stable")[:worst].tolist()
    shown = tuple(Worst(row + 1, references[row], texts[row], abs(float(off[row])), sources[row]) for row in order)
    how = f"beam {choice.beams}" if choice.beams > 1 else "greedy"
    notes += [f"{name}: {signature}" for name, signature in signatures.items()]
    return _measured(model, data, part, losses, figures, shown, [f"translations: {how}, worst by {measure}.", *notes])


def of_texts(
    model: TextGenerator, data: Dataset, part: str, worst: int, context: int | None, batch_tokens: int | None = None
) -> Measured:
    """Evaluate a decoder: the loss of each token of the texts but the first. Long ones are read in pieces of `context`."""
    splits = parts_of(data, part)
    texts = [text for split in splits for text in split.inputs]
    longest = model.written_spec.longest
    piece = min(context or USUAL_CONTEXT, longest or USUAL_CONTEXT)
    rows = list(_pieces(model, texts, piece, _named(data, splits)))
    losses = _losses(model, rows, len(texts), batch_tokens or BATCH_TOKENS)
    by_token = losses.by_token()
    order = np.argsort(-by_token, kind="stable")[:worst].tolist()
    shown = tuple(Worst(row + 1, f"{losses.tokens[row]:,} tokens", "", float(by_token[row]), texts[row]) for row in order)
    more = len(rows) - int((losses.tokens > 0).sum())
    notes = [f"long texts are read in {more:,} further pieces of at most {piece:,} tokens."] if more > 0 else []
    return _measured(model, data, part, losses, losses.figures(), shown, notes)


def _measured(
    model: TextWriter,
    data: Dataset,
    part: str,
    losses: Losses,
    figures: dict[str, Interval],
    worst: tuple[Worst, ...],
    notes: list[str],
) -> Measured:
    if not losses.tokens.sum():
        raise GlassformerError(f"{data.name} has no text of at least two tokens in the part {part}: there is nothing to predict.")
    about = f"{int(losses.tokens.sum()):,} tokens are predicted, including end tokens."
    name = path_text(model.folder.path)
    return Measured(name, data.name, part, len(losses.sums), data.task, figures, [], worst, (about, *notes))


def _named(data: Dataset, splits: Sequence[Split]) -> Callable[[int], str]:
    """Return the name of a row for messages."""
    places = [f"{data.name}, {split.name}, row {row + 1:,}" for split in splits for row in range(len(split))]
    return places.__getitem__


def _pairs(model: Translator, sources: Sequence[str], references: Sequence[str]) -> tuple[list[Row], int]:
    """The pairs as tokens, and how many of the references are cut: their end is left out, and the token that would end them."""
    room, cut = model.room, 0
    first = [] if model.tokens.first is None else [model.tokens.first]
    rows = []
    for number, (source, reference) in enumerate(zip(sources, references, strict=True)):
        labels = [*first, *model.own_ids(reference, f"translation {number + 1:,}"), model.tokens.ends[0]]
        if room is not None and len(labels) > room:
            labels, cut = labels[:room], cut + 1
        read = [model.tokens.start[0], *labels[:-1]]
        rows.append(Row(number, model.ids(source, f"source {number + 1:,}"), read, labels))
    return rows, cut


def _pieces(model: TextGenerator, texts: Sequence[str], most: int, name: Callable[[int], str]) -> Iterator[Row]:
    """The texts as tokens, each with its end token; the last token of a segment is the first of the next."""
    for number, text in enumerate(texts):
        ids = model.ids(text, name(number))
        if ids and model.tokens.ends and ids[-1] not in model.tokens.ends:
            ids = [*ids, model.tokens.ends[0]]
        for start in range(0, len(ids) - 1, most):
            piece = ids[start : start + most + 1]
            yield Row(number, [], piece[:-1], piece[1:])


def _losses(model: TextWriter, rows: Sequence[Row], texts: int, most: int) -> Losses:
    import torch

    sums, tokens, right = np.zeros(texts), np.zeros(texts, dtype=np.int64), np.zeros(texts, dtype=np.int64)
    with torch.inference_mode():
        for batch in _batches(rows, most):
            for row, loss, hits in zip(batch, *_of_batch(model, batch), strict=True):
                sums[row.number] += loss
                tokens[row.number] += len(row.labels)
                right[row.number] += hits
    return Losses(sums, tokens, right)


def _batches(rows: Sequence[Row], most: int) -> Iterator[list[Row]]:
    """Batches of rows of similar length, with at most so many tokens."""
    batch: list[Row] = []
    for row in sorted(rows, key=lambda row: (row.size, len(row.read))):
        widest = max((len(one.source) for one in (*batch, row)), default=0) + max(len(one.read) for one in (*batch, row))
        if batch and widest * (len(batch) + 1) > most:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _of_batch(model: TextWriter, batch: Sequence[Row]) -> tuple[list[float], list[int]]:
    """The loss of each row, and how many of its tokens are the most probable ones."""
    import torch
    from torch.nn import functional

    device = model.model.here.device
    read, labels = (
        _padded([getattr(row, name) for row in batch], fill, device) for name, fill in (("read", 0), ("labels", IGNORE))
    )
    asked = labels != IGNORE
    places = asked.flatten().nonzero()[:, 0]
    if batch[0].source:
        source, real = (_padded([row.source for row in batch], fill, device) for fill in (0, IGNORE))
        attend = real != IGNORE
        logits = model.model(source, read, None if bool(attend.all()) else attend, predict_at=places).logits
    else:
        logits = model.model(read, predict_at=places).logits
    logits, true = logits.flatten(0, -2).float(), labels[asked]
    losses = functional.cross_entropy(logits, true, reduction="none").double()
    owner = torch.arange(len(batch), device=device)[:, None].expand_as(labels)[asked]
    sums = torch.zeros(len(batch), dtype=torch.float64, device=device).index_add_(0, owner, losses)
    hits = torch.zeros(len(batch), dtype=torch.int64, device=device).index_add_(0, owner, (logits.argmax(-1) == true).long())
    return sums.tolist(), hits.tolist()


def _padded(rows: Sequence[list[int]], fill: int, device: Any) -> Tensor:
    import torch

    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows], device=device)
