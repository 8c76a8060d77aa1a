"""The Hugging Face Trainer fine-tuning BERT folders on the topic set; prints seconds and accuracy of each.

python bench/peer_finetune.py EPOCHS BATCH LR MAX_LENGTH FOLDER...                                  the seed of FOLDER n is n
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings

import torch
import transformers
from measuring import rows_of
from transformers import (
    AutoModelForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
)

epochs, batch, rate, longest = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
torch.set_float32_matmul_precision("high")
gpu = torch.cuda.is_available()
names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
train, test = rows_of("topic", "train"), rows_of("topic", "test")
labels = sorted({row["label"] for row in train})


def encoded(tokenizer: PreTrainedTokenizerFast, some: list[dict]) -> list[dict]:
    ids = tokenizer([row["text"] for row in some], truncation=True, max_length=longest)["input_ids"]
    return [{"input_ids": one, "labels": labels.index(row["label"])} for one, row in zip(ids, some, strict=True)]


def finetune(folder: str, seed: int, out: str) -> dict:
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json", **names)
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=len(labels), attn_implementation="sdpa")
    fixed = {"report_to": [], "save_strategy": "epoch", "logging_strategy": "epoch", "disable_tqdm": True, "save_total_limit": 1}
    arguments = TrainingArguments(
        output_dir=out, per_device_train_batch_size=batch, num_train_epochs=epochs, learning_rate=rate, bf16=gpu, seed=seed,
        optim="adamw_torch_fused", train_sampling_strategy="group_by_length", dataloader_num_workers=4 if gpu else 0,
        warmup_steps=0.1, weight_decay=0.01, eval_strategy="epoch", per_device_eval_batch_size=128, use_cpu=not gpu, **fixed,
    )  # fmt: skip
    trainer = Trainer(
        model=model, args=arguments, train_dataset=encoded(tokenizer, train), eval_dataset=encoded(tokenizer, test),
        data_collator=DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8),
        compute_metrics=lambda found: {"accuracy": float((found.predictions.argmax(-1) == found.label_ids).mean())},
    )  # fmt: skip
    began = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - began
    losses = [round(line["loss"], 4) for line in trainer.state.log_history if "loss" in line]
    accuracy = trainer.evaluate()["eval_accuracy"]
    return {"seed": seed, "train": round(seconds, 2), "accuracy": accuracy, "train_loss": losses}


for number, name in enumerate(sys.argv[5:]):
    with tempfile.TemporaryDirectory() as place:
        print("seed " + json.dumps(finetune(name, number, place)), flush=True)
