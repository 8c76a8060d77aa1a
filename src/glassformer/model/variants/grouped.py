"""Grouped linear maps: each group of features has its own matrix (Iandola et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn


class GroupedLinear(nn.Linear):
    """`x W + b`, group by group, with the groups' matrices above one another: [out, in / groups]."""

    def __init__(self, width: int, into: int, groups: int, *, bias: bool) -> None:
        nn.Module.__init__(self)
        self.in_features, self.out_features, self.groups = width, into, groups
        self.matrices = nn.Parameter(torch.empty(into, width // groups))
        self.bias = nn.Parameter(torch.empty(into)) if bias else None  # type: ignore[assignment]  # nn.Linear registers None

    def forward(self, x: Tensor) -> Tensor:
        by_group = x.reshape(-1, self.groups, x.shape[-1] // self.groups).transpose(0, 1)
        made = torch.bmm(by_group, self.by_group.mT).transpose(0, 1).reshape(*x.shape[:-1], self.out_features)
        return made if self.bias is None else made + self.bias

    @property
    def by_group(self) -> Tensor:
        """The matrices, [group, d_out, d_in], as the ledger has them."""
        return self.matrices.unflatten(0, (self.groups, -1))

    @property
    def weight(self) -> Tensor:  # type: ignore[override]  # not stored: zeros would be counted
        """One matrix [out, in] with the groups' matrices on its diagonal, and zeros elsewhere."""
        return torch.block_diag(*self.by_group)

    def named(self, symbol: str) -> Iterator[tuple[str, Tensor]]:
        """Its parameters with the ledger's names and axes."""
        yield f"W_{symbol}", self.by_group
        if self.bias is not None:
            yield f"b_{symbol}", self.bias.unflatten(0, (self.groups, -1))


class GroupedJoint(nn.Linear):
    """The matrices of queries, keys and values, each with its own groups."""

    def __init__(self, width: int, widths: tuple[int, ...], groups: tuple[int, ...]) -> None:
        nn.Module.__init__(self)
        self.in_features, self.out_features, self.bias = width, sum(widths), None  # type: ignore[assignment]
        self.parts = nn.ModuleList(linear(width, into, count, bias=False) for into, count in zip(widths, groups, strict=True))

    def forward(self, x: Tensor) -> Tensor:
        return self.some(x, 0, len(self.parts))

    def some(self, x: Tensor, first: int, last: int) -> Tensor:
        """The outputs of some of the parts, concatenated."""
        return torch.cat([part(x) for part in list(self.parts)[first:last]], dim=-1)

    @property
    def weight(self) -> Tensor:  # type: ignore[override]
        """All three above one another, [out, in], with zeros between groups."""
        return torch.cat([part.weight for part in self.linears()])

    def linears(self) -> Iterator[nn.Linear]:
        for part in self.parts:
            assert isinstance(part, nn.Linear)
            yield part


def linear(width: int, into: int, groups: int, *, bias: bool) -> nn.Linear:
    """A linear layer, in groups where there are several."""
    return nn.Linear(width, into, bias=bias) if groups == 1 else GroupedLinear(width, into, groups, bias=bias)


def joint(width: int, widths: tuple[int, ...], groups: tuple[int, ...]) -> nn.Linear:
    """The module that computes queries, keys and values, without their biases."""
    return nn.Linear(width, sum(widths), bias=False) if max(groups) == 1 else GroupedJoint(width, widths, groups)


def matrices_of(made_by: nn.Linear, widths: tuple[int, ...]) -> tuple[Tensor, ...]:
    """The matrix of each of several linear maps that are one module: [out, in], or [group, d_out, d_in] of a map in groups."""
    if not isinstance(made_by, GroupedJoint):
        return made_by.weight.split(widths)
    return tuple(part.by_group if isinstance(part, GroupedLinear) else part.weight for part in made_by.linears())
