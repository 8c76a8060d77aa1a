"""What a question with numbers of its own is read into, and the words beside them that change nothing."""

from __future__ import annotations

import re
from typing import Any, NamedTuple


class GivenNumbers(NamedTuple):
    """A problem as a file would state it, the quantity asked for, whether others are, too, and which one of its numbers is."""

    document: dict[str, Any]
    asked: str
    also: bool = False
    place: int | None = None


N = r"[-−+]?\d+(?:\.\d+)?"
SCALED = (
    r"\bscaled\b|\b(?:after|with|apply\w*|before|and|by) (?:the )?scaling\b|(?:/|divided by|scaled by|dividing"
    r" by)\s*(?:the )?(?:sqrt|√|square root)"
    r"|\b(?:scal(?:e|ing) (?:by|factor)|divid\w+ by) (?:the )?(?:of )?(?:1/)?(?:sqrt|√|square root)"
)
WIDTH = r"\b(?:d_?\{?k\}?|(?:key|head) (?:dimension|size))(?: d_?k)?\s*(?:=|is|of)\s*(\d+)"
# What may be asked for, by the words for it; what comes later in the work comes first here.
ASKED = (
    ("output", r"\b(?:(?:final|attention|self-attention|head|context|attended|resulting|layer) )*(?:outputs?|context vectors?)"
        r"(?: vectors?| matrix)?\b|\bweighted (?:sum|average|combination)(?: of (?:the )?values?(?: vectors?)?)?\b"),
    ("weights", r"\battention (?:weights?|distribution|probabilit(?:y|ies)|coefficients?|matrix)(?: matrix| vector)?\b"
        r"|\bsoftmax(?: (?:weights|probabilities|output|function|operation|distribution))?\b"),
    ("scores", r"\bscaled (?:attention |dot[- ]product )*(?:scores?|logits|dot[- ]products?|values?)(?: matrix)?\b(?! attention)"
        r"|\b(?:attention |alignment )?(?:scores?|logits)(?: matrix)?\b"),
    ("dot", r"\b(?:raw|unnormali[sz]ed|unscaled) (?:attention )*(?:scores?|logits)\b|\bdot[- ]products?\b(?!(?: |-)attention)"),
)  # fmt: skip
ROUNDING = (
    r"[,(]? ?\b(?:round(?:ed|ing)?|give|correct|accurate|up|to)\b(?: (?:your )?(?:answers?|results?|it|them))? ?(?:to|with)? "
    r"(?:\d|two|three|four) (?:decimals?(?: places?)?|significant (?:figures|digits)|digits)\)?"
)
# Words that set the scene and change nothing; whatever else is said makes it another question.
_SCENE = frozenset(
    """what is are the of a an if given let suppose consider compute calculate find determine evaluate give for with and to in by
    using use we have has then after applying apply applied result results obtained resulting following this that these its their
    on from vector vectors token tokens word words query queries key keys value values matrix matrices attention self-attention
    scaled dot-product dot product mechanism corresponding respectively assume assuming where when each one single be you your as
    show me work out get want row row-wise rows over across per position step operation function elements entries numbers
    scores logits score weights raw between two three input activation activations layer pass passed through feature features
    take toy example simple transformer head so unscaled q k v x s corresponding sequence at it do does equal
    computes computed return returns yield yields produce since because""".split()
)


def only_scene(text: str) -> bool:
    """Whether only words are left that change nothing: no number, no other operation."""
    return all(word in _SCENE for word in re.findall(r"[^\s,.:;()|?!=$]+", text))
