"""Answers that need no encoder: tokens seen in training, cells of a causal mask, the spread of a dot product."""

from __future__ import annotations

import math

from glassformer.answers.asked.answer import Answer, Line, Other, made, mistaken
from glassformer.answers.asked.padding import PADDING, padded
from glassformer.answers.questions import Question
from glassformer.spec.reading import Request


def reckoned(question: Question, asked: Request) -> Answer:
    """The number that follows from the numbers of the question alone."""
    given = dict(question.given)
    if question.target in PADDING:
        return padded(question, asked)
    if question.target == "tokens seen":
        steps, batch, length = given["steps"], given["batch"], given["length"]
        value = steps * batch * length
        line = Line("tokens", "steps · batch · length", f"{steps:,} · {batch:,} · {length:,}", value)
        return made(question, asked, value, "tokens", "every sequence of full length", [line], [])
    if question.target in ("masked cells", "visible cells"):
        n, masked = given["length"], question.target == "masked cells"
        value = n * (n - 1) // 2 if masked else n * (n + 1) // 2
        formula, numbers = ("n · (n − 1) / 2", f"{n} · {n - 1} / 2") if masked else ("n · (n + 1) / 2", f"{n} · {n + 1} / 2")
        convention = "above the diagonal: a token sees itself" if masked else "on and below the diagonal: a token sees itself"
        return made(question, asked, value, "cells", convention, [Line("cells", formula, numbers, value)], [])
    if "over a corpus" in (question.target or ""):
        return _over_a_corpus(question, asked)
    if question.target == "scores of two sequences":
        queries, keys = given["queries"], given["keys"]
        line = Line("scores", "queries × keys", f"{queries} × {keys}", (queries, keys))
        wrongs = [
            mistaken("queries_keys_transposed", "keys × queries", (keys, queries)),
            mistaken("queries_keys_transposed", "queries × queries, as in self-attention", (queries, queries)),
            mistaken("queries_keys_transposed", "keys × keys, as in self-attention", (keys, keys)),
        ]
        return made(question, asked, (queries, keys), "shape", "tokens as rows, one head", [line], [], wrongs)
    d_k = given["d_k"]
    convention = "d_k products of independent components with mean 0 and variance 1"
    if question.target == "variance of a dot product":
        return made(question, asked, d_k, "", convention, [Line("variance", "d_k · 1 · 1", str(d_k), d_k)], [])
    root = math.isqrt(d_k)
    deviation = root if root * root == d_k else math.sqrt(d_k)
    line = Line("standard deviation", "√d_k", f"√{d_k}", deviation)
    return made(question, asked, deviation, "", convention, [line], [Other("the variance", d_k, excuses=False)])


def _over_a_corpus(question: Question, asked: Request) -> Answer:
    """Steps that so many passes take, or passes that so many steps make; a batch is counted in tokens."""
    given = dict(question.given)
    corpus, together = given["corpus"], given["together"]
    if question.target == "steps over a corpus":
        seen = given["epochs"] * corpus
        value, whole = -(-seen // together), seen // together
        line = Line("steps", "epochs · tokens / tokens of a batch", f"{given['epochs']} · {corpus:,} / {together:,}", value)
        return made(question, asked, value, "steps", "the last, smaller batch counted", [line], [Other("it dropped", whole)])
    passes = given["steps"] * together / corpus
    line = Line("passes", "steps · tokens of a batch / tokens", f"{given['steps']:,} · {together:,} / {corpus:,}", passes)
    return made(question, asked, passes, "passes", "every token of a batch counted", [line], [])
