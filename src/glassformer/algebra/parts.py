"""Parts of an encoder by the names people use: qkv, output, biases, norms, embeddings, ..."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from glassformer.program import Parameter
from glassformer.spec import GlassformerError, nearest, shown
from glassformer.spec.arguments import listing
from glassformer.spec.presets import preset_names

Chooses = Callable[[Parameter], bool]


def _symbol(*symbols: str) -> Chooses:
    return lambda parameter: parameter.tensor.symbol in symbols


def _under(*scopes: str) -> Chooses:
    return lambda parameter: any(scope in parameter.name.split(".")[:-1] for scope in scopes)


def _kind(*kinds: str) -> Chooses:
    return lambda parameter: parameter.kind in kinds


# Word -> (what it means, which parameters it takes).
PARTS: dict[str, tuple[str, Chooses]] = {
    "embeddings": ("all that makes the first vectors: tables, projections, convolutions, their norm", _under("embeddings")),
    "tokens": ("the token table", _symbol("E_token")),
    "positions": ("the position table", _symbol("E_position")),
    "segments": ("the segment table", _symbol("E_segment")),
    "relative": ("relative tables, of biases or of vectors", _symbol("E_relative")),
    "patches": ("the patch projection", _symbol("W_patch", "b_patch")),
    "convolutions": ("the convolutions over sound", _symbol("W_conv1", "b_conv1", "W_conv2", "b_conv2")),
    "layers": ("all layers", lambda parameter: parameter.name.startswith("layers.")),
    "attention": ("the attention projections W_Q W_K W_V W_O and their biases", _under("attention")),
    "qkv": ("W_Q W_K W_V and their biases", _symbol("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V")),
    "output": ("the attention's output projection W_O and its bias", _symbol("W_O", "b_O")),
    "ffn": ("the feed-forward blocks", _under("ffn")),
    "norms": ("every norm's gamma and beta", _kind("norm")),
    "biases": ("every b of a projection (a norm's beta belongs to norms)", _kind("bias")),
    "weights": ("matrices alone", _kind("weight")),
    "tables": ("embedding and bias tables", _kind("table")),
    "scales": ("layer-scale factors", _kind("scale")),
    "frozen": ("tensors that are stored but not trained", lambda parameter: parameter.frozen),
    "final_norm": ("the norm after the last layer", lambda parameter: parameter.name.startswith("final_norm.")),
    "pooler": ("the pooler", lambda parameter: parameter.name.startswith("pooler.")),
    "head": ("the task head (a tied table belongs to the embeddings)", lambda parameter: parameter.name.startswith("head.")),
}

ALIASES = {
    "embedding": "embeddings",
    "encoder": "layers",
    "norm": "norms",
    "layernorm": "norms",
    "layernorms": "norms",
    "layer_norm": "norms",
    "bias": "biases",
    "feed_forward": "ffn",
    "feedforward": "ffn",
    "mlp": "ffn",
    "classifier": "head",
}


def part_names(text: str | Iterable[str] | None) -> list[str]:
    """`output,biases` (or a list) as names, aliases resolved."""
    if text is None:
        return []
    words = text.split(",") if isinstance(text, str) else listing(text)
    if not all(isinstance(word, str) for word in words):
        raise GlassformerError(f"parts are words, such as 'biases,norms' or ['biases', 'norms'], found {shown(text)}.")
    names = [word.strip() for word in words if word.strip()]
    if isinstance(text, str) and not names:
        raise GlassformerError(f"'{shown(text)}' names no part: write parts such as biases,norms, or leave it out.")
    return [ALIASES.get(name.lower(), name.lower() if name.lower() in PARTS else name) for name in names]


def chooser(name: str, parameters: Iterable[Parameter]) -> Chooses:
    """Which parameters a name takes: a part, a symbol such as `W_Q`, or a place such as `layers.3` or `layers.0.ffn`."""
    if name in PARTS:
        return PARTS[name][1]
    known = list(parameters)
    symbols = {parameter.tensor.symbol for parameter in known}
    if name in symbols:
        return _symbol(name)
    if re.fullmatch(r"[\w.]+", name) and any(
        parameter.name.startswith(f"{name}.") or parameter.name == name for parameter in known
    ):
        return lambda parameter: parameter.name == name or parameter.name.startswith(f"{name}.")
    encoders = [preset for preset in preset_names() if "-" in preset]  # a misspelt one may stand here, too
    raise GlassformerError(
        f"unknown part '{shown(name)}'.{nearest(name, [*PARTS, *symbols, *encoders])} "
        f"Parts: {', '.join(PARTS)}; or a symbol (W_Q), or a place (layers.0.ffn)."
    )
