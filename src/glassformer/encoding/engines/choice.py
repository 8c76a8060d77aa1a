"""Selection of the engine: the requested one, or the fastest installed one, with the reason."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from glassformer.encoding.engines.certificate import Certificate, compared
from glassformer.encoding.engines.graphs import PACKAGES, missing, opened, require
from glassformer.encoding.engines.rounding import Rounding
from glassformer.encoding.tables import ending_by_exit
from glassformer.errors import GlassformerError

if TYPE_CHECKING:
    from glassformer.model import LoadedModel

Engine = Literal["auto", "torch", "onnx", "openvino"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
GRAPH = "engine.onnx"


@dataclass(frozen=True)
class Choice:
    """An engine, the reason for it, and the certificates of those that were compared."""

    engine: str
    why: str
    certificates: list[Certificate | Rounding] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"engine": self.engine, "why": self.why, "certificates": [one.to_dict() for one in self.certificates]}


def part_of_task(kind: str, pool: str | None) -> str:
    """Return which part of the encoder a task needs."""
    return "logits" if kind == "predict" else "pooled" if pool == "pooled" else "states"


def check_engine(engine: str, *, device: str, dtype: str) -> None:
    """Refuse an engine that cannot serve, before a model is loaded."""
    if engine in PACKAGES:
        require(engine)
        for name, given, wanted in (("device", device, "cpu"), ("dtype", dtype, "float32")):
            if given != wanted:
                raise GlassformerError(f"--engine {engine} computes with --{name} {wanted}, not {given}. Use --engine torch.")


def choose(engine: str, model: LoadedModel, part: str, graph: Path, threads: int) -> Choice:
    """Return the engine to use; one that is not PyTorch is compared with it first, and its graph is written to `graph`."""
    if engine == "torch":
        return Choice("torch", "as asked")
    here = model.encoder.here
    obstacle = _obstacle(model, part)
    if engine == "auto":
        reason = obstacle or (f"on {here.device.type}, in {str(here.dtype).removeprefix('torch.')}" if not _plain(here) else "")
        installed = [name for name in PACKAGES if not missing(name)]
        if reason or not installed:
            return Choice("torch", reason or "no other engine is installed")
    elif obstacle:
        raise GlassformerError(f"--engine {engine}: {obstacle}. Use --engine torch.")
    write_graph(model, part, graph)
    if engine != "auto":
        found = _compared(engine, model, part, graph, threads)
        found.require()
        return Choice(engine, "as asked", [found])
    return _quickest([_compared(name, model, part, graph, threads) for name in installed])


def _plain(here: Any) -> bool:
    return here.device.type == "cpu" and str(here.dtype) == "torch.float32"


def _obstacle(model: LoadedModel, part: str) -> str:
    from glassformer.spec import MASKED_HEADS

    if model.spec.reads != "tokens":
        return f"this encoder reads {model.spec.reads}, not texts"
    if model.spec.padding_reader:
        return f"{model.spec.padding_reader} does not support padding, which graphs need"
    return "masked tokens are predicted one text at a time" if part == "logits" and model.spec.head in MASKED_HEADS else ""


def write_graph(model: LoadedModel, part: str, graph: Path) -> None:
    """Write the graph of a part of the encoder, unless it is there."""
    from glassformer.model.checkpoints.onnx_export import export_onnx

    if not graph.exists():
        export_onnx(model.part_of(part), graph)


def _compared(engine: str, model: LoadedModel, part: str, graph: Path, threads: int) -> Certificate:
    from glassformer.model.sentences.outside import Outside

    return compared(model, part, engine, Outside(model.part_of(part), opened(engine, graph, threads)))


def _quickest(found: list[Certificate]) -> Choice:
    exact = [one for one in found if one.difference <= one.bound]
    rates = {one.engine: one.per_second for one in exact}
    rates["torch"] = max(one.torch_per_second for one in found)
    best = max(rates, key=rates.__getitem__)
    told = [f"{name} {rate:,.0f} texts/s" for name, rate in sorted(rates.items(), key=lambda pair: -pair[1])]
    told += [f"{one.engine} refused: it differs by {one.difference:.1e}" for one in found if one not in exact]
    return Choice(best, ", ".join(told), [*found])


def use(engine: str, model: LoadedModel, part: str, graph: Path, threads: int) -> None:
    """Let an engine compute the passes of a model."""
    if engine != "torch":
        model.run_by(part, opened(engine, graph, threads))


def chosen_for(model: LoadedModel, engine: str, part: str) -> Choice:
    """Choose an engine for a loaded model and let it compute; the graph is kept only while it is opened."""
    import torch

    threads = torch.get_num_threads()
    with ending_by_exit(), tempfile.TemporaryDirectory(prefix="glassformer-") as folder:
        graph = Path(folder) / GRAPH
        choice = choose(engine, model, part, graph, threads)
        use(choice.engine, model, part, graph, threads)
    return choice
