"""The time of a cold start compared with `import numpy`, in one run: medians of alternating rounds."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

TRIES = 15
COMMANDS = {
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import glassformer": [sys.executable, "-c", "import glassformer"],
    "glassformer count bert-base": [sys.executable, "-m", "glassformer", "count", "bert-base"],
}


def main() -> None:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(TRIES):
        for name, command in COMMANDS.items():
            began = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times[name].append(time.perf_counter() - began)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, value in medians.items():
        print(f"{name:30} {value * 1000:7.1f} ms   (from {min(times[name]) * 1000:.1f} to {max(times[name]) * 1000:.1f})")
    bound = 1.5 * medians["import numpy"] + 0.15
    print(f"{'bound: 1.5 x numpy + 150 ms':30} {bound * 1000:7.1f} ms   kept: {medians['glassformer count bert-base'] <= bound}")

    from glassformer.algebra import count
    from glassformer.configs.presets import preset

    spec = preset("bert-base")
    began = time.perf_counter()
    for vocab in range(30_000, 31_000):
        count(spec.replace(vocab=vocab))
    print(f"{'1,000 specs counted':30} {(time.perf_counter() - began) * 1000:7.1f} ms   (goal: under 2,000)")


if __name__ == "__main__":
    main()
