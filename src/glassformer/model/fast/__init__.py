"""The fast lane: parts that replace plain ones, each compared with its plain counterpart by a test."""

from glassformer.model.fast.compiling import compile_layers
from glassformer.model.fast.inference import Inference
from glassformer.model.fast.packing import encode_packed
from glassformer.model.fast.replacing import apply

__all__ = ["Inference", "apply", "compile_layers", "encode_packed"]
