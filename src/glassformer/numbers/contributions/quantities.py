"""The quantity to attribute: a class logit, a token logit, the similarity of two texts, or any cell by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from glassformer.errors import GlassformerError, listed, nearest, shown
from glassformer.numbers.contributions.ledger import Contributions, contributions, ledger
from glassformer.numbers.contributions.rules import Rules
from glassformer.numbers.values import Values
from glassformer.program.axes import Array
from glassformer.spec import MASKED_HEADS, TOKEN_HEADS

SIMILARITY = "similarity"
LOGITS = "head.logits"
NUMBERED = "#"  # before the id of a token
MASKS = ("[MASK]", "<mask>")
FORMS = "class=LABEL, token=WORD, similarity, or NAME axis=index …"
LONGEST = 500
TINY = 1e-300

TokenId = Callable[[str], int | None]


class Quantity(NamedTuple):
    """A quantity as it was written: `class=spam against=ham`, or a name with the indices of a cell."""

    kind: str  # class, token, similarity or cell
    what: str = ""
    against: str | None = None
    cell: Mapping[str, int] = {}

    @classmethod
    def of(cls, text: str) -> Quantity:
        """Parse a quantity."""
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
            raise GlassformerError(f"the quantity {shown(text)} is not known: give {FORMS}.")
        first, *rest = re.split(r"\s+(?=\w+=)", text.strip())
        options = dict(word.partition("=")[::2] for word in rest)
        name, equals, value = first.partition("=")
        if first == SIMILARITY and not rest:
            return cls(SIMILARITY)
        if not equals:
            return cls("cell", first, None, {axis: _index(axis, index) for axis, index in options.items()})
        if name not in ("class", "token") or not value.strip():
            raise GlassformerError(f"the quantity '{shown(text)}' is not known: give {FORMS}.")
        against = options.pop("against", None)
        return cls(name, value.strip(), against, {axis: _index(axis, index) for axis, index in options.items()})


def _index(axis: str, text: str) -> int:
    if not re.fullmatch(r"-?\d{1,9}", text):
        raise GlassformerError(f"{shown(axis)}={shown(text)} is not allowed: an index is a whole number, counted from 0.")
    return int(text)


def usual(run: Values, labels: Sequence[str], token: Callable[[int], str] = "#{}".format) -> str:
    """The default quantity: the logit of the class that the head predicts, or of the most probable next token."""
    spec = run.program.spec
    if spec.predicts_next and run.program.sizes.batch == 1:
        return f"token={token(int(np.argmax(run[LOGITS][0, -1])))}"
    if run.program.sizes.batch == 2:
        return SIMILARITY
    if LOGITS not in run or spec.head in (*TOKEN_HEADS, *MASKED_HEADS) or not labels:
        raise GlassformerError(f"this encoder predicts no class for the whole input: give --of, one of {FORMS}.")
    return f"class={labels[int(np.argmax(run[LOGITS][0]))]}"


def attributed(run: Values, wanted: Quantity, rules: Rules, *, labels: Sequence[str], token_id: TokenId) -> Contributions:
    """The ledger of a logit, of the difference of two logits, or of one cell."""
    if wanted.kind == "cell":
        return contributions(run, wanted.what, wanted.cell, rules)
    if LOGITS not in run:
        raise GlassformerError(f"this encoder has no {LOGITS}: its head is {run.program.spec.head}. Give NAME axis=index ….")
    names = (wanted.what,) if wanted.against is None else (wanted.what, wanted.against)
    after = run.program.spec.predicts_next
    masked = after or run.program.spec.head in MASKED_HEADS
    if masked != (wanted.kind == "token"):
        way = "token=WORD" if masked else "class=LABEL"
        head = "a model that predicts the next token" if after else f"head={run.program.spec.head}"
        raise GlassformerError(f"{wanted.kind}={shown(wanted.what)} does not fit {head}: give {way}.")
    found = [token_index(name, token_id) if masked else class_index(name, labels) for name in names]
    place = dict(wanted.cell)
    *_, along, axis = (axis.name for axis in run.tensor(LOGITS).axes)
    if masked and along not in place:
        place[along] = -1 if after else mask_position(run.tokens[0] if run.tokens else [])
    seed = np.zeros(run[LOGITS].shape)
    for number, sign in zip(found, (1.0, -1.0), strict=False):
        seed[run.tensor(LOGITS).at(run.cell(LOGITS, {**place, axis: number}))] += sign
    label = f"logit of '{shown(names[0])}'" + (f" − logit of '{shown(names[1])}'" if len(names) > 1 else "")
    position = run.cell(LOGITS, {**place, axis: 0})[along] if along in place and along != "batch" else None
    where = "" if position is None else f"{' after' if after else ' at'} position {position}"
    return ledger(run, {LOGITS: seed}, float((seed * run[LOGITS]).sum()), label + where, rules)


def class_index(name: str, labels: Sequence[str]) -> int:
    """A class by its label or its number."""
    if name in labels:
        return list(labels).index(name)
    if re.fullmatch(r"\d{1,9}", name) and int(name) < len(labels):
        return int(name)
    near = nearest(name, labels)
    raise GlassformerError(f"there is no class '{shown(name)}'.{near} The classes are {listed(shown(one) for one in labels)}.")


def token_index(word: str, token_id: TokenId) -> int:
    """The id of a token, given as the tokenizer writes it or by its number: #17."""
    if re.fullmatch(rf"{NUMBERED}\d{{1,9}}", word) and token_id(word) is None:
        return int(word.removeprefix(NUMBERED))
    found = token_id(word)
    if found is None:
        raise GlassformerError(
            f"'{shown(word)}' is not a single token of this model's vocabulary: write a token exactly as the tokenizer does."
        )
    return found


