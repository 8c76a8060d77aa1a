"""Attention as an answer: one layer, one head, and the weights of the question's first word point at the word that answers.

python recipes/attention_as_answer.py
glassformer attention build/recipes/attention_as_answer/model --text "Tom a été entarté cet été. What happened to Tom?"
"""

from __future__ import annotations

import random
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import french
import numpy as np
import torch
from recipe import Recipe, descend, main, parameters
from torch import Tensor, nn
from torch.nn.utils import parametrize

import glassformer as gf
from glassformer.show.curves import HUES
from glassformer.show.figures import Figure, drawn, new_figure
from glassformer.show.grids import weights_panel, write_values

KINDS: tuple[french.Question, ...] = ("who", "what", "when", "where")
SENTENCE = "Tom a été entarté cet été."
TOM = {  # question -> word, and its place: there are two été
    "Who was entarté?": "Tom (0)",
    "What happened to Tom?": "entarté (3)",
    "When was Tom entarté?": "été (5)",
}
WIDTH = 32
FORGET, FORGET_FEATURE = 0.5, 0.2  # shares of rows that a step goes without
SPECIAL = ("[PAD]", "[UNK]")
WORD = r"[ldjnmtscLDJNMTSC]['’](?=\p{L})|[\p{L}\p{M}\p{N}]+(?:[-'’][\p{L}\p{M}\p{N}]+)*|\S"


def tokenizer() -> Any:
    """Whole words where they are in the lexicon, letters where not, so that no word is unknown; nothing is put around a text."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    cut = pre_tokenizers.Split(Regex(WORD), behavior="removed", invert=True)
    words = sorted({word for text in french.lexicon() for word, _ in cut.pre_tokenize_str(text)})
    letters = sorted({*string.ascii_letters, *string.digits, *string.punctuation, *"".join(words), *"àâäçéèêëîïôöùûüÿœæ’«»…"})
    inside = [f"##{letter}" for letter in letters]
    vocab = {token: number for number, token in enumerate(dict.fromkeys([*SPECIAL, *letters, *inside, *words]))}
    made = Tokenizer(models.WordPiece(vocab=vocab, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer, made.decoder = normalizers.NFC(), cut, decoders.WordPiece(cleanup=False)
    return made


def features(token: str) -> Iterator[str]:
    """The spelling features of a token: a capital, its last letters, whether it continues a word."""
    letters = token.removeprefix("##")
    if letters != token:
        yield "inside"
    if not letters.isalpha() and "-" not in letters and "'" not in letters:
        yield "digit" if letters.isdigit() else "sign"
        return
    yield "capital" if letters[0].isupper() else "small"
    yield from (f"…{letters[-count:].lower()}" for count in (1, 2, 3) if len(letters) > count)


class Spelled(nn.Module):
    """A token's embedding: its own row, and one row for each feature of its spelling.

    Each step forgets some of the own rows, so that spelling and place have to carry the answer, too; a word that training
    never showed has them alone.
    """

    def __init__(self, tokens: Sequence[str], shown: set[int]) -> None:
        """`shown` are the tokens of the training texts; a feature must occur in at least three of them."""
        super().__init__()
        counts = Counter(name for number in shown for name in features(tokens[number]))
        known = {name: place for place, name in enumerate(sorted(name for name, count in counts.items() if count >= 3))}
        spelling_VF = torch.zeros(len(tokens), len(known))
        for row, token in zip(spelling_VF, tokens, strict=True):
            row[[known[name] for name in features(token) if name in known]] = 1.0
        self.register_buffer("spelling_VF", spelling_VF)
        self.rows_FD = nn.Parameter(0.3 * torch.randn(len(known), WIDTH))

    def forward(self, own_VD: Tensor) -> Tensor:
        rows_FD = self.rows_FD
        if self.training:
            own_VD = own_VD * (torch.rand(len(own_VD), 1) >= FORGET)
            rows_FD = rows_FD * (torch.rand(len(rows_FD), 1) >= FORGET_FEATURE)
        return own_VD + self.spelling_VF @ rows_FD


class Rows:
    """Questions as tensors: tokens, which are real, the place of the question's first word, and the tokens of the answer."""

    def __init__(self, asked: Sequence[french.Asked], cut: Any) -> None:
        encodings = [cut.encode(one.text) for one in asked]
        shape = len(asked), max(len(encoding.ids) for encoding in encodings)
        self.tokens_BT = torch.zeros(shape, dtype=torch.long)
        self.attend_BT, self.answer_BT = torch.zeros(shape, dtype=torch.bool), torch.zeros(shape, dtype=torch.bool)
        self.asks_B = torch.zeros(len(asked), dtype=torch.long)
        for row, (one, encoding) in enumerate(zip(asked, encodings, strict=True)):
            length, answer = len(encoding.ids), encoding.char_to_word(one.answer_at)
            self.tokens_BT[row, :length] = torch.tensor(encoding.ids)
            self.attend_BT[row, :length] = True
            self.answer_BT[row, :length] = torch.tensor([word == answer for word in encoding.word_ids])
            self.asks_B[row] = encoding.char_to_token(one.question_at)

    def __len__(self) -> int:
        return len(self.asks_B)

    def weights(self, encoder: gf.Encoder, rows: Tensor) -> Tensor:
        """The attention weights [batch, key] of the words that ask."""
        attend_BT = self.attend_BT[rows]
        longest = int(attend_BT.sum(1).max())
        output = encoder(self.tokens_BT[rows, :longest], attend_BT[:, :longest], return_weights=(0,))
        return output.weights[0][torch.arange(len(rows)), 0, self.asks_B[rows]]

    def losses(self, encoder: gf.Encoder, size: int) -> Iterator[Tensor]:
        """-log of the weight on the answer, batch after batch, for ever."""
        while True:
            for rows in torch.randperm(len(self)).split(size):
                weights_BS = self.weights(encoder, rows)
                answer_BS = self.answer_BT[rows, : weights_BS.shape[1]]
                yield -((weights_BS * answer_BS).sum(1) + 1e-9).log().mean()

    @torch.no_grad()
    def right(self, encoder: gf.Encoder) -> float:
        """The share of questions whose largest weight over all tokens is on the answer."""
        encoder.eval()
        weights_BS = self.weights(encoder, torch.arange(len(self)))
        largest = weights_BS.argmax(1)
        encoder.train()
        return float(self.answer_BT[torch.arange(len(self)), largest].float().mean())


