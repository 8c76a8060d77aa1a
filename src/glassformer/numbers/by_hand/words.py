"""The vocabulary of problem files: every key, kind and choice, with its alternative spellings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from glassformer.errors import GlassformerError, close_to, listed, nearest, shown
from glassformer.program.operations.pointwise import FUNCTIONS
from glassformer.spec import GATES

Kind = Literal[
    "attention",
    "encoder_layer",
    "softmax",
    "layer_norm",
    "rms_norm",
    "ffn",
    "activation",
    "positions",
    "rotary",
    "linear",
    "product",
]
Role = Literal["vectors", "map", "square", "feature", "mask", "plain", "choice"]

GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "ε": "eps", "ϵ": "eps", "μ": "mean", "σ": "sigma", "τ": "tau"}


@lru_cache(maxsize=4096)
def squashed(word: str) -> str:
    """Normalise a spelling: `W_Q`, `WQ`, `Wq` and `W^Q` are the same word."""
    plain = "".join(GREEK.get(sign, sign) for sign in unicodedata.normalize("NFKC", str(word)[:200]).lower())
    return re.sub(r"[^a-z0-9√]", "", plain)


# Kind -> other names for it.
KINDS: dict[Kind, str] = {
    "attention": "self-attention selfattention cross-attention scaled-dot-product-attention dot-product-attention mha sdpa "
    "multi-head-attention multi-head-self-attention multihead masked-attention causal-attention masked-self-attention heads",
    "encoder_layer": "encoder layer block encoder-block transformer-layer transformer-block transformer-encoder-layer",
    "softmax": "masked-softmax distribution sparsemax sigmoid hardmax",
    "layer_norm": "layernorm ln layer-normalisation layer-normalization norm normalisation normalization add-norm add-and-norm",
    "rms_norm": "rmsnorm rms",
    "ffn": "feed-forward feedforward feed-forward-network mlp position-wise-feed-forward",
    "activation": "relu gelu gelu_tanh silu swish tanh",
    "positions": "positional-encoding position-encoding positional-encodings sinusoidal pe sinusoidal-positions position-table",
    "rotary": "rope rotary-positions rotary-embedding",
    "linear": "linear-map projection dense affine linear-layer",
    "product": "matrix-product matmul multiply dot-product dot",
}

# Kind -> the nouns of its longer names, and the words that may accompany them: "masked multi-head attention". Any other word
# may change what is to be computed ("batch norm", "linear attention"), so a name that holds one is refused.
LONGER_NAMES: dict[Kind, tuple[str, str]] = {
    "attention": (
        "attention",
        "masked unmasked causal multi single head heads headed self cross scaled dot product encoder sub layer block mechanism",
    ),
    "encoder_layer": ("encoder", "transformer single one layer block"),
    "softmax": ("softmax", "masked row wise function"),
    "layer_norm": ("layernorm layernormalisation layernormalization", "add and residual connection"),
    "rms_norm": (
        "rmsnorm rmsnormalisation rmsnormalization rmslayernorm rootmeansquarenorm rootmeansquarelayernorm "
        "rootmeansquarenormalisation rootmeansquarenormalization",
        "add and residual connection",
    ),
    "ffn": ("feedforward ffn mlp", "position wise neural network net sub layer block"),
    "rotary": ("rotary rope", "position positions positional embedding embeddings encoding encodings"),
    "positions": (
        "position positions positional sinusoidal",
        "sinusoidal absolute fixed encoding encodings embedding embeddings table vectors",
    ),
}

# Key -> its role and its other names. A choice is read as a word or a number, a mask may hold truth values and −∞; all other
# roles are numbers, and say what they are the numbers of.
Keys = dict[str, tuple[Role, str]]

COMMON: Keys = {
    "title": ("choice", "name"),
    "kind": ("choice", "type task problem"),
    "ask": ("choice", "asks asked find compute want wanted quantities"),
    "convention": ("choice", "orientation"),
    "apply": ("choice", "maps"),
    "digits": ("choice", "decimals"),
    "note": ("choice", "notes comment comments description source question text doc answer answers expected reference url id"),
}

NORM: Keys = {
    "gamma": ("feature", "g weight gain"),
    "beta": ("feature", "bias shift"),
    "eps": ("choice", "epsilon"),
    "variance": ("choice", "var unbiased ddof"),
    "eps_place": ("choice", "eps-position epsilon-place eps-where"),
}

FFN: Keys = {
    "W_1": ("map", "w-in w-gate w-ff-1 weight-1"),
    "b_1": ("feature", "b-in bias-1"),
    "W_2": ("map", "w-out w-down w-ff-2 weight-2"),
    "b_2": ("feature", "b-out bias-2"),
    "W_3": ("map", "w-up"),
    "b_3": ("feature", "b-up"),
    "activation": ("choice", "function act nonlinearity f"),
}

ATTENTION: Keys = {
    "X": ("vectors", "x input inputs embedding embeddings e x-embeddings"),
    "memory": ("vectors", "y encoder encoder-output encoder-outputs encoder-states memory-vectors context source-vectors h"),
    "Q": ("vectors", "queries s decoder-state"),
    "K": ("vectors", "key keys"),
    "V": ("vectors", "value values"),
    "W_Q": ("map", "w-query w-queries query-weights query-matrix"),
    "W_K": ("map", "w-key w-keys key-weights key-matrix"),
    "W_V": ("map", "w-value w-values value-weights value-matrix"),
    "W_O": ("map", "w-out w-output output-weights output-matrix w-proj"),
    "b_Q": ("feature", "b-query"),
    "b_K": ("feature", "b-key"),
    "b_V": ("feature", "b-value"),
    "b_O": ("feature", "b-out b-output"),
    "heads": ("choice", "head n-heads num-heads number-of-heads"),
    "query": ("choice", "token for for-token"),
    "dot": ("square", "dots products dot-products raw-scores raw qk qkt unscaled-scores unscaled"),
    "scores": ("square", "score scaled scaled-scores logits energies"),
    "weights": ("square", "attention-weights alpha attention"),
    "masked": ("mask", "masked-scores"),
    "mask": ("mask", "attention-mask attend"),
    "causal": ("choice", "is-causal"),
    "score_bias": ("square", "relative-bias position-bias attention-bias alibi"),
    "padding": ("mask", "pad padding-mask key-padding-mask real"),
    "alignment": ("choice", "alignment-function score-function scoring similarity"),
    "distribution": ("choice", "distribution-function normaliser normalizer"),
    "scale": ("choice", "scaling divide-by divisor"),
    "temperature": ("choice", "tau"),
    "d_k": ("choice", "dk d-q"),
    "d_v": ("choice", ""),
    "d_ff": ("choice", ""),
    "d_model": ("choice", "d width dim"),
    "W": ("plain", "w-a w-general w-align wg"),
    "W_a1": ("plain", "w-a-1 w-a-q"),
    "W_a2": ("plain", "w-a-2 u-a u w-a-k"),
    "v_a": ("feature", "w-v-a v-align"),
    "b_a": ("feature", "b-align"),
    "positions": ("choice", "position-encoding positional-encoding"),
    "P": ("vectors", "pe position-table position-vectors"),
    "base": ("choice", ""),
    "tokens": ("choice", "words sentence labels"),
    "memory_tokens": ("choice", "source-tokens key-tokens source-words memory-words"),
    "residual": ("choice", "residuals skip add add-norm residual-connection"),
    "norm": ("choice", "layer-norm layernorm norm-place add-and-norm normalise normalize"),
    "norm_kind": ("choice", ""),
    "norm_1": ("choice", "layer-norm-1 ln-1 norm1"),
    "norm_2": ("choice", "layer-norm-2 ln-2 norm2"),
    "ffn": ("choice", "feed-forward feedforward mlp"),
    "gamma_1": ("feature", ""),
    "beta_1": ("feature", ""),
    "gamma_2": ("feature", ""),
    "beta_2": ("feature", ""),
    **NORM,
    **FFN,
}

KEYS: dict[Kind, Keys] = {
    "attention": ATTENTION,
    "encoder_layer": ATTENTION,
    "softmax": {
        "X": ("square", "x scores logits z values vector input softmax masked-softmax sparsemax sigmoid hardmax dot"),
        "masked": ("mask", "masked-scores"),
        "temperature": ("choice", "t tau"),
        "mask": ("mask", "attend padding"),
        "causal": ("choice", ""),
        "distribution": ("choice", "function"),
        "scale": ("choice", "scaling divide-by divisor"),
        "d_k": ("choice", "dk"),
        "tokens": ("choice", "words labels classes"),
    },
    "layer_norm": {
        "X": ("vectors", "x input vector layer-norm layernorm values z h"),
        "residual": ("vectors", "add sublayer sub-layer y skip"),
        "tokens": ("choice", "words labels"),
        **NORM,
        "beta": ("feature", "b bias shift"),
    },
    "rms_norm": {
        "X": ("vectors", "x input vector rms-norm rmsnorm values"),
        "residual": ("vectors", "add sublayer sub-layer y skip"),
        "tokens": ("choice", "words labels"),
        "gamma": ("feature", "g weight gain"),
        "eps": ("choice", "epsilon"),
        "eps_place": ("choice", "eps-position"),
    },
    "ffn": {
        "X": ("vectors", "x input vector"),
        "tokens": ("choice", "words labels"),
        "residual": ("choice", "skip add add-norm"),
        "norm": ("choice", "layer-norm layernorm"),
        **FFN,
        **NORM,
    },
    "activation": {
        "X": ("vectors", "x z input vector relu gelu gelu_tanh silu swish tanh"),
        "activation": ("choice", "function f"),
        "tokens": ("choice", "words labels"),
    },
    "positions": {
        "positions": ("choice", "length t n-positions seq-len"),
        "position": ("choice", "pos"),
        "d_model": ("choice", "d width dim d-embed embedding-size"),
        "base": ("choice", "n wavelength"),
        "entries": ("choice", "entry cells at"),
        "feature": ("choice", "dimension features"),
        "layout": ("choice", "order"),
        "X": ("vectors", "x embedding embeddings input e"),
        "embedding_scale": ("choice", "scale multiply"),
        "tokens": ("choice", "words labels"),
    },
    "rotary": {
        "X": ("vectors", "x q k input vector rotary rope"),
        "positions": ("choice", "position pos m"),
        "base": ("choice", "theta"),
        "pairs": ("choice", "layout"),
        "tokens": ("choice", "words labels"),
    },
    "linear": {
        "X": ("vectors", "x input vector"),
        "W": ("map", "weight weights"),
        "b": ("feature", "bias"),
        "activation": ("choice", "function then"),
        "tokens": ("choice", "words labels"),
    },
    "product": {"A": ("plain", "left"), "B": ("plain", "right"), "C": ("plain", "")},
}

Choices = Mapping[str, str]  # choice -> other spellings

ALIGNMENTS: Choices = {
    "dot": "dot-product multiplicative unscaled",
    "scaled_dot": "scaled scaled-dot-product",
    "general": "bilinear luong luong-general",
    "additive": "bahdanau concat mlp",
    "cosine": "cos cosine-similarity",
}
DISTRIBUTIONS: Choices = {
    "softmax": "soft-max",
    "sparsemax": "sparse",
    "sigmoid": "logistic",
    "hardmax": "hard argmax one-hot",
}
CONVENTIONS: Choices = {"rows": "row row-vectors tokens-as-rows", "columns": "column col cols column-vectors tokens-as-columns"}
APPLIES: Choices = {"x W": "xw right", "W x": "wx left"}
VARIANCES: Choices = {"biased": "population n 0 false", "unbiased": "sample bessel n-1 1 true"}
EPS_PLACES: Choices = {"inside": "in", "outside": "out"}
ACTIVATIONS: Choices = dict.fromkeys((*FUNCTIONS, *GATES), "") | {
    "gelu": "gelu-erf exact-gelu",
    "gelu_tanh": "gelu-new gelu-approximate approximate-gelu",
    "silu": "swish",
    "sigmoid": "logistic",
    "softmax": "",
    "none": "identity linear no",
}
NORM_PLACES: Choices = {"post": "after true yes post-norm post-ln", "pre": "before pre-norm pre-ln", "none": "no false off"}
NORM_KINDS: Choices = {"layer": "layer-norm layernorm", "rms": "rms-norm rmsnorm"}
LAYOUTS: Choices = {"interleaved": "alternating in-turn paper", "halves": "half concat concatenated blocks"}
PAIRS: Choices = {"neighbours": "neighbors adjacent interleaved paper", "halves": "half rotate-half"}


def key_of(word: str, keys: Keys) -> str | None:
    """The key that a spelling means."""
    wanted = squashed(word)
    for name in keys:
        if squashed(name) == wanted:
            return name
    return next((name for name, (_, also) in keys.items() if wanted in map(squashed, also.split())), None)


def kind_of(word: Any, field: str = "kind") -> tuple[Kind, str]:
    """Return the kind that a spelling means, and its normalised spelling; `field` is the key that it was given for."""
    plain = squashed(word) if isinstance(word, str) else ""
    for kind, also in KINDS.items():
        if plain == squashed(kind) or plain in map(squashed, also.split()):
            return kind, plain
    for kind in LONGER_NAMES:
        if _longer_name(kind).fullmatch(plain):
            return kind, plain
    near = _nearest_kind(word, plain)
    hint = f" Did you mean '{near}'?" if near is not None else ""
    raise GlassformerError(f"{shown(field)} '{shown(word)}' is not known: one of {', '.join(KINDS)}.{hint}")


@lru_cache(maxsize=len(LONGER_NAMES))
def _longer_name(kind: Kind) -> re.Pattern[str]:
    nouns, beside = ("|".join(words.split()) for words in LONGER_NAMES[kind])
    return re.compile(f"(?:{beside})*(?:{nouns})(?:{beside})*")


def _nearest_kind(word: Any, plain: str) -> Kind | None:
    """The kind with the most similar name, or else one whose noun is part of the word."""
    names = {name: kind for kind, also in KINDS.items() for name in (kind, *also.split())}
    close = close_to(shown(word), names)
    if close is not None:
        return names[close]
    nouns = {noun: kind for kind, (nouns, _) in LONGER_NAMES.items() for noun in nouns.split()} | {"norm": "layer_norm"}
    return next((kind for noun, kind in nouns.items() if noun in plain), None)


def choice_of(name: str, word: Any, choices: Choices) -> str:
    """One of the choices, however it is spelled."""
    plain = squashed(str(word).lower() if isinstance(word, bool | int) else word) if isinstance(word, str | bool | int) else ""
    plain = "" if "+" in str(word) else plain  # squashing drops signs, and n + 1 is not n − 1
    for choice, also in choices.items():
        if plain and (plain == squashed(choice) or plain in map(squashed, also.split())):
            return choice
    raise GlassformerError(f"{name} '{shown(word)}' is not known: one of {', '.join(choices)}.{nearest(shown(word), choices)}")


def unknown_key(word: str, kind: Kind, keys: Keys) -> GlassformerError:
    """The error message for an unknown key."""
    close = nearest(word, keys)
    takes = "" if close else f" It takes {listed(name for name in keys if name not in ('note', 'kind'))}."
    return GlassformerError(f"unknown key '{shown(word)}' in a problem about {kind}.{close}{takes}")
