"""The Hugging Face Trainer on the same texts with the same tokenizer: bfloat16, sdpa, fused AdamW, rows grouped by length.

python bench/peer_trainer.py CORPUS RUN BATCH COMPILED(yes|no) [MAX_SECONDS]
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import torch
import transformers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    DataCollatorForLanguageModeling,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
)

corpus, run, batch, compiled = sys.argv[1:5]
seconds = float(sys.argv[5]) if len(sys.argv) > 5 else 45.0
warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
torch.set_float32_matmul_precision("high")
torch._dynamo.config.recompile_limit = 64
began = time.perf_counter()
names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(Path(run) / "tokenizer.json"), **names)
texts = Path(corpus).read_text(encoding="utf-8").splitlines()
rows = tokenizer(texts, truncation=True, max_length=512)["input_ids"]


class Rows(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return len(rows)

    def __getitem__(self, place: int) -> dict:
        return {"input_ids": rows[place]}


spec = json.loads((Path(run) / "spec.json").read_text())
model = BertForMaskedLM(BertConfig(vocab_size=spec["vocab"], attn_implementation="sdpa"))
tokenized = time.perf_counter() - began


class Stop(transformers.TrainerCallback):
    """Rates of the second half of the time: the first compiles."""

    def __init__(self) -> None:
        self.marks: list[tuple[float, int]] = []

    def on_train_begin(self, *_: object, **__: object) -> None:
        self.began = time.perf_counter()

    def on_step_end(self, _args: object, state: object, control: object, **_: object) -> None:
        if state.global_step % 10 == 0:  # type: ignore[attr-defined]
            torch.cuda.synchronize() if torch.cuda.is_available() else None
            self.marks.append((time.perf_counter() - self.began, seen[0]))
        if time.perf_counter() - self.began > seconds:
            control.should_training_stop = True  # type: ignore[attr-defined]


seen = [0]
mask = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15, pad_to_multiple_of=8)
gpu = torch.cuda.is_available()


class Counting(Trainer):
    def training_step(self, model: object, inputs: dict, *given: object, **named: object) -> object:
        seen[0] += int(inputs["attention_mask"].sum())
        return super().training_step(model, inputs, *given, **named)


class Collator:
    def __call__(self, some: list[dict]) -> dict:
        return mask([{"input_ids": one["input_ids"]} for one in some])


stop = Stop()
fixed = {"report_to": [], "save_strategy": "no", "logging_strategy": "no", "disable_tqdm": True, "max_grad_norm": 1.0}
arguments = TrainingArguments(
    output_dir="/tmp/peer", per_device_train_batch_size=int(batch), num_train_epochs=2, learning_rate=1e-4, bf16=gpu,
    optim="adamw_torch_fused", train_sampling_strategy="group_by_length", dataloader_num_workers=8 if gpu else 0,
    torch_compile=compiled == "yes", remove_unused_columns=False, **fixed,
)  # fmt: skip
Counting(model=model, args=arguments, train_dataset=Rows(), data_collator=Collator(), callbacks=[stop]).train()
half = [mark for mark in stop.marks if mark[0] > stop.marks[-1][0] / 2]
rate = (half[-1][1] - half[0][1]) / (half[-1][0] - half[0][0]) if len(half) > 1 else 0.0
first = stop.marks[0][0] if stop.marks else 0.0
late = f"in the second half of {seconds:.0f} s"
print(f"{rate / 1000:.1f} thousand tokens/s {late}; tokenized in {tokenized:.1f} s, 10 steps after {first:.1f} s")
