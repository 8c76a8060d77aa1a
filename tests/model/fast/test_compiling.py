"""Compiling layer by layer changes neither names nor results, and one graph serves all layers and lengths."""

import pytest
import torch
from functorch.compile import make_boxed_func
from model_cases import BERT, DEBERTA, MODERN
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.utils import counters
from torch._functorch.partitioners import min_cut_rematerialization_partition

from glassformer.model import Encoder
from glassformer.model.fast import apply, compiling


def compiled(spec, monkeypatch, *, float8=False) -> Encoder:
    """Without a code generator: this tests that the whole graph can be captured."""
    plain = torch.nn.Module.compile
    monkeypatch.setattr(
        torch.nn.Module, "compile", lambda self, **options: plain(self, backend="eager", fullgraph=True, **options)
    )
    return compiling.compile_layers(apply(Encoder(spec), float8=float8).eval())


@pytest.mark.filterwarnings("ignore")  # PyTorch warns of itself on its way through an autograd function
@pytest.mark.parametrize("spec", [BERT, MODERN, DEBERTA], ids=["bert", "modern", "disentangled"])
def test_results_and_names_stay(spec, monkeypatch):
    torch.manual_seed(0)
    encoder = compiled(spec, monkeypatch)
    plain = Encoder(spec, fresh=False).eval()
    assert encoder.state_dict().keys() == plain.state_dict().keys()
    plain.load_state_dict(encoder.state_dict())
    for t in (5, 9):
        ids = torch.randint(0, 50, (3, t))
        attend = torch.arange(t) < torch.tensor([[t], [2], [4]])
        with torch.no_grad():
            assert torch.equal(encoder(ids, attend).states, plain(ids, attend).states)


def test_one_graph_serves_all_layers_and_lengths(monkeypatch):
    torch._dynamo.reset()
    counters.clear()
    encoder = compiled(BERT.replace(layers=4), monkeypatch)
    with torch.no_grad():
        for t in (5, 9, 12):
            encoder(torch.randint(0, 50, (3, t)))
    assert counters["stats"]["unique_graphs"] == 1


@pytest.mark.filterwarnings("ignore")  # PyTorch warns of itself on its way through an autograd function
def test_training_in_float8_compiles_to_one_graph_for_any_lengths(monkeypatch):
    torch.manual_seed(0)
    spec = BERT.replace(d_model=16, d_ff=32, dropout=0.0)
    plain, caught = apply(Encoder(spec), float8=True), compiled(spec, monkeypatch, float8=True)
    caught.train().load_state_dict(plain.train().state_dict())
    for t, padded in ((5, True), (9, False), (12, True)):
        ids, attend = torch.randint(0, 50, (3, t)), torch.arange(t) < torch.tensor([[t], [2], [4]])
        found = []
        for encoder in (plain, caught):
            with torch.autocast("cpu", torch.bfloat16):
                states = encoder(ids, attend if padded else None).states
            found.append(torch.autograd.grad(states.float().square().sum(), list(encoder.layers.parameters())))
        assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_compiled_layers_can_run_uncompiled_temporarily(monkeypatch):
    torch._dynamo.reset()
    counters.clear()
    encoder, ids = compiled(BERT, monkeypatch), torch.randint(0, 50, (3, 5))
    with torch.no_grad():
        with compiling.as_written(encoder):
            states = encoder(ids).states
        assert counters["stats"]["unique_graphs"] == 0
        assert torch.equal(encoder(ids).states, states)
    assert counters["stats"]["unique_graphs"] == 1
    assert torch._dynamo.config.recompile_limit >= compiling.GRAPHS


@pytest.mark.filterwarnings("ignore")  # PyTorch warns of itself on its way through a checkpoint
@pytest.mark.parametrize("spec", [BERT, MODERN], ids=["plain", "gated"])
def test_compiled_feed_forward_blocks_store_pre_activations_only(spec):
    spec = spec.replace(layers=1, d_ff=48, dropout=0.0)
    kept = []

    def forward(graph, _):
        (output,) = (node for node in graph.graph.nodes if node.op == "output")
        kept.extend(node.meta["val"] for node in output.args[0] if node is not None)
        return make_boxed_func(graph.forward)

    backend = aot_autograd(
        fw_compiler=forward,
        bw_compiler=lambda graph, _: make_boxed_func(graph.forward),
        partition_fn=min_cut_rematerialization_partition,
    )
    torch._dynamo.reset()
    encoder, ids = apply(Encoder(spec)).train(), torch.randint(0, 50, (3, 5))
    expected = torch.autograd.grad(encoder(ids).states.square().sum(), list(encoder.parameters()), allow_unused=True)
    for block in encoder.layers.values():
        block.compile(backend=backend)
    found = torch.autograd.grad(encoder(ids).states.square().sum(), list(encoder.parameters()), allow_unused=True)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
    widths = (48, 96)  # of one of them, and of both that a gated block makes
    assert sum(value.ndim > 1 and value.shape[-1] in widths and value.numel() // value.shape[-1] == 15 for value in kept) == 1
