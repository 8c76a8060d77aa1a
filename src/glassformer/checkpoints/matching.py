"""Matching weights with a config: every tensor is found, or reported as missing, unexpected or of another size."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from glassformer.checkpoints.tensor_names import Shape
from glassformer.errors import GlassformerError, shown
from glassformer.files.layout import Place
from glassformer.files.name_tables import names_of
from glassformer.files.name_tables.names import At, Names
from glassformer.spec.encoder_spec import EncoderSpec

NAMED = 3  # tensors of each kind that a message lists


class Misfit(NamedTuple):
    """A tensor whose size is not the one in the config."""

    name: str
    found: Shape
    wanted: Shape


class Match(NamedTuple):
    """Which tensor holds which parameter, and what does not fit."""

    found: dict[str, Place]
    copies: dict[str, tuple[Place, ...]]  # further copies of tied tensors
    missing: dict[str, str]  # parameter -> the tensor name that was expected
    unexpected: tuple[str, ...]
    misfits: tuple[Misfit, ...]
    unused: tuple[str, ...]  # known tensors that this class lacks: another head, a decoder, buffers


class MismatchError(GlassformerError):
    """Weights that do not fit the config: the message names a few tensors; `match`, if computed, holds all of them."""

    def __init__(self, message: str, match: Match | None) -> None:
        super().__init__(message)
        self.match = match


def match_tensors(places: Mapping[str, tuple[Place, ...]], present: Mapping[str, Shape], family: str) -> Match:
    """Find each parameter among the tensors of a file (name -> shape)."""
    names = names_of(family)
    found: dict[str, Place] = {}
    copies: dict[str, tuple[Place, ...]] = {}
    missing: dict[str, str] = {}
    for parameter, candidates in places.items():
        held = [place for place in candidates if place.name in present]
        if held:
            found[parameter], copies[parameter] = held[0], tuple(held[1:])
        else:
            missing[parameter] = _expected_name(parameter, candidates, names, present)
    wanted = {place.name: place.shape for place in (*found.values(), *(copy for group in copies.values() for copy in group))}
    misfits = [Misfit(name, present[name], shape) for name, shape in wanted.items() if present[name] != shape]
    rest = {name: _known_elsewhere(name, names) for name in present if name not in wanted}
    return Match(
        found=found,
        copies={name: group for name, group in copies.items() if group},
        missing=missing,
        unexpected=tuple(name for name, known in rest.items() if not known),
        misfits=tuple(misfits),
        unused=tuple(name for name, known in rest.items() if known),
    )


def untied(match: Match, family: str) -> Match:
    """Return the match for a file that is declared untied: the encoder has its own table next to the shared one."""
    shared = names_of(family).shared
    held = {name: (match.found[name], *group) for name, group in match.copies.items()}
    own = {name: [place for place in group if place.name not in shared] for name, group in held.items()}
    own = {name: places for name, places in own.items() if places}
    others = tuple(place.name for name in own for place in held[name] if place.name in shared)
    copies = match.copies | {name: tuple(places[1:]) for name, places in own.items()}
    return match._replace(
        found=match.found | {name: places[0] for name, places in own.items()},
        copies={name: group for name, group in copies.items() if group},
        unused=(*match.unused, *others),
    )


def require(
    match: Match, spec: EncoderSpec, *, family: str, present: Mapping[str, Shape], label: str, source: str = "config.json"
) -> None:
    """Refuse weights that do not fit; `source` is the file that describes the model."""
    if not (match.missing or match.unexpected or match.misfits):
        return
    require_depth(spec, family=family, present=present, label=label, source=source, match=match)
    parts = [
        _listed(f"{len(match.missing)} missing", list(match.missing.values())),
        _listed(f"{len(match.unexpected)} unexpected", match.unexpected),
        _listed(f"{len(match.misfits)} of another size", [_size_text(misfit) for misfit in match.misfits], most=1),
    ]
    wrong = "; ".join(part for part in parts if part)
    raise MismatchError(f"{label} does not fit {source}: of {len(match.found) + len(match.missing)} tensors, {wrong}.", match)


def require_depth(
    spec: EncoderSpec,
    *,
    family: str,
    present: Mapping[str, Shape],
    label: str,
    source: str = "config.json",
    match: Match | None = None,
) -> None:
    """Refuse a number of layers other than the file's. Needs no shapes, so it can run before they are computed."""
    held = layers_held(names_of(family), present)
    if held and spec.share_layers is None and len(held) != spec.layers:
        run = f"{min(held)} to {max(held)}" if len(held) > 1 else str(min(held))
        raise MismatchError(
            f"{source} has {spec.layers:,} layers, but {label} has {len(held):,} ({run}). "
            f"Use the {source} that belongs to these weights, or correct its number of layers.",
            match,
        )


