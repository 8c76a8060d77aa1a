"""Loggers and callbacks: receive the log lines of a run, in addition to metrics.jsonl; standard output, TensorBoard, W&B."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from glassformer.arguments import one_of, words
from glassformer.errors import GlassformerError, shown

LogTo = Literal["json", "tensorboard", "wandb"]
STOP = "stop"  # what a logger returns to end the run after the current epoch


class Logger(Protocol):
    """Receives the lines of metrics.jsonl as they are written; `kind` is start, step, epoch or end.

    A method `begin(run, encoder)`, if there is one, is called before the first line.
    """

    def line(self, **content: Any) -> object:
        """Receive one line; returning "stop" ends the run after the current epoch, as `patience` does."""


Callback: TypeAlias = Callable[[dict[str, Any]], object]


class Called:
    """A function as a logger: it is called with each line as a dict."""

    def __init__(self, function: Callback) -> None:
        self.function = function

    def line(self, **content: Any) -> object:
        """Call the function."""
        return self.function(content)


class JsonLines:
    """Writes each line to standard output, for programs that collect logs."""

    def line(self, **content: Any) -> None:
        """Write one line."""
        sys.stdout.write(json.dumps(content, ensure_ascii=False) + "\n")
        sys.stdout.flush()


class TensorBoard:
    """Logs a run as TensorBoard scalars, in `tensorboard/` of its folder."""

    def __init__(self) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise missing("tensorboard") from None
        self.make: Any = SummaryWriter
        self.writer: Any = None

    def begin(self, run: Any, _: Any) -> None:
        """Learn where the run is."""
        self.folder = run.path / "tensorboard"

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


class WeightsAndBiases:
    """Logs a run to Weights & Biases: files in `wandb/` of its folder, sent only if WANDB_MODE=online."""

    def __init__(self) -> None:
        try:
            import wandb
        except ImportError:
            raise missing("wandb") from None
        self.wandb: Any = wandb

    def begin(self, run: Any, _: Any) -> None:
        """Open a session; the sessions of a resumed run have the same id."""
        folder = run.path / "wandb"
        folder.mkdir(exist_ok=True)
        self.session = self.wandb.init(
            project="glassformer",
            name=run.path.name,
            id=self.identity(folder / "id"),
            resume="allow",
            dir=str(run.path),
            config={"spec": run.spec.to_dict(), "settings": run.settings.to_dict(), "data": run.about["data"]["name"]},
            mode=os.environ.get("WANDB_MODE", "offline"),
            settings=self.wandb.Settings(silent=True),
        )

    @staticmethod
    def identity(file: Path) -> str:
        """Return the id of a run in W&B, chosen once and kept in its folder."""
        if not file.exists():
            file.write_text(secrets.token_hex(4), encoding="utf-8")
        return file.read_text(encoding="utf-8")

    def line(self, **content: Any) -> None:
        """Log steps, epochs and the end."""
        if content.get("step") is not None:
            self.session.log(dict(scalars(content)), step=content["step"])
        if content["kind"] == "end":
            self.session.finish()


LOGGERS: dict[str, Callable[[], Logger]] = {"json": JsonLines, "tensorboard": TensorBoard, "wandb": WeightsAndBiases}


def missing(package: LogTo) -> GlassformerError:
    """Return the error for an optional package that is not installed."""
    return GlassformerError(f"log_to={package} needs a package: pip install 'glassformer[{package}]'.")


def loggers_for(log_to: str | Sequence[str], given: Sequence[Logger | Callback]) -> list[Logger]:
    """Return the loggers that are named (`"json,tensorboard"`, or a list of names), then those that are given."""
    names = [one_of("log_to", name, LOGGERS) for name in words("log_to", log_to)]
    return [*(LOGGERS[name]() for name in dict.fromkeys(names)), *map(_as_logger, given)]


def _as_logger(given: Any) -> Logger:
    if hasattr(given, "line"):
        logger: Logger = given
        return logger
    if callable(given):
        return Called(given)
    raise GlassformerError(
        f"loggers: {shown(given)} is not allowed: a logger is a function of one line, or an object with a method line(**content)."
    )


def scalars(content: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a line under names with a slash: `step/loss`, `validation/accuracy`."""
    kind = content["kind"]
    for name, value in content.items():
        if isinstance(value, dict):
            yield from ((f"{name}/{inner}", one) for inner, one in value.items() if isinstance(one, int | float))
        elif isinstance(value, int | float) and name not in ("step", "epoch", "epochs"):
            yield f"{kind}/{name}", value
