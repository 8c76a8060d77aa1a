"""Parts written as code or arrows, `nn.LayerNorm(768)`, `512 -> 2048 -> 512`: the same in words."""

from __future__ import annotations

import re

# What a library's module is called -> what it is, and the fields of its arguments, in their order.
MODULES: dict[str, tuple[str, tuple[str, ...]]] = {
    "layernorm": ("one layernorm", ("d_model",)),
    "multiheadattention": ("multi-head attention", ("d_model", "heads")),
    "transformerencoderlayer": ("one encoder layer", ("d_model", "heads", "d_ff")),
    "linear": ("first linear layer", ("d_model", "d_ff")),
    "embedding": ("token embeddings", ("vocab", "d_model")),
}
KEYWORDS = {
    "normalized_shape": "d_model", "embed_dim": "d_model", "d_model": "d_model", "embedding_dim": "d_model", "num_heads": "heads",
    "nhead": "heads", "dim_feedforward": "d_ff", "in_features": "d_model", "out_features": "d_ff", "num_embeddings": "vocab",
}  # fmt: skip
OWN_DEFAULTS = {"transformerencoderlayer": {"d_ff": "2048"}}  # torch's: not four times the width
SAID = {"vocab": "vocabulary size"}

_CALL = re.compile(rf"\b(?:(?:torch\.)?nn\.)?({'|'.join(MODULES)})\s*\(([^()]{{1,120}})\)")
_ARROW = r"\s*(?:->|→|⟶|-->|=>|\bto\b)\s*"
_N = r"(\d{1,3}(?:,\d{3})+|\d+)"
_THERE_AND_BACK = re.compile(rf"\(?\b{_N}{_ARROW}{_N}{_ARROW}\1\b\)?")
_BIASED = r"(?: (?:with|including|plus) (?:an? |its |the )?bias(?:es)?(?: terms?| vector)?)?"
_ONE_WAY = re.compile(
    r"\b(?:linear|dense|fully[- ]connected|projection) layer\b"
    rf"((?: (?:that|which) \w+| mapping| projecting| going)+(?: from)?| from) {_N}"
    rf"(?: (?:features|dimensions|dims|inputs|units))?{_ARROW}{_N}(?: (?:features|dimensions|dims|outputs|units))?{_BIASED}"
)
_MATRIX = re.compile(rf"\b{_N}\s*[x×]\s*{_N} (?:weight |projection |dense |parameter )+matrix\b")
_IN_AND_OUT = re.compile(
    rf"\b(?:linear|dense|fully[- ]connected) layer (?:with|having|that has) {_N} (?:input|in)(?:s|[- ]features"
    rf"|[- ]dimensions| units| neurons)*(?: and|,)"
    rf" {_N} (?:output|out)(?:s|[- ]features|[- ]dimensions| units| neurons)*"
)
_SHAPED = re.compile(
    rf"\b(?:(?:input|x)(?: tensor| matrix| embeddings?| sequence)?|tensor|embeddings)(?: x)?(?: is)?(?: of| with| has(?: "
    rf"the)?)?(?: shape| size| dimensions?)\s*[:=]?\s*"
    rf"[\[(]\s*((?:{_N}\s*,\s*)?{_N}\s*,\s*{_N})\s*[\])]"
)
_INPUT = re.compile(
    rf"\b(?:let |the )?(?:input )?(?:matrix )?x (?:be|is) (?:an? )?{_N}\s*[x×]\s*{_N}(?: matrix)?(?: of token embeddings| "
    rf"of embeddings| input)?"
)


def in_words(text: str) -> str:
    """A question in small letters with the code and the arrows in it read aloud."""
    text = _CALL.sub(_module, text)
    text = _THERE_AND_BACK.sub(r" with d_model = \1, d_ff = \2 ", text)
    text = _MATRIX.sub(r"w_1 with d_model = \1, d_ff = \2 ", text)
    text = _IN_AND_OUT.sub(r"first linear layer with d_model = \1, d_ff = \2 ", text)
    text = _SHAPED.sub(_sizes, text)
    text = _INPUT.sub(r"input with sequence length = \1, d_model = \2 ", text)
    return _ONE_WAY.sub(r"first linear layer with d_model = \2, d_ff = \3 ", text)


def _sizes(shape: re.Match[str]) -> str:
    """`input of shape (2, 10, 512)`: the batch, the length and the width."""
    numbers = re.findall(r"\d+", shape[1])
    names = ("batch size", "sequence length", "d_model")[-len(numbers) :]
    return "input with " + ", ".join(f"{name} = {number}" for name, number in zip(names, numbers, strict=True))


def _module(call: re.Match[str]) -> str:
    named, names = MODULES[call[1]]
    fields = dict(OWN_DEFAULTS.get(call[1], {}))
    rest = ""
    for place, word in enumerate(part.strip() for part in call[2].split(",")):
        key, _, value = (part.strip() for part in word.rpartition("="))
        field = KEYWORDS.get(key) if key else names[place] if place < len(names) else None
        if key == "bias":
            rest += " without biases" if value == "false" else ""
        elif key == "elementwise_affine" or (field is None and key in ("dropout", "batch_first", "activation", "norm_first")):
            continue
        elif field is None or not value.isdecimal():
            return call[0]
        else:
            fields[field] = value
    said = ", ".join(f"{SAID.get(field, field)} = {value}" for field, value in fields.items())
    return f"{named} with {said}{rest} "
