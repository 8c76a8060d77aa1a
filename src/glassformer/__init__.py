"""Glassformer: a Transformer encoder with glass walls."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Name -> module that holds it. Loaded on first use, so that `import glassformer` costs next to nothing.
_WHERE = {
    "EncoderSpec": "glassformer.spec",
    "Encoder": "glassformer.model",
    "encode_packed": "glassformer.model",
    "load": "glassformer.model",
    "save": "glassformer.model",
    "GlassformerError": "glassformer.spec",
    "spec": "glassformer.spec.reading",
    "presets": "glassformer.api",
    "build": "glassformer.api",
    "count": "glassformer.api",
    "bridge": "glassformer.api",
    "shapes": "glassformer.api",
    "cost": "glassformer.api",
    "notation": "glassformer.api",
    "run": "glassformer.api",
    "knock_out": "glassformer.numbers",
    "swap_tokens": "glassformer.numbers",
    "work": "glassformer.api",
    "curves": "glassformer.api",
    "experiment": "glassformer.api",
    "live": "glassformer.lab.widget",
    "ask": "glassformer.api",
    "check": "glassformer.api",
    "check_worked": "glassformer.api",
    "check_solution": "glassformer.api",
    "check_formula": "glassformer.api",
}

if TYPE_CHECKING:
    from glassformer.api import ask, bridge, build, check, cost, count, curves, experiment, notation, presets, run, shapes, work
    from glassformer.api import check_formula as check_formula
    from glassformer.api import check_solution as check_solution
    from glassformer.api import check_worked as check_worked
    from glassformer.lab.widget import live
    from glassformer.model import Encoder as Encoder
    from glassformer.model import encode_packed as encode_packed
    from glassformer.model import load as load
    from glassformer.model import save as save
    from glassformer.numbers import knock_out, swap_tokens
    from glassformer.spec import EncoderSpec, GlassformerError
    from glassformer.spec.reading import spec as spec

__all__ = [
    "EncoderSpec",
    "GlassformerError",
    "ask",
    "bridge",
    "build",
    "check",
    "cost",
    "count",
    "curves",
    "experiment",
    "knock_out",
    "live",
    "notation",
    "presets",
    "run",
    "shapes",
    "swap_tokens",
    "work",
]

if not TYPE_CHECKING:  # a type checker sees the imports above, and finds a name that is none of them

    def __getattr__(name: str) -> Any:
        if name not in _WHERE:
            raise AttributeError(f"module 'glassformer' has no attribute '{name}'")
        value = getattr(import_module(_WHERE[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*_WHERE, "__version__"])
