"""What stands around a question, `A model has hidden size 768 and 12 heads`: it sets a scene, and asks nothing."""

from __future__ import annotations

import re

from glassformer.answers.questions.asides import changes_nothing
from glassformer.answers.questions.encoders import full_name, letters
from glassformer.answers.questions.glossary import PART_NAMES
from glassformer.answers.questions.name_matching import looked_up
from glassformer.answers.questions.phrases import HEAD, MODEL
from glassformer.answers.questions.stated import Stated, take_stated

_ASKS = (
    r"(?:what|which|how|compute|calculate|find|determine|derive|give|state|estimate|count|by what|by how|at what|work out"
    r"|name|write|evaluate|"
    r"in which|for which|if|into how|total|number)\b"
)
_PLAINLY_ASKS = r"(?:what|which|how|compute|calculate|find|determine|derive|estimate|by what|by how|at what|work out)\b"
_BREAK = re.compile(rf"(?:(?<=[a-z0-9)\]|])\s*[.;:]\s+(?=[a-z(|])|,\s+(?=(?:so |then )?{_ASKS}))")
# Words that set a scene and ask nothing.
SCENE = frozenset(
    """if when
    a an the this that our your we you i it its is are was be has have having had with of in for on at and each uses use
    using used consider considering suppose supposing assume assuming assumed given let take imagine say where there model
    network transformer encoder bert-like bert-style vanilla standard simple small single typical original one layer block
    layers blocks stack stacked per heads head dimension size hidden input inputs sequence sentence tokens token batch
    following setting setup configuration parameters hyperparameters config as follows which consists consisting contains
    containing like architecture shape to image images vit vision into split divided cut patches patch question fill blank q
    from by cls standard multi-head multihead self-attention attention you also your pretraining training states take can
    hidden-states embedding tensor tensors same passed through sub-word subword model vectors vector embeddings words answer
    true false process processes
    train trained build building built design designing designed implement implementing want document text passage
    then paper section chapter figure example exercise lecture course exam""".split()
)
_PARTS = frozenset("attention self-attention multi-head multihead heads head embeddings token tokens patches layer block".split())


# How a clause begins that narrows what is asked, `with a causal mask, …`: no word of it is passed over.
_QUALIFIES = re.compile(
    r"(?:with|without|in|for|on|at|if|when|while|during|after|before|under|using|by|per|besides|beside|outside|inside|other|apart"
    r"|aside|except|excluding|only|not|no|plus|minus|unlike|instead|as|from|squared|compared|relative|across|over|through|once"
    r"|unless|despite|between|among|within|beyond|above|below|up|via|because|since|whenever)\b"
)

_SUPPOSING = (
    r"^[( ]*(?:(?:in|for) this (?:part|question|exercise|problem|task),? )?"
    r"(?:approximate(?:ly)?[ —–,-]*)?(?:(?:suppose|assume|assuming|let us|consider|note|here)(?: that)? )?"
)


# How a clause begins that says of how much: `in each head with d_k = 12, how many …`, `for one layer of a 6-layer encoder, …`.
_OF_ONE = re.compile(
    r"(?:in|for|of|inside|within|per) (?:just |only )?(?:one|each|every|single|a single) "
    r"(?:attention head|head|(?:encoder |transformer )?(?:layer|block))\b(?!['’ -]?norm)"
)


def without_premises(text: str, *, lenient: bool = False) -> tuple[Stated, str]:
    """The sizes that are said before the question, and the question itself; all of it where something else is said there.

    Read leniently, something else may be said as long as no answer can hang on it.
    """
    parts = [part.strip() for part in _BREAK.split(text) if part.strip()]
    if len(parts) < 2:
        return (), text
    stated: dict[str, str] = {}
    asking = next(
        filter(None, ([place for place, part in enumerate(parts) if re.match(rf"(?:so |then |and )?{asks}", part)]
            for asks in (_PLAINLY_ASKS, _ASKS))), [])  # fmt: skip
    last = re.sub(r"^(?:so|then|and) ", "", parts.pop(asking[-1] if asking else -1)).rstrip(" .")
    kept, left_out = [], ""
    for part in parts:
        if re.fullmatch(rf"{_SUPPOSING}\|? ?without [^|]+\|?[ .)]*", part):
            left_out += f" {re.sub(_SUPPOSING, '', part).strip('| .)')}"
            continue
        part = re.sub(
            r"\b(\d+)( (?:identical |stacked |encoder |transformer )*)(?:layers|blocks)\b", r"number of layers = \1 ", part
        )
        named = re.search(rf"{full_name()}|{MODEL}", part)
        said, rest = take_stated(part.replace(named[0], " ") if named else part)
        words = re.findall(r"[^\s,|()\[\].:;=]+", rest)
        scope = re.search(rf"{HEAD}|\b(?:in|per|for) (?:one|each|a single) layer\b", part) if lenient else None
        scope = scope or (_OF_ONE.match(part) if f"{part}," in text else None)
        odd = [word for word in words if word not in SCENE and re.search(r"\w", word)]
        known = not odd or (lenient and not _QUALIFIES.match(part) and changes_nothing(" ".join(odd)))
        other = named and (asked := re.search(rf"{full_name()}|{MODEL}", last)) and letters(asked[0]) != letters(named[0])
        known = known and not other and not ("per" in words and scope is None)
        known = known and not re.match(r"(?:so |then |and )?(?:what|which|how)\b", part)  # it asks, and sets no scene
        if not known or not (said or lenient):
            kept.append(part)
            continue
        last = f"{last} of {named[0]}" if named and not re.search(rf"{full_name()}|{MODEL}", last) else last
        last = f"{last} {scope[0]}" if scope and scope[0] not in last else last
        stated |= {name: value for name, value in said if name not in stated}
        spoken_of = " ".join(word for word in words if word in _PARTS)
        if re.fullmatch(_BARE, last) and (
            layer := re.search(r"\b(?:one|a single|an?) (?:transformer |encoder )*(?:layer|block)\b", rest)
        ):
            last = f"{last} of {layer[0]}"
        elif re.fullmatch(_BARE, last) and looked_up(spoken_of, PART_NAMES):
            last = f"{last} of {spoken_of}"
    return tuple(stated.items()), ", ".join([*kept, last]) + left_out


_BARE = re.compile(
    r"(?:how many|what is|compute|calculate|find|total|the|number of|trainable|learnable|parameters|params|weights|flops"
    r"|does|it|have|has|are"
    r"|there|in total|\s|count|memory|,|with|without|biases?|include|including|ignoring|and)+"
)
