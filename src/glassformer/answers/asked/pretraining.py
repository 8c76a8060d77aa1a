"""Answers about BERT's pre-training: how many tokens are chosen, what becomes of them, and the special tokens of a text."""

from __future__ import annotations

import math
from fractions import Fraction

from glassformer.answers.asked.answer import Answer, Line, Other, made
from glassformer.answers.questions import Question
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request

# BERT (Devlin et al., 2018), section 3.1 and appendix A.1.
CHOSEN = Fraction(15, 100)
FATES = {"mask": Fraction(80, 100), "random": Fraction(10, 100), "kept": Fraction(10, 100)}
SAID = {"mask": "replaced by [MASK]", "random": "replaced by a random token", "kept": "chosen and left as they are"}
SPECIAL = {"single": ("[CLS] text [SEP]", 2), "pair": ("[CLS] first [SEP] second [SEP]", 3)}


def _around(question: Question, asked: Request, form: str, special: int) -> Answer:
    """How many tokens a text or two become with the special tokens around them."""
    lengths = [length for _, length in question.given]
    value = sum(lengths) + special
    line = Line("tokens", "tokens of the texts + special tokens", " + ".join(map(str, [*lengths, special])), value)
    return made(
        question, asked, value, "tokens", form, [line], [Other("without the special tokens", sum(lengths), excuses=False)]
    )


def masking(question: Question, asked: Request) -> Answer:
    """A share of the tokens, or how many of a sequence; or the special tokens around one text or two."""
    target = question.target or ""
    if target in SPECIAL:
        form, number = SPECIAL[target]
        if question.given:
            return _around(question, asked, form, number)
        others = [Other("a pair of texts", SPECIAL["pair"][1], excuses=False)] if target == "single" else []
        return made(question, asked, number, "tokens", form, [Line("special tokens", form, "", number)], others)
    fate, _, among = target.partition(" ")
    share = CHOSEN if fate == "chosen" else FATES[fate] * (1 if among else CHOSEN)
    symbols = "0.15" if fate == "chosen" else f"{float(FATES[fate]):g}" if among else f"0.15 · {float(FATES[fate]):g}"
    said = f"{SAID.get(fate, 'chosen for prediction')}, as in BERT's paper"
    whole = [Other("of the chosen tokens alone", float(FATES[fate]))] if fate in FATES and not among else []
    if question.among:
        line = Line("share", symbols, "", float(share))
        return made(question, asked, float(share), f"of {'the chosen' if among else 'all'} tokens", said, [line], whole)
    if among or asked.t is None:
        raise GlassformerError(f"'{shown(question.text)}': of how many tokens? Say 'of 512 tokens', or ask for the percentage.")
    exact = share * asked.t
    value = int(exact) if exact.denominator == 1 else float(exact)
    others = [Other("rounded", round(exact)), Other("rounded up", math.ceil(exact)), Other("rounded down", math.floor(exact))]
    if fate == "chosen":
        others.append(Other("replaced by [MASK] alone", float(exact * FATES["mask"]), excuses=False))
    line = Line("tokens", f"{symbols} · t", f"{symbols} · {asked.t}", value)
    return made(question, asked, value, "tokens", f"{said}, on average", [line], others)
