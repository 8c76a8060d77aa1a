"""A question in plain words: small letters, symbols and formulas as names, `the head's queries` as `queries of the head`."""

from __future__ import annotations

import re

from glassformer.answers.questions import phrases
from glassformer.spec import GlassformerError, shown

_NUMBERS = {
    word: str(number)
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), start=2)
} | {"sixteen": "16", "twenty-four": "24", "thirty-two": "32"}  # fmt: skip
_COUNTED = r"(?: (?:encoder|transformer|attention))? (?:layers|blocks|heads|classes|labels|tags|categories)\b(?!['’ -]?norm)"

_DIVISOR = r"(?:/|÷|over|divided by)\s*(?:sqrt|√|root of)?\s*[({]*\s*d(?:_?\{?(?:k|head)\}?)?\s*[)}]*"
_SCORES = rf"[({{]*\s*qk\^t\s*[)}}]*\s*(?:{_DIVISOR})?"
# Formulas of attention, and what they are called.
FORMULAS = (
    (rf"softmax\s*[({{]+\s*{_SCORES}\s*[)}}]*\s*[·*@×]?\s*v\b", "head output"),
    (rf"softmax\s*[({{]+\s*{_SCORES}\s*[)}}]*", "attention weights"),
    (rf"qk\^t\s*{_DIVISOR}", "scaled scores"),
    (r"\bx\s*[·*@×]?\s*w_?\^?\{?([qkv])\}?(?!\w)", r"\1"),
    (r"\battention\s*\(\s*q\s*,\s*k\s*,\s*v\s*\)", "head output"),
    (r"\bconcat\s*\(\s*head_?\{?1\}?\s*,.*?\)(?=\s*w_?\^?o)\s*w_?\^?\{?o\}?", "attention output"),
    (r"\bconcat\s*\(\s*head_?\{?1\}?\s*,.*?\)", "concatenated heads"),
    (r"(?:\bsqrt|√|\b(?:the )?square root of)\s*[({]*\s*d_?\{?k\}?\s*[)}]*", "scaling factor"),
)

_PRODUCTS = r"(?:the |raw )*(?:(?:attention )?(?:scores|logits)|dot[- ]products?|qk\^t|score matrix)"
DIVIDED = (
    (rf"\b(?:do|does|must|should) (?:we|you|one|it|the model|bert) (?:divide|scale) {_PRODUCTS}(?: by)?", "scaling factor "),
    (rf"\b(?:are|is) {_PRODUCTS} (?:divided|scaled)(?: by)?", "scaling factor "),
)

_THINGS = (
    "(?:the |any |all )*(?:bias(?:es)?(?: (?:terms?|vectors?))?|[a-z]+ ?norms?(?: parameters)?|norms|(?:[a-z]+ )?embeddings?"
    "|pooler|head)"
)
_SEVERAL = rf"({_THINGS}(?:(?:,| and|, and| or) {_THINGS})*)"
_IGNORE = (
    "(?:ignor(?:e|ing)|exclud(?:e|ing)|omit(?:ting)?|neglect(?:ing)?|leav(?:e|ing) out|drop(?:ping)?|do not count|don't count)"
)
_IGNORED = "(?:excluded|ignored|omitted|neglected|left out|not counted|not included|disabled|dropped|turned off)"
LEFT_OUT = (
    (rf"\b(?:if|when|assuming|suppose|provided)(?: that)? (?:we |you |one )?{_IGNORE} {_SEVERAL}", r"| without \1 |"),
    (rf"\b(?:if|when|with|assuming|suppose)(?: that)? {_SEVERAL} (?:is |are |being )?{_IGNORED}", r"| without \1 |"),
    (rf"\b(?:assuming|suppose|if) (?:there (?:is|are) )?no {_SEVERAL}", r"| without \1 |"),
    (rf"\b(?:neglecting|leaving aside|bar|minus|apart from|other than|outside(?: of)?) {_SEVERAL}", r"| without \1 |"),
    (rf"[,(] ?{_SEVERAL} (?:is |are |being )?{_IGNORED}\)?", r"| without \1 |"),
    (r"\b(?:bias|biases)[- ]free\b", "| without biases |"),
)
# Said of a layer or of all of it, this changes nothing; said of a part that has no norm, it is another question.
COUNTED_ANYWAY = (
    r"(?<!\w)(?:including|incl\.?|counting|with) (?:all |the )*bias(?:es| terms)?,? (?:and|&|plus) "
    r"(?:all |the )*(?:layer[- ]?)?norm(?:s|ali[sz]ations?)?(?: parameters)?\b"
)
PARTS_WITHOUT_NORMS = r"\b(?:attention|mha|ffn|feed|mlp|head|pooler|projection|matrix|w_[qkvo12])"
_LONGEST = r"(?:tokens|positions|words|wordpieces)"
IN_OTHER_WORDS = (
    (
        rf"\bhow many {_LONGEST} can (.+?) (?:take|read|handle|process|encode|accept|see)(?: at (?:most|once|a time))?\b",
        r"maximum sequence length of \1",
    ),
    (
        rf"\b(?:(?:max(?:imum)?|largest) number of (?:input )?{_LONGEST}|longest (?:input|text)|max(?:imum)? positions)\b",
        "maximum sequence length",
    ),
    (
        r"^(?:hi,? |so,? |ok,? )?(?:(?:i'm|i am|we're) trying to|i (?:want|need|would like) to|can (?:you|someone|anyone)"
        r"|could you|please|help me|does anyone know|how (?:do|can) (?:i|you|we))"
        r" ?(?:work out|figure out|find out|understand|know|calculate|compute|tell me|explain|derive|count)?\b,?",
        "",
    ),
    (r"[(,] ?(?:for |in |of )?(one|a single|single|per|each) (head|layer)(?: only| alone)?(?:\)|(?= in |,|$))", r" for one \2 "),
    (r"\b(?:attention )?(?:weights|scores|matrix|logits) (?:before|prior to) (?:the )?softmax\b", "attention scores"),
    (r"\battention (?:weights|scores|matrix|probabilities) after (?:the )?softmax\b", "attention weights"),
    (
        r"\bdot[- ]products (?:are |is )?(?:computed |needed |calculated )?(?:for|in) (?:the )?(?:self-?)?attention\b",
        "dot products",
    ),
    (
        r"\b(?:an?|one|each|every|single) (?:single )?(?:layer|rms)[- ]?norm(?:ali[sz]ation)?(?: layer| module)?\b(?! \w*dim)",
        "one layernorm",
    ),
    (r"\bwhat ((?:sequence |context )?length) makes (.+?) (as (?:expensive|costly) as) ", r"at what \1 is \2 \3 "),
    (r"\b(training flops|training cost) per (?:training )?step\b", r"\1"),
    (r"\b((?:each|every|one|a single|an?) (?:attention )?head)'s\b", r"| of \1 |"),
    (r"\b((?:the |one |an? |each |every |single )*(?:encoder |transformer )?(?:layer|block))'s\b", r"| of \1 |"),
    (r"\bon top of (?:the |an? )?(?:\[?cls\]?(?: token| vector| embedding| representation)?|bert|encoder|model|it)\b", "|"),
    (
        r"\b(?:in|for|of|consider|suppose|take|given) (?:a|an|the|this|our) (?:standard |vanilla |base |original )?"
        r"transformer(?: encoder| model)?\b(?=,| with| \(|\.|$)",
        "|",
    ),
    (
        r"\bhow (?:much|many) of (?=.*\b(?:account for|make up|go(?:es)? to|belongs? to|takes? up|comes? from|lies? in)\b)",
        "what share of ",
    ),
    (r"\b(one|an?|each|every|single) ((?:ro|al|distil)?bert[-\w]*|vit[-/\w]*) ((?:encoder )?(?:layer|block))\b", r"\1 \3 of \2"),
    (r"\((?=(?:[kmgt]i?b|percent|%)\))([^)]*)\)", r" in \1"),
    (
        r"\b(?:one|a single|single|each) ((?:multi-?head |self-)*attention|mha|ffn|mlp|feed-?forward)(?: network)? "
        r"(?:layer|block|sub-?layer|module)\b",
        r"\1 in one layer",
    ),
    (r"^(?:i have|we have|you have|there are|let|compare:?)\b", ""),
    (r"\bhow wide (?:is|are)\b", "what is the width of"),
    (r"\bhow (?:deep) (?:is|are)\b", "what is the depth of"),
    (r"\b(?:roughly|approximately|exactly|precisely|about)\b(?! \d)", ""),
    (r"\brgb |\bcolou?r(?= (?:patch|image))", ""),
    (r"\b(adam|adamw)'s\b", r"\1"),
    (r"\b(model|network|encoder|transformer)'s\b", r"\1"),
)


