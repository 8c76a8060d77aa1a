"""The GPUs of this machine, as their driver lists them: importing PyTorch takes seconds, in which workers can start."""

from __future__ import annotations

import ctypes
import re
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from glassformer.errors import GlassformerError, nearest, shown

DRIVERS = ("libcuda.so.1", "nvcuda.dll")
DEVICES = ("cpu", "cuda")
BUILT_FOR = re.compile(r"^(cuda|hip)\b.*= '(\d+)", re.MULTILINE)  # in PyTorch's version.py, with the major version


@cache
def gpus() -> tuple[int, ...]:
    """Return the bytes of memory of each GPU that PyTorch can use here."""
    found = find_spec("torch")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("torch is not installed", name="torch")
    file = Path(found.origin).with_name("version.py")
    if "torch" in sys.modules or not file.is_file():
        return _asked_pytorch()
    built_for = dict(BUILT_FOR.findall(file.read_text(encoding="utf-8")))
    if "hip" in built_for:
        return _asked_pytorch()
    return _asked_driver(int(built_for["cuda"])) if "cuda" in built_for else ()


def _asked_driver(least: int) -> tuple[int, ...]:
    """Query the driver, which must support at least this CUDA version."""
    driver = next((one for one in map(_opened, DRIVERS) if one is not None), None)
    version, count, size, device = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t(), ctypes.c_int()
    if driver is None or driver.cuInit(0) or driver.cuDriverGetVersion(ctypes.byref(version)):
        return ()
    if version.value < 1000 * least or driver.cuDeviceGetCount(ctypes.byref(count)):
        return ()
    memory = []
    for number in range(count.value):
        if driver.cuDeviceGet(ctypes.byref(device), number) or driver.cuDeviceTotalMem_v2(ctypes.byref(size), device):
            return ()
        memory.append(size.value)
    return tuple(memory)


def _opened(name: str) -> Any:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


def _asked_pytorch() -> tuple[int, ...]:
    import torch

    if not torch.cuda.is_available():
        return ()
    return tuple(torch.cuda.get_device_properties(number).total_memory for number in range(torch.cuda.device_count()))


def device_for(device: str | None) -> str:
    """Return the name of an available device: the requested one, else a GPU if there is one."""
    device = device or ("cuda" if gpus() else "cpu")
    kind = device.partition(":")[0]
    if kind not in DEVICES:
        raise GlassformerError(f"--device {shown(device)} is not known: cpu or cuda.{nearest(device, DEVICES)}")
    if kind == "cuda" and not gpus():
        raise GlassformerError(f"--device {shown(device)}: no GPU is available. Try --device cpu.")
    return device
