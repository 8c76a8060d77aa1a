"""The walk: a small encoder, sent to the page, which runs it on the visitor's sentence."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from glassformer.lab.documents import walk as documents
from glassformer.lab.pages.trace_models import Model, bundled, open_model
from glassformer.lab.wire import arrays_answer

NAME = "walk"


async def encoder(request: Request) -> Response:
    """Sizes, pieces and weights."""
    model = open_model(request.app.state.lab, NAME, "", 0)
    assert model.weights is not None
    return arrays_answer(described(model), dict(model.weights))


def described(model: Model) -> documents.Walk:
    """All of the encoder but its weights."""
    spec, vocab = model.spec, model.tokenizer.get_vocab()
    assert model.weights is not None
    return {
        "d_model": spec.d_model,
        "heads": spec.heads,
        "layers": spec.layers,
        "d_ff": spec.ffn_width,
        "eps": spec.eps,
        "parameters": sum(weight.size for weight in model.weights.values()),
        "vocab": sorted(vocab, key=vocab.__getitem__),
        "labels": list(model.labels),
        "examples": list(model.examples),
        "made": bundled()[NAME]["made"],
    }


routes = [Route("/api/walk", encoder)]
