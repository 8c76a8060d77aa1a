"""From a Hugging Face config.json to an EncoderSpec: the class, the keys, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from glassformer import arguments
from glassformer.configs.huggingface import (
    audio,
    compact,
    deberta,
    decoders,
    encoder_decoders,
    esm,
    flash,
    funnel,
    jina,
    landmarks,
    pages,
    patches,
    rotary,
    rotary_gated,
    rotary_pairs,
    seq2seq,
    sound,
    text,
    towers,
    vision,
    windows,
    xlm,
)
from glassformer.configs.huggingface.classes import ACTIVATION, LABELS, why_not
from glassformer.configs.huggingface.family import ONLY_EVERYWHERE, WHY, Draft, Family, is_inert
from glassformer.configs.huggingface.refused import refused
from glassformer.configs.huggingface.towers import TOWERS
from glassformer.configs.huggingface.values import Config, Fields, build_spec, field_value, says_nothing, value_text
from glassformer.errors import GlassformerError, listed, nearest, shown
from glassformer.spec.encoder_spec import EncoderSpec

TEXTS = (text, compact, windows, pages, deberta, rotary, rotary_gated, rotary_pairs, esm, jina, flash, landmarks, funnel, xlm)
ENCODERS = (*TEXTS, seq2seq, audio, sound, vision, patches, towers)
FAMILIES: dict[str, Family] = {family.model_type: family for group in ENCODERS for family in group.FAMILIES}
DECODERS: dict[str, Family] = {family.model_type: family for family in decoders.FAMILIES}  # described, but not loaded yet
SEQ2SEQ: dict[str, Family] = {family.model_type: family for family in encoder_decoders.FAMILIES}  # whole encoder-decoders
EVERY_FAMILY = {**FAMILIES, **DECODERS, **SEQ2SEQ} | FAMILIES  # a file that names no class is an encoder's, where there is one
# The allowed values of `model_type`; a family that is published as another one has no entry.
MODEL_TYPES = [name for name, family in EVERY_FAMILY.items() if family.published_as is None]
FAMILY_OF = {
    name: family
    for group in (FAMILIES, DECODERS, SEQ2SEQ)
    for family in group.values()
    if family.told_by is None
    for name in family.classes
}

# Fields whose keys are in no table.
READ_BY_ADJUST = {
    **{"classes": "num_labels", "image": "image_size", "patch": "patch_size"},
    **{"video_frames": "num_frames", "tube": "tubelet_size"},
    **{"beside_kernel": "conv_kernel_size", "beside_groups": "conv_groups"},
}


class Reading(NamedTuple):
    """The content of a config: the spec, the class that was read, its `model_type`, and the keys that are not in the spec."""

    spec: EncoderSpec
    model_class: str
    family: str
    aside: dict[str, Any]


def from_config(config: dict[str, Any], *, as_class: str | None = None, source: str = "config.json") -> Reading:
    """Read a parsed config.json. The class is `as_class`, the file's first architecture, or the base class of its family."""
    if not isinstance(config, dict):
        raise GlassformerError(f"{source}: a config must be an object with keys such as hidden_size, found {value_text(config)}.")
    named = arguments.text("as_class", as_class) if as_class is not None else _architecture(config, source)
    model_type = _model_type(config, named, source)
    if model_type in TOWERS:
        return _read_tower(config, model_type, named, source)
    family = EVERY_FAMILY[model_type]
    whole = SEQ2SEQ.get(model_type, family)
    if named is not None and _plain(named) in (*whole.classes, *whole.unsupported) and _plain(named) not in family.classes:
        family = whole
    model_class = _known_class(family, named, source)
    spec, aside = _read(family, model_class, Config(config, source, synonyms=family.synonyms), config)
    return Reading(spec, model_class, model_type, aside)


# Which family, which class ---------------------------------------------------------------------------------------------


def _architecture(config: Mapping[str, Any], source: str) -> str | None:
    names = config.get("architectures")
    if names is None or names == []:
        return None
    if not isinstance(names, list) or not isinstance(names[0], str):
        raise GlassformerError(f"{source}: architectures = {value_text(names)} is not allowed: it must be a list of class names.")
    return str(names[0])


