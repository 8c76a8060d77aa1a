"""A question in plain words: small letters, symbols and formulas as names, `the head's queries` as `queries of the head`."""

from __future__ import annotations

import re

from glassformer.answers.questions import phrases
from glassformer.answers.questions.library_calls import in_words
from glassformer.answers.questions.stated import take_stated
from glassformer.answers.questions.wordings import (
    COUNTED_ANYWAY,
    DIVIDED,
    FORMULAS,
    IN_OTHER_WORDS,
    LEFT_OUT,
    NUMBERS,
    PARTS_WITHOUT_NORMS,
)
from glassformer.spec import GlassformerError, shown

_COUNTED = r"(?: (?:encoder|transformer|attention))? (?:layers|blocks|heads|classes|labels|tags|categories)\b(?!['’ -]?norm)"

_SUBSCRIPTS = str.maketrans({"ₖ": "_k", "ᵥ": "_v", "₁": "_1", "₂": "_2", "’": "'"})


# Capital letters that are a size beside these words, unless those are there, too.
_LETTERS = {
    r"\|\s*\{?V\}?\s*\|\s*=": (r"", r"(?!)", "vocabulary size ="),
    r"\b(?:[Pp]atch size )?P ?= ?(?=\d)": (r"patch|image|\bvit\b|\bcls\b", r"(?!)", "patch size = "),
    r"\bN ?= ?(?=\d)": (
        r"^(?=.*(?:param|weights))(?=.*(?:\bh ?=|d_?\{?ff|heads))",
        r"token|sequence|length|patch|image|word|position|input|context|scores",
        "n_layers = ",
    ),
}


def untitled(text: str) -> str:
    """A question without its number on the sheet and the points that it is worth."""
    text = re.sub(r"\s*[(\[]\d+ ?(?:points?|marks?|pts|p)\.?[)\]]", "", text, flags=re.I)
    return re.sub(r"^(?:exercise|question|problem|task|example|quiz|q|ex)\.?\s*[\d.]*\s*[:.)]\s+", "", text, flags=re.I)


def _typed(text: str) -> str:
    """As if typed on a plain keyboard: `dModel` as `d_model`, `d_{\\text{model}}` as `d_{model}`, BERT's `L=12, H=768, A=12`."""
    text = re.sub(
        r"\b(d|n|num|seq|batch|embed)(Model|Ff|FF|Head|Heads|Layers|Len|Size|Dim)\b",
        r"\1_\2",
        text.translate(_SUBSCRIPTS).replace("`", ""),
    )
    text = re.sub(r"\\(?:text|mathrm|mathbf|mathcal|operatorname)\s*\{([^{}]*)\}", r"{\1}", text)
    text = text.replace("\\times", "×").replace("\\cdot", "·").replace("{,}", ",")
    for letter, (beside, unless, said) in _LETTERS.items():
        if re.search(beside, text, flags=re.I | re.S) and not re.search(unless, text, flags=re.I):
            text = re.sub(letter, said, text)
    text = re.sub(r"\{\s*\{([^{}]*)\}\s*\}", r"{\1}", re.sub(r"\\[()\[\]]", " ", text))
    text = re.sub(
        r"\bL ?= ?(\d+), ?H ?= ?(\d+),? ?(?:and )?A ?= ?(\d+)", r"number of layers = \1, hidden size = \2, \3 heads", text
    )
    text = re.sub(
        r"(?<![\w}])\$?[A-Za-z](?:_\{?[a-z]\}?)? ?= ?(\d[\d,]*)\$? "
        r"(?=(?:attention |parallel )*(?:heads|layers|blocks|tokens|words)\b)",
        r"\1 ",
        text,
    )
    text = re.sub(r"\b(\d+) (million|thousand) (?=tokens|words)",
        lambda found: f"{int(found[1]) * (10**6 if found[2] == 'million' else 1000)} ", text)  # fmt: skip
    text = untitled(text)
    text = re.sub(r"\s*=\s*(?:\?+|_+|…|\.\.\.)\s*$", "", text)
    text = re.sub(r"(?<=\?) +\d[\d,.]* ?[KMB]?(?:(?:,| or|, or) \d[\d,.]* ?[KMB]?)+ ?\??$", "", text)
    text = re.sub(
        r"\b(?:d_?k|d_?head|head_dim)\s*=\s*(?:d_?v\s*=\s*)?d_?model\s*//?\s*(?:h|(?:n_|num_)?heads)\s*=\s*(\d+)",
        r"d_k = \1",
        text,
    )
    low = re.sub(r"\bno\. of\b|# ?(?:of )?(?=[a-z])", "number of ", text.lower())
    return re.sub(r"\bd(model|ff)\b", r"d_\1", low)


