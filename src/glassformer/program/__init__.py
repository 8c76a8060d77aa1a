"""What does it compute? Named steps over named axes, from a spec."""

from glassformer.program.axes import Axis, Cell, Parameter, Tensor
from glassformer.program.encoder import build, sizes
from glassformer.program.program import Program, Sizes, Step

__all__ = ["Axis", "Cell", "Parameter", "Program", "Sizes", "Step", "Tensor", "build", "sizes"]
