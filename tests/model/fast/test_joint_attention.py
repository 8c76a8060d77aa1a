"""Our own training kernels and their plain counterpart: the same results and gradients, and dropout without a pattern."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from glassformer.model.fast import joint_attention
from glassformer.model.fast.attention_dropout import MOST_DROPPED, drawn, kept
from glassformer.model.fast.joint_attention import attend_jointly, kernels_serve, plain
from glassformer.model.fast.precision import TRITON

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
LENGTHS = [1, 31, 32, 33, 64, 2, 65, 127, 300, 511, 1]


def bounds_of(lengths, device="cpu"):
    return torch.tensor([0, *lengths], device=device).cumsum(0).int()


def lots(heads, tokens, number=0, device="cpu"):
    torch.manual_seed(number)
    return drawn(torch.empty(tokens, 3, heads, 1)).to(device)


def test_the_plain_counterpart_is_attention_inside_each_sequence():
    qkv = torch.randn(12, 3, 2, 8, dtype=torch.float64)
    found = plain(qkv, bounds_of([5, 7]), scale=0.3)
    for rows in (slice(0, 5), slice(5, 12)):
        q, k, v = qkv[rows].permute(1, 2, 0, 3)
        expected = scaled_dot_product_attention(q, k, v, scale=0.3).transpose(0, 1)
        torch.testing.assert_close(found[rows], expected)


def test_the_plain_counterpart_scales_up_what_is_not_dropped():
    t, share = 9, 0.25
    values = torch.eye(t, dtype=torch.float64)  # so that the results are the weights
    qkv = torch.stack([torch.zeros_like(values), torch.zeros_like(values), values], 1)[:, :, None]
    found = plain(qkv, bounds_of([t]), scale=1.0, dropout=share, lots_2HM=lots(1, t))[:, 0]
    mask = kept(lots(1, t)[..., :t], share)[0]
    torch.testing.assert_close(found, mask.double() / t / (1 - share))
    assert 0 < int(mask.sum()) < t * t


def test_without_a_gpu_the_kernels_are_not_used():
    assert not kernels_serve(torch.empty(0, 3, 2, 64, dtype=torch.bfloat16), 10)


@CUDA
@pytest.mark.skipif(not TRITON, reason="needs Triton")
class TestOnAGpu:
    @pytest.mark.parametrize("share", [0.0, 0.1, MOST_DROPPED])
    @pytest.mark.parametrize("width", [32, 64, 128])
    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
    @pytest.mark.parametrize("lengths", [LENGTHS, [256] * 3, [197] * 3], ids=["packed", "even", "uneven"])
    def test_kernels_agree_with_their_twin(self, lengths, dtype, width, share, monkeypatch):
        torch.manual_seed(0)
        lot = lots(5, sum(lengths), device="cuda")
        monkeypatch.setattr(joint_attention, "drawn", lambda _: lot)
        qkv = torch.randn(sum(lengths), 3, 5, width, device="cuda", dtype=dtype).mul(1.5).requires_grad_()
        g = torch.randn(sum(lengths), 5, width, device="cuda", dtype=dtype)
        assert kernels_serve(qkv, max(lengths))
        bounds = bounds_of(lengths, "cuda")
        mix = attend_jointly(qkv, bounds if lengths is LENGTHS else None, max(lengths), scale=0.15, dropout=share)
        (found,) = torch.autograd.grad(mix, qkv, g)
        exact = qkv.detach().double().requires_grad_()
        expected = plain(exact, bounds, scale=0.15, dropout=share, lots_2HM=lot if share else None)
        (wanted,) = torch.autograd.grad(expected, exact, g.double())
        eps = torch.finfo(dtype).eps
        assert mix.dtype == found.dtype == dtype
        assert far(mix, expected.detach()) < eps
        for piece in range(3):
            assert far(found[:, piece], wanted[:, piece]) < 1.5 * eps

    def test_the_same_seed_gives_the_same_bits(self):
        qkv = torch.randn(4 * 384, 3, 12, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        runs = []
        for _ in range(2):
            torch.manual_seed(5)
            mix = attend_jointly(qkv, None, 384, scale=0.125, dropout=0.1)
            runs.append((mix, *torch.autograd.grad(mix.float().square().sum(), qkv)))
        assert all(torch.equal(one, other) for one, other in zip(*runs, strict=True))

    def test_steps_draw_other_pairs(self):
        qkv = torch.randn(256, 3, 2, 32, device="cuda", dtype=torch.bfloat16)
        one, other = (attend_jointly(qkv, None, 256, scale=0.125, dropout=0.4) for _ in range(2))
        assert not torch.equal(one, other)


def far(found, exact):
    """The distance as a share of the length."""
    return float((found.detach().double() - exact).norm() / exact.norm())
