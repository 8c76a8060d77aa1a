"""Writing an encoder to a model folder, in its original layout or in our own; complete, or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from glassformer.arguments import path, require
from glassformer.checkpoints.folder import CONFIG, KINDS, LABELS, SPEC, offset_place
from glassformer.checkpoints.tensor_names import tensor_names
from glassformer.configs.huggingface import FAMILIES, from_config
from glassformer.configs.huggingface.reader import DECODERS, SEQ2SEQ
from glassformer.errors import GlassformerError, shown
from glassformer.files.layout import Place
from glassformer.files.name_tables import OWN, names_of
from glassformer.files.paths import path_text
from glassformer.files.weight_files import ONE_FILE
from glassformer.model.boundary.encoder import Encoder
from glassformer.model.boundary.seq2seq import Seq2Seq
from glassformer.model.boundary.start import in_words
from glassformer.model.checkpoints import folders
from glassformer.model.checkpoints.writing import Part, write_safetensors
from glassformer.spec import EncoderSpec, Seq2SeqSpec, defaults


class Form(NamedTuple):
    """How a folder is written: the tensor names of which family and class, and the documents beside the weights."""

    family: str
    model_class: str
    documents: dict[str, Any]


def save(
    encoder: Encoder | Seq2Seq,
    folder: str | Path,
    *,
    config: Mapping[str, Any] | None = None,
    as_class: str | None = None,
    labels: Sequence[str] = (),
    beside: str | Path | None = None,
) -> Path:
    """Write a model folder, which must not exist or be empty.

    With a Hugging Face `config` (and the class that it is read as) transformers can read the folder; without one it has our own
    spec.json and the names of the ledger. `beside` is a model folder whose tokenizer and settings are copied.
    """
    kinds = "gf.save expects an encoder made by gf.Encoder(spec) (a loaded model has its own save method)"
    require(Seq2Seq if isinstance(encoder, Seq2Seq) else Encoder, encoder, kinds)
    if config is not None and not isinstance(config, Mapping):
        raise GlassformerError(f"config={shown(config)} is not allowed: it must be a mapping with the content of a config.json.")
    if config is None and as_class is not None:
        raise GlassformerError(f"as_class={shown(as_class)} belongs to a Hugging Face config: give config, or leave it out.")
    target, beside = path("folder", folder), path("beside", beside) if beside is not None else None
    form = _own(encoder.spec, labels) if config is None else _foreign(encoder, config, as_class)
    parts = _parts(encoder, form)
    needed = sum(part.value.numel() * part.value.element_size() for part in parts)
    copied = folders.companions(beside) if beside is not None else {}
    target = folders.vacant(target)
    _check_room(target, needed)
    with folders.whole(target) as unfinished:
        for name, document in form.documents.items():
            (unfinished / name).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        for name, source in copied.items():
            (unfinished / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(source, unfinished / name)
        with (unfinished / ONE_FILE).open("wb") as file:
            write_safetensors(file, parts)
    return target


# The names of the classes that people train, by the head of the encoder.
TRAINED = {
    "classify": ("ForSequenceClassification", "ForImageClassification"),
    "tag": ("ForTokenClassification",),
    "mlm": ("ForMaskedLM",),
    "none": ("Model",),
}
WRITING = ("ForConditionalGeneration", "MTModel", "LMHeadModel", "ForCausalLM")


def class_for(spec: EncoderSpec, config: Mapping[str, Any]) -> str | None:
    """The class of transformers that equals this encoder in every field, if the config's family has one."""
    groups = (SEQ2SEQ, DECODERS) if spec.predicts_next else (FAMILIES,)
    endings = WRITING if spec.predicts_next else TRAINED.get(spec.head, ())
    families = [family for group in groups for family in group.values() if family.in_files == config.get("model_type")]
    for name in (name for family in families for name in family.classes):
        if name.endswith(endings):
            try:
                reading = from_config(dict(config), as_class=name, source="config")
            except GlassformerError:
                continue
            # A model without a head may be stored without its pooler.
            bare = reading.spec.replace(pooler="none") if (spec.head, spec.pooler) == ("none", "none") else reading.spec
            if plainly(bare) == plainly(spec):
                return name
    return None


