"""Parts of an encoder by their common names: qkv, output, biases, norms, embeddings, ..."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from glassformer.arguments import as_list
from glassformer.configs.presets import preset_names
from glassformer.errors import GlassformerError, nearest, shown
from glassformer.program import Parameter
from glassformer.program.axes import ParameterKind
from glassformer.program.roles import BlockKind, Role

Selector = Callable[[Parameter], bool]


def _role(*roles: Role) -> Selector:
    return lambda parameter: parameter.role in roles


def _inside(*kinds: BlockKind) -> Selector:
    return lambda parameter: any(block.kind in kinds for block in parameter.block.around)


def _kind(kind: ParameterKind) -> Selector:
    return lambda parameter: parameter.kind == kind


def _part(part: str) -> Selector:
    return lambda parameter: parameter.block.part == part


def _stack(stack: str) -> Selector:
    return lambda parameter: parameter.block.stack == stack


# A position table, or the weights of positional convolutions.
POSITION: tuple[Role, ...] = ("position", "position direction", "position length", "position weight", "position convolution")

# Word -> (what it means, which parameters it takes).
PARTS: dict[str, tuple[str, Selector]] = {
    "embeddings": ("everything before the first layer: tables, projections, convolutions, their norm", _inside("embeddings")),
    "tokens": ("the token table", _role("token")),
    "positions": ("the position table, or the convolutions that give positions", _role(*POSITION)),
    "segments": ("the segment table", _role("segment")),
    "relative": ("relative tables, of biases or of vectors", _role("relative table", "box bias")),
    "patches": ("the patch projection", _role("patch")),
    "convolutions": ("the convolutions over sound, not those of positions", _role("convolution")),
    "layers": ("all layers", _part("layers")),
    "encoder": ("all layers; in an encoder-decoder, the encoder with the tables that both stacks share", _part("layers")),
    "decoder": ("the decoder of an encoder-decoder, without tables that both stacks share", _stack("decoder")),
    "attention": (
        "the attention projections W_Q W_K W_V W_O and their biases, cross-attention's too",
        _inside("attention", "cross"),
    ),
    "cross": ("the decoder's attention to the encoder: W_Q W_K W_V W_O and their biases", _inside("cross")),
    "qkv": ("W_Q W_K W_V and their biases", _role("query", "key", "value")),
    "output": ("the attention's output projection W_O and its bias", _role("attention output")),
    "ffn": ("the feed-forward blocks", _inside("ffn")),
    "norms": ("every norm's gamma and beta", _kind("norm")),
    "biases": ("the biases of projections (a norm's beta belongs to norms)", _kind("bias")),
    "weights": ("matrices alone", _kind("weight")),
    "tables": ("embedding and bias tables", _kind("table")),
    "scales": ("layer-scale factors", _kind("scale")),
    "frozen": ("tensors that are stored but not trained", lambda parameter: parameter.frozen),
    "final_norm": ("the norm after the last layer", _part("final_norm")),
    "pooler": ("the pooler", _part("pooler")),
    "head": ("the task head (a tied table belongs to the embeddings)", _part("head")),
}

ALIASES = {
    "embedding": "embeddings",
    "norm": "norms",
    "layernorm": "norms",
    "layernorms": "norms",
    "layer_norm": "norms",
    "bias": "biases",
    "feed_forward": "ffn",
    "feedforward": "ffn",
    "mlp": "ffn",
    "classifier": "head",
    "lm_head": "head",
}


def part_names(text: str | Iterable[str] | None) -> list[str]:
    """Parse `output,biases` (or a list) into names, with aliases resolved."""
    if text is None:
        return []
    words = text.split(",") if isinstance(text, str) else as_list(text)
    if not all(isinstance(word, str) for word in words):
        raise GlassformerError(f"parts are words, such as 'biases,norms' or ['biases', 'norms'], found {shown(text)}.")
    names = [word.strip() for word in words if word.strip()]
    if isinstance(text, str) and not names:
        raise GlassformerError(f"'{shown(text)}' is not a part: write parts such as biases,norms, or leave it out.")
    return [ALIASES.get(name.lower(), name.lower() if name.lower() in PARTS else name) for name in names]


def selector(name: str, parameters: Iterable[Parameter]) -> Selector:
    """Return a function that selects the parameters of a part, a symbol (`W_Q`) or a block (`layers.3`, `layers.0.ffn`)."""
    known = list(parameters)
    if name == "encoder" and any(parameter.block.stack for parameter in known):
        return _stack(name)
    if name in PARTS:
        return PARTS[name][1]
    symbols = {parameter.tensor.symbol for parameter in known}
    if name in symbols:
        return lambda parameter: parameter.tensor.symbol == name
    if any(parameter.tensor.is_at(name) for parameter in known):
        return lambda parameter: parameter.tensor.is_at(name)
    encoders = [preset for preset in preset_names() if "-" in preset]  # a misspelt preset name may end up here
    raise GlassformerError(
        f"unknown part '{shown(name)}'.{nearest(name, [*PARTS, *symbols, *encoders])} "
        f"Parts: {', '.join(PARTS)}; or a symbol (W_Q), or a place (layers.0.ffn)."
    )
