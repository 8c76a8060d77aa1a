"""Reading a spec, written the same way everywhere: a name or a file, then `field=value`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from glassformer.arguments import text
from glassformer.configs.presets import known_preset, preset, unknown_preset
from glassformer.errors import GlassformerError, shown
from glassformer.files.documents import read_document
from glassformer.files.hub_names import is_hub_name
from glassformer.files.paths import is_link, no_such
from glassformer.spec.decoder_spec import DecoderSpec
from glassformer.spec.encoder_fields import defaults
from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.fields import LARGEST, field_rules, field_text, rule_for, whole_number
from glassformer.spec.seq2seq_spec import STACKS, Seq2SeqSpec, accept_of, known_field
from glassformer.spec.unread import require_read

SIZES = ("batch", "t")  # sizes of the input: written like fields, but not part of the spec
TARGET = "u"  # of an encoder-decoder, t is the length of the source, and u that of the target
SPEC_FILES = ("config.json", "spec.json", "spec.toml")


class Request(NamedTuple):
    """A spec with the label it was requested by, and the input sizes, if given."""

    label: str
    spec: EncoderSpec
    batch: int = 1
    t: int | None = None
    u: int | None = None


# A preset name, a file, a folder, a mapping of fields or a config, or a request made before.
What: TypeAlias = str | Path | EncoderSpec | Mapping[str, Any] | Request


def spec(what: What = "encoder", *, as_class: str | None = None, **fields: Any) -> EncoderSpec:
    """Return the spec that `what` names (preset, file, folder, Hugging Face config), with some fields changed."""
    return request(what, as_class=as_class, decoders=True, **fields).spec


def request(what: What = "encoder", *, as_class: str | None = None, decoders: bool = False, **fields: Any) -> Request:
    """Like `spec`, with `batch` and `t` among the fields; a decoder is refused unless the caller accepts `decoders`."""
    found, changed = draft(what, as_class=as_class, decoders=decoders, **fields)
    require_read(found.spec, changed)
    return found


def draft(what: What, *, as_class: str | None = None, decoders: bool = False, **fields: Any) -> tuple[Request, dict[str, Any]]:
    """Return a request that is still to be completed, and its changed fields: the caller has to call `require_read`."""
    if isinstance(what, str) and len(_pieces(what)) > 1:
        ((what, written),) = split_words([what], count=1)
        if twice := sorted(written.keys() & fields.keys()):
            raise GlassformerError(f"{shown(twice[0])} is given twice, in the string and as an argument: give it once.")
        fields = only_fields(written) | fields
    label, found, sizes = _look_up(what, text("as_class", as_class) if as_class is not None else None)
    if not decoders:
        require_encoder(found, label)
    kind, known = type(found), sizes_of(found)
    sizes |= {name: _size(name, fields.pop(name)) for name in known if fields.get(name) is not None}
    changed = {name: accept_of(kind, known_field(kind, name, known), value) for name, value in fields.items()}
    label += "".join(f" {name}={field_text(value)}" for name, value in changed.items())
    made = found.replace(**changed) if changed else found
    return Request(label, made, sizes.get("batch", 1), sizes.get("t"), sizes.get("u")), changed


def sizes_of(spec: EncoderSpec) -> tuple[str, ...]:
    """Return the names of the sizes of an input: an encoder-decoder has two lengths."""
    return (*SIZES, TARGET) if isinstance(spec, Seq2SeqSpec) else SIZES


def require_encoder(spec: EncoderSpec, label: str) -> None:
    """Refuse a decoder where only encoders are implemented."""
    if isinstance(spec, DecoderSpec | Seq2SeqSpec):
        what = "an encoder-decoder" if isinstance(spec, Seq2SeqSpec) else "a decoder"
        raise GlassformerError(
            f"{shown(label)} is {what}, which this does not support yet. "
            "Supported for decoders: count, bridge, shapes, cost, notation, ask, check, explain, attention, attribute, "
            "train, generate, translate and verify."
        )


def request_from_words(words: Iterable[str], *, as_class: str | None = None, decoders: bool = False) -> Request:
    """Read `bert-base layers=8 t=512`, already split into words: a name, then fields."""
    return requests_from_words(words, count=1, as_class=as_class, decoders=decoders)[0]


def requests_from_words(
    words: Iterable[str], *, count: int, as_class: str | None = None, decoders: bool = False
) -> list[Request]:
    """Read several specs, each a name followed by its fields."""
    found = split_words(words, count=count)
    return [request(name, as_class=as_class, decoders=decoders, **only_fields(fields)) for name, fields in found]


def only_fields(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return fields as keyword arguments; unknown names are refused, so that none is taken for another argument."""
    for name in fields:
        _, dot, inner = name.partition(".")
        plain = inner if dot and name.startswith(tuple(f"{stack}." for stack in STACKS)) else name
        if plain not in (*SIZES, *STACKS, TARGET, "share_tokens") and plain not in field_rules(DecoderSpec):
            rule_for(plain, also=SIZES)
    return dict(fields)


