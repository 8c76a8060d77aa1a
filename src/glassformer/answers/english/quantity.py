"""Builds one quantity of a question as a call in the language: name, arguments, options and model."""

from __future__ import annotations

from glassformer.answers.english.frame import LISTS, OF_WHOLE_MODEL, WHOLE, Frame
from glassformer.answers.english.words import nouns, tables
from glassformer.configs.presets import preset, seq2seq_names
from glassformer.expressions.limits import NotUnderstoodError
from glassformer.spec import Seq2SeqSpec

HALVES = ("t5", "flan", "bart", "whisper", "transformer")  # presets that are the encoder of an encoder-decoder model
OPTIONS = ("t", "u", "batch")
WHOLE_MODEL = "-seq2seq"  # after the name of a preset that is the encoder alone


def call(name: str, arguments: list[str], options: list[str], model: str = "") -> str:
    inside = ", ".join([*arguments, *options])
    return name + (f"({inside})" if inside else "") + (f" @ {model}" if model else "")


def model(frame: Frame, *more: str) -> str:
    """Return the words of the spec: a named model, or one with the stated sizes."""
    fields = {name: size for name, size in frame.sizes.items() if name not in OPTIONS}
    if fields.pop("channels", 3) != 3 or len(frame.models) > 1 or not {*fields} <= {*LISTS["fields"]}:
        raise NotUnderstoodError("it names two models, or a size that is not used")
    if frame.models:
        spec, changed = preset(frame.models[0]), []
        derived = {"d_k": spec.head_k, "d_v": spec.head_v, "d_ff": spec.ffn_width, "kv_heads": spec.key_heads}
        for name, size in fields.items():
            if (own := derived.get(name, getattr(spec, name))) != size:
                changed.append(f"{name}={size}")
                if name not in LISTS["may_differ"]:
                    raise NotUnderstoodError(f"{name} is {own} in {frame.models[0]}, not {size}")
        return " ".join([frame.models[0], *changed, *sorted({*more} - {f"head={spec.head}", "pooler=dense"})])
    if frame.beside is not None or not (frame.sizes or more):
        return ""
    more += ("position=learned",) if "positions" in fields else ()
    more += ("heads=1",) if "heads" not in fields and fields.get("d_model", 8) % 8 and "heads=1" not in more else ()
    if "heads" in fields and not {"d_model", "d_k"} & fields.keys() and 512 % fields["heads"]:
        more += (f"d_model={64 * fields['heads']}",)
    return " ".join(["encoder" if "layers" in fields else "layer", *(f"{name}={size}" for name, size in fields.items()), *more])


def one_head(frame: Frame) -> list[str]:
    """Return `heads=1` if sizes are stated without a number of heads."""
    return ["heads=1"] if frame.made_up and "heads" not in frame.sizes and frame.head != "one" else []


def scope(frame: Frame) -> list[str]:
    """Return the options for one head, one layer, and what is left out."""
    found = ["head=0"] if frame.head == "one" else ["layer=0"] if frame.layer == "one" else []
    left = list(dict.fromkeys(tables("forms")["left_out"].get(name, name) for name in frame.without))
    left += ["embeddings"] if "without_embeddings" in frame.flags else []
    return [*found, *(["without=" + "+".join(left)] if left else [])]


def inputs(frame: Frame) -> list[str]:
    return [f"{name}={frame.sizes[name]}" for name in OPTIONS if name in frame.sizes]


def quantity(frame: Frame, kind: str, named: list[str], *more: str) -> str | None:
    """Return the call for a kind of quantity and its nouns; None if they do not match. `more` are further options."""
    names = [name for name in named if name not in WHOLE]
    whole = not names and not frame.layer and frame.head != "one" and "encoder" not in named
    if frame.models and (whole or OF_WHOLE_MODEL & {*names}):
        frame.models[0] = whole_model(frame.models[0])
    half = bool(frame.models) and frame.models[0].startswith(HALVES) and frame.models[0] not in seq2seq_names()
    if len(names) > 1 and ("side by side" in frame.flags) == ("biases" in names):
        return None  # `the FFN and the attention`, but `the biases of the FFN`
    if frame.asked or frame.head == "task" or (half and whole):
        return None  # the whole model includes a decoder
    if kind == "params":
        return _params(frame, names, more)
    return _operations(frame, kind, names) if kind in ("flops", "macs") else _bytes(frame, names) if kind == "bytes" else None


def require_decoder(frame: Frame) -> None:
    """Check that a question about a decoder or cross-attention is about an encoder-decoder, and about nothing else in it."""
    named = [name for name in frame.nouns if name in OF_WHOLE_MODEL]
    spec = preset(whole_model(frame.models[0])) if frame.models else frame.beside.spec if frame.beside is not None else None
    if named and (len(frame.parts) > 1 or frame.layer or "encoder" in frame.nouns or not isinstance(spec, Seq2SeqSpec)):
        raise NotUnderstoodError(f"'{frame.texts[named[0]].text}' is not understood here")


