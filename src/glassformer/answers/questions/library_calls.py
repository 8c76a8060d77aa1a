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
_WHERE = (
    r"(?: (?:to|of|for|into) (?:an? |the )?(?:(?:multi-?head|self|single|transformer|encoder|attention|self-attention)[- ]?)*"
    r"(?:layer|block|encoder|transformer|attention|model|mechanism)?)?"
)
_SHAPED = re.compile(
    rf"\b(?:(?:input|x)(?: tensor| matrix| embeddings?| sequence)?|tensor|embeddings){_WHERE}(?: x)?(?: is)?(?: of| with| has(?: "
    rf"the)?)?(?: shape| size| dimensions?)\s*[:=]?\s*"
    rf"[\[(]\s*((?:{_N}\s*,\s*)?{_N}\s*,\s*{_N})\s*[\])]"
)
_IDS = re.compile(
    rf"\b(?:input[_ ]?ids|token[_ ]?ids)(?: tensor)?(?: is)?(?: of| with| has(?: the)?)?(?: shape| size)\s*[:=]?\s*"
    rf"[\[(]\s*{_N}\s*,\s*{_N}\s*[\])]"
)
# Classes of Hugging Face's library, by the encoder that they make unless told otherwise, and what their logits are.
CLASSES = {"bert": "bert-base", "roberta": "roberta-base", "distilbert": "distilbert-base", "modernbert": "modernbert-base"}
_CLASS = re.compile(
    rf"(?:\ban? |\bthe )?\b({'|'.join(CLASSES)}|automodel)(?:for)(?:maskedlm|sequenceclassification|tokenclassification)\b"
    rf"(?:\.from_pretrained\(\s*['\"]?([\w/.-]+)['\"]?\s*(?:,\s*([^()]*))?\))?(?: model)?(?=[ ,.?;:]|$)"
)
_INPUT = re.compile(
    rf"\b(?:let |the )?(?:input )?(?:matrix )?x (?:(?:be|is) (?:an? )?|(?:∈|\\in|in) ?(?:\\mathbb ?)?\{{?[rℝ]\}}? ?\^ ?[{{(]+ ?)"
    rf"{_N}\s*[x×]\s*{_N}[)}}]*(?: matrix)?(?: of token embeddings| "
    rf"of embeddings| input)?"
)


# Names of sizes in programs, wherever they are given a value.
CODE = {
    "vocabulary size": "vocab_size n_vocab num_tokens token_num ntoken ntokens n_tokens num_embeddings",
    "d_model": "dim embed_dim embedding_dim emb_dim n_embd hidden_size hidden_dim model_dim d_embed",
    "heads": "num_attention_heads n_head nhead head_num num_heads n_heads",
    "number of layers": "depth num_hidden_layers n_layer num_layers n_layers transformer_num num_encoder_layers num_blocks",
    "d_ff": "intermediate_size dim_feedforward feed_forward_dim mlp_dim ffn_dim ff_dim hidden_dim_ff",
    "max length": "max_position_embeddings pos_num block_size max_len max_seq_len max_seq_length",
    "sequence length": "seq_len seq_length sequence_length",
    "batch size": "batch_size",
    "image size": "img_size image_size",
    "patch size": "patch_size",
    "classes": "num_classes num_labels n_classes",
}
_CODED = {name: said for said, names in CODE.items() for name in names.split()}
_ASSIGNED = re.compile(rf"\b({'|'.join(_CODED)})(?:\s*[=:]\s*| is )(\d[\d_]*)\b")
_IMAGES = re.compile(
    rf"\b(?:batch of )?images? (?:tensor )?(?:of|with|has) (?:the )?(?:shape|size) "
    rf"[\[(]\s*(?:{_N}\s*,\s*)?3\s*,\s*{_N}\s*,\s*\2\s*[\])]"
)
_LENGTH = r"(?:n|t|l|s|seq|seq_len|seq_length|sequence|sequence_length|tokens|length|time)"
_AXES = re.compile(  # named before their sizes, in the usual order
    rf"\((?:b|n|batch|batch_size), ?(?:(?:h|heads|num_heads|n_heads), ?{_LENGTH}, ?(?:d|d_k|dk|d_head|head_dim|dim|depth)"
    rf"|{_LENGTH}, ?(?:d|d_model|dim|hidden|hidden_size|embed_dim|features|c))\) ?= ?(?=[\[(] ?\d)"
)
_QUERIES = re.compile(  # keys of the same shape may be named beside them
    rf"\b(?:q|queries|query)(?: (?:and|,) (?:k|keys?))? (?:has|have|of|with|are of|is of) (?:the )?(?:shape|size) "
    rf"[\[(]\s*{_N}\s*,\s*{_N}\s*,\s*{_N}\s*,\s*{_N}\s*[\])]"
    r"(?:,? and (?:k|keys?) (?:has|have|of|with) (?:the )?(?:shape|size) [\[(]\s*\1\s*,\s*\2\s*,\s*\3\s*,\s*\4\s*[\])])?"
)
_FROM_AND_BACK = re.compile(rf"\bfrom {_N} to {_N}(?: dimensions| features)?,? and (?:then )?(?:\w+ )?back(?: again)?\b(?! to)")
_OUT_AND_BACK = re.compile(
    rf"\b(?:in)?to {_N}(?: dimensions| features)?,? (?:and )?(?:then )?(?:back|down)(?: down)? "
    rf"(?:in)?to {_N}(?: dimensions| features)?"
)
_SIDES = re.compile(rf"\bheight\s*=\s*{_N}\s*,?\s*(?:and )?width\s*=\s*\1\b")
_BOTH_WAYS = re.compile(
    rf"\binput (?:dimension|size)(?: (?:[a-z]\s*=\s*)?| of ){_N} and (?:an? )?"
    rf"output (?:dimension|size)(?: (?:[a-z]\s*=\s*)?| of ){_N}"
)
_TWO_MATRICES = re.compile(rf"\b(?:two |the )?(?:weight )?matrices (?:of (?:size|shape) )?{_N}\s*[x×]\s*{_N} and \2\s*[x×]\s*\1")


