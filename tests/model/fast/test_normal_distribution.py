"""The distribution by polynomials is the distribution, and so is its density."""

import torch

from glassformer.model.fast.normal_distribution import normal

EVERYWHERE = torch.cat((torch.linspace(-14, 14, 20_001), torch.tensor([0.0, -0.0, 1e-30, 1e4, -1e4])))


def test_the_distribution_is_within_1e_5_of_itself_and_so_is_its_density():
    x = EVERYWHERE.double()
    below, density = normal(x)
    exact = torch.special.log_ndtr(x).exp()  # ndtr itself is 0 long before -14
    assert ((below - exact).abs() <= 1.4e-5 * exact)[x >= -7].all()
    assert ((below >= 0) & (below <= 2e-12))[x < -7].all()
    assert torch.allclose(density, torch.exp(-x * x / 2) / (2 * torch.pi) ** 0.5, rtol=1e-12, atol=1e-300)
