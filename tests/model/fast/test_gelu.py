"""The quick GELU of compiled steps is GELU, and so is its derivative."""

import pytest
import torch
from model_cases import BERT, inputs_of
from torch.nn import functional

from glassformer.model import Encoder
from glassformer.model.fast import apply, feed_forward, gelu

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
EVERYWHERE = torch.cat((torch.linspace(-14, 14, 20_001), torch.tensor([0.0, -0.0, 1e-30, 1e4, -1e4])))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_16_bits_it_is_as_near_as_pytorchs_own(dtype):
    given, coming = EVERYWHERE.to(dtype), torch.randn(len(EVERYWHERE)).to(dtype)
    x = given.double().requires_grad_()
    exact = functional.gelu(x)
    wanted = exact.detach(), torch.autograd.grad(exact, x, coming.double())[0]
    errors = []
    for function in (gelu.quick, lambda x: functional.gelu(x.float()).to(x.dtype)):
        x = given.clone().requires_grad_()
        y = function(x)
        found = y.detach(), torch.autograd.grad(y, x, coming)[0]
        errors.append([float((one.double() - other).norm() / other.norm()) for one, other in zip(found, wanted, strict=True)])
    quick, own = errors
    assert all(one <= 1.02 * other for one, other in zip(quick, own, strict=True))


def test_it_is_used_only_in_compiled_16_bit_steps_on_a_gpu(monkeypatch):
    monkeypatch.setattr(gelu, "quick", None)
    assert torch.equal(gelu.gelu(EVERYWHERE), functional.gelu(EVERYWHERE))


@CUDA
@pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning")  # what torch.compile imports says so
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")  # Dynamo of PyTorch 2.11 does so
def test_a_compiled_step_with_it_is_the_step_without(monkeypatch):
    found = []
    for compiled in (True, False):
        torch.manual_seed(0)
        encoder = apply(Encoder(BERT.replace(dropout=0.0), device="cuda")).train()
        call = torch.compile(encoder) if compiled else encoder
        with torch.autocast("cuda", torch.bfloat16):
            loss = call(inputs_of(BERT).cuda()).logits.float().square().sum()
        loss.backward()
        found.append([loss.detach(), *(parameter.grad for parameter in encoder.parameters() if parameter.grad is not None)])
    for one, other in zip(*found, strict=True):
        assert (one - other).abs().max() <= 0.03 * other.abs().max() + 1e-4


def linear(depth, width, *, bias=True, dtype=torch.bfloat16):
    torch.manual_seed(depth + width)
    return torch.nn.Linear(depth, width, bias=bias, device="cuda", dtype=dtype)


class TestAtTheEndOfAProduct:
    def test_without_a_gpu_the_kernel_is_not_asked(self):
        with torch.inference_mode():
            assert not gelu.ends_products(
                torch.zeros(20_000, 8, dtype=torch.bfloat16), torch.nn.Linear(8, 8, dtype=torch.bfloat16)
            )

    def test_products_with_something_beside_their_matrix_are_left_alone(self):
        class Adapted(torch.nn.Linear):
            def forward(self, x):
                return super().forward(x) + x

        class Quantised(torch.Tensor):
            pass

        bare, quantised = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
        quantised.weight = torch.nn.Parameter(torch.zeros(8, 8).as_subclass(Quantised))
        assert gelu.bare(bare) and not gelu.bare(Adapted(8, 8)) and not gelu.bare(quantised)
        caught = torch.compile(lambda x: x + 1 if gelu.bare(bare) else x, backend="eager", fullgraph=True)
        assert caught(torch.zeros(())) == 1

    @CUDA
    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
    @pytest.mark.parametrize("bias", [True, False], ids=["biased", "bare"])
    @pytest.mark.parametrize(("rows", "depth", "width"), [(300, 768, 3072), (128, 64, 128), (1, 8, 8), (17_001, 120, 392)])
    def test_the_kernel_is_its_twin(self, rows, depth, width, bias, dtype):
        product, x = linear(depth, width, bias=bias, dtype=dtype), 3 * torch.randn(1, rows, depth, device="cuda", dtype=dtype)
        with torch.inference_mode():
            found = gelu.of_product(x, product)
            exact = functional.gelu(
                functional.linear(x.double(), product.weight.double(), product.bias.double() if bias else None)
            )
        assert found.shape == exact.shape
        rounding = torch.finfo(dtype).eps / 2
        assert ((found.double() - exact).abs() <= 1.1 * rounding * exact.abs() + 1e-4).all()

    @CUDA
    def test_it_is_asked_for_many_rows_in_16_bits_without_derivatives(self):
        product, many = linear(64, 128), torch.zeros(2, gelu.MANY // 2, 64, device="cuda", dtype=torch.bfloat16)
        assert not gelu.ends_products(many, product)
        with torch.inference_mode():
            assert gelu.ends_products(many, product)
            assert not gelu.ends_products(many[:, 1:], product)
            assert not gelu.ends_products(many.float(), product)
            assert not gelu.ends_products(many[..., :60], linear(60, 128))
            with torch.autocast("cuda", torch.float16):
                assert not gelu.ends_products(many, product)

    @CUDA
    @pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
    @pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning")
    @pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
    def test_an_encoder_with_it_is_the_encoder_without(self, compiled, monkeypatch):
        encoder, given = apply(Encoder(BERT, device="cuda", dtype=torch.bfloat16)).eval(), inputs_of(BERT).cuda()
        asked, own = [], gelu.of_product
        monkeypatch.setattr(feed_forward, "of_product", lambda *given: asked.append(1) or own(*given))
        found = []
        for many in (10**9, 1):
            monkeypatch.setattr(gelu, "MANY", many)
            torch._dynamo.reset()
            call = torch.compile(encoder) if compiled else encoder
            with torch.inference_mode():
                found.append(call(given).states.float())
        assert compiled or len(asked) == BERT.layers
        assert (found[0] - found[1]).abs().max() <= 0.02 * found[0].abs().max()
