"""Questions whose one number stands in words: a row of the position table, the scaled score of one dot product."""

from __future__ import annotations

import re

from glassformer.answers.questions.given_problem import ASKED, ROUNDING, SCALED, WIDTH, GivenNumbers, N, only_scene

MOST_POSITIONS = 32  # features of a position that are worth writing out


_TABLE = r"\b(?:(?:sinusoidal|fixed|absolute) )*(?:position(?:al)? (?:encodings?|embeddings?)|pe)(?: vector)?\b"
_POSITION = r"\bpos(?:ition)?\s*(?:=|:|\bis\b|number|index)?\s*(\d+)\b"
_MODEL = (
    r"\b(?:d_?\{?model\}?|d|(?:embedding |model |hidden )?(?:dimension(?:ality)?|size))\s*(?:=|:|is"
    r"|of)\s*(?:d(?:_?model)?\s*=\s*)?(\d+)\b"
)
# What is no row of the table, but something done with it.
_NO_ROW = r"\b(?:dot|products?|scores?|logits|attention|softmax|weights?|between|two|three|layer|activations?)\b"


def of_a_position(text: str) -> GivenNumbers | None:
    """`the positional encoding at position 1 for d_model = 4`: all of its features."""
    position, width = re.search(_POSITION, text), re.search(_MODEL, text)
    if not re.search(_TABLE, text) or position is None or width is None or int(width[1]) > MOST_POSITIONS:
        return None
    if len(re.findall(_POSITION, text)) > 1 or len(re.findall(_MODEL, text)) > 1 or re.search(_NO_ROW, text):
        return None
    rest = re.sub(_TABLE, " ", re.sub(_MODEL, " ", re.sub(_POSITION, " ", text)))
    rest = re.sub(r"\bsines?(?: and |/|-)cosines?\b", " ", rest)  # one of the two alone is half of the row
    rest = re.sub(r"\b(?:sinusoidal|original|full|complete|0-indexed|zero-indexed)\b", " ", rest)
    if not only_scene(rest):
        return None
    return GivenNumbers({"position": int(position[1]), "d_model": int(width[1])}, "pe")


_PRODUCT = (
    rf"\b(?:dot[- ]product(?:s)?(?: (?:between|of) (?:[a-z]+ ){{1,6}}?)?|q ?[·.⋅*] ?k|q\^t ?k|qk\^t)\s*(?:=|is|equals"
    rf"|of)?\s*({N})"
    r"(?!\w|\.\d)"
)
_OF_THE_MODEL = (
    r"\b(?:in|of|for|and|with|,)? ?(?:an? |the )?(?:(?:model|encoder|transformer) (?:of|with|has|having) (?:an? )?)?"
    r"(?:d_?\{?model\}?|(?:model |hidden |embedding )?(?:width|size|dimension))\s*(?:=|is|of)?\s*(\d+)\b"
)


def of_one_product(text: str) -> GivenNumbers | None:
    """`a dot product of 16 with d_k = 64`: the scaled score."""
    product, width = re.search(_PRODUCT, text), re.search(WIDTH, text)
    if product is None or width is None:
        return None
    if re.search(r"\bscaled (?:attention )?$", text[: product.start()]):
        return None  # it is divided already
    rest = re.sub(WIDTH, " ", f"{text[: product.start()]} {text[product.end() :]}")
    model = re.search(_OF_THE_MODEL, rest)
    rest = f"{rest[: model.start()]} {rest[model.end() :]}" if model else rest
    rest = re.sub(r"\b(?:whose|a head|head|key|query|vectors?)\b", " ", rest)
    if not re.search(SCALED, rest) or re.search(r"softmax|weight|unscaled|\braw\b|before", rest):
        return None
    rest = re.sub(dict(ASKED)["scores"], " ", re.sub(ROUNDING, " ", rest))
    if not only_scene(rest):
        return None
    document = {"kind": "attention", "dot": [float(product[1].replace("−", "-"))], "d_k": int(width[1])}
    return GivenNumbers(document | ({"d_model": int(model[1])} if model else {}), "scores")
