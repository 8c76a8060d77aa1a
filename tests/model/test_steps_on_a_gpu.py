"""Every family of encoders on a GPU: the gradients of the CPU, in bfloat16 and compiled too, and steps with dropout."""

import pytest
import torch
from model_cases import BATCH, BERT, DEBERTA, LENGTH, MODERN, VIT, WHISPER, inputs_of

from glassformer.model import Encoder
from glassformer.model.fast import apply, compile_layers
from glassformer.spec import EncoderSpec

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.filterwarnings("ignore"),  # PyTorch warns of itself when it compiles
]

WIDE = {"d_model": 64, "heads": 2, "d_ff": 128, "dropout": 0.0}  # heads of 32, which the kernels take
FAMILIES = {
    "bert": BERT,
    "modern": MODERN,
    "disentangled": DEBERTA,
    "image": VIT,
    "sound": WHISPER,
    "grouped": BERT.replace(kv_heads=1),
    "by distance": BERT.replace(position="relative", relative_buckets=8, relative_distance=16),
    "shared": BERT.replace(share_layers=1),
}


def gradients(encoder: Encoder, *, padded: bool) -> list[torch.Tensor]:
    """Of the states' sum in a random direction, one for each parameter that has any."""
    like = next(encoder.parameters())
    inputs = inputs_of(encoder.spec).to(like.device)
    attend = torch.arange(LENGTH, device=like.device) < torch.tensor([[LENGTH], [3], [1]], device=like.device)
    given = {"attend": attend} if padded else {}
    states = encoder(inputs if not inputs.is_floating_point() else inputs.to(like.dtype), **given).states
    towards = torch.randn(states.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(states.device)
    loss = (states.double() * towards)[attend if padded else slice(None)].sum()
    asked = [parameter for parameter in encoder.parameters() if parameter.requires_grad]
    found = torch.autograd.grad(loss, asked, allow_unused=True)
    return [torch.zeros(()) if one is None else one.double().cpu() for one in found]


def far(found: list[torch.Tensor], exact: list[torch.Tensor]) -> float:
    """The distance of all gradients as a share of their length."""
    apart = sum(float((one - other).square().sum()) for one, other in zip(found, exact, strict=True))
    return (apart / sum(float(one.square().sum()) for one in exact)) ** 0.5


def moved(exact: Encoder, spec: EncoderSpec) -> Encoder:
    encoder = apply(Encoder(spec, device="cuda", fresh=False)).train()
    encoder.load_state_dict(exact.state_dict())
    return encoder


@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("name", FAMILIES)
def test_gradients_are_those_of_the_cpu(name, padded):
    spec = FAMILIES[name].replace(**WIDE)
    if padded and spec.one_length:
        pytest.skip("all inputs have one length")
    torch.manual_seed(0)
    exact = Encoder(spec, dtype=torch.float64).train()
    wanted = gradients(exact, padded=padded)
    encoder = moved(exact, spec)
    assert far(gradients(encoder, padded=padded), wanted) < 1e-4
    with torch.autocast("cuda", torch.bfloat16):
        assert far(gradients(encoder, padded=padded), wanted) < 5e-2
        assert far(gradients(compile_layers(encoder), padded=padded), wanted) < 5e-2


@pytest.mark.parametrize("name", FAMILIES)
def test_compiled_steps_with_dropout_go_down(name):
    spec = FAMILIES[name].replace(**WIDE | {"dropout": 0.1})
    torch.manual_seed(0)
    encoder = compile_layers(apply(Encoder(spec, device="cuda"))).train()
    inputs = inputs_of(spec).cuda()
    target = torch.randn(BATCH, 1, spec.d_model, device="cuda")
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=3e-3)
    losses = []
    for _ in range(30):
        with torch.autocast("cuda", torch.bfloat16):
            states = encoder(inputs.float() if inputs.is_floating_point() else inputs).states
        loss = (states.float() - target).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert sum(losses[-5:]) < 0.8 * sum(losses[:5])