def _own(spec: EncoderSpec, labels: Sequence[str]) -> Form:
    if isinstance(labels, str) or not isinstance(labels, Sequence) or not all(isinstance(label, str) for label in labels):
        raise GlassformerError(f"labels={shown(labels)} is not allowed: it is a list with the name of each class.")
    if labels and spec.head in ("classify", "tag") and len(labels) != spec.classes:
        raise GlassformerError(f"labels has {len(labels):,} names, the head classes={spec.classes}: give each class one name.")
    named = {LABELS: {"id2label": {str(i): label for i, label in enumerate(labels)}}} if labels else {}
    return Form(OWN, KINDS.get(type(spec), "Encoder"), {SPEC: spec.to_dict(), **named})


def _foreign(encoder: Encoder | Seq2Seq, config: Mapping[str, Any], as_class: str | None) -> Form:
    """The layout of transformers: every key of the config is kept, except for the class and the type of the weights."""
    reading = from_config(dict(config), as_class=as_class, source="config")
    ours, theirs = plainly(encoder.spec), plainly(reading.spec)
    if ours.keys() != theirs.keys():
        raise GlassformerError(f"the config describes a {reading.model_class}, the model is another kind: give its own config.")
    other = [(name, theirs[name], value) for name, value in ours.items() if value != theirs[name]]
    if encoder.spec.pooler == "none":
        other = [line for line in other if line[0] != "pooler"]  # a bare model may be stored without its pooler
    if other:
        name, said, has = other[0]
        raise GlassformerError(
            f"the config says {name}={said}, the encoder has {name}={has}: give the config that belongs to it."
        )
    written = dict(config) | {"architectures": [reading.model_class]}
    types = [key for key in ("dtype", "torch_dtype") if key in written]
    written |= dict.fromkeys(types, str(encoder.here.dtype).removeprefix("torch."))
    return Form(reading.family, reading.model_class, {CONFIG: written})


def plainly(spec: EncoderSpec) -> dict[str, Any]:
    """Every field with its value, given or derived. Dropout is omitted: it does not affect what is stored."""
    derived: dict[str, Any] = {"d_k": spec.head_k, "d_v": spec.head_v, "d_ff": spec.ffn_width, "final_norm": spec.norm_after_last}
    derived["kv_heads"] = spec.key_heads
    if spec.global_every is not None:  # every third of two layers is the first one, as every second is
        derived["global_every"] = min(spec.global_every, max(spec.layers, 1))
    derived |= {"image_width": spec.image_width or spec.image, "patch_width": spec.patch_width or spec.patch}
    derived |= {} if spec.has_pooler else {"pooler": "none", "pool": "first"}  # a head on tokens neither reads nor builds it
    if isinstance(spec, Seq2SeqSpec):
        decoder = {f"decoder.{name}": value for name, value in plainly(spec.decoder).items()}
        return {**plainly(spec.encoder), "share_tokens": spec.share_tokens, **decoder}
    kind: Any = type(spec)
    return {name: derived.get(name, getattr(spec, name)) for name in defaults(kind) if name != "dropout"}


def _parts(encoder: Encoder | Seq2Seq, form: Form) -> list[Part]:
    """The tensors of the file: each parameter at the first of its places, so that a tied one is written once."""
    views = dict(encoder.ledger())
    shapes = {name: tuple(view.shape) for name, view in views.items()}
    places = tensor_names(encoder.spec, form.family, form.model_class, shapes)
    constants = [
        Part(offset_place(form.family, len(buffer)), buffer)
        for name, buffer in encoder.named_buffers()
        if name.endswith("head.offset")
    ]
    parts = [*(Part(_first(name, places[name]), view) for name, view in views.items()), *constants]
    return [*parts, *_empty(encoder, form, {part.place.name for part in parts})]


def _empty(encoder: Encoder | Seq2Seq, form: Form, written: set[str]) -> Iterator[Part]:
    """The tables that transformers stores even with no rows, and misses otherwise."""
    names = () if isinstance(encoder, Seq2Seq) else names_of(form.family).empty
    for name in names:
        if name not in written:
            none = torch.empty(1, 0, encoder.spec.d_model, dtype=encoder.here.dtype)
            yield Part(Place(name, tuple(none.shape)), none)


def _first(name: str, places: tuple[Place, ...]) -> Place:
    if not places:
        raise GlassformerError(f"{name} has no name in the files of this family. Save the encoder without config.")
    return places[0]


def _check_room(target: Path, needed: int) -> None:
    free = shutil.disk_usage(target.parent).free
    if needed > free:
        raise GlassformerError(
            f"{path_text(target)} needs {in_words(needed)}, and {in_words(free)} are free there. Nothing was written."
        )
