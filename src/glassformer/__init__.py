"""Glassformer: a Transformer encoder with glass walls."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Name -> module, imported on first use so that `import glassformer` stays fast.
_WHERE = {
    "EncoderSpec": "glassformer.spec",
    "GlassformerError": "glassformer.errors",
    "spec": "glassformer.configs.reading",
    "Decoder": "glassformer.model",
    "Encoder": "glassformer.model",
    "Seq2Seq": "glassformer.model",
    "encode_packed": "glassformer.model",
    "load": "glassformer.model",
    "save": "glassformer.model",
    "knock_out": "glassformer.numbers",
    "swap_tokens": "glassformer.numbers",
    "live": "glassformer.lab.widget",
    "train": "glassformer.training.entry_points",
    "resume": "glassformer.training.entry_points",
    **dict.fromkeys(
        """
        ablate ask attribute bridge build card check check_formula check_solution check_worked compare cost count
        curves data data_sets decoding download encode encode_files evaluate experiment experiments export fields
        generate grade_quiz largest_batch lens lens_over longest_context make_quiz notation patch predict
        predict_files presets probe quantities quiz_sets ray report run saliency save_picture shapes take_exam
        take_quiz translate verify work
        """.split(),
        "glassformer.api",
    ),
}

if TYPE_CHECKING:
    from glassformer.api import *  # noqa: F403  the words of its __all__, as a test compares
    from glassformer.configs.reading import spec as spec
    from glassformer.errors import GlassformerError as GlassformerError
    from glassformer.lab.widget import live as live
    from glassformer.model import Decoder as Decoder
    from glassformer.model import Encoder as Encoder
    from glassformer.model import Seq2Seq as Seq2Seq
    from glassformer.model import encode_packed as encode_packed
    from glassformer.model import load as load
    from glassformer.model import save as save
    from glassformer.numbers import knock_out as knock_out
    from glassformer.numbers import swap_tokens as swap_tokens
    from glassformer.spec import EncoderSpec as EncoderSpec
    from glassformer.training.entry_points import resume as resume
    from glassformer.training.entry_points import train as train

# The whole surface. Without torch, each name that needs it can still be imported, and says what to install when it is called.
__all__ = sorted(_WHERE)

if not TYPE_CHECKING:  # type checkers use the imports above, and so still report unknown names

    def __getattr__(name: str) -> Any:
        if name not in _WHERE:
            raise AttributeError(f"module 'glassformer' has no attribute '{name}'")
        try:
            value = getattr(import_module(_WHERE[name]), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            from glassformer.errors import without_torch

            return without_torch(name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*_WHERE, "__version__"])
