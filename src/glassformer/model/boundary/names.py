"""The ledger's names for the model's parameters: `layers.0.attention.W_Q` is a view of one fused matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.arguments import require
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.spec.fields import MOST_SIZES

# The words that ledger names consist of, besides layer numbers. Other words in the model's names (source, classifier, …)
# describe how it is built, not what it is, and are omitted.
WORDS = (
    *(
        "embeddings",
        "layers",
        "attention",
        "mixing",
        "ffn",
        "norm",
        "norm_1",
        "norm_2",
        "relative_norm",
        "final_norm",
        "pooler",
        "head",
    ),
    *("norm_beside", "encoder", "decoder", "cross", "norm_cross", "output_norm_cross", "token_norm"),
    *("q_norm", "k_norm", "output_norm_1", "output_norm_2"),
    *("adapter", "picture", "norm_picture", "norm_both", "norm_narrow", "norm_asked", "norm_3"),
    *(f"{word}_{number}" for word in ("ffn", "norm_ffn") for number in range(1, MOST_SIZES)),
    *("feature_norm", *(f"conv_norm_{number}" for number in range(1, MOST_SIZES + 1))),
)

SHARED = ("relative", "tables", "contacts", "rotary_table")  # parts of all layers together, which are counted there


def ledger(encoder: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """Every parameter by its name in the ledger, as a view that shares its memory and has the ledger's axes."""
    for path, module in encoder.named_modules():
        with torch.no_grad():  # a caller may write into one view before reading the next
            views = list(views_of(module))
        yield from ((ledger_path(path) + symbol, view.detach()) for symbol, view in views)


def views_of(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """A module's own parameters, under the names that the module gives them, if it does."""
    views: Callable[[], Iterator[tuple[str, Tensor]]] | None = getattr(module, "views", None)
    if views is not None:
        yield from views()
    elif not isinstance(module, nn.Linear | nn.Conv1d):  # PyTorch's names weight and bias depend on the module that holds them
        yield from module.named_parameters(recurse=False)


def ledger_path(path: str) -> str:
    """Return the ledger's name: `head.classifier.norm` of the model is `head.norm`."""
    words = path.split(".")
    if words[:2] == ["decoder", "head"]:  # the one head of an encoder-decoder
        words = words[1:]
    stack = 1 if words[0] in ("encoder", "decoder") else 0
    if words[stack:] and words[stack] in SHARED:
        words[stack] = "layers"
    if words[stack:] and words[stack] == "beside":
        words[stack : stack + 1] = ["layers", "0"]
    if words[-1] == "final_norm":  # where only the pooled vector is normalised, the norm belongs to the pooler
        words = [*words[:stack], words[-1]]
    return "".join(f"{word}." for word in words if word in WORDS or word.isdecimal())


@torch.no_grad()
def load(encoder: Any, weights: Mapping[str, Any]) -> None:
    """Copy `weights` into the model. All of them are checked before the first is copied."""
    require(Mapping, weights, "weights are a mapping from names of the ledger to arrays")
    views = dict(encoder.ledger())
    missing = [name for name in views if name not in weights]
    unknown = [name for name in weights if name not in views]
    if missing:
        raise GlassformerError(f"{_these(missing)} missing: the weight {missing[0]} has shape {_shape(views[missing[0]])}.")
    if unknown:
        raise GlassformerError(f"{_these(unknown)} not in this encoder.{nearest(unknown[0], views)}")
    values = {name: _tensor(name, weights[name]) for name in views}
    for name, view in views.items():
        if values[name].shape != view.shape:
            raise GlassformerError(f"the weight {name} has shape {_shape(values[name])}, expected {_shape(view)}.")
    for name, view in views.items():
        view.copy_(values[name])


def _tensor(name: str, value: Any) -> Tensor:
    try:
        tensor = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        raise GlassformerError(f"the weight {name} must be an array of numbers, got {type(value).__name__}.") from None
    if not tensor.is_floating_point():
        raise GlassformerError(f"the weight {name} must be floating-point numbers, got {_plain(tensor.dtype)}.")
    return tensor


def _these(names: list[str]) -> str:
    first = shown(names[0], limit=120)
    return f"the weight {first} is" if len(names) == 1 else f"{len(names)} weights ({first}, …) are"


def _shape(tensor: Tensor) -> list[int]:
    return list(tensor.shape)


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