def split_specs(words: Iterable[str]) -> list[tuple[str, dict[str, str]]]:
    """Split words into names, each with the `field=value` words that follow it; a word may hold a name and its fields."""
    found: list[tuple[str, dict[str, str]]] = []
    for word in (piece for given in words for piece in _pieces(given)):
        name, equals, value = word.partition("=")
        if not equals or (not found and is_there(word)):
            found.append((word, {}))
        elif not found:
            raise GlassformerError(f"'{shown(word)}' needs a spec before it: a preset or a file, as in 'encoder {shown(word)}'.")
        else:
            field = name.strip().replace("-", "_")
            if field in found[-1][1]:
                raise GlassformerError(
                    f"{shown(field)} is given twice, as {shown(found[-1][1][field])} and as {shown(value)}: give it once."
                )
            found[-1][1][field] = value
    return found


def split_words(words: Iterable[str], *, count: int) -> list[tuple[str, dict[str, str]]]:
    """Split words into as many specs as there must be."""
    found = split_specs(words)
    if len(found) != count:
        names = ", ".join(f"'{shown(name)}'" for name, _ in found) or "none"
        wanted = "one spec" if count == 1 else f"{count} specs"
        raise GlassformerError(f"expected {wanted}, found {names}. Fields are written field=value, without spaces: heads=8.")
    return found


def _pieces(word: str) -> list[str]:
    """Split `bert-base layers=8`, given as one string, into its words."""
    pieces = word.split()
    return pieces if len(pieces) > 1 and "=" not in pieces[0] and "=" in pieces[1] and not is_there(word) else [word]


def from_document(document: Mapping[str, Any], *, source: str, as_class: str | None = None) -> tuple[EncoderSpec, dict[str, int]]:
    """Return the spec in a parsed file: our own fields (with an optional `base`), or a Hugging Face config."""
    from glassformer.configs.huggingface import from_config, unwrap

    if not _is_own(document, source, as_class):
        config, wrapped_class, changes = unwrap(dict(document))
        found = from_config(config, as_class=as_class or wrapped_class, source=source).spec
        return (found.replace(**changes) if changes else found), {}
    base = document.get("base")
    if base is not None and not isinstance(base, str):
        raise GlassformerError(f"{source}: base must be the name of a preset, found {shown(base)}.")
    try:
        start = preset(base) if base else EncoderSpec()
        kind = type(start)
        sizes = {name: _size(name, document[name]) for name in SIZES if name in document}
        named = [name for name in document if name not in (*SIZES, "base", "doc")]
        fields = {name: accept_of(kind, known_field(kind, name, SIZES), document[name]) for name in named}
        return start.replace(**fields), sizes
    except GlassformerError as error:
        raise GlassformerError(f"{source}: {error}") from None