def whole_model(name: str) -> str:
    """Return the preset of the whole encoder-decoder, where a name is that of its encoder."""
    return name + WHOLE_MODEL if name + WHOLE_MODEL in seq2seq_names() else name


def _params(frame: Frame, names: list[str], more: tuple[str, ...]) -> str | None:
    parts, options = [nouns()[name].params for name in names], scope(frame)
    matrices = bool(parts) and all(part[:2] == "W_" and "," not in part for part in parts)
    vague = {"matrix"} if frame.made_up else {"matrix", "counted head"}  # `the parameters of BERT-base in its 12 heads`
    if "" in parts or frame.dtype or (not parts and vague & frame.flags) or not _norms_fit(frame, names):
        return None
    if "weights" in frame.quantities and "biases" not in frame.without and not matrices:
        return None  # it is not clear whether biases count as weights
    if names == ["norm"] and {"one_norm", "a_norm"} & frame.flags and frame.layer != "one":
        parts = ["layers.0.norm_1"]
    if "biases" in parts and len(parts) > 1:
        parts, options = [part for part in parts if part != "biases"], [*options, "only=biases"]
    parts = parts or ["layers"] * _is_stack(frame)
    inside = bool(parts) and (parts[0] in LISTS["in_layers"] or parts[0][:2] in ("W_", "b_"))
    if inside and frame.made_up and frame.layer != "all" and "layers" not in frame.sizes and "head=0" not in options:
        options = ["layer=0", *(option for option in options if option != "layer=0")]
    options += ["trained=yes"] if "trained" in frame.flags and not frame.made_up else []
    if frame.made_up:
        frame.sizes.pop("t", None)  # counts do not depend on the length or the image
        frame.sizes.update({"image": 4 * frame.sizes["patch"]} if parts == ["patches"] and "patch" in frame.sizes else {})
    return call("params", parts, [*options, *more], model(frame, *_fields(frame, names)))


def _norms_fit(frame: Frame, names: list[str]) -> bool:
    """Return whether it is clear which norms are counted: one, all, or those of a part."""
    beside = {*names, *frame.without} - {"norm"}  # the betas of norms may also count as biases
    if (names and "with_norms" in frame.flags) or ("norm" in names and beside - ({"biases"} & {*names})):
        return False
    clear = frame.layer == "one" or (frame.made_up and "layers" not in frame.sizes)
    return clear or names != ["norm"] or "a_norm" not in frame.flags


def _is_stack(frame: Frame) -> bool:
    """Return whether the question is about all layers: `the 12 layers`, `the encoder of BERT-base`."""
    counted = "counted layer" in frame.flags and frame.texts["counted layer"].plural and not {*WHOLE} & {*frame.nouns}
    encoder = "encoder" in frame.nouns and bool(frame.models) and not frame.models[0].startswith(HALVES)
    return frame.layer == "all" or encoder or (counted and not frame.models)


def _fields(frame: Frame, names: list[str]) -> list[str]:
    """Return the fields that a model needs to have the parts in the question."""
    needed = tables("forms")["fields"] if frame.models or frame.made_up else {}
    found = [needed[name] for name in names if name in needed]
    return found or ["head=classify"] * ("classes" in frame.sizes and frame.made_up)


def _operations(frame: Frame, kind: str, names: list[str]) -> str | None:
    parts = [nouns()[name].flops for name in names] or ["layers"] * (frame.layer == "all")
    if "" in parts or frame.without or frame.dtype:
        return None
    options = scope(frame) + [option for flag, option in tables("forms")["options"].items() if flag in frame.flags]
    return call(kind, parts, [*options, *inputs(frame)], model(frame, *(one_head(frame) if "d_k" in frame.sizes else [])))


def _bytes(frame: Frame, names: list[str]) -> str | None:
    table, weights = [nouns()[name] for name in names], bool({"params", "weights"} & {*frame.quantities})
    targets = [noun.stored or noun.tensor or noun.params for noun in table]
    if "" in targets or ("adam" in frame.flags and "training" not in frame.flags) or ("training" in frame.flags and names):
        return None
    states = {*names} <= {"gradients", "optimizer"}
    if ("token" in frame.flags and names != ["kv_cache"]) or (weights and not states and not all(noun.params for noun in table)):
        return None
    if not names and "training" not in frame.flags and not weights and {*OPTIONS} & frame.sizes.keys():
        return None  # ambiguous: weights or activations
    targets = ["training"] if "training" in frame.flags else targets or ["weights"]
    targets = ["weights"] * weights + names if names and states else targets
    if targets[0][:2] == "W_" and "matrix" in frame.flags and not frame.layer:
        frame.layer = "one"  # `the W_Q matrix`
    options = scope(frame) + ([f"dtype={frame.dtype}"] if frame.dtype else []) + (["per=token"] if "token" in frame.flags else [])
    options += ["layer=all"] if frame.layer == "all" and targets[0] in ("scores", "attention.weights") else []
    return call("bytes", targets, [*options, *inputs(frame)], model(frame, *(one_head(frame) if names else [])))
