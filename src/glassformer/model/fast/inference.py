"""Repeated forward passes without gradients, by the fastest method for the device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import nn

from glassformer.model.boundary.encoder import Encoder
from glassformer.model.core import Layout, Padded
from glassformer.model.encoder import USUAL, Inputs, Output, Wanted
from glassformer.model.fast.onednn import Product, laid_out, serves
from glassformer.model.fast.replay import Replayer, as_copies


class Inference:
    """Passes of a fast encoder, in eval mode whatever its current mode, inside `torch.inference_mode()`."""

    def __init__(self, encoder: Encoder, wanted: Wanted = USUAL, product: type[Product] = Product) -> None:
        self.encoder, self.wanted, self.product = encoder, wanted, product
        self.replayer = Replayer(encoder, wanted)
        self.seen: list[nn.Module] = []  # the modules of the encoder when the copy was made
        self.copied: Encoder
        self.products: list[Product]

    def run(self, given: Inputs, layout: Layout) -> Output:
        """Return what `encoder.run` returns."""
        modules = every_module(self.encoder)
        with evaluating(modules):
            if not self.encoder.here.is_cuda:
                return self.on_cpu(modules).run(given, layout, self.wanted)
            replays = isinstance(layout, Padded) and not self.encoder.rectangles_only
            if replays and self.replayer.serves(given):  # few tokens are replayed, many are run
                return as_copies(self.replayer(given, modules))
            return self.encoder.run(given, layout, self.wanted)

    def on_cpu(self, modules: list[nn.Module]) -> Encoder:
        """The copy whose matrices are in this processor's layout, where that helps; remade after a part was replaced."""
        if not serves(self.encoder):
            return self.encoder
        if self.seen != modules:
            self.seen, self.copied = modules, laid_out(self.encoder, self.product)
            self.products = [module for module in every_module(self.copied) if isinstance(module, Product)]
        for product in self.products:
            product.refresh()
        return self.copied


def every_module(module: nn.Module) -> list[nn.Module]:
    """The same as `module.modules()`, in a third of the time; shared modules may appear more than once."""
    found = [module]
    for one in found:
        found.extend(part for part in one._modules.values() if part is not None)
    return found


@contextmanager
def evaluating(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Set eval mode temporarily, and restore the mode of every module."""
    trained = [module for module in modules if module.training]
    for module in trained:
        module.training = False
    try:
        yield
    finally:
        for module in trained:
            module.training = True
