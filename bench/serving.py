"""`glassformer serve` compared with a plain sentence-transformers server on Starlette: 1,000 short requests at once.

    python bench/serving.py [--requests 1000] [--rounds 3] [--out figures.json]

Both servers run all the time, each in a process of its own, and are asked in turns. The plain server does what its
documentation suggests: one call of `model.encode` in a thread for each request. With --growth SECONDS our server is asked on,
200 at a time, and its memory at the start and at the end is a row.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from cpu import checkpoint
from measuring import Figures, real_texts

KEY = "a key for the benchmark"
PLAIN = """
import sys
import uvicorn
from sentence_transformers import SentenceTransformer
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Route
model = SentenceTransformer(sys.argv[1], device="cpu")
async def embeddings(request):
    texts = (await request.json())["input"]
    vectors = await run_in_threadpool(model.encode, [texts] if isinstance(texts, str) else texts, show_progress_bar=False)
    return JSONResponse({"data": [{"index": i, "embedding": row.tolist()} for i, row in enumerate(vectors)]})
app = Starlette(routes=[Route("/v1/embeddings", embeddings, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", backlog=2048)
"""


async def one(port: int, text: str) -> tuple[float, bool]:
    """Send one request on a new connection; the seconds until the response is complete, and whether it is right."""
    began = time.perf_counter()
    body = json.dumps({"model": "model", "input": text}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\n"
    writer.write(f"{head}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
    answer = await reader.read()
    writer.close()
    return time.perf_counter() - began, answer.startswith(b"HTTP/1.1 200") and b'"embedding"' in answer


async def crowd(port: int, texts: list[str]) -> tuple[float, list[float], int]:
    began = time.perf_counter()
    found = await asyncio.gather(*(one(port, text) for text in texts))
    return time.perf_counter() - began, sorted(seconds for seconds, _ in found), sum(right for _, right in found)


def servers() -> dict[str, tuple[subprocess.Popen[bytes], int]]:
    model = str(checkpoint())
    lines = {
        "glassformer serve": ([sys.executable, "-m", "glassformer", "serve", model, "--truncate", "--name", "model"], 8471),
        "sentence-transformers on Starlette": ([sys.executable, "-c", PLAIN, model], 8472),
    }
    ports = {"glassformer serve": ["--port"]}
    environment = {**os.environ, "GLASSFORMER_API_KEY": KEY}
    return {
        name: (subprocess.Popen([*line, *ports.get(name, []), str(port)], env=environment, stdout=subprocess.DEVNULL), port)
        for name, (line, port) in lines.items()
    }


def ready(port: int, seconds: float = 240) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if asyncio.run(one(port, "ready"))[1]:
                return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(f"no answer from port {port}")


def megabytes(process: subprocess.Popen[bytes]) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1000


def growth(process: subprocess.Popen[bytes], port: int, texts: list[str], seconds: float) -> dict[str, Any]:
    until, asked, memory = time.monotonic() + seconds, 0, [megabytes(process)]
    while time.monotonic() < until:
        asyncio.run(crowd(port, random.sample(texts, 200)))
        asked += 200
        memory.append(megabytes(process))
    third = max(1, len(memory) // 3)
    return {"requests": asked, "first_mb": memory[0], "a_third_mb": max(memory[:third]), "end_mb": memory[-1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--growth", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    texts = [" ".join(text.split()[:12]) for text in real_texts("topic", "sentiment")]
    random.Random(0).shuffle(texts)
    figures, running = Figures(chosen.out, 3600), servers()
    times: dict[str, list[float]] = {name: [] for name in running}
    waits: dict[str, list[float]] = {name: [] for name in running}
    right = dict.fromkeys(running, 0)
    try:
        for _, port in running.values():
            ready(port)
        for _ in range(chosen.rounds):
            for name, (_, port) in running.items():
                seconds, latencies, good = asyncio.run(crowd(port, texts[: chosen.requests]))
                times[name].append(seconds)
                waits[name] += latencies
                right[name] += good
        for name in running:
            cuts = statistics.quantiles(waits[name], n=100)
            found = {"p50_s": cuts[49], "p95_s": cuts[94], "p99_s": cuts[98], "answered": right[name]}
            rate = chosen.requests / statistics.median(times[name])
            figures.row(f"{chosen.requests} at once", name, lambda found=found, rate=rate: {"requests_a_second": rate, **found})
        if chosen.growth:
            process, port = running["glassformer serve"]
            figures.row("memory", "glassformer serve", lambda: growth(process, port, texts, chosen.growth))
    finally:
        for process, _ in running.values():
            process.terminate()
            process.wait(60)


if __name__ == "__main__":
    main()