def mask_position(words: Sequence[str]) -> int:
    """The position of the only mask in a text."""
    places = [place for place, word in enumerate(words) if word in MASKS]
    if len(places) != 1:
        raise GlassformerError(
            f"the text has {len(places)} masks: write {MASKS[0]} (or {MASKS[1]}) once, or give the position, t=POSITION."
        )
    return places[0]


def similarity(run: Values, pool: str, rules: Rules) -> Contributions:
    """The ledger of the cosine similarity of two texts. It is a product of two computed vectors: each text gets half.

    The lengths of the vectors follow the rule for norms: held constant, or opened and shared by covariance.
    """
    if run.program.sizes.batch != 2:
        raise GlassformerError(
            f"similarity compares two texts, found {run.program.sizes.batch}: give the text twice, --text A --text B."
        )
    name = _pooled_name(run) if pool == "pooled" else _states(run)
    shares = _pooled_shares(run, name, pool)  # of each position in the vector of its text
    vectors = (run[name].reshape(shares.shape) * shares).sum(1)
    lengths = np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), TINY)
    unit = vectors / lengths
    value = float(unit[0] @ unit[1])
    coefficient = unit[::-1] / lengths
    if rules.norms == "opened":
        coefficient = (coefficient + value * unit / lengths) / 2
    seed = (coefficient[:, None] / 2 * shares).reshape(run[name].shape)
    return ledger(run, {name: seed}, value, "similarity of the two texts", rules)


def _states(run: Values) -> str:
    return "final_norm" if "final_norm" in run and run["final_norm"].ndim == 3 else run.program.hidden[-1].name


def _pooled_name(run: Values) -> str:
    """The pooled vector of the encoder, before any head."""
    found = [step.name for step in run.program.steps if step.block.part in ("pooler", "final_norm") and run[step.name].ndim == 2]
    if not found:
        raise GlassformerError("pool=pooled: this model has no pooler. Try pool=mean or pool=first.")
    return found[-1]


def _pooled_shares(run: Values, name: str, pool: str) -> Array:
    """The weight of each position in the vector of its text, by feature: [batch, t, d]."""
    if pool == "pooled":
        return np.ones((2, 1, run[name].shape[-1]))
    states = run[name]
    real = run["attend"].astype(float) if "attend" in run else np.ones(states.shape[:2])
    shares = np.zeros(states.shape)
    if pool == "mean":
        return shares + (real / real.sum(1, keepdims=True))[:, :, None]
    if pool == "max":
        best = np.argmax(np.where(real[:, :, None] > 0, states, -np.inf), axis=1)
        np.put_along_axis(shares, best[:, None], 1.0, axis=1)
        return shares
    for text, row in enumerate(real):
        places = np.flatnonzero(row)
        shares[text, places[0] if pool == "first" else places[-1]] = 1.0
    return shares
