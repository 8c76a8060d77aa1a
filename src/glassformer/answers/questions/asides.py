"""What is said beside a question, in brackets or as a second question: left out where no answer can hang on it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from glassformer.answers.questions.encoders import full_name
from glassformer.answers.questions.glossary import SETTINGS
from glassformer.answers.questions.name_matching import plain
from glassformer.answers.questions.phrases import MODEL

# Words that may change an answer: where one of them stands, nothing is left out.
CHANGING = re.compile(
    r"(?<![\w])(?:"
    r"no|not|none|\w+n't|without|except\w*|exclud\w*|ignor\w*|omit\w*|neglect\w*|only|alone|first|second|last|final|shar\w*|tied"
    r"|tying|untied|bias\w*|decod\w*|cross|encoder-decoder|seq2seq|gat(?:e|ed|ing)|\w*glu|rms\w*|relative|rotary|rope|alibi"
    r"|moe|experts?"
    r"|mixture|lora|adapters?|rank|freez\w*|frozen|prun\w*|quanti\w*|int\d+|b?f(?:p|loat)?\d+|precision|bits?|half|halv\w*"
    r"|twice|doubl\w*"
    r"|tripl\w*|quadrupl\w*|times|group\w*|[gm]qa|kv|window\w*|sliding|sparse|local|linear|multi-?(?:query|latent)"
    r"|kernel\w*|low-rank"
    r"|restrict\w*|limit\w*|dilat\w*|conv\w*|lstms?|rnns?|grus?|cnns?|recurrent|factori[sz]\w*|instead|but|unless|unlike"
    r"|rather|extra"
    r"|additional\w*|more|fewer|less|remov\w*|replac\w*|add(?:s|ed|ing)?|cls|class|distill\w*|registers?|strid\w*"
    r"|overlap(?:s|ped|ping)?"
    r"|pad\w*|gpt\S*|llama\S*|mistral\S*|training|optimi[sz]\w*|gradients?|adam\w*|backward|cach\w*|embeddings?|vocab\w*"
    r"|classif\w*|pool\w*"
    r"|per|each|every|all|total|causal\w*|generat\w*|autoregressive\w*|flash\w*|sgd|momentum|lion|adafactor|lamb|drop(?:s|ped|ping)?"
    r"|identity|besides|outside|other|apart|aside|minus|plus|prompt\w*|prefix\w*|multilingual|cased|chinese"
    r"|versions?|pairs?|squared|average|median|at (?:most|least)|ensemble\w*|merg\w*|concatenat\w*|interleav\w*|skip\w*"
    r"|early|exit|hidden from|masked|unmasked|never|nothing|neither|nor|hardly|zero|as (?:many|much|large|big|deep|wide)"
    r")(?![\w])",
    re.I,
)
_NUMBER = re.compile(
    r"\d|(?<!\w)(?:two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|billion)(?!\w)", re.I
)
# What holds a number or such a word, and says nothing: `W_1`, `two sub-layers`, `one per query-key pair`.
_SYMBOLS = re.compile(
    r"\b[wb]_?[qkvo12]\b|\b(?:(?:two|both|four) )?(?:sub-?layers?|matrices|parts"
    r"|(?:linear|dense|projection) (?:layers?|maps?|projections?|transform\w*))\b"
    r"|\bone (?:per|for (?:each|every)) (?:query|token|pair|head|position)[\w -]*|\b(?:for |of )?all of (?:them|these)\b"
    r"|\bcontext window\b|\bper[- ]se\b|\bmulti-?layer\b"
    r"|\bnon-overlapping\b|\b(?:each )?padded to\b"
    r"|\beach (?:encoder |transformer )*(?:layer|block) (?:contains|has|consists of|comprises|includes)\b"
    r"|\beach (?:token|word|position|input|query|sentence|represented|embedded|encoded|described|one)\b",
    re.I,
)
_BRACKET = re.compile(r"\s*(?<![\w])\(([^()]{1,160})\)(?! ?=)|,? (?:i\.e\.|that is),? ([^,.?!()]{1,80})(?=[,.?!]|$)")
_ASKED = r"(?:what|which|how|compute|calculate|find|determine|derive|give|state|estimate|count|by what|by how|at what|work out)\b"
# What is asked besides, and is no quantity.
_IN_PROSE = re.compile(
    r"(?:[.?!;,]\s*|\s+)(?:and\s+|also,?\s+|then\s+)?(?:please\s+)?(?:briefly\s+)?"
    r"(?:why\b|how come\b|explain|justify|discuss|describe|comment\b|elaborate|show (?:your|the|all|each|how)|break it down"
    r"|where do (?:they|these)|what (?:does|do|would) (?:this|that|it|these) (?:mean|imply|tell|happen)|hint\b"
    r"|what (?:would|will|could|might) (?:happen|break|change|go wrong|fail)"
    r"|include your (?:working|reasoning)"
    r"|how (?:does|do|is|did) (?:this|that|it|these)\b|what (?:are|is) the (?:advantage|benefit|purpose|intuition|role)s?\b).*$",
    re.I | re.S,
)
_SECOND = re.compile(rf"(?:\s*[,;]\s*(?:and\s+)?|\?\s*(?:and\s+)?|\s+and\s+)(?={_ASKED})", re.I)
_OWNER = re.compile(r"\b(?:does|do) (?:[^?.,]+?) (?:have|has|use|contain|need)\b", re.I)
_BOTH = re.compile(
    r"(.*?\b(?:what (?:is|are)|find|compute|calculate|determine|give|state) (?:the )?)([\w -]+?),? and (?:the |its )?(.+)",
    re.I | re.S,
)
_A_NUMBER_OF = re.compile(
    r"(?:total )?(?:number of |count of )?(?:trainable )?(?:patches|tokens|parameters|params|weights|layers|heads|flops)", re.I
)
_BOTH_COUNTED = re.compile(r"(.*?\bhow many )([\w -]+?),? and (?:how many )?([\w -]+?) (do(?:es)? .+)", re.I | re.S)
_TOGETHER = re.compile(
    r"\b(?:more|less|fewer|differ\w*|ratio|total|together|combined|sum|than|compar\w*|between|factor|times)\b", re.I
)
_TRANSFORMERS = re.compile(
    r"\b(?:the|a) transformer(?: encoder)?(?:'s| model's)? (?:total )?(?=(?:parameters|params|weights)\b)", re.I
)
FIRST_OF_SEVERAL = "the first of the things that are asked"
OF_A_LAYER = "of its layers, as nothing is said of the embeddings"


def changes_nothing(words: str) -> bool:
    """Whether these words can be left out: they hold no number, and none of the words that an answer may hang on."""
    bare = _SYMBOLS.sub("", words)
    return not _NUMBER.search(bare) and not CHANGING.search(bare)


def readings(text: str) -> Iterator[tuple[str, str]]:
    """Simpler and simpler forms of a question that is not understood, and what is said of an answer that is not to all of it."""
    seen: set[str] = set()
    asked = _IN_PROSE.sub("?", text) if _QUANTITY.search(_IN_PROSE.sub("", text)) else text
    bare = _BRACKET.sub(_aside, asked)
    before = (bare[: second.start()] for second in _SECOND.finditer(bare))  # `With 8 heads, what is …, and how does …`
    first = next((part for part in before if _asks(part)), bare)
    if (owner := _OWNER.search(bare)) and not _OWNER.search(first):  # `how many layers and how many heads does it have?`
        first = f"{first} {owner[0]}"
    one = _one_encoder(first)
    one = _one_size(one) if one == bare else one
    of_layers = _TRANSFORMERS.sub("a transformer layer's ", bare)
    for simpler, partial in (
        (text, ""), (asked, ""), (bare, ""), (first, FIRST_OF_SEVERAL), (one, FIRST_OF_SEVERAL), (of_layers, OF_A_LAYER)
    ):  # fmt: skip
        if simpler not in seen:
            seen.add(simpler)
            yield simpler, partial


def _one_size(text: str) -> str:
    """`what is the head dimension and the shape of …`: the first of the two, where it is a size, with whose it is."""
    if (counts := _BOTH_COUNTED.fullmatch(text.strip())) and {plain(counts[2]), plain(counts[3])} <= SETTINGS.keys():
        return f"{counts[1]}{counts[2]} {counts[4]}"
    found = _BOTH.fullmatch(text.strip())
    if found is None or not (plain(found[2]) in SETTINGS or _A_NUMBER_OF.fullmatch(found[2].strip())):
        return text
    whose = re.search(r" (?:of|in|for|with) .+$", found[3])
    return f"{found[1]}{found[2]}{whose[0] if whose else '?'}"


def _one_encoder(text: str) -> str:
    """`layers in BERT-base and BERT-large`: the first of the two, where they are not compared or added."""
    name = rf"(?:{full_name()}|{MODEL})"
    found = re.search(rf"({name}),? (?:and|or|vs\.?|versus)(?: for| in| of)?(?: the)? {name}", text, flags=re.I)
    if found is None or len(re.findall(name, text, flags=re.I)) != 2 or _TOGETHER.search(text):
        return text
    return f"{text[: found.start()]}{found[1]}{text[found.end() :]}"


_QUANTITY = re.compile(
    rf"\b{_ASKED}|\b(?:dimension|size|shape|number|parameters?|params|flops|memory|length|complexity|fraction|share)\b", re.I
)


def _asks(text: str) -> bool:
    return re.search(rf"(?:^|[.,:;]\s*)(?:so\s+|then\s+)?{_ASKED}", text, flags=re.I) is not None


_PARTS_OF_A_LAYER = re.compile(
    r"(?=.*attention)(?=.*(?:ffn|mlp|feed))(?:(?:multi-?head |self-)*attention|ffn|mlp|feed-?forward(?: network)?"
    r"|layer ?norms?|norms|bias(?:es)?|including|incl\.|all|both|and|with|plus|[+,&\s])+",
    re.I,
)


_LISTED = re.compile(r"(?:[wb][_^]?\{?[qkvo12]\}?\b|bias(?:es)?|weights?|and|including|incl\.|plus|count|[+,&\s])+", re.I)


def _aside(bracket: re.Match[str]) -> str:
    """Nothing, where the bracket only explains: `(one for each pair)`, or a symbol, `d_k (the dimension per head)`."""
    inside = bracket[1] or bracket[2]
    symbol = re.search(r"\bd_?\{?(?:k|v|model|ff)\}?[$`]?$", bracket.string[: bracket.start()])
    named = {letter.lower() for letter in re.findall(r"\b[wb][_^]?\{?([qkvo12])\b", inside, flags=re.I)}
    whole = named >= set("qkvo") or named == set("12")  # `(W_Q, W_K, W_V, W_O + biases)`: all that the attention has
    explains = (
        (whole and _LISTED.fullmatch(inside)) or (symbol and not _NUMBER.search(inside)) or _PARTS_OF_A_LAYER.fullmatch(inside)
    )
    return "" if explains or changes_nothing(inside) else bracket[0]
