"""Loading a model folder: names matched, sizes checked, memory allocated, weights streamed in; or refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from glassformer.checkpoints.folder import CheckpointFolder, open_folder
from glassformer.checkpoints.tensor_names import Shape
from glassformer.files.checksums import check_sums
from glassformer.files.name_tables import OWN, names_of
from glassformer.files.name_tables.encoder_decoders import whole
from glassformer.files.weight_files import unknown_dtype
from glassformer.model.boundary import start
from glassformer.model.boundary.decoder import model_of
from glassformer.model.checkpoints import stored
from glassformer.spec import EncoderSpec, Seq2SeqSpec

Verdict = Literal["exact", "head differs"]  # or the folder is refused, and there is no encoder


class LoadedEncoder(NamedTuple):
    """An encoder with the weights of a folder, and the folder."""

    encoder: Any  # an Encoder, Decoder or Seq2Seq
    folder: CheckpointFolder

    @property
    def verdict(self) -> Verdict:
        """exact: every parameter is the file's. head differs: the requested class has another head than the file."""
        return verdict(self.folder)


def load_encoder(
    folder: str | Path | CheckpointFolder,
    *,
    as_class: str | None = None,
    dtype: str | torch.dtype = torch.float32,
    device: torch.device | str | None = None,
    allow_nonfinite: bool = False,
    decoders: bool = False,
) -> LoadedEncoder:
    """Load the encoder in a model folder, ready to evaluate. Unsuitable weights are refused before memory is allocated.

    `as_class` reads the folder as another class of its family; a head missing from the file is then newly initialized.
    """
    found = folder if isinstance(folder, CheckpointFolder) else open_for_model(folder, as_class=as_class, decoders=decoders)
    _check_types(found)
    check_sums(found.files)
    encoder = model_of(found.spec, device=device, dtype=start.as_dtype(dtype), fresh=bool(found.fresh))
    files, match = found.files, found.match
    with torch.no_grad():
        for name, parameter in encoder.ledger():
            if name in match.found:
                place = match.found[name]
                located = files.tensors[place.name]
                stored.read_into(parameter, located, place, allow_nonfinite=allow_nonfinite)
                for copy in match.copies.get(name, ()):
                    stored.require_equal(located, place, files.tensors[copy.name], copy)
            elif name in found.computed:
                parameter.copy_(split_sinusoids(*parameter.shape))
            else:
                assert name in found.fresh, f"{name} has no weights"
        for name, buffer in encoder.named_buffers():
            if name.endswith("head.offset"):
                for place in found.constants.values():
                    stored.read_into(buffer, files.tensors[place.name], place, allow_nonfinite=allow_nonfinite)
    return LoadedEncoder(encoder.eval(), found)


def open_for_model(folder: str | Path, *, as_class: str | None = None, decoders: bool = False) -> CheckpointFolder:
    """Open a folder whose weights match: only headers are read, and nothing is allocated."""
    return open_folder(folder, shapes_of, as_class=as_class, new_head=True, decoders=decoders)


def shapes_of(spec: EncoderSpec) -> Mapping[str, Shape]:
    """The shape of every parameter in the ledger, from a model without memory."""
    return {name: tuple(parameter.shape) for name, parameter in model_of(spec, device="meta", fresh=False).ledger()}


def verdict(folder: CheckpointFolder) -> Verdict:
    """The verdict of a load: whether the head is the file's own."""
    architectures = folder.config.get("architectures") or [folder.model_class]
    other = folder.family != OWN and folder.model_class != architectures[0] and bool(unused_parts(folder))
    return "head differs" if folder.fresh or other else "exact"


def unused_parts(folder: CheckpointFolder) -> list[str]:
    """Tensors of the file that this class lacks; stored buffers that are not learned are omitted."""
    names = names_of(whole(folder.family) if isinstance(folder.spec, Seq2SeqSpec) and folder.family != OWN else folder.family)
    return [name for name in folder.match.unused if not names.is_buffer(name)]


def split_sinusoids(rows: int, width: int) -> Tensor:
    """The fixed position table of Marian and Pegasus: sines in the first half of the features, cosines in the second."""
    features = torch.arange(0, width, 2, dtype=torch.float64)
    angles = torch.arange(rows, dtype=torch.float64)[:, None] / 10000.0 ** (features / width)
    return torch.cat([angles.sin(), angles[:, : width - len(features)].cos()], dim=1)


def _check_types(folder: CheckpointFolder) -> None:
    """Refuse a tensor of integers, for example, before anything is allocated."""
    for place in folder.match.found.values():
        stored_as: Any = folder.files.tensors[place.name].entry.dtype
        if stored_as not in stored.DTYPES:
            raise unknown_dtype(place.name, stored_as, stored.DTYPES)
