"""The backward pass of a program of which a part is trained."""

from glassformer.algebra.gradients import Gradients
from glassformer.configs.presets import preset
from glassformer.program import build
from glassformer.program.trained import partly_trained

SMALL = {"d_model": 8, "heads": 2, "layers": 2, "d_ff": 12, "vocab": 20, "dropout": 0.0}


def test_the_backward_pass_ends_where_nothing_below_is_trained():
    program = partly_trained(build(preset("bert-base").replace(**SMALL), batch=1, t=4), lambda block: block == "layers.1.ffn")
    reached = Gradients(program)
    assert not any(reached.reach(step.output) for step in program.steps if step.block.layer == 0)
    assert reached.products(program.step_of["layers.1.ffn.hidden"]) == 1  # the input has no gradient, the matrix has one
    assert reached.products(program.step_of["layers.1.ffn.out"]) == 2
    assert [one.role for one in reached.saved(program.step_of["layers.1.ffn.hidden"])] == ["norm output"]
    assert reached.saved(program.step_of["layers.1.attention.scores"]) == ()
