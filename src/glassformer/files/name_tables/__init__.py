"""Tensor names of our parameters in published files, one table per family, and in our own layout."""

from __future__ import annotations

from glassformer.errors import GlassformerError
from glassformer.files.name_tables import audio, compact, deberta, decoders, encoder_decoders, images, pages, rotary, text, xlm
from glassformer.files.name_tables.names import Names

NAMES: dict[str, Names] = {
    **text.NAMES,
    **rotary.NAMES,
    **deberta.NAMES,
    **compact.NAMES,
    **pages.NAMES,
    **xlm.NAMES,
    **images.NAMES,
    **audio.NAMES,
    **decoders.NAMES,
    **encoder_decoders.NAMES,
}

# Our own layout: each parameter is a tensor, with the name and the axes it has in the ledger.
OWN = "glassformer"
OWN_NAMES = Names(prefixes=("",), body={}, layers=(("layers.{n}.", {}),), buffers=("c_vocab",))


def names_of(family: str) -> Names:
    """Return the tables of a family."""
    if family == OWN:
        return OWN_NAMES
    if family not in NAMES:
        raise GlassformerError(f"the tensor names of {family} files are not known, so their weights cannot be read.")
    return NAMES[family]
