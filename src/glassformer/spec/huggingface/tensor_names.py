"""Our parameters in a family's files: for each, the tensors that may hold it, and how it lies in them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.errors import GlassformerError
from glassformer.spec.huggingface import deberta, image_names, sound_names, text_names
from glassformer.spec.huggingface.layout import Place
from glassformer.spec.huggingface.name_tables import At, Named, Names, Table

NAMES: dict[str, Names] = {**text_names.NAMES, **deberta.NAMES, **image_names.NAMES, **sound_names.NAMES}

# A folder of our own: each parameter is a tensor, with the name and the axes that it has in the ledger.
OWN = "glassformer"
OWN_NAMES = Names(prefixes=("",), body={}, layers=(("layers.{n}.", {}),))

LAYER = re.compile(r"layers\.(\d+)\.(.+)")
# What follows the name of a module; the second spelling is that of files converted from TensorFlow.
SUFFIXES = {"W": (".weight",), "b": (".bias",), "gamma": (".weight", ".gamma"), "beta": (".bias", ".beta")}

Shape = tuple[int, ...]


def tensor_names(spec: EncoderSpec, family: str, model_class: str, shapes: Mapping[str, Shape]) -> dict[str, tuple[Place, ...]]:
    """For each parameter (by name, with its shape) the places where a file may keep it.

    The first place is the one that is written. A file that is read has one of them; where it has more, they are equal copies.
    """
    if family == OWN:
        return {parameter: (Place(parameter, shape),) for parameter, shape in shapes.items()}
    names = names_of(family)
    return {
        parameter: tuple(_place(parameter, shape, at, spec) for at in _unique(_candidates(parameter, spec, names, model_class)))
        for parameter, shape in shapes.items()
    }


def names_of(family: str) -> Names:
    """The tables of a family."""
    if family == OWN:
        return OWN_NAMES
    if family not in NAMES:
        raise GlassformerError(f"the tensor names of {family} files are not known, so their weights cannot be read.")
    return NAMES[family]


def _candidates(parameter: str, spec: EncoderSpec, names: Names, model_class: str) -> Iterator[At]:
    head = names.head(model_class)
    prefixes = _prefixes(names, model_class)
    found = list(_look_up(head, parameter))
    if parameter.endswith("b_vocab") and spec.spare_bias:
        found = found[-1:]  # untied, the two biases are two tensors: this one is added, the other is spare
    yield from found
    for prefix in prefixes:
        yield from (_under(prefix, at) for at in _look_up(names.body, parameter))
    layer = LAYER.fullmatch(parameter)
    if layer:
        where = _layer_number(spec, int(layer[1]))
        for prefix in prefixes:
            for folder, table in names.layers:
                inside = {**table, **names.gated} if spec.gated else table
                yield from (_under(prefix + folder.format(**where), at) for at in _look_up(inside, layer[2]))
    if parameter == "embeddings.E_token" and spec.tie:
        yield from _look_up(head, "head.W_vocab")


def _prefixes(names: Names, model_class: str) -> list[str]:
    """The body's prefixes: none comes first where the body is the whole model."""
    own = names.own_prefix.get(model_class, names.prefixes[0])
    with_prefix = list(dict.fromkeys([own, *names.prefixes]))
    return [*with_prefix, ""] if names.head(model_class) else ["", *with_prefix]


def _under(prefix: str, at: At) -> At:
    """A name under a prefix; one that opens with a slash is whole already."""
    return at._replace(name=at.name[1:] if at.name.startswith("/") else prefix + at.name)


def _look_up(table: Table, parameter: str) -> Iterator[At]:
    """The entry of a parameter, or of the unit it belongs to: `attention.W_Q` is the weight of `attention.Q`."""
    if parameter in table:
        yield from _each(table[parameter])
        return
    place, _, symbol = parameter.rpartition(".")
    kind, line, rest = symbol.partition("_")
    unit = f"{place}.{rest}" if line else place
    if unit in table and kind in SUFFIXES:
        for at in _each(table[unit]):
            for suffix in SUFFIXES[kind]:
                yield at._replace(name=at.name + suffix)


def _each(named: Named) -> list[At]:
    alternatives = named if isinstance(named, tuple) and not isinstance(named, At) else (named,)
    return [At(item) if isinstance(item, str) else item for item in alternatives]


def _unique(candidates: Iterator[At]) -> list[At]:
    first: dict[str, At] = {}
    for at in candidates:
        first.setdefault(at.name, at)
    return list(first.values())


def _layer_number(spec: EncoderSpec, owner: int) -> dict[str, int]:
    """How files count a layer: by itself, and, where layers share weights, by group and place inside it."""
    if spec.share_layers is None:
        return {"n": owner, "group": owner, "inner": 0}
    owners = sorted({spec.layer_weights(number) for number in range(spec.layers)})
    group, inner = divmod(owners.index(owner), spec.layer_cycle)
    return {"n": owners.index(owner), "group": group, "inner": inner}


def _place(parameter: str, shape: Shape, at: At, spec: EncoderSpec) -> Place:
    symbol = parameter.rpartition(".")[2]
    if symbol.startswith("W_"):
        convolution = symbol.startswith("W_conv")
        # W_O reads every head's values, a convolution every feature of a few frames: their first two axes.
        split = 2 if symbol == "W_O" or convolution else 1
        rows = math.prod(shape[split:])
        columns = shape[:2] if convolution else (math.prod(shape[:split]),)
        if symbol == "W_patch":
            columns = (spec.channels, *spec.patch_size)
        whole = (rows * at.of, *columns, *(1,) * at.ones_after)
        return Place(at.name, whole, "transposed", _rows(at, rows))
    if symbol.startswith("b_"):
        rows = math.prod(shape)
        return Place(at.name, (rows * at.of,), "same", _rows(at, rows))
    return Place(at.name, (*(1,) * at.ones_before, *shape))


def _rows(at: At, rows: int) -> tuple[int, int] | None:
    return None if at.of == 1 else (at.part * rows, (at.part + 1) * rows)
