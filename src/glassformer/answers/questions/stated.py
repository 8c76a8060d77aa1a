"""Sizes that a question states itself, `with d_model = 512 and 8 heads`: held against the spec, never silently replaced."""

from __future__ import annotations

import re

from glassformer.answers.questions.grouped_queries import COMPARED, KV_HEADS, take_groups, without_groups
from glassformer.answers.questions.phrases import compiled
from glassformer.program import Program
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request

Stated = tuple[tuple[str, str], ...]  # field and value, as a spec would have them

_SIGN = r"(?:[a-z](?:_?\{?[a-z]{1,5}\}?)? ?= ?)?"  # `hidden size d = 512`
_IS = rf"\s*(?:=|:|\bis\b|\bare\b|\bbe\b|\bof\b|\bequals\b)\s*(?:size |length )?{_SIGN}"
_N = (
    r"(\d{1,3}(?:,\d{3})+|\d+)(?!\d|\s*[x×]\s*\d|[.,]\d|d\b|\s?[·*×]\s?d\b|\s?d_?model\b)"  # `batch size 16, 512 tokens`; no `4d`
)
_BY = r"(\d+)\s*(?:[x×]|by)\s*\d+"
_SIDES = r"(\d+)\s*(?:[x×]|by)\s*(\d+)"
# Fields and how people state them; the first group that takes part is the number.
PATTERNS: tuple[tuple[str, str], ...] = (
    ("image", rf"(?:{_BY}|(\d+)(?:[- ]pixel|[- ]?px))(?: pixels?)?(?: (?:rgb|colou?r|input))? (?:images?|inputs?)\b"),
    ("image", rf"(?:input )?images? (?:of|with|at|has|have)(?: (?:an? |the )?(?:size|resolution|shape))? "
        rf"(?:{_BY}|(\d+))(?: pixels?)?"),
    ("image", rf"(?:resolution|image size)(?:{_IS}| )(?:{_BY}|(\d+))(?: pixels?)?"),
    ("patch", rf"(?:{_BY}|(\d+)[- ]pixel)(?: pixels?)?(?= patch)"),
    ("image", rf"images? (?:is |are )?(?:resized|rescaled|scaled|cropped) to {_BY}(?: pixels)?"),
    ("image", rf"(?:(?<=at )|(?<=for )){_BY}(?: pixels| resolution)?|(\d+)(?:px)? resolution"),
    ("patch", rf"patch(?:es)?(?: size)?(?:{_IS}|(?<=size) )(?:{_BY}|(\d+))(?: pixels?)?"),
    ("channels", rf"{_N} (?:colou?r |input )?channels?\b|\bchannels{_IS}{_N}"),
    ("window", rf"\b(?:(?:local|sliding|attention) )?window(?: (?:size|width|length))?(?:{_IS}| (?:of )?){_N}(?: tokens)?"),
    ("positions", rf"\b(?:max(?:imum)?(?: sequence| input| context)? length|max_?len|max(?:imum)? (?:number of )?positions)"
        rf"(?:{_IS}| {_SIGN}){_N}(?: tokens| positions)?"),
    ("d_ff", rf"\b(?:d_?\{{?ff\}}?|dim_?feedforward|(?:ffn|mlp|feed-?forward|intermediate|inner)"
        rf"(?: (?:hidden|inner|network|layer))? (?:size|width|dimension|dim|layer size|dimensionality))(?:{_IS}| {_SIGN}){_N}"),
    ("d_ff", rf"\b(?:ffn|mlp){_IS}{_N}"),
    ("d_ff", rf"\b(?:one|a single) hidden layer (?:of|with) (?:size )?{_N}(?: (?:hidden )?(?:units|neurons|features))?"),
    ("d_model", rf"\b(?:token|word|input|embedding|hidden)(?:s| vectors?| embeddings?| states?"
        rf"| representations?)? (?:vectors? )?(?:of|with)"
        rf" (?:an? )?(?:size|dimension(?:ality)?|width|length)(?: of)? {_SIGN}{_N}"),
    ("d_ff", rf"\bhidden layer (?:has|of|with) {_N} (?:units|neurons|features)"),
    ("d_ff", rf"{_N} (?:hidden units|hidden neurons|inner units)(?: in (?:the )?(?:ffn|feed-?forward(?: network| layer)?|mlp))?"),
    ("d_ff", rf"\b(?:size|width|dimension|dimensionality) of (?:the )?(?:ffn|mlp|feed-?forward)(?: network| layer| "
        rf"block)?(?:{_IS}| {_SIGN}){_N}"),
    ("d_ff", rf"\b(?:ffn|mlp|feed-?forward)(?: network)? hidden (?:layer|size|dimension)(?: is)?(?: of)?(?: dimension| "
        rf"size| width)?(?:{_IS}| {_SIGN}){_N}"),
    ("d_k", rf"\b(?:size|width|dimension|dimensionality) of (?:each|one|a single|every) (?:attention )?head(?:{_IS}|"
        rf" {_SIGN}){_N}"),
    ("positions", rf"\b(?:(?:can |may )?(?:takes?|reads?|accepts?|handles?) )?at most {_N} tokens(?: (?:in|as) (?:the )?input)?"),
    ("d_k", rf"(?<=heads),? (?:each )?(?:of|with) (?:size |dimension |width )?{_N}(?: (?:dimensions|dims|features))?(?: each)?"),
    ("d_k", rf"\b(?:d_?\{{?(?:k|head)\}}?|(?:head|key|query)[_ ](?:size|dim|dimension|width|dimensionality))(?:{_IS}|"
        rf" {_SIGN}){_N}"),
    ("d_k", rf"\b(?:keys?|quer(?:y|ies))(?: vectors?)? (?:has|have|of|with|are of) (?:an? )?dimension(?:ality)?"
        rf"(?:{_IS}| {_SIGN}){_N}"),
    ("d_v", rf"\bd_?\{{?v\}}?{_IS}{_N}(?: each)?"),
    ("d_model", rf"\b(?:d_?\{{?model\}}?|(?:hidden|model|embed(?:ding)?|input)[_ ](?:size|dimension|dim|width"
        rf"|dimensionality|feature size))"
        rf"(?:{_IS}| {_SIGN}){_N}|\bd{_IS}{_N}|{_N}[- ](?:dimensional|dim\b|d\b"
        rf"|dimension(?= (?:embedding|vector|model|hidden)))(?: (?:hidden|model|embeddings?|states?))*"),
    ("kv_heads", rf"\b{KV_HEADS}{_IS}{_N}|{_N} (?:shared )?{KV_HEADS}\b"),
    ("heads", rf"\b(?:number of )?query[- ]heads{_IS}{_N}|{_N} query[- ]heads\b"),
    ("heads", rf"\b(?:h|n_?head|(?:n_|num_|number of )?(?:attention )?heads(?: in (?:the )?(?:multi-?head "
        rf")?(?:self-?)?attention)?(?: h)?){_IS}{_N}(?: (?:attention )?heads)?"),
    ("heads", rf"{_N}(?: parallel)?(?: attention| self-attention)? heads(?: per layer| each)?\b|{_N}-head(?:ed)?\b(?! "
        rf"attention)(?: (?:transformer|encoder|model))*|{_N}-head(?:ed)?\b"),
    ("layers", rf"\b(?:l|(?:n_|num_|number of )layers){_IS}{_N}(?: (?:encoder )?layers)?|{_N}-(?:layer(?:ed)?|block)\b(?: "
        rf"(?:transformer|encoder|model))*|{_N} (?:layer|block)(?= (?:transformer|encoder|model|network|bert|vit|\|)|$)"),
    ("vocab", rf"\bvocab(?:ulary)? (?:has|contains|consists of|comprises) {_N} (?:unique )?(?:tokens|words|entries"
        rf"|word-?pieces|sub-?words)"),
    ("d_model", rf"\b(?:token |word )?embeddings? (?:has|have) {_N} (?:entries|components|values|numbers)"),
    ("vocab", rf"\b(?:v|vocab(?:ulary)?(?:[ _]size)?)(?:{_IS}| (?<=size )| (?<=vocab )| (?<=vocabulary )){_N}"
        r"(?: (?:tokens|words|entries|wordpieces))?"),
    ("segments", rf"{_N} (?:segments?|segment types|token types|sentence types)\b(?! (?:of|each|with))|\bsegments{_IS}{_N}"),
    ("classes", rf"{_N}[- ](?:way|class|classes|labels?|tags?|categories|output classes)\b"),
    ("batch", rf"\b(?:batch(?:es)?(?:[ _]size)?|b)(?:{_IS}| {_SIGN}){_N}(?: (?:sequences|sentences|examples|images|inputs))?"),
    ("t", rf"(?<![\w^])(?:sequences?(?: length)?|seq(?:uence)?[_ -]?len(?:gth)?|seq|input lengths?|inputs?|sentences?"
        rf"|context|length|n|t|s)"
        rf"(?:{_IS}(?:[nst] ?= ?)?| [nst] ?= ?| has (?:length )?(?:[nst] ?= ?)?| have | with | (?<=length )| (?<=len )"
        rf"| (?<=sequence )){_N}"
        r"(?:[- ](?:input )?(?:tokens?|words?))?"),
    ("t", rf"{_N}[- ](?:input )?(?:tokens?|words?|positions)"
        r"(?: (?:long|input|inputs|sequences?|sentence|document|text|passage|prompt|context|window))*\b"),
    ("d_model", rf"\b(?:of|with|and|has|have) (?:an? )?dimension(?:ality)?(?:{_IS}| {_SIGN}){_N}"),
    ("d_model", rf"{_N} (?:features|dimensions|dims|hidden units|hidden dimensions)\b"),
)  # fmt: skip
_HIDDEN = r"(?:size|dimension|dim|width|dimensionality)"
_INNER = rf"\bhidden(?: layer)? ({_HIDDEN}(?:{_IS}| {_SIGN}){_N})"  # beside a width of the model: that of the feed-forward block
_OUTER = rf"\b(?:d_?model|(?:model|embedding|input)[_ ]{_HIDDEN})(?:{_IS}| {_SIGN}){_N}"
LEAD = (
    r"(?:\b(?:with|for|if|when|where|given|using|assuming|and|on|has|have|at|in|of|from|into|over)\b|,)?\s*"
    r"(?:\b(?:an?|the|one|each)\b )?"
)
_EXPANDED = rf"{LEAD}(?:ffn |mlp )?expansion (?:factor|ratio)(?:{_IS}| )(\d+)\b"
_WHEN = r"(?:if|when|with|assuming) (?:(?:the|its) )?(?:(?:\w+ )?(?:weights|embeddings) (?:are )?)?(?:(?:it|they) (?:is|are) )?"
_WEIGHTS = (
    r"(?: (?:(?:input|output|word|token) )?(?:weights|embeddings))?"
    r"(?: (?:to|with) (?:the |its )?(?:(?:input|word|token|wordpiece) )*embeddings?(?: matrix| table| layer|"
    r" weights)?)?(?=\s*(?:[,|]|$))"
)
# Words that state a choice, with what may follow them.
CHOICES = {
    r"(?<=embeddings )(?:with|and|plus|using) (?:fixed )?sinusoidal position(?:al)? (?:encodings?|embeddings?)": (
        "position",
        "sinusoidal",
    ),
    r"(?:fixed )?sinusoidal(?= (?:position|encoding))": ("position", "sinusoidal"),
    r"rotary(?= position)": ("position", "rotary"),
    r"untied(?= \w+ (?:head|decoder))": ("tie", "False"),
    rf"{_WHEN}untied{_WEIGHTS}": ("tie", "False"),
    r"(?:without|with no|if (?:it|there) (?:had|was|were) no) (?:cross-layer )?(?:(?:parameter|weight|layer)[- ])?sharing\b": (
        "share_layers",
        "None",
    ),
    rf"{_WHEN}tied{_WEIGHTS}": ("tie", "True"),
    r"tied(?= \w+ (?:head|decoder))": ("tie", "True"),
    r"(?:all (?:the |its )?(?:\d+ )?)?layers (?:are |being |all |have |which |that )*shar(?:ed|e|ing)(?: (?:the same "
    r"|their |all )*"
    r"(?:weights|parameters|params))?\b": ("share_layers", "1"),
    r"post-?(?:ln|norm)\b": ("norm", "post"),
    r"pre-?(?:ln|norm)\b": ("norm", "pre"),
    r"(?:single|one)-head(?:ed)?\b": ("heads", "1"),
    r"(?:and |if |,? with )?there is (?:only |just )?(?:a single|one) (?:attention )?head\b": ("heads", "1"),
    r"(?:given|have|has|with|uses?|consider|take) an? single (?:self-)?(?:attention )?head\b": ("heads", "1"),
    r"(?:local|sliding[- ]window|windowed|window)(?= (?:self-?)?attention)": ("window", "w"),
}


