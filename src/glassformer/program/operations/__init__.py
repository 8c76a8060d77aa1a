"""The operations that encoders consist of."""

from glassformer.program.operations.base import Operation
from glassformer.program.operations.codes import Largest, ReplaceSome
from glassformer.program.operations.convolutions import Gate, Length, Lengthen
from glassformer.program.operations.fourier import FourierMix
from glassformer.program.operations.funnels import (
    Distances,
    PickSegment,
    PickShifted,
    PoolPairs,
    PoolReal,
    SkipPairs,
    Spread,
)
from glassformer.program.operations.inverse import Inverse
from glassformer.program.operations.lookups import (
    BoxLookup,
    HalfSinusoid,
    LeaveOut,
    Lookup,
    Neighbours,
    Patch,
    PutBack,
    Rescale,
    Rows,
    Sinusoid,
)
from glassformer.program.operations.norms import Normalise, Shift, Variance
from glassformer.program.operations.pointwise import Cap, Pointwise
from glassformer.program.operations.products import Affine, Contract, Multiply
from glassformer.program.operations.rotations import Rotate, RotateByLength, RotateByPatch, RotateByTable, RotateScaled
from glassformer.program.operations.scores import (
    BoxBias,
    LeaveOutQuestion,
    LinearBias,
    Mask,
    MaskAroundQuestions,
    PatchBias,
    PickByDistance,
    RelativeBias,
    Softmax,
)
from glassformer.program.operations.sums import Add, Blank, Join, Mean, Merge, Scale, Share, Slice, Split, Stack, Take, Total

__all__ = [
    "Add",
    "Affine",
    "Blank",
    "BoxBias",
    "BoxLookup",
    "Cap",
    "Contract",
    "Distances",
    "FourierMix",
    "Gate",
    "HalfSinusoid",
    "Inverse",
    "Join",
    "Largest",
    "LeaveOut",
    "LeaveOutQuestion",
    "Length",
    "Lengthen",
    "LinearBias",
    "Lookup",
    "Mask",
    "MaskAroundQuestions",
    "Mean",
    "Merge",
    "Multiply",
    "Neighbours",
    "Normalise",
    "Operation",
    "Patch",
    "PatchBias",
    "PickByDistance",
    "PickSegment",
    "PickShifted",
    "Pointwise",
    "PoolPairs",
    "PoolReal",
    "PutBack",
    "RelativeBias",
    "ReplaceSome",
    "Rescale",
    "Rotate",
    "RotateByLength",
    "RotateByPatch",
    "RotateByTable",
    "RotateScaled",
    "Rows",
    "Scale",
    "Share",
    "Shift",
    "Sinusoid",
    "SkipPairs",
    "Slice",
    "Softmax",
    "Split",
    "Spread",
    "Stack",
    "Take",
    "Total",
    "Variance",
]
