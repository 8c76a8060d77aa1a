"""Operations of our own: known to a compiler, and called without it."""

import subprocess
import sys

import torch

from glassformer.model.fast.dropout import written

EAGER = """
import sys, torch
from glassformer.model.fast.dropout import written
assert torch.equal(written(torch.arange(3)), torch.arange(3))
print([name for name in ("torch._dynamo", "sympy") if name in sys.modules])
"""


def test_an_operation_fulfils_what_a_compiler_expects():
    torch.library.opcheck(written, (torch.arange(3),))
    torch.library.opcheck(written, (torch.randn(2, 3),))


def test_a_call_does_not_import_the_compiler():
    said = subprocess.run([sys.executable, "-c", EAGER], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_a_compiled_graph_holds_the_operation_whole():
    graphs = []

    def backend(graph, _):
        graphs.append([node.target for node in graph.graph.nodes if node.op == "call_function"])
        return graph.forward

    found = torch.compile(lambda x: written(x) + 1, backend=backend, fullgraph=True)(torch.ones(2))
    assert torch.equal(found, torch.full((2,), 2.0))
    assert graphs[0][0] is torch.ops.glassformer.written.default
