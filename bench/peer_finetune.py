"""The Hugging Face Trainer fine-tuning a folder that `glassformer train` wrote on the topic set; prints seconds and accuracy.

python bench/peer_finetune.py FOLDER EPOCHS BATCH LR
"""

from __future__ import annotations

import sys
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

folder, epochs, batch, rate = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
torch.set_float32_matmul_precision("high")
names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
tokenizer = PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json", **names)


train, test = rows_of("topic", "train"), rows_of("topic", "test")
labels = sorted({row["label"] for row in train})


def encoded(some: list[dict]) -> list[dict]:
    ids = tokenizer([row["text"] for row in some], truncation=True, max_length=128)["input_ids"]
    return [{"input_ids": one, "labels": labels.index(row["label"])} for one, row in zip(ids, some, strict=True)]


model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=len(labels), attn_implementation="sdpa")
fixed = {"report_to": [], "save_strategy": "epoch", "logging_strategy": "no", "disable_tqdm": True, "save_total_limit": 1}
arguments = TrainingArguments(
    output_dir="/tmp/peer-finetune", per_device_train_batch_size=batch, num_train_epochs=epochs, learning_rate=rate, bf16=True,
    optim="adamw_torch_fused", train_sampling_strategy="group_by_length", dataloader_num_workers=4, warmup_steps=0.1,
    eval_strategy="epoch", per_device_eval_batch_size=128, **fixed,
)  # fmt: skip
trainer = Trainer(
    model=model, args=arguments, train_dataset=encoded(train), eval_dataset=encoded(test),
    data_collator=DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8),
    compute_metrics=lambda found: {"accuracy": float((found.predictions.argmax(-1) == found.label_ids).mean())},
)  # fmt: skip
began = time.perf_counter()
trainer.train()
print(f"{time.perf_counter() - began:.1f} s in train(), accuracy {trainer.evaluate()['eval_accuracy']:.4f}")
