"""What every recipe shares: its options, a plain training loop, its pictures, and a band that decides about the exit code.

python recipes/NAME.py [--out FOLDER] [--small] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.errors import GlassformerError
from glassformer.show.figures import save_picture
from glassformer.show.table import Column, Table
from glassformer.show.terminal import show_on_terminal

RESULTS = "results.json"
SECONDS = 5.0  # between two lines of progress


@dataclass
class Recipe:
    """One experiment at work: where it writes, how large it is, and what it has to reach."""

    name: str
    out: Path
    small: bool
    seed: int
    began: float = field(default_factory=time.monotonic)
    told: float = field(default_factory=time.monotonic)
    bands: list[dict[str, Any]] = field(default_factory=list)

    def say(self, line: str) -> None:
        """A line of progress, on standard error."""
        self.told = time.monotonic()
        sys.stderr.write(f"{line}\n")

    def progress(self, line: Callable[[], str]) -> None:
        """The same, but only every few seconds."""
        if time.monotonic() - self.told >= SECONDS:
            self.say(line())

    def table(self, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> None:
        """Words to the left, numbers to the right."""
        columns = [Column(head, right=place > 0) for place, head in enumerate(heads)]
        show_on_terminal(Table(title, columns, rows, ["", *notes] if notes else []))
        sys.stdout.write("\n")

    def picture(self, figure: Any, name: str = "curves") -> None:
        """NAME.png and NAME.svg."""
        for form in ("png", "svg"):
            save_picture(figure, self.out / f"{name}.{form}")

    def fresh(self, name: str) -> Path:
        """A folder in ours that is not there yet; one that an earlier run of this recipe left makes room."""
        path, left = self.out / name, self.out / RESULTS
        if path.exists() and left.is_file() and f'"recipe": "{self.name}"' in left.read_text(encoding="utf-8"):
            shutil.rmtree(path)
        if path.exists():
            raise GlassformerError(f"{path} is there already, and no earlier run of {self.name} left it: choose another --out.")
        return path

    def band(self, what: str, value: float, low: float, high: float = math.inf) -> None:
        """A figure with the band that it must be in."""
        self.bands.append({"what": what, "value": value, "low": low, "high": high, "kept": low <= value <= high})

    def end(self, results: dict[str, Any]) -> int:
        """Write results.json, say which bands were kept, and give the exit code."""
        shown = [{name: None if value == math.inf else value for name, value in band.items()} for band in self.bands]
        about = {"recipe": self.name, "small": self.small, "seed": self.seed, "torch": torch.__version__}
        about |= {"seconds": round(time.monotonic() - self.began, 1), "cpu_seconds": round(time.process_time(), 1)}
        about |= {"bands": shown, **results}
        path = self.out / RESULTS
        path.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        for band in self.bands:
            upper = "" if band["high"] == math.inf else f" and at most {band['high']:.4g}"
            sign = "kept" if band["kept"] else "MISSED"
            sys.stdout.write(f"{sign}: {band['what']} {band['value']:.4g}, expected at least {band['low']:.4g}{upper}\n")
        sys.stdout.write(f"{about['seconds']} s ({about['cpu_seconds']} s of a core); {path.parent}\n")
        return 0 if all(band["kept"] for band in self.bands) else 1


def main(name: str, doc: str, cook: Callable[[Recipe], dict[str, Any]]) -> None:
    """Read the options, cook, and exit: 0 within the bands, 1 outside, 2 after a mistake in what was asked."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0], epilog=f"python recipes/{name}.py --small")
    parser.add_argument("--out", type=Path, help=f"the folder of pictures and results [default: build/recipes/{name}]")
    parser.add_argument("--small", action="store_true", help="a setting that takes seconds, with a band of its own")
    parser.add_argument("--seed", type=int, default=0, help="which weights and which data [default: 0]")
    chosen = parser.parse_args()
    out: Path = chosen.out or Path("build/recipes") / (f"{name}-small" if chosen.small else name)
    try:
        if not 0 <= chosen.seed < 2**62:
            raise GlassformerError(f"--seed {chosen.seed} is not allowed: a whole number from 0.")
        out.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(chosen.seed)
        torch.set_num_threads(1)  # small models: more threads gain little, and the sums would depend on their number
        recipe = Recipe(name, out, chosen.small, chosen.seed)
        code = recipe.end(cook(recipe))
    except (GlassformerError, OSError) as error:
        sys.stderr.write(f"{name}: {error}\n")
        code = 2
    except KeyboardInterrupt:
        sys.stderr.write(f"{name}: stopped.\n")
        code = 130
    raise SystemExit(code)


def descend(model: nn.Module, losses: Iterable[Tensor], steps: int, lr: float) -> Iterator[float]:
    """The plain loop: AdamW down a stream of losses, the rate rising over a tenth of the steps and falling to 0.

    Gives the loss of each step after it was taken.
    """
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps, pct_start=0.1, cycle_momentum=False)
    for _, loss in zip(range(steps), losses, strict=False):
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
        yield float(loss.detach())


def parameters(model: nn.Module) -> int:
    """How many numbers a model learns."""
    return sum(parameter.numel() for parameter in model.parameters())
