"""Our safetensors bytes are what safetensors reads back, whatever the shapes and types."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load

from glassformer.training.tensor_bytes import NAMES, safetensors_bytes

SHAPES = st.lists(st.integers(0, 4), max_size=3)


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.tuples(SHAPES, st.sampled_from(list(NAMES))), max_size=6))
def test_safetensors_reads_back_what_was_written(drawn):
    tensors = {name: torch.randint(0, 2, shape).to(dtype) for name, (shape, dtype) in drawn.items() if name != "__metadata__"}
    found = load(b"".join(map(bytes, safetensors_bytes(tensors))))
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor)


def test_a_transposed_tensor_is_written_as_it_reads():
    tensor = torch.arange(6.0).view(2, 3).T
    assert torch.equal(load(b"".join(map(bytes, safetensors_bytes({"x": tensor}))))["x"], tensor)


def test_no_tensor_is_copied():
    tensor = torch.zeros(1000)
    pieces = safetensors_bytes({"x": tensor})
    tensor[0] = 1.0
    assert load(b"".join(map(bytes, pieces)))["x"][0] == 1.0
