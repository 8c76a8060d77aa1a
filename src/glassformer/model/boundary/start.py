"""Initialization: whether the model fits into memory, and its initial weights."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from glassformer.errors import GlassformerError, nearest, shown
from glassformer.model.embeddings import LearnedPositions, angle_type, sinusoid
from glassformer.model.norms import Norm
from glassformer.model.variants.disentangled import ByLogDistance
from glassformer.model.variants.layer_scale import LayerScale
from glassformer.model.variants.next_token import NextToken
from glassformer.model.variants.relative import ByDistance
from glassformer.model.variants.relative_gate import RelativeGate
from glassformer.model.variants.rotary import StoredRotation, waves_of_pairs
from glassformer.model.variants.sound import ConvolvedPositions, OverFeatures
from glassformer.spec import EncoderSpec

SHARE = 0.8  # share of the free memory, at most
MOST_NUMBERS = 10**11  # if the free memory is unknown
SPREAD = 0.02
LAYER_SCALE = 0.1
DTYPES = {
    **{"float64": torch.float64, "float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16},
    **{"fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16},
}


@contextmanager
def laid_out() -> Iterator[None]:
    """Within this context parameters are created on the meta device, so that a model can be counted without memory."""
    try:
        with torch.device("meta"):
            yield
    except (RuntimeError, TypeError) as error:
        if "overflow" not in str(error).lower():
            raise
        raise _too_large("too many", "more than 9.2 EB, the most that can be addressed") from None


def allocate(encoder: nn.Module, device: torch.device | str | None, dtype: torch.dtype | str | None) -> None:
    """Allocate the memory of a model on the meta device; refuse if it would not fit."""
    device = _device(device)
    dtype = as_dtype(dtype) if dtype is not None else torch.get_default_dtype()
    count = sum(parameter.numel() for parameter in encoder.parameters())
    needed, free = count * dtype.itemsize, free_bytes(device)
    if device.type != "meta" and needed > (MOST_NUMBERS * dtype.itemsize if free is None else SHARE * free):
        room = "" if free is None else f", and {in_words(free)} are free, of which {SHARE:.0%} may be used"
        raise _too_large(f"{count:,}", in_words(needed) + room)

    def allocated(one: Tensor) -> Tensor:  # `Module.to_empty` does the same by `empty_like`, which imports SymPy for seconds
        return torch.empty(one.shape, dtype=dtype if one.is_floating_point() else one.dtype, device=device)

    encoder._apply(allocated)


def _device(device: torch.device | str | None) -> torch.device:
    """Return the device; refuse one that is not available."""
    try:
        found = torch.device(device) if device is not None else torch.get_default_device()
        torch.empty(0, device=found)
    except (RuntimeError, TypeError, ValueError, AssertionError) as error:
        why = shown(str(error).partition("\n")[0].rstrip("."), limit=100)
        raise GlassformerError(f"device={shown(device)} cannot be used here: {why}. Try device='cpu'.") from None
    return found


def as_dtype(word: str | torch.dtype) -> torch.dtype:
    """Return the floating-point dtype with this name."""
    if isinstance(word, torch.dtype) and word.is_floating_point:
        return word
    if str(word) not in DTYPES:
        raise GlassformerError(f"dtype={shown(word)} is not known.{nearest(shown(word), DTYPES)} One of {', '.join(DTYPES)}.")
    return DTYPES[str(word)]


def _too_large(count: str, needed: str) -> GlassformerError:
    return GlassformerError(
        f"this spec has {count} parameters, which need {needed}. Nothing was allocated. "
        "Try fewer layers, smaller widths, or a smaller dtype."
    )


def in_words(size: int) -> str:
    """Format bytes with a suitable unit: `12.3 GB`."""
    number, units = float(size), ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"]
    while number >= 1000 and len(units) > 1:
        number, units = number / 1000, units[1:]
    return f"{number:,.0f} {units[0]}" if units[0] == "bytes" else f"{number:,.1f} {units[0]}"


def free_bytes(device: torch.device) -> int | None:
    """Return the free memory of a device; None if unknown."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type != "cpu":
        return None
    told = [_available(Path("/proc/meminfo")), _left_in_container(Path("/sys/fs/cgroup"))]
    return min((size for size in told if size is not None), default=None)


