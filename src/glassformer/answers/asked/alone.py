"""Questions that stand alone: the encoder is named, or its sizes are said; what is not said must not matter."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from glassformer.algebra.ledger import count
from glassformer.answers.asked.answer import Answer, Line, Other
from glassformer.answers.asked.any_size import ANY_WIDTH, IN_SYMBOLS, as_the_paper_writes, in_symbols, of_the_best_known
from glassformer.answers.asked.halves import IN_EVERY_LAYER, require_no_half
from glassformer.answers.asked.own_head import head_of_logits
from glassformer.answers.questions import Question
from glassformer.answers.questions.encoders import encoder_named, presets_of
from glassformer.spec import GlassformerError, shown
from glassformer.spec.reading import Request, request

Asking = Callable[[Question, Request], Answer]
Fields = dict[str, Any]

# What may be left unsaid, and two values for it: an answer that is the same for both does not depend on it.
EITHER: dict[str, tuple[int, int]] = {
    "d_k": (8, 12), "heads": (1, 2), "d_ff": (4, 5), "layers": (1, 2), "vocab": (11, 13), "positions": (12, 14),
    "classes": (3, 5), "t": (24, 36), "patch": (2, 3), "image": (4, 6), "window": (4, 6),
}  # fmt: skip
ORDER = ("d_model", *EITHER)
EXAMPLES = {
    "d_model": 512,
    "d_k": 64,
    "heads": 8,
    "layers": 6,
    "vocab": 30522,
    "t": 128,
    "positions": 512,
    "patch": 16,
    "image": 224,
}
OF_A_PART = ("params", "bytes", "flops", "macs", "shape", "elements", "complexity", "space", "share", "ratio", "difference")
ONE_HEAD = ("shape", "elements", "bytes", "flops", "macs")  # where heads are not spoken of, one is meant
IMAGES = ("patches", "embeddings.patches", "embeddings.pixels", "patch", "class_token")
TABLES = {"tokens": "vocab", "embeddings": "vocab", "E_token": "vocab", "positions": "positions", "E_position": "positions"}
HEADS = {
    "head.classify": "classify",
    "head": "classify",
    "outputs": "classify",
    "head.mlm": "mlm",
    "head.tag": "tag",
    "head.nsp": "pretrain",
}


def answered_alone(question: Question, ask: Asking) -> Answer:
    """The answer to a question that has no spec beside it."""
    if question.kind in ("complexity", "space") and {name for name, _ in question.stated} <= {"window"} and not question.model:
        local: Fields = {"window": 128} if question.stated else {}
        return ask(question, request("transformer-base", t=512, **local))  # the class is that of any encoder
    if question.kind == "masking":
        length: Fields = {name: int(value) for name, value in question.stated if name == "t"}
        wide = request("bert-base", positions=10**9, **length)._replace(label="BERT")
        return ask(replace(question, model="", stated=()), wide)
    if question.kind == "reckoned":
        return ask(replace(question, model=""), request("layer")._replace(label="these numbers"))
    if given := dict(question.given).get("parameters"):
        return ask(question, request("layer")._replace(label=f"a model of {given:,} parameters"))
    if question.model:
        return _of_the_named(question, ask)
    if question.kind == "width" and not _said(question) and re.search(r"\bthe transformer\b", question.text.lower()):
        return of_the_best_known([ask(question, request(f"transformer-{size}")) for size in ("base", "big")])
    return _of_the_stated(question, ask)


def _of_the_named(question: Question, ask: Asking) -> Answer:
    """The encoder that is named; where a family is, the one that has the sizes said, or any where all give the same."""
    meant = presets_of(question.model)
    if question.kind == "patches" and not re.search(r"\d", question.model) and {"image", "patch"} <= dict(question.stated).keys():
        return _of_the_stated(replace(question, model=""), ask)  # whatever else it is, it cuts that image into these patches
    if not meant:
        raise GlassformerError(
            f"'{shown(question.text)}' names an encoder that is not known here. 'glassformer presets' lists the names."
        )
    require_no_half(question, meant)
    if len(meant) == 1:
        return _with_pretraining(_of_each_token(ask(question, _with_its_head(meant[0], question))))
    found, refused = [], None
    for name in meant:
        try:
            found.append(ask(question, request(name)))
        except GlassformerError as error:  # another size than the question states, or not understood
            refused = refused or error
    if found and all(answer.value == found[0].value for answer in found):
        return found[0]
    if len(found) > 1:
        return of_the_best_known(found)
    if not found and _said(question):  # a BERT of one's own
        return ask(question, request(meant[0], **_said(question)))
    if not found and refused is not None:
        raise refused
    return ask(question, request(encoder_named(question)))


def _with_pretraining(answer: Answer) -> Answer:
    """The parameters of all of a model, with those of the heads that it was pre-trained with: published counts may have them."""
    question, spec = answer.question, answer.asked.spec
    part = (
        question.target or question.one_layer or question.one_head or question.every_layer or question.without or question.stated
    )
    if question.kind != "params" or part or spec.head != "none" or spec.reads != "tokens":
        return answer
    found = []
    for head, said in (("mlm", "with the MLM head"), ("pretrain", "with the heads of pre-training")):
        with suppress(GlassformerError):
            found.append(Other(said, count(spec.replace(head=head)).total))
    return replace(answer, others=(*answer.others, *found))


def _with_its_head(name: str, question: Question) -> Request:
    """The encoder named, with the head that is spoken of where it has none: `a classifier with 3 labels on top of BERT-base`."""
    found, said = request(name), _said(question)
    if said.get("share_layers") == "None":  # every layer with weights of its own
        return request(name, share_layers=None)
    if said and {*said} <= {"vocab", "layers", "positions"} and re.search(r"\bwould\b|\bhad\b", question.text.lower()):
        return request(name, **said)  # one that differs from it in this alone
    if "image" in said and found.spec.reads == "image":  # the same model at another resolution
        return request(name, image=said["image"])
    head = _parts(question, said).get("head")
    if head is None or found.spec.head != "none" or (head == "classify" and "classes" not in said):
        return found
    return request(name, head=head, **({"classes": said["classes"]} if "classes" in said else {}))


def _of_the_stated(question: Question, ask: Asking) -> Answer:
    """The encoder that has the sizes said; each size that is not said is tried twice, and refused where it matters."""
    question = _of_all_of_it(_of_one_norm(question))
    if question.inner is not None and question.kind == "change":
        question = _in_the_long_run(question)
    said = _said(question)
    stated = tuple((name, str(value)) for name, value in said.items())
    question = replace(question, stated=stated, one_layer=question.one_layer or ("layers" not in said and _of_a_layer(question)))
    both = _of_so_many_heads(question, said, ask)
    question = replace(question, one_head=True) if both and _of_one_head(question) else question
    open_fields = [name for name in ORDER if name not in said and _has(name, question, said)]
    first = ask(question, _encoder(question, said, {}))
    matters = [name for name in open_fields if _value(ask(question, _encoder(question, said, {name: 1}))) != _value(first)]
    missing = [name for name in matters if not _understood(name, question)]
    if missing and question.kind in ("share", "ratio", "change") and question.measure == "params" and not question.without:
        return _of_any_width(question, ask)
    if missing and {*missing} <= {"d_model", "d_k", "heads"} and question.kind == "params" and IN_SYMBOLS.search(question.text):
        return in_symbols(lambda **sizes: ask(question, _encoder(question, sizes, {})))
    if missing and not said:
        encoder_named(question)  # says that none is named
    if missing == ["t"] and _of_each_token(first) is not first:
        return _of_each_token(first)
    if missing:
        examples = ", ".join(f"'{name} = {EXAMPLES.get(name, 2)}'" for name in missing)
        raise GlassformerError(
            f"'{shown(question.text)}' leaves open {' and '.join(missing)}: say {examples}, or put an encoder behind it, as in "
            "bert-base."
        )
    shown_fields = {**said, **{name: getattr(first.asked.spec, "ffn_width" if name == "d_ff" else name) for name in matters}}
    usual = {"d_ff": f"d_ff = 4 · d_model = {first.asked.spec.ffn_width}", "layers": "one layer", "heads": "one head"}
    usual["d_model"] = f"d_model = heads · d_k = {first.asked.spec.d_model}"
    if not said:
        shown_fields, usual["d_ff"] = {}, "d_ff = 4 · d_model"
    assumed = tuple(usual[name] for name in matters)
    label = " ".join(
        ["encoder" if "layers" in shown_fields else "layer", *(f"{name}={value}" for name, value in shown_fields.items())]
    )
    convention = f"{first.convention}; {', '.join(assumed)}, as nothing else is said" if assumed else first.convention
    if {"heads", "d_k"} <= set(open_fields) - set(matters) and any("head" in line.symbols for line in first.lines):
        convention += "; shown for one head, and the same for any number of them"
    paper = as_the_paper_writes(question, lambda **more: ask(question, _encoder(question, said | more, {})))
    others = (*(o for o in first.others if o.excuses), *both, *first.others, *paper)
    first = replace(first, others=tuple({o.value: o for o in reversed(others) if o.value != first.value}.values())[::-1])
    if question.kind == "change" or not said:  # what is compared is made up, and only how the two compare is not
        first = replace(first, lines=tuple(replace(line, numbers="") for line in first.lines))
    also = _encoder(question, shown_fields, {name: 1 for name in open_fields if name not in (*shown_fields, *matters)})._replace(
        label=label
    )
    return replace(first, asked=first.asked._replace(label=label), convention=convention, assumed=assumed, also=also)


def _of_so_many_heads(question: Question, said: Fields, ask: Asking) -> tuple[Other, ...]:
    """A width and that of a head, and no number of heads: there may be one, or as many as fill the width."""
    width, d_k = said.get("d_model"), said.get("d_k")
    if question.one_head or "heads" in said or not width or not d_k or width % d_k or width == d_k:
        return ()
    found = [(heads, ask(question, _encoder(question, said | {"heads": heads}, {}))) for heads in (1, width // d_k)]
    return tuple(
        Other(f"{heads} head{'s' * (heads > 1)}{convention}", value)
        for heads, answer in found
        for convention, value in (
            ("", answer.value),
            *((f", {other.convention}", other.value) for other in answer.others if other.excuses and not other.code),
        )
    )


def _of_one_head(question: Question) -> bool:
    """Whether a matrix or a tensor is asked for where no head is spoken of: then W_Q is d_model × d_k, as it is written."""
    parts = (question.target or "-").split(",")
    matrices = question.kind in ("params", "bytes") and all(part in ("qkv", "W_Q", "W_K", "W_V", "W_O") for part in parts)
    return (matrices or question.kind in ("shape", "elements")) and "head" not in question.text.lower()


def _of_any_width(question: Question, ask: Asking) -> Answer:
    """How parts of an encoder of no size compare: by their matrices alone, since biases and norms weigh less the wider it is."""
    bare = ("biases", "norms")
    inner = replace(question.inner, without=bare) if question.inner else None
    found = _of_the_stated(replace(question, without=bare, inner=inner), ask)
    return replace(found, convention=f"{ANY_WIDTH}; {found.convention}")


def _of_each_token(answer: Answer) -> Answer:
    """The dimension of a tensor whose length is not spoken of: how many features each token has there."""
    singular = re.search(r"\bdimension(?:ality)?\b|\bsize\b(?=.*\bvector\b)|\bhow many dim", answer.question.text.lower())
    along = answer.lines and "batch" in answer.lines[0].symbols
    if not (singular and along and isinstance(answer.value, tuple)) or "t" in dict(answer.question.stated):
        return answer
    lines = (Line(answer.lines[0].what, "", str(answer.value[-1]), answer.value[-1]),)
    return replace(answer, value=answer.value[-1], unit="features", convention="of each token", lines=lines, others=(), wrongs=())


def _of_a_layer(question: Question) -> bool:
    """Whether a part is spoken of that a layer has: without a number of layers it is that of one."""
    parts = (question.target or "-").split(",")
    inside = all(part in IN_EVERY_LAYER[1:] or part[:2] in ("W_", "b_") for part in parts)
    return inside and question.kind in ("params", "flops", "macs", "bytes") and not question.every_layer


def _value(answer: Answer) -> Any:
    return answer.growth if answer.growth is not None else answer.value


def _understood(name: str, question: Question) -> bool:
    """Whether what is not said is meant all the same: four times the width, one layer, one head, heads as wide as all."""
    if name == "d_ff":
        return True
    if name == "d_model":
        return {"heads", "d_k"} <= dict(question.stated).keys()
    if name == "layers":
        return question.kind in OF_A_PART and question.target not in (None, "layers") and not question.every_layer
    return name == "heads" and question.kind in ONE_HEAD


def _said(question: Question) -> Fields:
    """The sizes that are said, as fields; a length beside a table is its number of rows."""
    said: Fields = {name: int(value) if value.isdecimal() else value for name, value in question.stated}
    if nothing := next((name for name, value in said.items() if value == 0 and value is not False), ""):
        raise GlassformerError(f"'{shown(question.text)}' states {nothing}=0: a size is at least 1.")
    if said.pop("expansion", 4) != 4:
        raise GlassformerError(f"'{shown(question.text)}' leaves open d_model: say 'd_model = 512'.")
    if said.get("kv_heads", 1) != 1 and "heads" not in said and not {"d_model", "d_k"} <= said.keys():
        raise GlassformerError(f"'{shown(question.text)}' leaves open the heads of the queries: say '8 query heads'.")
    if "activation" in said and "d_ff" not in said and not question.model:
        raise GlassformerError(
            f"'{shown(question.text)}' leaves open d_ff, which is often not 4 · d_model with a gate: say 'd_ff = 512'."
        )
    if question.layers is not None:
        said["layers"] = question.layers
    if "vocab" in said and "t" in said and re.search(r"\d (?:learned )?positions\b", question.text.lower()):
        said["positions"] = said.pop("t")
    if "window" in said and question.kind == "elements":
        raise GlassformerError(
            f"'{shown(question.text)}': a window leaves out scores that the tensor still has. Ask for the 'complexity of "
            "sliding-window attention' instead."
        )
    table = TABLES.get(question.target or "")
    if table and table not in said and "t" in said:
        said[table] = said.pop("t")
    return said


def _has(name: str, question: Question, said: Fields) -> bool:
    """Whether an encoder for this question has a field at all."""
    target, image = question.target or "", _reads_image(question, said)
    if name in ("image", "patch"):
        return image
    if name == "vocab":
        return TABLES.get(target) == "vocab" or target == "head.mlm" or question.kind == "tying"
    if name == "positions":
        return TABLES.get(target) == "positions"
    if name == "classes":
        return HEADS.get(target) in ("classify", "tag")
    if name == "window":
        return False
    return name != "t" or not image


def _reads_image(question: Question, said: Fields) -> bool:
    changed = question.change[0] if question.change else ""
    asked = question.kind in ("patches", "tokens") or question.measure == "patches" or changed in ("patch", "image")
    return asked or bool({"image", "patch", "channels"} & set(said)) or question.target in IMAGES


def _encoder(question: Question, said: Fields, second: dict[str, int]) -> Request:
    """An encoder with the sizes that are said, and one of two values for each other."""
    other = {name: values[second.get(name, 0)] for name, values in EITHER.items()}
    if question.change is not None and question.change[0] in other:
        other[question.change[0]] *= question.change[2]  # halved, it is still a whole number
    fields = dict(said)
    sizes = {name: fields.pop(name) for name in ("t", "batch") if name in fields}
    heads, width, d_k = fields.get("heads"), fields.get("d_model"), fields.get("d_k")
    if heads is None:
        whole = width is not None and d_k is not None and width % d_k == 0
        heads = width // d_k if whole and width and d_k else _divisor(width, other["heads"]) if width else other["heads"]
    if width is None:
        width = heads * (d_k or other["d_k"]) * (2 if second.get("d_model") else 1)
    fields |= {"heads": heads, "d_model": width}
    if second.get("d_ff"):
        fields.setdefault("d_ff", other["d_ff"] * width)
    fields.setdefault("layers", other["layers"])
    if not _reads_image(question, said):
        sizes.setdefault("t", min(other["t"], fields.get("positions", other["t"])))
    for name in ("vocab", "positions", "classes", "patch"):
        if _has(name, question, said):
            fields.setdefault(name, other[name])
    if "patch" in fields:
        fields.setdefault("image", fields["patch"] * other["image"])
        fields.setdefault("class_tokens", 1 if _class_token(question) else 0)
    return request("encoder", **fields, **sizes, **_parts(question, fields))


def _parts(question: Question, fields: Fields) -> Fields:
    """What the encoder must have for the question to be about something."""
    found: Fields = {}
    if re.search(r"\brms ?norm", question.text.lower()):
        found["norm_kind"] = "rms"
    if question.kind == "entry" and "position" not in fields:
        found["position"] = "sinusoidal"
    elif "positions" in fields and "position" not in fields:
        found["position"] = "learned"
    if question.target == "pooler" or (question.target or "").startswith("pooler."):
        found["pooler"] = "dense"
    head = (
        HEADS.get(question.target or "")
        or head_of_logits(question)
        or ("mlm" if question.kind == "tying" else "classify" if "classes" in fields else None)
    )
    return found | ({"head": head} if head else {})


def _class_token(question: Question) -> bool:
    return question.target == "class_token" or re.search(r"\b(?:vit|cls|class\]? token)\b", question.text.lower()) is not None


_OF_NORMS = re.compile(r"norm\w* (?:params|parameters|weights)\b")
_OF_A_STACK = re.compile(r"\b(?:encoder|transformer) (?:layer|block)\b|\bin total\b|\baltogether\b")


def _of_one_norm(question: Question) -> Question:
    """`LayerNorm with 768 features` is one norm, where there is no encoder that has several."""
    low = question.text.lower()
    singular = re.search(r"norm(?:ali[sz]ation)?\b(?! layers)", low)
    if "layers" in dict(question.stated) or (_OF_NORMS.search(low) and _OF_A_STACK.search(low)):
        singular = re.search(
            r"\b(?:an?|one|each|every|single) (?:single )?(?:layer|rms)[- ]?norm", low
        )  # such a thing has several
    if (
        question.kind in ("params", "bytes")
        and question.target == "norms"
        and singular
        and not (question.one_layer or question.every_layer or question.layers)
    ):
        return replace(question, target="layers.0.norm_1", one_layer=True)
    return question


def _of_all_of_it(question: Question) -> Question:
    """`an encoder with 6 layers and a vocabulary of 37,000`: where a table is spoken of, the encoder is more than its layers."""
    whole = re.search(r"\b(?:encoder|model|transformer|network)s?\b(?! ?(?:layers?|blocks?|stack))", question.text.lower())
    if question.target == "layers" and whole and "vocab" in dict(question.stated):
        return replace(question, target=None, every_layer=False)
    return question


def _in_the_long_run(question: Question) -> Question:
    """The cost of attention in a question without sizes is that of the paper's Table 1: the scores and the weighted sum."""
    inner = question.inner
    if inner is not None and inner.kind in ("flops", "macs") and inner.target == "attention":
        return replace(question, target="core", inner=replace(inner, target="core"))
    return question


def _divisor(width: int, wanted: int) -> int:
    """One, or the smallest number of heads above it."""
    return 1 if wanted == 1 else next((heads for heads in range(2, min(width, 64) + 1) if width % heads == 0), 1)