def take_stated(text: str) -> tuple[Stated, str]:
    """What a question states, and the question without it."""
    found: dict[str, str] = {}
    text = re.sub(r"\bflattened patch (?:of|with)(?: size)? (?=\d)", "flattened patch for patch size ", text)
    text = re.sub(_INNER, r"inner \1", text) if re.search(_OUTER, text) else text
    found |= (groups := take_groups(text))[0]
    text = groups[1]
    tables = re.search(r"embedding|vocab|\btables?\b", text)  # parts of a long text are segments, too
    for field, pattern in PATTERNS if tables else [pair for pair in PATTERNS if pair[0] != "segments"]:
        while match := compiled(rf"{LEAD}(?:{pattern})").search(text):  # said twice, it is the same size, or not understood
            value = next(group for group in match.groups() if group).replace(",", "")
            if (sides := re.search(_SIDES, match[0])) and sides[1] != sides[2]:
                break  # an image or a patch that is no square
            if found.setdefault(field, value) != value:
                break
            text = f"{text[: match.start()]} | {text[match.end() :]}"
    text = _patches(found, text)
    if (times := re.search(_EXPANDED, text)) and "d_ff" not in found:
        width = found.get("d_model")
        found |= {"d_ff": str(int(times[1]) * int(width))} if width else {"expansion": times[1]}
        text = f"{text[: times.start()]} | {text[times.end() :]}"
    text = without_groups(found, text)
    text = re.sub(rf"{LEAD}(?:fixed )?window(?: size| width| length)?(?:{_IS}| )?(?:of )?(?:size )?[wk]\b", " | ", text)
    gate, text = _gate(text)
    found |= gate
    for said, (field, value) in CHOICES.items():
        if compiled(rf"\b{said}").search(text):
            found[field], text = value, compiled(rf"\b{said}").sub("", text)
    return tuple(found.items()), " ".join(text.split())


