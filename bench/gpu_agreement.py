"""How far float32 and bfloat16 on a GPU are from float64 there, and packed sequences from padded and single ones."""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

import torch

from glassformer.configs.presets import preset
from glassformer.model import Encoder, encode_packed, fast

# Largest difference of a state, over the largest state: float32 sums in another order, bfloat16 has 8 bits.
BOUNDS = {"float32": 1e-4, "bfloat16": 6e-2}
LENGTHS = (3, 17, 64, 65, 128, 200, 333, 512)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    parser.add_argument("--device", default="cuda")
    chosen = parser.parse_args()
    device = torch.device(chosen.device)
    machine = torch.cuda.get_device_name() if device.type == "cuda" else platform.processor()
    figures = {"machine": machine, "torch": torch.__version__, "rows": []}
    for name in ("bert-base", "roberta-base", "modernbert-base", "t5-base", "vit-b16"):
        for row in agreement(name, device):
            figures["rows"].append(row)
            print(f"{row['spec']:16} {row['what']:28} {row['dtype']:9} {row['difference']:.2e}  (bound {row['bound']:.0e})")
    worst = [row for row in figures["rows"] if not row["difference"] <= row["bound"]]
    print(f"{len(figures['rows'])} comparisons on {machine}, {len(worst)} out of bounds")
    if chosen.out:
        chosen.out.write_text(json.dumps(figures, indent=1))
    raise SystemExit(1 if worst else 0)


@torch.inference_mode()
def agreement(name: str, device: torch.device) -> list[dict[str, object]]:
    """Each dtype against float64 on one batch, and three ways to hand over sequences of different lengths."""
    torch.manual_seed(0)
    spec = preset(name).replace(dropout=0.0)
    exact = Encoder(spec, dtype=torch.float64, device=device).eval()
    rows = []
    inputs = image(spec) if spec.reads == "image" else torch.randint(5, spec.vocab or 9, (4, 256))
    inputs = inputs.to(device)
    truth = exact(inputs.double() if spec.reads == "image" else inputs).states
    for dtype in (torch.float32, torch.bfloat16):
        encoder = fast.apply(Encoder(spec, dtype=dtype, device=device, fresh=False)).eval()
        encoder.load_state_dict(exact.state_dict())
        given = inputs.to(dtype) if spec.reads == "image" else inputs
        rows.append(row(name, "one batch of equal length", dtype, encoder(given).states, truth))
        if spec.reads == "tokens":
            rows += mixed_lengths(name, encoder, exact, dtype)
        del encoder
    return rows


def mixed_lengths(name: str, encoder: Encoder, exact: Encoder, dtype: torch.dtype) -> list[dict[str, object]]:
    """Packed, padded and one by one, each against float64 one by one."""
    device = encoder.here.device
    sequences = [torch.randint(5, encoder.spec.vocab or 9, (length,)) for length in LENGTHS]
    truth = torch.cat([exact(ids[None].to(device)).states[0] for ids in sequences])
    packed = torch.cat(encode_packed(encoder, sequences))
    single = torch.cat([encoder(ids[None].to(device)).states[0] for ids in sequences])
    tokens = torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True).to(device)
    attend = torch.arange(max(LENGTHS))[None] < torch.tensor(LENGTHS)[:, None]
    states = encoder(tokens, attend.to(device)).states
    padded = torch.cat([states[i, :length] for i, length in enumerate(LENGTHS)])
    return [
        row(name, what, dtype, value, truth)
        for what, value in (("packed, 3 to 512 tokens", packed), ("padded", padded), ("one by one", single))
    ]


def row(name: str, what: str, dtype: torch.dtype, value: torch.Tensor, truth: torch.Tensor) -> dict[str, object]:
    difference = float((value.double() - truth).abs().max() / truth.abs().max())
    words = str(dtype).removeprefix("torch.")
    return {"spec": name, "what": what, "dtype": words, "difference": difference, "bound": BOUNDS[words]}


def image(spec: object) -> torch.Tensor:
    height, width = spec.image_size  # type: ignore[attr-defined]
    return torch.randn(4, spec.channels, height, width)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
