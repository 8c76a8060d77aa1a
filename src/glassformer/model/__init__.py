"""The same, fast: every spec as a plain PyTorch model.

A tensor's name ends in its axes, one letter each; this is the legend, and a test compares each name with its shape.

    B  sequences in a batch            D  d_model, width of the residual stream
    T  positions of queries    E  width of the embedding tables (D if it is the same)
    S  positions that answer (keys)    F  d_ff, inner width of the feed-forward block
    N  tokens of all sequences packed  G  what the feed-forward block makes first: F, or 2 F where it is gated
    H  attention heads                 C  classes, tags or projected features
    J  heads of keys and values        P  pixels of one patch
    K  d_k, a head's queries and keys  M  positions that a masked-token head was asked about
    V  d_v, a head's values            R  rows of a relative table

A 1 stands for an axis of size one that broadcasts.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glassformer.model.boundary.decoder import Decoder
    from glassformer.model.boundary.encoder import Encoder
    from glassformer.model.boundary.seq2seq import Seq2Seq
    from glassformer.model.checkpoints.export import save
    from glassformer.model.encoder import Output
    from glassformer.model.fast.packing import encode_packed
    from glassformer.model.sentences.loaded_model import LoadedModel, load

__all__ = ["Decoder", "Encoder", "LoadedModel", "Output", "Seq2Seq", "encode_packed", "load", "save"]

if not TYPE_CHECKING:  # imported when they are used: kept.py needs no torch
    _WHERE = {
        "Decoder": "boundary.decoder",
        "Encoder": "boundary.encoder",
        "LoadedModel": "sentences.loaded_model",
        "Output": "encoder",
        "Seq2Seq": "boundary.seq2seq",
        "encode_packed": "fast.packing",
        "load": "sentences.loaded_model",
        "save": "checkpoints.export",
    }

    def __getattr__(name: str) -> Any:
        if name not in _WHERE:
            raise AttributeError(f"module 'glassformer.model' has no attribute '{name}'")
        return getattr(import_module(f"glassformer.model.{_WHERE[name]}"), name)
