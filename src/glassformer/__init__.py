"""Glassformer: a Transformer encoder with glass walls."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Name -> module, imported on first use so that `import glassformer` stays fast.
_WHERE = {
    "EncoderSpec": "glassformer.spec",
    "GlassformerError": "glassformer.errors",
    "spec": "glassformer.spec.reading",
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
    "ask": "glassformer.api",
    "probe": "glassformer.api",
    "patch": "glassformer.api",
    "lens": "glassformer.api",
    "lens_over": "glassformer.api",
    "saliency": "glassformer.api",
    "ablate": "glassformer.api",
    "attribute": "glassformer.api",
    "bridge": "glassformer.api",
    "build": "glassformer.api",
    "card": "glassformer.api",
    "check": "glassformer.api",
    "check_formula": "glassformer.api",
    "check_solution": "glassformer.api",
    "check_worked": "glassformer.api",
    "compare": "glassformer.api",
    "cost": "glassformer.api",
    "count": "glassformer.api",
    "decoding": "glassformer.api",
    "curves": "glassformer.api",
    "data": "glassformer.api",
    "data_sets": "glassformer.api",
    "download": "glassformer.api",
    "encode": "glassformer.api",
    "encode_files": "glassformer.api",
    "evaluate": "glassformer.api",
    "experiment": "glassformer.api",
    "experiments": "glassformer.api",
    "export": "glassformer.api",
    "fields": "glassformer.api",
    "generate": "glassformer.api",
    "grade_quiz": "glassformer.api",
    "largest_batch": "glassformer.api",
    "longest_context": "glassformer.api",
    "make_quiz": "glassformer.api",
    "notation": "glassformer.api",
    "predict": "glassformer.api",
    "predict_files": "glassformer.api",
    "presets": "glassformer.api",
    "quantities": "glassformer.api",
    "quiz_sets": "glassformer.api",
    "ray": "glassformer.api",
    "report": "glassformer.api",
    "run": "glassformer.api",
    "save_picture": "glassformer.api",
    "shapes": "glassformer.api",
    "take_exam": "glassformer.api",
    "take_quiz": "glassformer.api",
    "translate": "glassformer.api",
    "verify": "glassformer.api",
    "work": "glassformer.api",
}

if TYPE_CHECKING:
    from glassformer.api import (
        ablate,
        ask,
        attribute,
        bridge,
        build,
        card,
        check,
        check_formula,
        check_solution,
        check_worked,
        compare,
        cost,
        count,
        curves,
        data,
        data_sets,
        decoding,
        download,
        encode,
        encode_files,
        evaluate,
        experiment,
        experiments,
        export,
        fields,
        generate,
        grade_quiz,
        largest_batch,
        lens,
        lens_over,
        longest_context,
        make_quiz,
        notation,
        patch,
        predict,
        predict_files,
        presets,
        probe,
        quantities,
        quiz_sets,
        ray,
        report,
        run,
        saliency,
        save_picture,
        shapes,
        take_exam,
        take_quiz,
        translate,
        verify,
        work,
    )
    from glassformer.errors import GlassformerError
    from glassformer.lab.widget import live
    from glassformer.model import Decoder as Decoder
    from glassformer.model import Encoder as Encoder
    from glassformer.model import Seq2Seq as Seq2Seq
    from glassformer.model import encode_packed as encode_packed
    from glassformer.model import load as load
    from glassformer.model import save as save
    from glassformer.numbers import knock_out, swap_tokens
    from glassformer.spec import EncoderSpec
    from glassformer.spec.reading import spec as spec
    from glassformer.training.entry_points import resume, train

# The whole surface. Without torch, each name that needs it can still be imported, and says what to install when it is called.
__all__ = [
    "Decoder",
    "Encoder",
    "EncoderSpec",
    "GlassformerError",
    "Seq2Seq",
    "ablate",
    "ask",
    "attribute",
    "bridge",
    "build",
    "card",
    "check",
    "check_formula",
    "check_solution",
    "check_worked",
    "compare",
    "cost",
    "count",
    "curves",
    "data",
    "data_sets",
    "decoding",
    "download",
    "encode",
    "encode_files",
    "encode_packed",
    "evaluate",
    "experiment",
    "experiments",
    "export",
    "fields",
    "generate",
    "grade_quiz",
    "knock_out",
    "largest_batch",
    "lens",
    "lens_over",
    "live",
    "load",
    "longest_context",
    "make_quiz",
    "notation",
    "patch",
    "predict",
    "predict_files",
    "presets",
    "probe",
    "quantities",
    "quiz_sets",
    "ray",
    "report",
    "resume",
    "run",
    "saliency",
    "save",
    "save_picture",
    "shapes",
    "spec",
    "swap_tokens",
    "take_exam",
    "take_quiz",
    "train",
    "translate",
    "verify",
    "work",
]

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