def _model_type(config: Mapping[str, Any], named: str | None, source: str) -> str:
    found = config.get("model_type")
    if found is None:
        family = FAMILY_OF.get(_plain(named or ""))
        if family is None:
            raise GlassformerError(
                f"{source}: model_type is missing, and no known class is named. "
                'Add model_type, such as "bert", or name a class: --as BertModel.'
            )
        return family.model_type
    by_class = FAMILY_OF.get(_plain(named or ""))
    if by_class is not None and by_class.published_as == found:
        return by_class.model_type
    by_code = next((name for name, family in FAMILIES.items() if family.published_as == found and _told(family, config)), None)
    if by_code is not None:
        return by_code
    if isinstance(found, str) and (found in MODEL_TYPES or found in TOWERS):
        return found
    if isinstance(found, str) and found in refused():
        raise GlassformerError(f"{source}: {found} is not supported yet: it {refused()[found]}.")
    raise GlassformerError(f"{source}: model_type = {value_text(found)} {_unknown(config, found, named)}")


def _told(family: Family, config: Mapping[str, Any]) -> bool:
    """Whether a file refers to the code of a family that is published under another one's name."""
    code = config.get("auto_map")
    return family.told_by is not None and isinstance(code, dict) and any(family.told_by in str(text) for text in code.values())


def _unknown(config: Mapping[str, Any], model_type: Any, named: str | None) -> str:
    """Explain an unknown family: by its class, by the file, or by the closest known name."""
    known = f"Known: {listed([*MODEL_TYPES, *TOWERS])}."
    if isinstance(named, str) and _plain(named) in FAMILY_OF:
        family = FAMILY_OF[_plain(named)]
        return f"is not known. Did you mean '{family.in_files}', the family of {shown(_plain(named))}?"
    why = why_not(named, decoder=config.get("is_encoder_decoder") is True) if isinstance(named, str) else None
    if why is not None:
        return f"is not known, and {shown(named)} is not supported: {why}."
    if not says_nothing(config.get("auto_map")):
        return f"is not known: {WHY['auto_map']} {known}"
    if named is not None:  # a new family rather than a typing error: a similar name would belong to another model
        return f"is not known, nor is its class {shown(named)}. {known}"
    return f"is not known.{nearest(model_type, [*MODEL_TYPES, *TOWERS]) if isinstance(model_type, str) else ''} {known}"


def _plain(name: str) -> str:
    """Return a class name without the prefix of another framework: it computes the same."""
    return next((name.removeprefix(prefix) for prefix in ("TF", "Flax") if name.removeprefix(prefix) in FAMILY_OF), name)


def _known_class(family: Family, named: str | None, source: str) -> str:
    name = _plain(named if named is not None else family.base)
    if name in family.classes:
        return name
    known = list(dict.fromkeys([*family.classes, *SEQ2SEQ.get(family.model_type, family).classes]))
    why = family.unsupported.get(name) or why_not(name, decoder=family.decoder)
    if why is not None:
        what = "encoder" if family.spec is EncoderSpec else "model"
        raise GlassformerError(f"{source}: {shown(name)} is not supported: {why}. --as {family.base} reads the {what}.")
    raise GlassformerError(
        f"{source}: class '{shown(name)}' is not known for model_type {family.model_type}.{nearest(name, known)} "
        f"--as chooses one of {listed(known)}."
    )


# Reading the keys ------------------------------------------------------------------------------------------------------


def _read(family: Family, model_class: str, config: Config, labelled: Mapping[str, Any]) -> tuple[EncoderSpec, dict[str, Any]]:
    """Return the spec, and the keys that are not in it. `labelled` is the config that holds the number of labels."""
    _refuse_unsupported(family, config)
    fields: Fields = dict(family.fixed)
    for key, rule in family.keys.items():
        fields[rule.field] = field_value(config, key, rule.field, rule.default_in(config))

    def labels() -> int:
        return _labels(Config(labelled, config.source))

    for name, value in family.classes[model_class].items():
        fields[name] = labels() if value is LABELS else fields["activation"] if value is ACTIVATION else value
    for adjust in family.adjust:
        adjust(Draft(config, fields, model_class, labels))
    config.refuse_unknown(aside=tuple(key for key in config.values if is_inert(key, family)))
    names = READ_BY_ADJUST | {rule.field: config.name(key) for key, rule in family.keys.items()}
    held = {config.name(key) for key in family.keys}
    return build_spec(fields, names, config.source, family.spec), {
        key: value for key, value in config.values.items() if key not in held
    }