def _patches(found: dict[str, str], text: str) -> str:
    """The question without the patches that it gives: so many of them are its tokens, where no image is spoken of."""
    if not {"image", "patch", "t"} & found.keys() and (
        seen := re.search(rf"(?:\b(?:with|for|of|has) ){_N} (?:image )?patches\b", text)
    ):
        found["t"], text = seen[1], f"{text[: seen.start()]} | {text[seen.end() :]}"
    if "patch" in found and (text.count("patch") > 1 or "tokens" in text):  # `how many patches … with 16 × 16 patches`
        text = re.sub(r"\|\s*patches(?=\s+have|\s+has|,?\s+including|,?\s+counting|\s*\||\s*$)", "|", text.strip())
    return text


def _gate(text: str) -> tuple[dict[str, str], str]:
    """`a gated feed-forward block (SwiGLU)`: which activation it has, and the question without that."""
    if COMPARED.search(text):  # where two kinds are compared, the gate is that of one of them only
        return {}, text
    named = re.search(r"\b(geglu|swiglu|reglu)\b", text)
    rest = re.sub(
        r"\(?\b(?:geglu|swiglu|reglu)\b\)?(?: activations?)?"
        r"|(?<![-\w])(?<!not )(?<!no )gated (?:linear units? )?(?=(?:ffn|mlp|feed|\())", " ", text
    )  # fmt: skip
    found = {"activation": named[1] if named else "geglu"} if rest != text else {}
    return found, " ".join(rest.split())


