"""How a spec is written, everywhere the same: a name or a file, then `field=value`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from glassformer.spec.arguments import text
from glassformer.spec.encoder_spec import EncoderSpec, defaults
from glassformer.spec.errors import GlassformerError, shown
from glassformer.spec.fields import LARGEST, accept, field_text, rule_for, whole_number
from glassformer.spec.files import read_document
from glassformer.spec.paths import is_link, no_such
from glassformer.spec.presets import known_preset, preset, unknown_preset
from glassformer.spec.unread import require_read

SIZES = ("batch", "t")  # how much goes in: written like fields, but not part of what the encoder is
SPEC_FILES = ("config.json", "spec.json", "spec.toml")


class Request(NamedTuple):
    """A spec as somebody wrote it: what it is called, the spec, and the sizes of the input where given."""

    label: str
    spec: EncoderSpec
    batch: int = 1
    t: int | None = None


def spec(
    what: str | Path | EncoderSpec | Mapping[str, Any] = "encoder", *, as_class: str | None = None, **fields: Any
) -> EncoderSpec:
    """The spec that `what` names (preset, file, folder, Hugging Face config), with some fields changed."""
    return request(what, as_class=as_class, **fields).spec


def request(
    what: str | Path | EncoderSpec | Mapping[str, Any] = "encoder", *, as_class: str | None = None, **fields: Any
) -> Request:
    """Like `spec`, with `batch` and `t` among the fields."""
    found, changed = draft(what, as_class=as_class, **fields)
    require_read(found.spec, changed)
    return found


def draft(
    what: str | Path | EncoderSpec | Mapping[str, Any], *, as_class: str | None = None, **fields: Any
) -> tuple[Request, dict[str, Any]]:
    """A request to which parts are still to be added, and its changed fields: whoever adds them asks whether each is read."""
    if isinstance(what, str) and len(_pieces(what)) > 1:
        ((what, written),) = split_words([what], count=1)
        if twice := sorted(written.keys() & fields.keys()):
            raise GlassformerError(f"{shown(twice[0])} is given twice, in words and as an argument: give it once.")
        fields = only_fields(written) | fields
    label, found, sizes = _look_up(what, text("as_class", as_class) if as_class is not None else None)
    sizes |= {name: _size(name, fields.pop(name)) for name in SIZES if fields.get(name) is not None}
    changed = {name: accept(rule_for(name, also=SIZES).name, value) for name, value in fields.items()}
    label += "".join(f" {name}={field_text(value)}" for name, value in changed.items())
    made = found.replace(**changed) if changed else found
    return Request(label, made, sizes.get("batch", 1), sizes.get("t")), changed


def request_from_words(words: Iterable[str], *, as_class: str | None = None) -> Request:
    """`bert-base layers=8 t=512` as a command line splits it: a name first, then fields."""
    return requests_from_words(words, count=1, as_class=as_class)[0]


def requests_from_words(words: Iterable[str], *, count: int, as_class: str | None = None) -> list[Request]:
    """Several specs in a row, each a name followed by its own fields."""
    return [request(name, as_class=as_class, **only_fields(fields)) for name, fields in split_words(words, count=count)]


def only_fields(fields: Mapping[str, str]) -> dict[str, Any]:
    """Fields as somebody wrote them, ready to be arguments: a name that is no field is refused, lest it become another one."""
    for name in fields:
        if name not in SIZES:
            rule_for(name, also=SIZES)
    return dict(fields)


def split_words(words: Iterable[str], *, count: int) -> list[tuple[str, dict[str, str]]]:
    """Names with the `field=value` words that follow each; a name and its fields may be one word, too."""
    found: list[tuple[str, dict[str, str]]] = []
    for word in (piece for given in words for piece in _pieces(given)):
        name, equals, value = word.partition("=")
        if not equals or (not found and is_there(word)):
            found.append((word, {}))
        elif not found:
            raise GlassformerError(
                f"'{shown(word)}' comes before a spec: name a preset or a file first, as in 'bert-base {shown(word)}'."
            )
        else:
            field = name.strip().replace("-", "_")
            if field in found[-1][1]:
                raise GlassformerError(
                    f"{shown(field)} is given twice, as {shown(found[-1][1][field])} and as {shown(value)}: give it once."
                )
            found[-1][1][field] = value
    if len(found) != count:
        names = ", ".join(f"'{shown(name)}'" for name, _ in found) or "none"
        wanted = "one spec" if count == 1 else f"{count} specs"
        raise GlassformerError(f"{wanted} wanted, found {names}. Fields are written field=value, without spaces: heads=8.")
    return found


def _pieces(word: str) -> list[str]:
    """`bert-base layers=8` in one piece (between quotes, or in Python) as the words that it is made of."""
    pieces = word.split()
    return pieces if len(pieces) > 1 and "=" not in pieces[0] and "=" in pieces[1] and not is_there(word) else [word]


def from_document(document: Mapping[str, Any], *, source: str, as_class: str | None = None) -> tuple[EncoderSpec, dict[str, int]]:
    """The spec in a parsed file: our own fields (with an optional `base`), or a Hugging Face config."""
    from glassformer.spec.huggingface import from_config, unwrap

    if not _is_own(document, source, as_class):
        config, wrapped_class, changes = unwrap(dict(document))
        found = from_config(config, as_class=as_class or wrapped_class, source=source).spec
        return (found.replace(**changes) if changes else found), {}
    base = document.get("base")
    if base is not None and not isinstance(base, str):
        raise GlassformerError(f"{source}: base must be the name of a preset, found {shown(base)}.")
    try:
        start = preset(base) if base else EncoderSpec()
        sizes = {name: _size(name, document[name]) for name in SIZES if name in document}
        named = [name for name in document if name not in (*SIZES, "base", "doc")]
        fields = {name: accept(rule_for(name, also=SIZES).name, document[name]) for name in named}
        return start.replace(**fields), sizes
    except GlassformerError as error:
        raise GlassformerError(f"{source}: {error}") from None


def _is_own(document: Mapping[str, Any], source: str, as_class: str | None) -> bool:
    """Whether a file speaks of our fields: all of its keys, or so many that the others are slips of the pen."""
    ours = {*defaults(), *SIZES, "base", "doc"}
    foreign = as_class is not None or any(key in document for key in ("model_type", "architectures", "config"))
    return set(document) <= ours or (not foreign and (source.endswith(".toml") or 2 * len(ours & set(document)) > len(document)))


def preset_meant(word: str) -> str | None:
    """The preset that a word means: its own name, or another that it is known by and that no file here has."""
    known = known_preset(word)
    return known if known == word or (known is not None and not is_there(word)) else None


def _look_up(what: Any, as_class: str | None) -> tuple[str, EncoderSpec, dict[str, int]]:
    if isinstance(what, EncoderSpec):
        return "spec", what, {}
    if isinstance(what, Mapping):
        return "spec", *from_document(what, source="the given mapping", as_class=as_class)
    if not isinstance(what, str | Path):
        raise GlassformerError(f"a spec is a name, a path, a mapping or an EncoderSpec, found {shown(type(what).__name__)}.")
    name = preset_meant(str(what))
    if name is not None:
        if as_class is not None:
            raise GlassformerError(
                f"--as {shown(as_class)} belongs to a Hugging Face config; '{name}' is a preset. Write head=… instead."
            )
        return name, preset(name), {}
    if not str(what).strip():
        raise GlassformerError("which encoder? The name is empty. 'glassformer presets' lists the names.")
    path = _file_of(str(what))
    document = read_document(path)
    if not document:
        raise GlassformerError(
            f'{shown(path.name)} is empty: a spec file holds fields, such as d_model = 512, or base = "bert-base".'
        )
    return str(what), *from_document(document, source=path.name, as_class=as_class)


def _file_of(name: str) -> Path:
    """The file that a word means; a word that looks like no path is taken for a mistyped preset."""
    path = Path(name)
    there = is_there(name)
    if there and path.is_dir():
        found = next((path / inner for inner in SPEC_FILES if (path / inner).is_file()), None)
        if found is None:
            if runs := sorted(path.glob("*/run.json")):
                first = shown(runs[0].parent.name)
                raise GlassformerError(f"the folder {shown(name)} holds {len(runs):,} runs: name one, such as {first}.")
            files = f"{', '.join(SPEC_FILES[:-1])} or {SPEC_FILES[-1]}"
            raise GlassformerError(f"the folder {shown(name)} holds no {files}. Name a folder that does, a file, or a preset.")
        return found
    if there:
        return path
    if "://" in name:
        raise GlassformerError(f"{shown(name)} is an address, and nothing is fetched. Download config.json and name that file.")
    if "/" in name or name.endswith((".json", ".toml")) or is_link(name) or name == "-":
        raise no_such(path, "file or folder", wanted="A spec is a .toml or .json file, a folder with one, or a preset.")
    raise unknown_preset(name)


def is_there(name: str) -> bool:
    """Whether a word is the name of a file or folder."""
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _size(name: str, value: Any) -> int:
    number = None if isinstance(value, bool | float) else whole_number(str(value).strip())
    if number is None or not 1 <= number <= LARGEST:
        raise GlassformerError(f"{name}={shown(value)} is not allowed: {name} is a whole number from 1 to {LARGEST:,}.")
    return number