def _refuse_unsupported(family: Family, config: Config) -> None:
    for key, allowed in {**ONLY_EVERYWHERE, **family.only}.items():
        value = None if key in family.inert else config.get(key, None)
        harmless = says_nothing(value) and any(says_nothing(item) for item in allowed)
        if value is not None and not harmless and not any(value == item and type(value) is type(item) for item in allowed):
            wanted = " or ".join(value_text(item) for item in allowed if item is not None)
            why = WHY.get(key, f"only {wanted} is implemented for this family.")
            raise config.refusal(key, why, verb="is not supported:")


def _labels(config: Config) -> int:
    """Return the number of labels: `num_labels` takes precedence over the length of `id2label`; the default is 2."""
    number = config.whole("num_labels", None, least=0)
    names = config.get("id2label", None)
    if number is not None:
        return int(number)
    if names is None:
        return 2
    if not isinstance(names, dict | list):
        raise config.refusal("id2label", "it must be an object that maps numbers to label names.")
    return len(names)


# Two encoders in one file ----------------------------------------------------------------------------------------------


def _read_tower(config: dict[str, Any], model_type: str, named: str | None, source: str) -> Reading:
    container = TOWERS[model_type]
    families = {key: FAMILIES[inner] for key, inner in container.models.items()}
    key, family = next(((key, family) for key, family in families.items() if _plain(named or "") in family.classes), (None, None))
    if key is None or family is None:
        what = shown(named) if named else f"a {model_type} config"
        choices = " or ".join(f"--as {family.base}" for family in families.values())
        raise GlassformerError(f"{source}: {what} contains two encoders, for text and for images. {choices} reads one of them.")
    outer = Config(config, source)
    inner = _inner(outer, key, family)
    legacy = [f"{name}_dict" for name in container.models]
    outer.asked.update(["model_type", *container.models, *legacy, *container.inert])
    outer.refuse_unknown(aside=tuple(name for name in config if is_inert(name, family)))
    model_class = _plain(named or "")
    spec, aside = _read(family, model_class, Config(inner, source, nested=True), config)
    rest = {name: value for name, value in config.items() if name not in (key, f"{key}_dict", "model_type")}
    return Reading(spec, model_class, family.model_type, {**rest, key: aside})


def _inner(outer: Config, key: str, family: Family) -> dict[str, Any]:
    """Return the config of one tower. In old files a second copy, `…_dict`, takes precedence over the first."""
    found, second = outer.get(key, None), outer.get(f"{key}_dict", None)
    for name, value in ((key, found), (f"{key}_dict", second)):
        if not isinstance(value, dict | None):
            raise outer.refusal(name, "it must be an object that describes one encoder.")
    if found is None and second is None:
        raise GlassformerError(f"{outer.source}: {key} is missing: it describes {family.base}.")
    values: dict[str, Any] = {**(found or {})}
    if values.get("model_type", family.model_type) != family.model_type:
        raise outer.refusal(key, f"its model_type must be {family.model_type}, found {value_text(values['model_type'])}.")
    if second is not None:
        values = {name: value for name, value in values.items() if name not in family.keys} | second
    return values


# Records: a config together with the class that was built from it --------------------------------------------------------


def unwrap(document: dict[str, Any]) -> tuple[dict[str, Any], str | None, Fields]:
    """Return config, class and changed spec fields of a bare config or `{"config": …, "model_class": …, "model_kwargs": …}`."""
    config = document.get("config")
    if not isinstance(config, dict) or "model_type" in document:
        return document, None, {}
    model_class = document.get("model_class")
    if not isinstance(model_class, str | None):
        raise GlassformerError(f"model_class = {value_text(model_class)} is not allowed: it must be the name of a class.")
    return config, model_class, _changes(document.get("model_kwargs") or {}, model_class)


def _changes(arguments: Any, model_class: str | None) -> Fields:
    """Return the spec fields that the constructor arguments of a model change."""
    if not isinstance(arguments, dict):
        raise GlassformerError(f"model_kwargs = {value_text(arguments)} is not allowed: it must be an object with arguments.")
    fields: Fields = {}
    for name, value in arguments.items():
        family = FAMILY_OF.get(model_class or "")
        pooler = family.classes[model_class or ""].get("pooler") if family else None
        if name == "add_pooling_layer" and value is False:
            fields["pooler"] = "none"
        elif name == "use_mask_token" and isinstance(value, bool):
            fields["mask_token"] = value
        elif name != "add_pooling_layer" or value is not True or pooler is None:
            raise GlassformerError(
                f"model_kwargs: {shown(name)} = {value_text(value)} is not supported for {shown(model_class)}."
            )
    return fields
