"""Operations of our own, which a compiler keeps whole: a kernel, and the shapes of its results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

LIBRARY = torch.library.Library("glassformer", "FRAGMENT")

Kernel = Callable[..., Any]


def operation(name: str, shapes: Kernel) -> Callable[[Kernel], Kernel]:
    """Decorate a kernel that writes to none of its inputs; `shapes` returns empty results for the same arguments.

    As `torch.library.custom_op`, which imports the compiler at the first call, for seconds, even if nothing is compiled.
    """

    def registered(kernel: Kernel) -> Kernel:
        schema = torch.library.infer_schema(kernel, mutates_args=())
        LIBRARY.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
        LIBRARY.impl(name, kernel, "CompositeExplicitAutograd")
        torch.library.register_fake(f"{LIBRARY.ns}::{name}", shapes, lib=LIBRARY)
        found: Kernel = getattr(getattr(torch.ops, LIBRARY.ns), name).default
        return found

    return registered
