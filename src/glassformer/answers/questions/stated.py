"""Sizes that a question states itself, `with d_model = 512 and 8 heads`: held against the spec, never silently replaced."""

from __future__ import annotations

import re

from glassformer.program import Program
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request

Stated = tuple[tuple[str, str], ...]  # field and value, as a spec would have them

_IS = r"\s*(?:=|:|\bis\b|\bof\b|\bequals\b)\s*(?:size |length )?"
_N = r"(\d{1,3}(?:,\d{3})+|\d+)(?!\d|\s*[x×.,]\s*\d)"
_ROWS = r"(\d{1,3}(?:,\d{3})+|\d+)(?!\d|\s*[x×.]\s*\d|,\d)"  # `batch size 16, 512 tokens`
_BY = r"(\d+)\s*(?:[x×]|by)\s*\d+"
# Fields and how people state them; the first group that takes part is the number.
PATTERNS: tuple[tuple[str, str], ...] = (
    ("image", rf"(?:{_BY}|(\d+)[- ]pixel)(?: pixels?)?(?: (?:rgb|colou?r|input))? images?"),
    ("image", rf"(?:input )?images? (?:of|with|at)(?: (?:size|resolution))? (?:{_BY}|(\d+))(?: pixels?)?"),
    ("image", rf"(?:resolution|image size)(?:{_IS}| )(?:{_BY}|(\d+))(?: pixels?)?"),
    ("patch", rf"(?:{_BY}|(\d+)[- ]pixel)(?: pixels?)?(?= patch)"),
    ("patch", rf"patch(?:es)?(?: size)?(?:{_IS}|(?<=size) )(?:{_BY}|(\d+))(?: pixels?)?"),
    ("d_ff", rf"\b(?:d_?\{{?ff\}}?|(?:ffn|feed-?forward|intermediate|inner) (?:size|width|dimension|dim|layer size))"
        rf"(?:{_IS}| ){_N}"),
    ("d_k", rf"\b(?:d_?\{{?k\}}?|head (?:size|dim|dimension|width))(?:{_IS}| ){_N}"),
    ("d_v", rf"\bd_?\{{?v\}}?{_IS}{_N}"),
    ("d_model", rf"\b(?:d_?\{{?model\}}?|(?:hidden|model|embedding) (?:size|dimension|dim|width))(?:{_IS}| ){_N}|\bd{_IS}{_N}"),
    ("heads", rf"\b(?:h|(?:n_|num_|number of )?(?:attention )?heads){_IS}{_N}(?: (?:attention )?heads)?"),
    ("heads", rf"{_N}(?: attention| self-attention)? heads\b"),
    ("layers", rf"\b(?:l|(?:n_|num_|number of )layers){_IS}{_N}(?: (?:encoder )?layers)?"),
    ("vocab", rf"\b(?:v|vocab(?:ulary)?(?: size)?)(?:{_IS}| (?<=size )){_N}(?: (?:tokens|words|entries|wordpieces))?"),
    ("classes", rf"{_N}[- ](?:way|class|classes|labels?|tags?|categories|output classes)\b"),
    ("batch", rf"\b(?:batch(?:es)?(?: size)?|b)(?:{_IS}| ){_ROWS}(?: (?:sequences|sentences|examples|images|inputs))?"),
    ("t", rf"\b(?:sequences?(?: length)?|seq(?:uence)?[_ -]?len(?:gth)?|inputs?|sentences?|context|length|n|t|s)"
        rf"(?:{_IS}| has | have | with | (?<=length )| (?<=len )){_N}(?:[- ](?:input )?(?:tokens?|words?))?"),
    ("t", rf"{_N}[- ](?:input )?(?:tokens?|words?|positions)(?: (?:long|input|inputs|sequence|sequences|sentence))?\b"),
)  # fmt: skip
LEAD = (
    r"(?:\b(?:with|for|if|when|where|given|using|assuming|and|on|has|have|at|in|of|from|into)\b|,)?\s*"
    r"(?:\b(?:an?|the|one|each)\b )?"
)
_WHEN = r"(?:if|when|with|assuming) (?:(?:the|its) )?(?:(?:\w+ )?(?:weights|embeddings) (?:are )?)?(?:(?:it|they) (?:is|are) )?"
_WEIGHTS = r"(?: (?:(?:input|output|word|token) )?(?:weights|embeddings))?(?=\s*(?:[,|]|$))"
# Words that state a choice, with what may follow them.
CHOICES = {
    r"(?:fixed )?sinusoidal(?= (?:position|encoding))": ("position", "sinusoidal"),
    r"rotary(?= position)": ("position", "rotary"),
    r"untied(?= \w+ (?:head|decoder))": ("tie", "False"),
    rf"{_WHEN}untied{_WEIGHTS}": ("tie", "False"),
    rf"{_WHEN}tied{_WEIGHTS}": ("tie", "True"),
    r"tied(?= \w+ (?:head|decoder))": ("tie", "True"),
    r"post-?(?:ln|norm)\b": ("norm", "post"),
    r"pre-?(?:ln|norm)\b": ("norm", "pre"),
}


def take_stated(text: str) -> tuple[Stated, str]:
    """What a question states, and the question without it."""
    found: dict[str, str] = {}
    for field, pattern in PATTERNS:
        match = re.search(rf"{LEAD}(?:{pattern})", text)
        if match and field not in found:
            found[field] = next(group for group in match.groups() if group).replace(",", "")
            text = f"{text[: match.start()]} | {text[match.end() :]}"
    if "patch" in found and text.count("patches") > 1:  # `how many patches … with 16 × 16 patches`
        text = re.sub(r"\|\s*patches$", "|", text.strip())
    for said, (field, value) in CHOICES.items():
        if re.search(rf"\b{said}", text):
            found[field], text = value, re.sub(rf"\b{said}", "", text)
    return tuple(found.items()), " ".join(text.split())


def with_sizes(stated: Stated, asked: Request) -> Request:
    """The request with the length and the batch that the question states, where the spec's own words leave them open."""
    sizes = {field: int(value) for field, value in stated if field in ("t", "batch")}
    if asked.t is None and asked.spec.reads != "image" and "t" in sizes:
        asked = asked._replace(t=sizes["t"])
    return asked._replace(batch=sizes["batch"]) if asked.batch == 1 and sizes.get("batch", 1) > 1 else asked


def check_stated(text: str, stated: Stated, asked: Request, program: Program) -> None:
    """A question that states another size than the encoder has is not answered for this one."""
    spec, sizes = asked.spec, program.sizes
    image = spec.reads == "image"
    own: dict[str, object] = {
        "image": spec.image_size[0] if image else None, "patch": spec.patch_size[0] if image else None,
        "d_model": spec.d_model, "heads": spec.heads, "d_k": spec.head_k, "d_v": spec.head_v, "d_ff": spec.ffn_width,
        "layers": spec.layers, "vocab": spec.vocab, "classes": spec.classes if spec.head != "none" else None,
        "t": sizes.t, "batch": sizes.batch, "position": spec.position, "tie": spec.tie,
        "norm": spec.norm,
    }  # fmt: skip
    for field, value in stated:
        side = own[field]
        if str(side) != value:
            has = f"{field}={side}" if side is not None else f"no {field}"
            raise GlassformerError(f"'{shown(text)}' states {field}={value}, and this encoder has {has}. Write {field}={value}.")
