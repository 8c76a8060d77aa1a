"""Loggers: receive the log lines of a run, in addition to metrics.jsonl; TensorBoard is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from glassformer.errors import GlassformerError


class Logger(Protocol):
    """Receives the lines of metrics.jsonl as they are written; `kind` is start, step, epoch or end."""

    def line(self, **content: Any) -> None:
        """Receive one line."""


class TensorBoard:
    """Logs a run as TensorBoard scalars, in `tensorboard/` of its folder."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise GlassformerError("--tensorboard needs a package: pip install 'glassformer[tensorboard]'.") from None
        self.make, self.folder = SummaryWriter, folder
        self.writer: Any = None

    def line(self, **content: Any) -> None:
        """Log steps, epochs and the end; on resume, hide what an earlier process logged for later steps."""
        step = content.get("step")
        if step is None:
            return
        if self.writer is None:
            self.writer = self.make(str(self.folder), purge_step=step)
        for name, value in scalars(content):
            self.writer.add_scalar(name, value, step)
        if content["kind"] != "step":
            self.writer.flush()
        if content["kind"] == "end":
            self.writer.close()


def scalars(content: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a line under names with a slash: `step/loss`, `validation/accuracy`."""
    kind = content["kind"]
    for name, value in content.items():
        if isinstance(value, dict):
            yield from ((f"{name}/{inner}", one) for inner, one in value.items() if isinstance(one, int | float))
        elif isinstance(value, int | float) and name not in ("step", "epoch", "epochs"):
            yield f"{kind}/{name}", value
