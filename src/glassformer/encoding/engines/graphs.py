"""Our exported graph in onnxruntime or OpenVINO, on a CPU in float32."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glassformer.errors import GlassformerError

if TYPE_CHECKING:
    from glassformer.model.sentences.outside import Arrays, Compute

PACKAGES = {"onnx": "onnxruntime", "openvino": "openvino"}  # what each engine imports
EXPORT = ("onnx", "onnxscript", "onnxruntime")  # what writes the graph and checks it


def missing(engine: str) -> list[str]:
    """Return the packages that an engine needs and that are not installed."""
    return [name for name in dict.fromkeys((*EXPORT, PACKAGES[engine])) if find_spec(name) is None]


def require(engine: str) -> None:
    """Refuse an engine that is not installed."""
    if lacking := missing(engine):
        raise GlassformerError(f"--engine {engine} needs {', '.join(lacking)}: pip install 'glassformer[{engine}]'.")


def opened(engine: str, graph: Path, threads: int) -> Compute:
    """Return a function that runs a graph with so many threads."""
    return {"onnx": _onnxruntime, "openvino": _openvino}[engine](graph, threads)


def _onnxruntime(graph: Path, threads: int) -> Compute:
    runtime: Any = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = runtime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    inputs = [part.name for part in session.get_inputs()]
    outputs = [part.name for part in session.get_outputs()]

    def compute(arrays: Arrays) -> Arrays:
        return dict(zip(outputs, session.run(outputs, {name: arrays[name] for name in inputs}), strict=True))

    return compute


def _openvino(graph: Path, threads: int) -> Compute:
    core: Any = importlib.import_module("openvino").Core()
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",  # its default is bfloat16 where the processor has it
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": "1",
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = core.compile_model(core.read_model(graph), "CPU", settings)
    request = compiled.create_infer_request()
    inputs = [part.any_name for part in compiled.inputs]
    outputs = [part.any_name for part in compiled.outputs]

    def compute(arrays: Arrays) -> Arrays:
        request.infer({name: arrays[name] for name in inputs})
        return {name: np.array(request.get_tensor(name).data) for name in outputs}

    return compute