def require_room(spec: EncoderSpec, *, present: Mapping[str, Shape], label: str, source: str = "config.json") -> None:
    """Refuse a size larger than the total number of values in the file, before any shapes are computed."""
    held = sum(math.prod(shape) for shape in present.values())
    widths = {"d_model": spec.d_model, "vocab": spec.vocab, "positions": spec.positions if spec.learns_positions else None}
    if spec.layers and spec.block == "layer":
        widths["d_ff"] = spec.d_ff
    for name, size in widths.items():
        if size is not None and size > held:
            raise MismatchError(
                f"{source} has {name}={size:,}, but {label} has only {held:,} values in total. Nothing was allocated. "
                f"Use the {source} that belongs to these weights.",
                None,
            )


def layers_held(names: Names, present: Mapping[str, Shape]) -> set[int]:
    """Return the layer numbers in a file; empty for families whose files do not number layers individually."""
    folders = [re.escape(folder).replace(r"\{n\}", r"(\d{1,6})") for folder, _ in names.layers if "{n}" in folder]
    beginnings = [re.escape(prefix) for prefix in (*names.prefixes, "")]
    pattern = re.compile(f"(?:{'|'.join(beginnings)})(?:{'|'.join(folders)})") if folders else None
    hits = (pattern.match(name) for name in present) if pattern else ()
    return {int(next(group for group in hit.groups() if group)) for hit in hits if hit}


def _expected_name(parameter: str, candidates: tuple[Place, ...], names: Names, present: Mapping[str, Shape]) -> str:
    """Return the name to report for a missing tensor, with the prefix that the file uses elsewhere."""
    if not candidates:
        return parameter
    prefix = next((prefix for prefix in names.prefixes if any(name.startswith(prefix) for name in present)), "")
    fitting = (place.name for place in candidates if place.name.startswith(prefix or tuple(names.prefixes)) == bool(prefix))
    return next(fitting, candidates[0].name)


def _known_elsewhere(name: str, names: Names) -> bool:
    """Whether a tensor belongs to an optional part: a buffer, a pooler, another head, a decoder."""
    if names.is_buffer(name) or name in names.empty or name.startswith(names.aside or ("\0",)):
        return True
    return any(name == beginning or name.startswith(f"{beginning}.") for beginning in _optional_parts(names))


def _optional_parts(names: Names) -> Iterator[str]:
    for table in names.heads.values():
        yield from (item for named in table.values() for item in _plain(named))
    for key, named in names.body.items():
        if key.startswith("pooler.") or key == "embeddings.mask_token":
            yield from (prefix + item for item in _plain(named) for prefix in (*names.prefixes, ""))


def _plain(named: str | At | tuple[str | At, ...]) -> list[str]:
    if isinstance(named, str):
        return [named]
    return [named.name] if isinstance(named, At) else [item if isinstance(item, str) else item.name for item in named]


def _listed(what: str, names: list[str] | tuple[str, ...], *, most: int = NAMED) -> str:
    if not names:
        return ""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{what} ({', '.join(shown(name, limit=100) for name in names[:most])}{more})"


def _size_text(misfit: Misfit) -> str:
    return f"{misfit.name} is {list(misfit.found)}, expected {list(misfit.wanted)}"
