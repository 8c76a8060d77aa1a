#!/bin/bash
# All tables of bench/gpu.py within minutes: the rows that take long to compile do so side by side, and are timed one by one.
# bench/gpu_all.sh FOLDER [SECONDS] [TABLES]: writes FOLDER/gpu.json.
out=$1; limit=${2:-600}; tables=${3:-ceiling,encoding,latency,memory,growth,curves}; parts=$(mktemp -d); mkdir -p "$out"; export PYTHONPATH=src PYTHONUNBUFFERED=1 TORCHINDUCTOR_COMPILE_THREADS=3
together() { # table of bench/gpu.py, then rows
    local tables=$1; shift
    export GATE=$(mktemp -d) GATE_COUNT=$#
    for row in "$@"; do
        count=$((count + 1))
        python3 bench/gpu.py --tables "$tables" --only "$row" --out "$parts/$count.json" &
    done
    wait; unset GATE GATE_COUNT
}
count=10
together training "training: glassformer, compiled" "training: glassformer, compiled, dropout 0.1" \
    "training: Hugging Face BERT, sdpa, compiled" "training: nn.TransformerEncoder, compiled, head everywhere" \
    "training: glassformer, compiled, float8" "training: glassformer, compiled, float8, dropout 0.1"
together training,memory "training: Hugging Face BERT, sdpa, compiled, dropout 0.1" \
    "training: nn.TransformerEncoder, compiled, head everywhere, dropout 0.1" \
    "training: nn.TransformerEncoder, compiled, head at masked" "memory: bert-base, layers compiled, 64 x 512" \
    "memory: vit-b16, layers compiled, 256 x 197" "memory: bert-large, layers compiled, 32 x 512"
together shapes "ViT-B/16, 256 images: Hugging Face, sdpa" "ViT-B/16, 256 images: glassformer" \
    "ViT-B/16, 256 images: glassformer, float8" "BERT-large, 32 x 512: glassformer, float8" \
    "BERT-large, 32 x 512: Hugging Face, sdpa" "BERT-large, 32 x 512: glassformer"
together mixed "mixed lengths: Hugging Face BERT, padded, layers compiled" \
    "mixed lengths: glassformer, padding left out, layers compiled" "mixed lengths: glassformer, the same with dropout 0.1"
together shapes "ModernBERT-base, 8 x 8192: Hugging Face, sdpa" "ModernBERT-base, 8 x 8192: glassformer"
python3 bench/gpu.py --tables "$tables" --seconds $((limit - SECONDS)) --out "$parts/90.json"
python3 - "$parts" "$out/gpu.json" <<'P'
import json, sys
from pathlib import Path
whole = {}
for part in sorted(Path(sys.argv[1]).glob("*.json")):
    for name, value in json.loads(part.read_text()).items():
        whole[name] = {**whole.get(name, {}), **value} if isinstance(value, dict) else value
Path(sys.argv[2]).write_text(json.dumps(whole, indent=1))
P
