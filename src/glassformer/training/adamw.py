"""AdamW as one fused kernel, without `torch.optim`, whose optimizers import the compiler when they are made: over a second."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

BETAS, EPS = (0.9, 0.999), 1e-8
MOMENTS = ("exp_avg", "exp_avg_sq")  # tensors like a parameter


class AdamW:
    """AdamW (Loshchilov and Hutter 2017): as `torch.optim.AdamW(groups, fused=True)` to the last bit, with the same state.

    Where `found_inf` is set, a tensor on the device, the weights and the state stay as they are if it is 1.
    """

    def __init__(self, groups: Iterable[dict[str, Any]], *, lr: float) -> None:
        self.param_groups = [{"lr": lr, **group} for group in groups]
        self.state: defaultdict[nn.Parameter, dict[str, Tensor]] = defaultdict(dict)
        self.found_inf: Tensor | None = None

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for group in self.param_groups:
            for one in group["params"]:
                one.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update the weights."""
        for group in self.param_groups:
            alike: defaultdict[tuple[torch.device, torch.dtype], list[nn.Parameter]] = defaultdict(list)
            for one in group["params"]:
                if one.grad is not None:
                    alike[one.device, one.dtype].append(one)
            for parameters in alike.values():
                self._update(parameters, group)

    def _update(self, parameters: list[nn.Parameter], group: dict[str, Any]) -> None:
        states = [self._state_of(one) for one in parameters]
        steps = [state["step"] for state in states]
        gradients = [one.grad for one in parameters if one.grad is not None]  # all of them have one
        first, second = ([state[name] for state in states] for name in MOMENTS)
        torch._foreach_add_(steps, 1)
        torch._fused_adamw_(
            list[Tensor](parameters), gradients, first, second, [], steps, lr=group["lr"], beta1=BETAS[0], beta2=BETAS[1],
            weight_decay=group["weight_decay"], eps=EPS, amsgrad=False, maximize=False, grad_scale=None, found_inf=self.found_inf,
        )  # fmt: skip
        if self.found_inf is not None:
            torch._foreach_sub_(steps, [self.found_inf] * len(steps))

    def _state_of(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32, device=parameter.device)
            state.update({name: torch.zeros_like(parameter) for name in MOMENTS})
        return state