def plainly(text: str) -> str:
    """In small letters, without LaTeX's signs; symbols as `W_Q`, `q k v` as `qkv`, formulas by their names."""
    low = " ".join(in_words(_typed(text)).split())
    low = re.sub(r"\\[dt]?frac\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", r"\1 / \2", low)
    low = re.sub(r"\?\s+(?=[a-z0-9(])", ". ", low)
    low = re.sub(r"\b(\d+(?:\.\d+)?)k\b(?![-_^])", lambda found: f"{float(found[1]) * 1000:.0f}", low)
    low = re.sub(r"\\(?:text|mathrm|mathbf|operatorname|left|right)\b|[$`\"“”?!]", "", low)
    low = re.sub(r"\\top\b|ᵀ|\^\{?t\}?(?!\w)|\.t\b|\btransposed?\b|(?<=\b[qkv])'(?!\w)", "^t", low.replace("\\", ""))
    low = re.sub(r"\bw_?\{?_?\{?i\}?\^\{?([qkv])\}?(?!\w)", r"w_\1 of each head", low)
    low = re.sub(r"\bq\s*[·*@ ]?\s*k\s?\^t", "qk^t", low)
    for formula, name in (*FORMULAS, *DIVIDED):
        low = phrases.compiled(formula).sub(f"{name} ", low)
    low = re.sub(r"\bnon-embedding (params|parameters|weights)", r"\1 without embeddings", low)
    low = re.sub(rf"\b({'|'.join(NUMBERS)})(?={_COUNTED})", lambda word: NUMBERS[word[1]], low)
    low = re.sub(r"\bweights and bias(?:es| terms)\b|\bbias(?:es| terms) and weights\b", "parameters", low)
    for one, two, three in (("q", "k", "v"), ("query", "key", "value"), ("queries", "keys", "values")):
        low = re.sub(rf"\b{one}\s*[,/]?\s*{two}\s*(?:,|/|and|&|, and)?\s*{three}\b(?!\s*(?:,|and|\+|&)\s*w)", "qkv", low)
    low = re.sub(r"\bd_?k\s*=\s*d_?v\s*=\s*d(?:_?model)?\s*=\s*(\d+)", r"d_k = \1, d_v = \1, d_model = \1", low)
    low = re.sub(r"\bd_?k\s*=\s*d_?v\s*=\s*(\d+)", r"d_k = \1, d_v = \1", low)
    low = re.sub(r"\((without|excluding|no|ignoring)([^)]*)\)", r" \1\2", low)
    if re.search(COUNTED_ANYWAY, low) and re.search(
        PARTS_WITHOUT_NORMS, take_stated(low)[1]
    ):  # `8 heads` are a size, and no part
        raise GlassformerError(f"'{shown(text)}' is not understood: the norms are no part of that. Ask for each by itself.")
    low = re.sub(COUNTED_ANYWAY, "", low)
    low = re.sub(r"\bwith (?:all |the |its |their )*bias(?:es| terms)\b(?! (?:and|&|or|\w+ed)\b)", "", low)
    for pattern, plain in (*LEFT_OUT, *IN_OTHER_WORDS):
        low = phrases.compiled(pattern).sub(plain, low)
    return phrases.SYMBOL.sub(lambda found: f"{found[1]}_{found[2]}", low)
