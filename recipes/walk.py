"""The lab's walk: an encoder of two layers that distinguishes positive from negative sentences in English, French and Hindi.

python recipes/walk.py    # weights in build/recipes/walk/model; src/glassformer/lab/models/walk is a copy

The first head of the last layer is also taught grammar: each word looks at the word that it is about, or at itself.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from recipe import Recipe, descend, main, parameters
from torch import Tensor
from torch.nn.functional import cross_entropy
from walk_sentences import Sentence, sentence
from walk_words import LABELS

import glassformer as gf

WORD = r"[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]"
LONGEST = 64
LINK = 0.5  # the share of the links in the loss
CERTAIN = 0.7  # the share of a link's weight that should be on its word; the rest is spread, so that every weight is visible
FAR, FAR_COUNTS = 3, 4.0  # links over more pieces are rare and hard: they count more
FLOOR = 1e-30  # of a weight before its logarithm: a higher one stops the gradient of a row that is too certain
SHOWN = {  # sentence -> which word refers to which
    "The animal did not cross the street because it was too tired.": (8, 1),
    "The animal did not cross the street because it was too wide.": (8, 6),
    "Tom a été entarté cet été.": (3, 0),
    "यह किताब बहुत अच्छी है": (3, 1),
}


def reviews(split: str) -> list[Sentence]:
    """Short English sentences of the built-in data set `sentiment`."""
    packed = files("glassformer").joinpath(f"training/sets/sentiment/{split}.jsonl.gz").read_bytes()
    rows = [json.loads(line) for line in gzip.decompress(packed).decode("utf-8").splitlines()]
    return [Sentence(row["text"], LABELS.index(row["label"])) for row in rows if len(row["text"].split()) <= 16]


def tokenizer(texts: Sequence[str]) -> Any:
    """Frequent words whole, then frequent endings, then letters: no word is unknown."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    cut = pre_tokenizers.Split(Regex(WORD), behavior="removed", invert=True)
    counts = Counter(word for text in texts for word, _ in cut.pre_tokenize_str(normalizer.normalize_str(text)))
    words = [word for word, count in counts.most_common(1500) if count >= 4]
    ends: Counter[str] = Counter()
    for word, count in counts.items():
        for size in range(2, min(5, len(word))):
            ends[word[-size:]] += min(count, 5)
    letters = sorted({*"abcdefghijklmnopqrstuvwxyz0123456789àâçéèêëîïôöùûüÿœæ", *"".join(counts)})
    endings = [f"##{end}" for end, _ in ends.most_common(150)]
    pieces = dict.fromkeys(["[PAD]", "[UNK]", *letters, *(f"##{letter}" for letter in letters), *endings, *words])
    made = Tokenizer(models.WordPiece(vocab={piece: place for place, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer, made.decoder = normalizer, cut, decoders.WordPiece(cleanup=False)
    return made


class Rows:
    """Sentences as tensors: tokens, which are real, the sentiment; and for each linked piece the pieces that it refers to."""

    def __init__(self, sentences: Sequence[Sentence], cut: Any) -> None:
        shape = len(sentences), LONGEST
        self.tokens_BT = torch.zeros(shape, dtype=torch.long)
        self.attend_BT = torch.zeros(shape, dtype=torch.bool)
        self.label_B = torch.tensor([one.label for one in sentences])
        self.links: list[list[tuple[int, int]]] = []
        for row, one in enumerate(sentences):
            encoding = cut.encode(one.text)
            ids = encoding.ids[:LONGEST]
            self.tokens_BT[row, : len(ids)] = torch.tensor(ids)
            self.attend_BT[row, : len(ids)] = True
            self.links.append(_links(one, encoding))

    def __len__(self) -> int:
        return len(self.label_B)

    def about(self, rows: Sequence[int], longest: int) -> Tensor:
        """For each piece of some rows, the pieces that it is about; a piece without a link is about none."""
        about_BTS = torch.zeros(len(rows), longest, longest)
        for place, row in enumerate(rows):
            for asks, meant in self.links[row]:
                about_BTS[place, asks, meant] = 1
        return about_BTS

    @staticmethod
    def importance(about_BTS: Tensor) -> Tensor:
        """What the link of each piece counts in the loss."""
        longest = about_BTS.shape[-1]
        distance_BT = (about_BTS.argmax(-1) - torch.arange(longest)).abs()
        return torch.where(distance_BT > FAR, FAR_COUNTS, 1.0)

    def loss(self, encoder: gf.Encoder, rows: Tensor) -> Tensor:
        """Cross-entropy of the sentiment, and of the weights of the linking head: most on the referent, the rest spread."""
        longest = int(self.attend_BT[rows].sum(1).max())
        output = encoder(self.tokens_BT[rows, :longest], self.attend_BT[rows, :longest], return_weights=(1,))
        weights_BTS, about_BTS = output.weights[1][:, 0], self.about(rows.tolist(), longest)
        real_BS = self.attend_BT[rows, :longest].float()
        linked_BT = about_BTS.amax(-1) * self.importance(about_BTS)
        right_BT = ((weights_BTS * about_BTS).sum(-1) + FLOOR).log()
        spread_BT = ((weights_BTS + FLOOR).log() * real_BS[:, None]).sum(-1) / real_BS.sum(-1, keepdim=True)
        losses_BT = -CERTAIN * right_BT - (1 - CERTAIN) * spread_BT
        links = (losses_BT * linked_BT).sum() / linked_BT.sum().clamp(min=1)
        return cross_entropy(output.logits, self.label_B[rows], label_smoothing=0.1) + LINK * links

    def losses(self, encoder: gf.Encoder, size: int) -> Iterator[Tensor]:
        while True:
            for rows in torch.randperm(len(self)).split(size):
                yield self.loss(encoder, rows)

    @torch.no_grad()
    def right(self, encoder: gf.Encoder) -> tuple[float, float]:
        """The shares of right classifications, and of linked pieces whose largest weight is in the right place."""
        encoder.eval()
        output = encoder(self.tokens_BT, self.attend_BT, return_weights=(1,))
        encoder.train()
        about_BTS = self.about(range(len(self)), LONGEST)
        largest_BT1 = output.weights[1][:, 0].argmax(-1, keepdim=True)
        found = about_BTS.gather(-1, largest_BT1).sum() / about_BTS.amax(-1).sum().clamp(min=1)
        felt_B = self.label_B >= 0
        sentiment = (output.logits.argmax(1) == self.label_B)[felt_B].float().mean()
        return float(sentiment), float(found)


def _links(one: Sentence, encoding: Any) -> list[tuple[int, int]]:
    """Links between words as links from each piece of one to each piece of the other."""
    starts, at = [], 0
    for word in one.words:
        at = one.text.index(word, at)
        starts.append(at)
        at += len(word)
    cuts = [encoding.char_to_word(start) for start in starts]
    pieces: dict[int, list[int]] = {}
    for token, word in enumerate(encoding.word_ids[:LONGEST]):
        pieces.setdefault(word, []).append(token)
    return [(here, there) for asks, about in one.links for here in pieces[cuts[asks]] for there in pieces[cuts[about]]]


def cook(recipe: Recipe) -> dict[str, Any]:
    chance = random.Random(recipe.seed)
    count, steps = (3000, 300) if recipe.small else (30_000, 5000)
    written = [sentence(chance) for _ in range(count)]
    texts = {one.text for one in written}
    test = [one for one in (sentence(chance) for _ in range(2000)) if one.text not in texts][:500]
    shown = [*written, *reviews("train")[: count // 3]]
    cut = tokenizer([one.text for one in shown])
    rows, test_rows, real = Rows(shown, cut), Rows(test, cut), Rows(reviews("test")[:800], cut)
    encoder = gf.Encoder(spec(cut.get_vocab_size()))
    for step, loss in enumerate(descend(encoder, rows.losses(encoder, 64), steps, lr=0.004), 1):
        recipe.progress(lambda step=step, loss=loss: f"step {step}/{steps}  loss {loss:.4f}")  # type: ignore[misc]
    encoder.eval()
    model = saved(encoder, cut, recipe.fresh("model"))
    sentiment, links = test_rows.right(encoder)
    english, _ = real.right(encoder)
    recipe.band("sentiment, sentences never shown", sentiment, 0.8 if recipe.small else 0.95)
    recipe.band("links, sentences never shown", links, 0.5 if recipe.small else 0.9)
    recipe.band("sentiment, English reviews and tweets", english, 0.55 if recipe.small else 0.72)
    for text, (asks, about) in SHOWN.items():
        weights = gf.run(model, text=text)["layers.1.attention.weights"][0, 0, asks]
        if not recipe.small:
            recipe.band(f"{text} {asks} -> {about}", float(weights[about]), 0.5)
    return {"sentiment": sentiment, "links": links, "english": english, "parameters": parameters(encoder)}


def spec(vocab: int) -> gf.EncoderSpec:
    """Two layers, four heads, mean of the last rows, a linear map."""
    return gf.EncoderSpec(
        d_model=32, heads=4, d_ff=64, layers=2, vocab=vocab, positions=LONGEST, position="sinusoidal", norm="post",
        activation="relu", pool="mean", head="classify", classes=len(LABELS), dropout=0.1,
    )  # fmt: skip


def saved(encoder: gf.Encoder, cut: Any, folder: Path) -> Path:
    """A model folder that every command opens."""
    gf.save(encoder, folder)
    (folder / "tokenizer.json").write_text(cut.to_str(pretty=False) + "\n", encoding="utf-8")
    (folder / "labels.json").write_text(json.dumps({"id2label": dict(enumerate(LABELS))}) + "\n", encoding="utf-8")
    return folder


if __name__ == "__main__":
    main("walk", __doc__, cook)
