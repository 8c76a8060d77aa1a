"""Kinds of questions: a listed pattern, a comparison, one quantity, a tensor, or a size of the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from glassformer.answers.english.frame import HARMLESS, LISTS, OF_WHOLE_MODEL, WHOLE, Frame
from glassformer.answers.english.quantity import OPTIONS, call, inputs, model, one_head, quantity
from glassformer.answers.english.words import nouns, tables
from glassformer.expressions.limits import NotUnderstoodError

ANY_WIDTH = "without=biases+norms"  # without given sizes: the share of biases and norms depends on the width


def listed(frame: Frame) -> str | None:
    """Return the expression of the first pattern in forms.toml that matches the question exactly."""
    for form in tables("forms")["form"]:
        if _fits(frame, form):
            named = model(frame, *form.get("with", ())) if "{model}" in form["gives"] else ""
            named = named or ("" if frame.beside else form.get("base", ""))
            costs = [nouns()[name].flops for name in frame.parts]
            return str(form["gives"].format(*costs, model=f" @ {named}" if named else "", **frame.sizes))
    return None


def _fits(frame: Frame, form: dict[str, Any]) -> bool:
    said = {"quantities": {*frame.quantities}, "compares": frame.compares, "sizes": {*frame.sizes}}
    said |= {"flags": frame.flags - HARMLESS - {*form.get("also", ())}, "asked": {*frame.asked} - {*form.get("also_asked", ())}}
    if any({*form.get(key, ())} != value for key, value in said.items() if key != "sizes" or not form.get("fields")):
        return False
    scoped = frame.without or frame.dtype or frame.head or frame.layer != form.get("layer", "")
    if scoped or (form.get("noun") and not frame.parts) or not {*form.get("needs", ())} <= frame.flags:
        return False
    wants, known = form.get("model", "any"), bool(frame.models or frame.beside)
    if (wants not in ("any", *frame.models)) if known else wants == "bert-base":
        return False
    if "costs" in form:
        return len(frame.parts) == form["costs"] and all(nouns()[name].flops for name in frame.parts)
    return {*frame.parts} <= {*form.get("nouns", ())}


def compared(frame: Frame) -> str | None:
    """Translate `How many more parameters does BERT-large have than BERT-base?`, `What fraction of parameters is in the FFN?`"""
    said = frame.compares - {"than"}
    if not said or frame.flags - HARMLESS or len(frame.models) > 2 or len(frame.quantities) > 1:
        return None
    kind = {"weights": "params"}.get("".join(frame.quantities), "".join(frame.quantities) or "params")
    if len(frame.models) == 2:
        asked = None if frame.quantities else _asked(frame)
        each = [replace(frame, models=[name]) for name in frame.models]
        sides = [f"{asked} @ {model(side)}" if asked else quantity(side, kind, side.nouns) for side in each]
    elif said == {"share"} and len(frame.parts) == 1:
        sides, said = [_of_part(frame, kind, part) for part in (frame.parts, [])], {"ratio"}
    else:
        sides = [_of_part(frame, kind, [part]) for part in frame.parts]
    held = tables("forms")["held"].get(" ".join(sorted(said)), "")
    if len(sides) != 2 or None in sides or (said in ({"more"}, {"less"}) and "how_many" not in frame.flags):
        return None
    return str(held.format(*sides)) or None


def _of_part(frame: Frame, kind: str, named: list[str]) -> str | None:
    """Return the quantity of a part; without a model, parts are compared in a default layer."""
    if frame.models or frame.beside or frame.sizes or not frame.quantities:
        return quantity(frame, kind, named) if frame.quantities else None
    found = quantity(frame, kind, named, *([] if frame.without else [ANY_WIDTH])) if kind == "params" else None
    return f"{found} @ layer" if found else None


def plain(frame: Frame) -> str | None:
    """Translate questions about parameters, operations, bytes and tensors."""
    kinds = {*frame.quantities}
    in_unit = not kinds - {"params", "weights"} and "unit" in frame.flags and frame.flags & {"how_many", "dim"}
    stored = "bytes" in kinds or in_unit or (not kinds and frame.dtype and (frame.parts or "dim" in frame.flags))
    counted = kinds & {"params", "weights"} or (not kinds and "biases" in frame.nouns)
    kind = "bytes" if stored else "params" if counted else min(kinds, default="")
    if kind not in ("params", "flops", "macs", "bytes") or kinds - {kind, "params", "weights"}:
        kind = "tensor"
    if not frame.only(*tables("forms")["flags"][kind]):
        return None
    return _tensor(frame) if kind == "tensor" else quantity(frame, kind, frame.nouns)


def _tensor(frame: Frame) -> str | None:
    """Translate `What is the shape of the attention scores?`, `How many attention scores does one head compute?`"""
    named = ["head_output" if name == "out" and frame.head == "one" else name for name in frame.nouns if nouns()[name].tensor]
    if frame.quantities == ["shape", "weights"] and not frame.nouns:
        named, frame.quantities = ["weights"], ["shape"]
    others = {name for name in frame.parts if not nouns()[name].tensor} - {"attention", "ffn"}
    if not named or others or frame.without or frame.asked or frame.dtype:
        return None
    kind = frame.quantities[0] if frame.quantities in (["shape"], ["elements"]) else ""
    if not frame.quantities and {"dim", "dims"} & frame.flags:
        vector = "dims" not in frame.flags and named[0] in LISTS["vectors"] and "t" not in frame.sizes
        kind = "" if vector or "all" in frame.flags else "shape"  # `the total size` is not a shape
    elif not frame.quantities and "how_many" in frame.flags and frame.texts[named[0]].text.lower().endswith((*LISTS["many"],)):
        kind = "elements"
    if not kind or (len(named) > 1 and not {*named} <= {"W_Q", "W_K", "W_V", "q", "k", "v"}):
        return None
    options = ["head=0"] if frame.head == "one" or named == ["head_output"] else []
    every = kind == "elements" and (frame.layer == "all" or ("all" in frame.flags and frame.layer != "one"))
    options += [*["layer=all"] * every, *inputs(frame)]
    return call(kind, [nouns()[name].tensor for name in named], options, model(frame, *one_head(frame)))


def size(frame: Frame) -> str | None:
    """Translate `What is d_k for d_model = 512 and 8 heads?`, `How many layers does BERT-large have?`"""
    if not frame.only("dim", "dims", "class_token") or frame.without or frame.dtype or {*frame.quantities} - {"shape"}:
        return None
    asked, unused = _asked(frame), frame.models and {*OPTIONS} & frame.sizes.keys()
    if (
        asked is None
        or OF_WHOLE_MODEL & {*frame.nouns}
        or asked in frame.sizes
        or unused
        or (frame.head == "one" and asked not in ("d_k", "d_v"))
    ):
        return None
    if frame.made_up and (asked != "d_k" or not {"d_model", "heads"} <= frame.sizes.keys()):
        raise NotUnderstoodError(f"{asked} does not follow from the given sizes")
    return call(asked, [], [], model(frame))


def _asked(frame: Frame) -> str | None:
    """Return the size that is asked for."""
    asked = frame.asked + ["heads"] * (frame.head == "all") + ["layers"] * (frame.layer == "all")
    if not asked and {"dim", "dims"} & frame.flags and frame.head == "one":
        return "d_k" if {*frame.parts} <= {"q", "k", "attention"} else None
    if not asked and {"dim", "dims"} & frame.flags:
        sizes = {nouns()[name].size for name in frame.parts or frame.nouns}
        return sizes.pop() or None if len(sizes) == 1 else None
    if asked in (["heads"], ["heads", "layers"]) and "all" in frame.flags:
        return "count(heads)"
    if len(asked) != 1 or {*frame.nouns} - {"attention", *WHOLE, *(["ffn"] if asked == ["d_ff"] else [])}:
        return None
    return {"t": "tokens"}.get(asked[0], asked[0])
