"""Counts of a server in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds


@dataclass
class Counts:
    """Requests by status, texts, tokens, and how long answers took."""

    statuses: Counter[int] = field(default_factory=Counter)
    texts: int = 0
    tokens: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))

    def add(self, status: int, seconds: float, *, texts: int = 0, tokens: int = 0) -> None:
        """Count a request for embeddings."""
        self.statuses[status] += 1
        self.texts, self.tokens, self.seconds = self.texts + texts, self.tokens + tokens, self.seconds + seconds
        self.buckets[bisect_left(BOUNDS, seconds)] += 1

    def text(self, *, waiting: int, batches: int) -> str:
        """Return all counts, one per line."""
        lines = ["# TYPE glassformer_requests_total counter"]
        lines += [f'glassformer_requests_total{{status="{status}"}} {n}' for status, n in sorted(self.statuses.items())]
        for name, value in (("texts", self.texts), ("tokens", self.tokens), ("batches", batches)):
            lines += [f"# TYPE glassformer_{name}_total counter", f"glassformer_{name}_total {value}"]
        lines += ["# TYPE glassformer_waiting_tokens gauge", f"glassformer_waiting_tokens {waiting}"]
        lines += ["# TYPE glassformer_request_seconds histogram"]
        total = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.buckets, strict=True):
            total += count
            lines.append(f'glassformer_request_seconds_bucket{{le="{bound}"}} {total}')
        lines += [f"glassformer_request_seconds_sum {self.seconds:.6f}", f"glassformer_request_seconds_count {total}"]
        return "\n".join(lines) + "\n"