def plainly(text: str) -> str:
    """In small letters, without LaTeX's signs; symbols as `W_Q`, `q k v` as `qkv`, formulas by their names."""
    low = text.lower().replace("’", "'")
    low = re.sub(r"\\[dt]?frac\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", r"\1 / \2", low)
    low = re.sub(r"\\(?:text|mathrm|mathbf|operatorname|left|right)\b|[$`\"“”?!]", "", low)
    low = re.sub(r"\\top\b|ᵀ|\^\{?t\}?(?!\w)|\.t\b|\btransposed?\b|(?<=\b[qkv])'(?!\w)", "^t", low.replace("\\", ""))
    low = re.sub(r"\bw_?\{?_?\{?i\}?\^\{?([qkv])\}?(?!\w)", r"w_\1 of each head", low)
    low = re.sub(r"\bq\s*[·*@ ]?\s*k\s?\^t", "qk^t", low)
    for formula, name in (*FORMULAS, *DIVIDED):
        low = re.sub(formula, f"{name} ", low)
    low = re.sub(r"\bnon-embedding (params|parameters|weights)", r"\1 without embeddings", low)
    low = re.sub(rf"\b({'|'.join(_NUMBERS)})(?={_COUNTED})", lambda word: _NUMBERS[word[1]], low)
    low = re.sub(r"\bweights and bias(?:es| terms)\b|\bbias(?:es| terms) and weights\b", "parameters", low)
    for one, two, three in (("q", "k", "v"), ("query", "key", "value"), ("queries", "keys", "values")):
        low = re.sub(rf"\b{one}\s*[,/]?\s*{two}\s*(?:,|/|and|&|, and)?\s*{three}\b(?!\s*(?:,|and|\+|&)\s*w)", "qkv", low)
    low = re.sub(r"\((without|excluding|no|ignoring)([^)]*)\)", r" \1\2", low)
    if re.search(COUNTED_ANYWAY, low) and re.search(PARTS_WITHOUT_NORMS, low):
        raise GlassformerError(f"'{shown(text)}' is not understood: the norms are no part of that. Ask for each by itself.")
    low = re.sub(COUNTED_ANYWAY, "", low)
    low = re.sub(r"\bwith (?:all |the |its |their )*bias(?:es| terms)\b(?! (?:and|&|or|\w+ed)\b)", "", low)
    for pattern, plain in (*LEFT_OUT, *IN_OTHER_WORDS):
        low = re.sub(pattern, plain, low)
    return phrases.SYMBOL.sub(lambda found: f"{found[1]}_{found[2]}", low)