def _available(meminfo: Path) -> int | None:
    try:
        lines = dict(line.split(":") for line in meminfo.read_text(encoding="ascii").splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _left_in_container(group: Path) -> int | None:
    try:
        limit, used = ((group / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        return int(limit) - int(used)
    except (OSError, ValueError):  # ValueError: the limit is the word "max"
        return None


@torch.no_grad()
def fill_constants(encoder: nn.Module) -> None:
    """Fill the buffers, which are computed once and not trained."""
    for module in encoder.modules():
        if isinstance(module, ByDistance | ByLogDistance):
            starts = bucket_starts(module) if isinstance(module, ByDistance) else row_starts(module)
            module.steps.copy_(torch.tensor(starts, dtype=torch.int64, device="cpu"))
        if isinstance(module, NextToken) and module.offset is not None:
            module.offset.zero_()


def bucket_starts(buckets: ByDistance) -> list[int]:
    """The distances at which a new bucket begins, computed once so that the logarithm is rounded the same way on every device."""
    ahead, distance = buckets.ahead, buckets.distance
    exact = max(ahead // 2, 1)
    room = math.log(distance / exact)

    def bucket(away: int) -> int:
        # float32 on purpose: the published models round here, and another bucket is another result
        share = torch.log(torch.tensor(away, dtype=torch.float32, device="cpu") / exact) / room
        return exact + int(share * (ahead - exact))

    far = range(exact, 2 * distance)
    starts = [*range(1, exact + 1), *(far[bisect_left(far, n, key=bucket)] for n in range(exact + 1, ahead))]
    return starts[: ahead - 1]


def row_starts(rows: ByLogDistance) -> list[int]:
    """The distances at which a new row begins, as in `bucket_starts`."""
    side, distance = rows.side, rows.distance
    near = side // 2 if distance > side else side
    # float32 on purpose: the published models round here, and another bucket is another result
    room = torch.log(torch.tensor((distance - 1) / near, dtype=torch.float32, device="cpu"))

    def row(away: int) -> int:
        share = torch.log(torch.tensor(away, dtype=torch.float32, device="cpu") / near) / room
        return near + int(torch.ceil(share * (near - 1)))

    far = range(near + 1, distance**2)  # beyond its end, the last row has begun or never does
    found = (bisect_left(far, n, key=row) for n in range(near + 1, side + 1))
    return [*range(1, near + 1), *(far[i] if i < len(far) else torch.iinfo(torch.int64).max for i in found)]


@torch.no_grad()
def fill(encoder: nn.Module) -> None:
    """Initialize as BERT and ViT do: weights and tables normal with σ = 0.02, truncated at 2σ; biases 0; norms 1 and 0.

    Factors of a layer scale start at 0.1 (CaiT up to 18 layers), and a stored sinusoidal table holds its sines.
    """
    fill_constants(encoder)
    for module in encoder.modules():
        for name, parameter in module.named_parameters(recurse=False):
            _start(module, name, parameter)
        if isinstance(module, ConvolvedPositions):
            module.start()


def _stored_waves(spec: EncoderSpec, table: Tensor) -> Tensor:
    """The waves of a table that is not trained: by position, or by column and row of a patch."""
    (rows, width), device = table.shape, table.device
    if spec.position == "sinusoidal_stored":
        return sinusoid(torch.arange(rows, device=device), width)
    # Sines and cosines of each coordinate in a quarter of the features (He et al. 2021); zeros for class tokens.
    speeds = 10000.0 ** (torch.arange(width // 4, device=device).to(angle_type(device)) / -(width // 4))
    down_T, across_T = torch.cartesian_prod(*(torch.arange(n, device=device) for n in spec.patch_grid)).mT
    angles = [places_T[:, None] * speeds for places_T in (across_T, down_T)]
    waves_TE = torch.cat([wave for angle in angles for wave in (angle.sin(), angle.cos())], dim=1)
    return functional.pad(waves_TE, (0, 0, spec.class_tokens, 0))


def _start(module: nn.Module, name: str, parameter: Tensor) -> None:
    if isinstance(module, StoredRotation):
        rows, width = parameter.shape
        parameter.copy_(waves_of_pairs(rows, width, parameter.device))
    elif isinstance(module, LearnedPositions) and module.spec.stores_waves:
        parameter.copy_(_stored_waves(module.spec, parameter))
    elif isinstance(module, LayerScale):
        parameter.fill_(LAYER_SCALE)
    elif isinstance(module, Norm):
        parameter.fill_(module.neutral if name == "gamma" else 0.0)
    elif isinstance(module, OverFeatures):
        parameter.fill_(1.0 if name == "gamma" else 0.0)
    elif isinstance(module, RelativeGate) and name == "c_gate":
        parameter.fill_(1.0)
    elif "bias" in name:
        parameter.zero_()
    else:
        nn.init.trunc_normal_(parameter, std=SPREAD, a=-2 * SPREAD, b=2 * SPREAD)