def cook(recipe: Recipe) -> dict[str, Any]:
    cut, chance = tokenizer(), random.Random(recipe.seed)
    tokens = [cut.id_to_token(number) for number in range(cut.get_vocab_size())]
    count, steps = (2400, 400) if recipe.small else (8000, 1500)
    shown = [french.ask(replace(french.SEEN, made_up=0.15), chance, KINDS[row % len(KINDS)]) for row in range(count)]
    rows, test = Rows(shown, cut), held_out({one.text for one in shown}, chance, 100 if recipe.small else 500)
    told = {group: {kind: Rows(asked, cut) for kind, asked in kinds.items()} for group, kinds in test.items()}

    spec = gf.EncoderSpec(
        block="attention",
        layers=1,
        heads=1,
        d_model=WIDTH,
        vocab=len(tokens),
        position="learned_relative",
        positions=64,
        dropout=0.0,
    )
    encoder, table = new_encoder(spec), "E_token"
    source = encoder.embeddings.source
    parametrize.register_parametrization(source, table, Spelled(tokens, set(rows.tokens_BT.unique().tolist())))
    curve: list[dict[str, float]] = []
    for step, loss in enumerate(descend(encoder, rows.losses(encoder, 64), steps, lr=0.02), 1):
        if step % (steps // 20) == 0:
            scores = {group: mean(one.right(encoder) for one in kinds.values()) for group, kinds in told.items()}
            curve.append({"step": step, "loss": loss, **scores})
            recipe.progress(lambda: f"step {curve[-1]['step']}/{steps}  loss {curve[-1]['loss']:.4f}")
    encoder.eval()
    parametrize.remove_parametrizations(source, table)  # own row and spelling become one ordinary table

    scores = {group: {kind: one.right(encoder) for kind, one in kinds.items()} for group, kinds in told.items()}
    sizes = [f"{sum(map(len, kinds.values())):,}" for kinds in told.values()]
    cells = [
        [group, size, *(f"{one:.1%}" for one in found.values())]
        for (group, found), size in zip(scores.items(), sizes, strict=True)
    ]
    title = f"largest weight on the word that answers; one layer, one head, {parameters(encoder):,} parameters"
    recipe.table(
        title, ("questions with", "count", *KINDS), cells, [f"{count:,} questions to learn from; none of these is among them."]
    )
    model = saved(encoder, cut, recipe.fresh("model"))
    tom = [answered(model, question) for question in TOM]
    recipe.picture(tom_figure(tom), "attention")
    recipe.picture(curve_figure(curve), "curves")
    for group in ("new names", "new verbs", "new names and verbs"):
        for kind in KINDS:
            recipe.band(f"{group}, {kind}", scores[group][kind], 0.9 if recipe.small else 0.95)
    for one in tom:
        recipe.band(f"{one['question']} -> {one['largest']}", float(one["largest"] == one["expected"]), 1.0)
    return {"scores": scores, "tom": tom, "curve": curve, "parameters": parameters(encoder)}


def held_out(shown: set[str], chance: random.Random, count: int) -> dict[str, dict[french.Question, list[french.Asked]]]:
    """Questions that training does not show, by what else of them it does not show."""
    old, new = french.SEEN, french.UNSEEN
    groups = {
        "known words, put together anew": old,
        "new names": replace(old, men=new.men, women=new.women),
        "new verbs": replace(old, verbs=new.verbs, active=new.active),
        "new names and verbs": replace(new, times=old.times, places=old.places),
        "made-up names and verbs": replace(old, made_up=1.0),
        "new times": replace(old, times=new.times),
        "new places": replace(old, places=new.places),
        "everything new": new,
    }
    return {group: {kind: not_shown(words, kind, shown, chance, count) for kind in KINDS} for group, words in groups.items()}


def not_shown(
    words: french.Words, kind: french.Question, shown: set[str], chance: random.Random, count: int
) -> list[french.Asked]:
    """So many questions of a kind, all different, none of which was shown."""
    found: dict[str, french.Asked] = {}
    while len(found) < count:
        one = french.ask(words, chance, kind)
        if one.text not in shown:
            found[one.text] = one
    return list(found.values())


@torch.no_grad()
def new_encoder(spec: gf.EncoderSpec) -> gf.Encoder:
    """Words start without a row of their own. W_V and W_O are the identity: what comes out is the mean of the words by weight."""
    encoder = gf.Encoder(spec)
    views = dict(encoder.ledger())
    views["embeddings.E_token"].zero_()
    for name in ("W_V", "W_O"):
        view = views[f"layers.0.attention.{name}"]
        view.copy_(torch.eye(spec.d_model).view_as(view))
    return encoder


def saved(encoder: gf.Encoder, cut: Any, folder: Path) -> Path:
    """A model folder that every command opens."""
    gf.save(encoder, folder)
    (folder / "tokenizer.json").write_text(cut.to_str(pretty=True) + "\n", encoding="utf-8")
    return folder


def answered(model: Path, question: str) -> dict[str, Any]:
    """What the saved folder says in float64, by the run that opens every number: the weights of the word that asks."""
    run = gf.run(model, text=f"{SENTENCE} {question}")
    words = list(run.tokens[0])
    asks = words.index(question.split()[0])
    weights = [float(weight) for weight in run["layers.0.attention.weights"][0, 0, asks]]
    largest = max(range(len(words)), key=weights.__getitem__)
    return {
        "question": question,
        "expected": TOM[question],
        "largest": f"{words[largest]} ({largest})",
        "words": words,
        "weights": weights,
        "asks": asks,
    }


@drawn
def tom_figure(tom: Sequence[dict[str, Any]]) -> Figure:
    """A row a question, a column a word of the sentence; what falls on the question itself is summed up in the last column."""
    asks = tom[0]["asks"]
    weights = np.array([[*one["weights"][:asks], sum(one["weights"][asks:])] for one in tom])
    figure = new_figure(0.75 * weights.shape[1], 0.5 * len(tom))
    axes = figure.add_axes((0, 0, 1, 1))
    weights_panel(axes, weights)
    write_values(axes, weights, top=1.0, size=9)
    axes.set_xticks(range(weights.shape[1]), [*tom[0]["words"][:asks], "(question)"])
    axes.set_yticks(range(len(tom)), [one["question"] for one in tom])
    axes.tick_params(length=0, top=False, bottom=False, labeltop=True, labelbottom=False, labelsize=10)
    figure.text(
        0, -0.12, "attention weights of each question's first word; training showed neither the name nor the verb", va="top"
    )
    return figure


@drawn
def curve_figure(curve: Sequence[dict[str, float]]) -> Figure:
    """Right answers while it learns, one line a group."""
    figure = new_figure(6.4, 3.6)
    axes = figure.add_axes((0, 0, 1, 1))
    groups = [name for name in curve[0] if name not in ("step", "loss")]
    steps = [row["step"] for row in curve]
    for place, group in enumerate(groups):
        style = "-" if place < 5 else "--"
        axes.plot(steps, [row[group] for row in curve], style, color=HUES[place % len(HUES)], label=group)
    axes.set_title("largest weight on the word that answers, questions never shown in training")
    axes.set_xlabel("step")
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.legend(loc="lower right", fontsize=8)
    return figure


if __name__ == "__main__":
    main("attention_as_answer", __doc__, cook)
