"""For each parameter, the tensors in a family's files that may hold it, and their layout."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from glassformer.errors import GlassformerError
from glassformer.files.layout import Place
from glassformer.files.name_tables import OWN, names_of
from glassformer.files.name_tables.encoder_decoders import STACKS
from glassformer.files.name_tables.names import At, Named, Names, Table
from glassformer.spec.encoder_fields import GROUPED, BiasPlace
from glassformer.spec.encoder_spec import EncoderSpec
from glassformer.spec.seq2seq_spec import Seq2SeqSpec

LAYER = re.compile(r"layers\.(\d+)\.(.+)")
# Suffixes of a module's tensors; the second spelling is used in files converted from TensorFlow.
SUFFIXES = {"W": (".weight",), "b": (".bias",), "gamma": (".weight", ".gamma"), "beta": (".bias", ".beta")}

# Projections that may keep groups of features apart, by the index of their matrix.
GROUPED_SYMBOLS: dict[str, BiasPlace] = dict(zip("QKVO12", GROUPED, strict=True))

Shape = tuple[int, ...]


def tensor_names(spec: EncoderSpec, family: str, model_class: str, shapes: Mapping[str, Shape]) -> dict[str, tuple[Place, ...]]:
    """Return, for each parameter (name -> shape), the places where a file may store it.

    The first place is used for writing. A file that is read has at least one of them; if several, they are equal copies.
    """
    if family == OWN:
        return {parameter: (Place(parameter, shape),) for parameter, shape in shapes.items()}
    if isinstance(spec, Seq2SeqSpec):
        return {
            parameter: tuple(_place(parameter, shape, at, one) for at in _unique(found))
            for parameter, shape in shapes.items()
            for one, found in [_in_stacks(parameter, spec, family, model_class)]
        }
    names = names_of(family)
    return {
        parameter: tuple(_place(parameter, shape, at, spec) for at in _unique(_candidates(parameter, spec, names, model_class)))
        for parameter, shape in shapes.items()
    }


def _candidates(parameter: str, spec: EncoderSpec, names: Names, model_class: str) -> Iterator[At]:
    head = names.head(model_class)
    prefixes = _prefixes(names, model_class)
    hides = spec.head_hidden != "none"
    found = [at for at in _look_up(head, parameter) if at.with_hidden in (None, hides)]
    if parameter.endswith("b_vocab") and spec.spare_bias:
        found = found[-1:]  # if untied, the biases are two tensors: this one is added, the other is spare
    yield from found
    yield from _in_body(parameter, spec, names, prefixes)
    if parameter == "embeddings.E_token" and spec.tie:
        yield from _look_up(head, "head.W_vocab")


def _in_stacks(parameter: str, spec: Seq2SeqSpec, family: str, model_class: str) -> tuple[EncoderSpec, Iterator[At]]:
    """Return the stack that has a parameter, and its places in the files of a whole model."""
    if family not in STACKS:
        raise GlassformerError(f"the tensor names of {family} files are not known, so their weights cannot be read.")
    stacks = STACKS[family]
    head, (stack, _, inner) = stacks.head(model_class), parameter.partition(".")
    if stack == "head":
        return spec.decoder, _look_up(head, parameter)
    number = ("encoder", "decoder").index(stack)
    one, names = ((spec.encoder, stacks.encoder), (spec.decoder, stacks.decoder))[number]
    outer = [stacks.outer, ""] if head else ["", stacks.outer]
    prefixes = [before + stacks.folders[number] for before in outer]

    def candidates() -> Iterator[At]:
        table = inner == "embeddings.E_token"
        if table and spec.shares_table:
            yield from (At(before + name) for before in outer for name in stacks.shared)
        else:
            yield from _in_body(inner, one, names, prefixes)
        if table and spec.decoder.tie and (spec.shares_table or stack == "decoder"):
            yield from _look_up(head, "head.W_vocab")

    return one, candidates()


def _in_body(parameter: str, spec: EncoderSpec, names: Names, prefixes: list[str]) -> Iterator[At]:
    for prefix in prefixes:
        yield from (_under(prefix, at) for at in _look_up(names.body, parameter))
    layer = LAYER.fullmatch(parameter)
    if layer:
        where = _layer_number(spec, int(layer[1]))
        for prefix in prefixes:
            for folder, table in names.layers:
                inside = {**table, **names.gated} if spec.gated else table
                yield from (_under(prefix + folder.format(**where), at) for at in _look_up(inside, layer[2]))


def _prefixes(names: Names, model_class: str) -> list[str]:
    """Return the prefixes of the body; the empty prefix comes first if the body is the whole model."""
    own = names.own_prefix.get(model_class, names.prefixes[0])
    with_prefix = list(dict.fromkeys([own, *names.prefixes]))
    return [*with_prefix, ""] if names.head(model_class) else ["", *with_prefix]


def _under(prefix: str, at: At) -> At:
    """Prepend a prefix to a name, unless the name starts with a slash, which marks a full name."""
    return at._replace(name=at.name[1:] if at.name.startswith("/") else prefix + at.name)


def _look_up(table: Table, parameter: str) -> Iterator[At]:
    """Yield the entries of a parameter, or of its module: `attention.W_Q` is the weight of `attention.Q`."""
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


def _layer_number(spec: EncoderSpec, owner: int) -> dict[str, int | str]:
    """Return how files number a layer: by itself and, if layers share weights, by group and index in the group."""
    if spec.funnel:
        return {"n": owner, "funnel": _in_funnel(spec, owner)}
    if spec.share_layers is None:
        return {"n": owner, "group": owner, "inner": 0}
    owners = sorted({spec.layer_weights(number) for number in range(spec.layers)})
    group, inner = divmod(owners.index(owner), spec.layer_cycle)
    return {"n": owners.index(owner), "group": group, "inner": inner}


def _in_funnel(spec: EncoderSpec, owner: int) -> str:
    """Return the name of a layer of a block, or of one after the blocks."""
    first = 0
    for block, (size, times) in enumerate(zip(spec.funnel, spec.funnel_repeats, strict=True)):
        if owner < first + size * times:
            return f"encoder.blocks.{block}.{(owner - first) // times}"
        first += size * times
    return f"decoder.layers.{owner - first}"


def _place(parameter: str, shape: Shape, at: At, spec: EncoderSpec) -> Place:
    symbol = parameter.rpartition(".")[2]
    place = GROUPED_SYMBOLS.get(symbol[2:])
    if symbol.startswith("W_") and place is not None and spec.groups_of(place) > 1:
        return Place(at.name, (math.prod(shape[:2]), *shape[2:], *(1,) * at.ones_after))
    if symbol.startswith("W_"):
        convolution = symbol.startswith("W_conv")
        # The input of W_O is (head, d_v), that of a convolution (feature, frame), that of neighbours (place, feature).
        split = 2 if symbol == "W_O" or convolution or (symbol == "W_N" and len(shape) == 3) else 1
        rows = math.prod(shape[split:])
        total, part = _share(at, rows, spec)
        columns = shape[:2] if convolution else (math.prod(shape[:split]),)
        if at.channels_last:
            return Place(at.name, (total, *columns), "transposed", channels=spec.channels)
        if symbol == "W_patch":
            columns = (spec.channels, *spec.patch_depth, *spec.patch_size)
        if at.input_first:
            return Place(at.name, (*columns, total), "same", part, axis=len(columns))
        whole = (total, *columns, *(1,) * at.ones_after)
        return Place(at.name, whole, "transposed", part, groups=_groups(at, spec))
    if symbol.startswith("b_"):
        total, part = _share(at, math.prod(shape), spec)
        return Place(at.name, (total,), "same", part, groups=_groups(at, spec))
    if at.flipped:
        return Place(at.name, shape[::-1], "transposed")
    merged = (math.prod(shape[: at.merged]), *(1,) * at.one_inside, *shape[at.merged :]) if shape else shape
    return Place(at.name, (*(1,) * at.ones_before, *merged, *(1,) * at.ones_after))


def _share(at: At, rows: int, spec: EncoderSpec) -> tuple[int, tuple[int, int] | None]:
    """Return how many rows the tensor has, and which of them belong to this parameter: of all rows, or of those of each head."""
    if at.of == 1:
        return rows, None
    parts = [rows] * at.of
    if at.of == 3:
        parts = [spec.heads * spec.head_k, spec.key_heads * spec.head_k, spec.key_heads * spec.head_v]
    total, groups = sum(parts), _groups(at, spec)
    first, last = sum(parts[: at.part]), sum(parts[: at.part + 1])
    return total, (first // groups, last // groups)


def _groups(at: At, spec: EncoderSpec) -> int:
    return spec.heads if at.by_head else 1