def in_words(text: str) -> str:
    """A question in small letters with the code and the arrows in it read aloud."""
    text = _CALL.sub(_module, text)
    if "logits" in text and len(_CLASS.findall(text)) == 1:
        text = re.sub(rf"\b(?:an? |the )?input of shape (?=[\[(]{_N}, ?{_N}[\])])", "input_ids of shape ", text)
        text = _CLASS.sub(lambda found: f" {found[2] or CLASSES.get(found[1], found[0])} {found[3] or ''} ", text)
    text = _IDS.sub(r"batch size = \1, sequence length = \2", text)
    text = _ASSIGNED.sub(_assigned, text)
    text = re.sub(r"\bq\s*@\s*k\.(?:transpose|swapaxes|permute|mt)\b(?:\([^()]*\))?", "qk^t", text)
    text = _AXES.sub("", text)
    text = _QUERIES.sub(r"with batch size = \1, heads = \2, sequence length = \3, d_k = \4", text)
    text = _IMAGES.sub(
        lambda found: f"images with image size = {found[2]}{f', batch size = {found[1]}' if found[1] else ''}", text
    )
    text = _SIDES.sub(r"image size = \1", text)
    if re.search(r"feed-?forward|\bffn\b|\bmlp\b", text):
        text = _TWO_MATRICES.sub(r"with d_model = \1, d_ff = \2", text)
        text = _FROM_AND_BACK.sub(r"with d_model = \1, d_ff = \2", text)
        text = _OUT_AND_BACK.sub(r"with d_ff = \1, d_model = \2", text)
        if re.search(r"\b(?:another|second|two (?:linear|dense|fully))\b", text):  # one way there, and one back
            text = _BOTH_WAYS.sub(r"d_model = \1, d_ff = \2", text)
    text = _THERE_AND_BACK.sub(r" with d_model = \1, d_ff = \2 ", text)
    text = _MATRIX.sub(r"w_1 with d_model = \1, d_ff = \2 ", text)
    text = _IN_AND_OUT.sub(r"first linear layer with d_model = \1, d_ff = \2 ", text)
    text = _SHAPED.sub(_sizes, text)
    text = _INPUT.sub(r"input with sequence length = \1, d_model = \2 ", text)
    text = re.sub(
        r"\b(?:for|given|on|with|from) (?:an? |the )?(?:batch of )?input (?=with (?:batch size|sequence length) = )", "", text
    )
    return _ONE_WAY.sub(r"first linear layer with d_model = \2, d_ff = \3 ", text)


def _sizes(shape: re.Match[str]) -> str:
    """`input of shape (2, 10, 512)`: the batch, the length and the width."""
    numbers = re.findall(r"\d+", shape[1])
    names = ("batch size", "sequence length", "d_model")[-len(numbers) :]
    return "input with " + ", ".join(f"{name} = {number}" for name, number in zip(names, numbers, strict=True))


def _assigned(found: re.Match[str]) -> str:
    said, value = _CODED[found[1]], found[2].replace("_", "")
    return f"{value} classes" if said == "classes" else f"{said} = {value}"


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
    if call[1] == "linear" and re.search(r"\bshape\b", call.string) and not re.search(r"weight|matrix|bias", call.string):
        named = "output of first linear layer"
    said = ", ".join(f"{SAID.get(field, field)} = {value}" for field, value in fields.items())
    return f"{named} with {said}{rest} "
