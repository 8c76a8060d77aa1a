"""Parses a question into a frame: its quantity, nouns, models, sizes and scopes; each word is used once."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from glassformer.answers.english.sizes import stated
from glassformer.answers.english.words import Tag, nouns, tables, tagged
from glassformer.configs.reading import Request

LISTS: dict[str, list[str]] = tables("forms")["lists"]
HARMLESS, LEAVABLE, INCLUDED = {*LISTS["harmless"]}, LISTS["leavable"], LISTS["included"]
SCENERY = HARMLESS | {*LISTS["scenery"]}
WHOLE = ("model", "encoder", "vector", "cls")  # nouns that do not name a part
OF_WHOLE_MODEL = {"decoder", "cross", "cross_scores", "cross_weights"}  # nouns that only an encoder-decoder has
NOTHING = Tag("", "", "")


@dataclass
class Frame:
    """The content of a question; `left` are the words that could not be used."""

    text: str
    sizes: dict[str, int]
    beside: Request | None = None  # the spec given with the question
    quantities: list[str] = field(default_factory=list)
    nouns: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)  # sizes without a number
    without: list[str] = field(default_factory=list)
    compares: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)
    texts: dict[str, Tag] = field(default_factory=dict)  # each noun or flag as written
    dtype: str = ""
    layer: str = ""  # one, all
    head: str = ""  # one, all, task
    left: list[Tag] = field(default_factory=list)

    @property
    def made_up(self) -> bool:
        """Whether the model is defined by the sizes in the question."""
        return not self.models and self.beside is None and bool(self.sizes)

    @property
    def parts(self) -> list[str]:
        return [name for name in self.nouns if name not in WHOLE]

    def only(self, *flags: str) -> bool:
        """Return whether it has no other flags and no comparison."""
        return self.flags <= {*flags, *HARMLESS} and not self.compares


def framed(text: str, beside: Request | None) -> Frame:
    """Parse a question into a frame."""
    found = stated(tagged(text))
    frame, (scene, question) = Frame(text, found.sizes, beside, left=found.twice), _sentences(found.rest)
    around = _left_out(frame, scene)
    frame.left += [tag for tag in around if tag.kind not in SCENERY or tag.value in OF_WHOLE_MODEL]
    frame.left += [tag for tag in scene if tag.value in frame.without and tag.value not in INCLUDED]
    frame.models += [tag.value for tag in around if tag.kind == "model"]
    frame.flags |= {"class_token"} & {tag.kind for tag in around}
    for tag in _scoped(frame, _left_out(frame, question)):
        _place(frame, tag)
    if {"value_matrix", "W_V"} & {*frame.nouns} and {"q", "k"} <= {*frame.nouns}:  # `query, key and value matrices`
        frame.nouns = ["W_Q", "W_K", "W_V", *(name for name in frame.nouns if name not in ("q", "k", "value_matrix", "W_V"))]
    if {"q", "k", "v"} <= {*frame.nouns}:  # `Q, K and V projections` are one noun
        frame.nouns = ["qkv", *(name for name in frame.nouns if name not in ("q", "k", "v", "projections"))]
    outer = {nouns()[name].inside for name in frame.nouns}  # `the first linear layer of the FFN` is that layer
    frame.nouns = [name for name in frame.nouns if name not in outer]
    _order(frame, question)
    if not frame.parts:  # `The FFN has 200 units. How many parameters does it have?`
        frame.left += [tag for tag in around if tag.kind == "noun" and tag.value not in WHOLE]
    return frame


def _sentences(tags: list[Tag]) -> tuple[list[Tag], list[Tag]]:
    """Split into context and question: the sentence with the quantity, or with a size without a number."""
    sentences: list[list[Tag]] = [[]]
    for tag in tags:
        if tag.kind == "sign" and tag.text in ".?!;:":
            sentences.append([])
        else:
            sentences[-1].append(tag)
    for kind in ("quantity", "how_many", "size"):
        asking = [one for one in sentences if any(tag.kind == kind for tag in one)]
        if len(asking) == 1:
            return [tag for one in sentences if one is not asking[0] for tag in one], asking[0]
        if asking:
            break  # two questions: everything must be used
    return [], tags


def _order(frame: Frame, question: list[Tag]) -> None:
    """Set whether nouns are listed or nested; `more than A does B have` names the smaller one first."""
    places = [place for place, tag in enumerate(question) if tag.kind == "noun" and tag.value in frame.parts]
    gaps = [any(tag.text == "," for tag in question[one:two]) for one, two in pairwise(places)]
    frame.flags |= {"side by side"} if all(gaps) else {"mixed"} if any(gaps) else set()
    kinds = [tag.kind for tag in question]
    if "than" in kinds and not {"model", "noun"} & {*kinds[: kinds.index("than")]}:
        frame.models, frame.nouns = frame.models[::-1], frame.nouns[::-1]


def _place(frame: Frame, tag: Tag) -> None:
    lists = {"quantity": frame.quantities, "noun": frame.nouns, "model": frame.models, "size": frame.asked}
    if tag.kind in lists:
        frame.texts[tag.value] = tag
        lists[tag.kind] += [tag.value] if tag.value not in lists[tag.kind] else []
    elif tag.kind == "dtype" and not frame.dtype:
        frame.dtype = tag.value
    elif tag.kind in LISTS["comparing"]:
        frame.compares.add(tag.kind)
    elif tag.kind in ("number", "unknown", "dtype", "without") or (tag.kind == "sign" and tag.text not in ",=()[]+.?!:;"):
        frame.left.append(tag)
    elif tag.kind not in ("sign", "one", "including"):
        frame.flags.add("dims" if tag.kind == "dim" and tag.plural else tag.kind)
        frame.texts[tag.kind] = tag


def _left_out(frame: Frame, tags: list[Tag]) -> list[Tag]:
    """Extract `without biases and norms` and `biases excluded`; `including biases` is the default."""
    rest: list[Tag] = []
    place = 0
    while place < len(tags):
        tag, place = tags[place], place + 1
        if tag.kind not in ("without", "including"):
            rest.append(tag)
            continue
        allowed, named = LEAVABLE if tag.kind == "without" else INCLUDED, list[Tag]()
        if tag.text.lower().endswith("cluded") and rest and rest[-1].value in allowed:
            named.append(rest.pop())
        while not named or tags[place - 1].text == ",":
            after = next((i for i in range(place, len(tags)) if tags[i].kind not in ("all", "one")), len(tags))
            if after == len(tags) or tags[after].value not in allowed:
                break
            named.append(tags[after])
            place = after + 1
            place += place + 1 < len(tags) and tags[place].text == "," and tags[place + 1].value in allowed
        if place < len(tags) and tags[place].kind == "noun" and tags[place].value not in WHOLE:
            frame.left.append(tags[place])  # `without the biases of the attention`, `BERT-base with a pooler`
        frame.without += [one.value for one in named] if tag.kind == "without" else []
        rest += [] if named or tag.kind == "including" else [tag]
        frame.flags |= {"with_norms"} if tag.kind == "including" and "norm" in (one.value for one in named) else set()
    return rest


def _scoped(frame: Frame, tags: list[Tag]) -> list[Tag]:
    """Extract layers and heads (`in one layer`, `per head`, `all layers`), and whether one norm or all are meant."""
    rest: list[Tag] = []
    for place, tag in enumerate(tags):
        before = next((other for other in reversed(tags[:place]) if other.kind != "model"), NOTHING)
        after = tags[place + 1] if place + 1 < len(tags) else NOTHING
        one = before.kind == "one" or before.number == 1
        if tag.kind == "layer":
            frame.layer = "one" if one and not tag.plural else frame.layer or ("all" if tag.plural else "one")
        elif tag.kind == "head":
            single = not tag.plural and (one or " " in tag.text)  # `attention head`; `head` alone may be a task head
            frame.head = "one" if single or frame.head == "one" else "all" if tag.plural else "task"
        elif not (tag.number == 1 and after.kind in ("layer", "head")):
            rest.append(tag)
        if tag.value == "norm" and not tag.plural and after.value != "params":  # `LayerNorm parameters` means all norms
            frame.flags.add("one_norm" if one else "a_norm")
        if tag.kind == "model" and any(other.kind == "counted layer" and other.plural for other in tags[:place]):
            frame.left.append(tag)  # `2 layers of BERT-base` are not a BERT-base of 2 layers
        if tag.text.lower() == "per" and after.kind not in ("layer", "head", "noun", "epoch", "model"):
            frame.left.append(after)
    return rest