def _is_own(document: Mapping[str, Any], source: str, as_class: str | None) -> bool:
    """Whether a file uses our fields: all of its keys do, or so many that the others are likely typing errors."""
    ours = {*defaults(DecoderSpec), *SIZES, *STACKS, "share_tokens", "base", "doc"}
    foreign = as_class is not None or any(key in document for key in ("model_type", "architectures", "config"))
    return set(document) <= ours or (not foreign and (source.endswith(".toml") or 2 * len(ours & set(document)) > len(document)))


def preset_meant(word: str) -> str | None:
    """Return the preset that a word names: by its own name, or by another of its names unless a file has that name."""
    known = known_preset(word)
    return known if known == word or (known is not None and not is_there(word)) else None


def _look_up(what: Any, as_class: str | None) -> tuple[str, EncoderSpec, dict[str, int]]:
    if isinstance(what, EncoderSpec):
        return "spec", what, {}
    if isinstance(what, Request):
        lengths = {"t": what.t, "u": what.u}
        return what.label, what.spec, {"batch": what.batch} | {name: size for name, size in lengths.items() if size is not None}
    if isinstance(what, Mapping):
        return "spec", *from_document(what, source="the given mapping", as_class=as_class)
    if not isinstance(what, str | Path):
        raise GlassformerError(f"a spec is a name, a path, a mapping or an EncoderSpec, found {shown(type(what).__name__)}.")
    name = preset_meant(str(what))
    if name is not None:
        if as_class is not None:
            raise GlassformerError(
                f"--as {shown(as_class)} is for a Hugging Face config, and '{name}' is a preset. Write head=… instead."
            )
        return name, preset(name), {}
    if not str(what).strip():
        raise GlassformerError("the name of the encoder is empty. 'glassformer presets' lists the names.")
    path = _file_of(str(what))
    document = read_document(path)
    if not document:
        raise GlassformerError(
            f'{shown(path.name)} is empty: a spec file contains fields, such as d_model = 512 or base = "bert-base".'
        )
    return str(what), *from_document(document, source=path.name, as_class=as_class)


def _file_of(name: str) -> Path:
    """Return the file that a word names; a word that does not look like a path is treated as a mistyped preset."""
    path = Path(name)
    there = is_there(name)
    if there and path.is_dir():
        found = next((path / inner for inner in SPEC_FILES if (path / inner).is_file()), None)
        if found is None:
            if runs := sorted(path.glob("*/run.json")):
                first = shown(runs[0].parent.name)
                raise GlassformerError(f"the folder {shown(name)} contains {len(runs):,} runs: name one, such as {first}.")
            files = f"{', '.join(SPEC_FILES[:-1])} or {SPEC_FILES[-1]}"
            raise GlassformerError(f"the folder {shown(name)} contains no {files}. Name a folder that does, a file, or a preset.")
        return found
    if there:
        return path
    if "://" in name:
        raise GlassformerError(
            f"{shown(name)} is a URL, and nothing is downloaded. Download config.json yourself and name that file."
        )
    if "/" in name or name.endswith((".json", ".toml")) or is_link(name) or name == "-":
        if is_hub_name(name) and not is_there(name.partition("/")[0]) and path.suffix not in (".json", ".toml"):
            raise GlassformerError(
                f"{shown(name)} is neither a file nor a published name that is known: give the path of its config.json, or a "
                "preset ('glassformer presets' lists them)."
            )
        raise no_such(path, "file or folder", wanted="A spec is a .toml or .json file, a folder with one, or a preset.")
    raise unknown_preset(name)


def is_there(name: str) -> bool:
    """Whether a file or folder with this name exists."""
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # not a valid file name
        return False


def _size(name: str, value: Any) -> int:
    number = None if isinstance(value, bool | float) else whole_number(str(value).strip())
    if number is None or not 1 <= number <= LARGEST:
        raise GlassformerError(f"{name}={shown(value)} is not allowed: {name} must be a whole number from 1 to {LARGEST:,}.")
    return number