def with_sizes(stated: Stated, asked: Request) -> Request:
    """The request with the length and the batch that the question states, where the spec's own words leave them open."""
    sizes = {field: int(value) for field, value in stated if field in ("t", "batch")}
    if asked.t is None and not asked.spec.one_length and "t" in sizes:
        asked = asked._replace(t=sizes["t"])
    return asked._replace(batch=sizes["batch"]) if asked.batch == 1 and sizes.get("batch", 1) > 1 else asked


def check_stated(text: str, stated: Stated, asked: Request, program: Program) -> None:
    """A question that states another size than the encoder has is not answered for this one."""
    spec, sizes = asked.spec, program.sizes
    image = spec.reads == "image"
    own: dict[str, object] = {
        "image": spec.image_size[0] if image else None, "patch": spec.patch_size[0] if image else None,
        "d_model": spec.d_model, "heads": spec.heads, "kv_heads": spec.key_heads,
        "d_k": spec.head_k, "d_v": spec.head_v, "d_ff": spec.ffn_width,
        "layers": spec.layers, "vocab": spec.vocab, "classes": spec.classes if spec.head != "none" else None,
        "channels": spec.channels if image else None, "window": spec.window, "positions": spec.positions,
        "segments": spec.segments, "activation": spec.activation,
        "t": sizes.t, "batch": sizes.batch, "position": spec.position, "tie": spec.tie,
        "norm": spec.norm, "share_layers": spec.share_layers, "expansion": f"{spec.ffn_width / spec.d_model:g}",
    }  # fmt: skip
    for field, value in stated:
        side = own[field]
        if str(side) != value and not (field == "window" and value == "w" and side is not None):
            has = f"{field}={side}" if side is not None else f"no {field}"
            raise GlassformerError(f"'{shown(text)}' states {field}={value}, and this encoder has {has}. Write {field}={value}.")
