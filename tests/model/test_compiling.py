"""Compiling layer by layer changes neither names nor results, and one graph serves all layers and lengths."""

import pytest
import torch
from model_cases import BERT, MODERN
from torch._dynamo.utils import counters

from glassformer.model import Encoder, compiling


def compiled(spec, monkeypatch) -> Encoder:
    """Without a code generator: what is tested is that the graph can be caught whole."""
    plain = torch.nn.Module.compile
    monkeypatch.setattr(
        torch.nn.Module, "compile", lambda self, **options: plain(self, backend="eager", fullgraph=True, **options)
    )
    return compiling.compile_layers(Encoder(spec).eval())


@pytest.mark.parametrize("spec", [BERT, MODERN], ids=["bert", "modern"])
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
