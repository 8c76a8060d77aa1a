"""The Hugging Face Trainer on a CPU at its best setting (grouped by length, fused AdamW): the peer of `bench/cpu_training.py`.

python bench/peer_cpu_training.py finetune|masked FOLDER CHECKPOINT
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import transformers
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    DataCollatorForLanguageModeling,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)

task, folder, checkpoint = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
transformers.logging.set_verbosity_error()


def labelled(part: str) -> list[dict]:
    return [json.loads(line) for line in (folder / "labelled" / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()]


def plain(part: str) -> list[str]:
    return (folder / "plain" / f"{part}.txt").read_text(encoding="utf-8").splitlines()


train, validation, test = (labelled(part) for part in ("train", "validation", "test"))
if task == "finetune":
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    names = sorted({row["label"] for row in train})
    rows = {
        part: [
            {
                "input_ids": tokenizer(row["text"], truncation=True, max_length=128)["input_ids"],
                "labels": names.index(row["label"]),
            }
            for row in some
        ]
        for part, some in (("train", train), ("validation", validation), ("test", test))
    }
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=len(names), attn_implementation="sdpa")
    collate, rate = DataCollatorWithPadding(tokenizer), 5e-5
else:
    import tokenizers

    inner = tokenizers.BertWordPieceTokenizer(lowercase=False)
    inner.train_from_iterator(plain("train"), vocab_size=8000, show_progress=False)
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=inner._tokenizer, **special)
    rows = {
        part: [{"input_ids": ids} for ids in tokenizer(plain(part), truncation=True, max_length=128)["input_ids"]]
        for part in ("train", "validation", "test")
    }
    sizes = {"num_hidden_layers": 4, "hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024}
    model = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), attn_implementation="sdpa", **sizes))
    collate, rate = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15), 5e-4
with tempfile.TemporaryDirectory() as out:
    arguments = TrainingArguments(
        output_dir=out,
        num_train_epochs=1,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        learning_rate=rate,
        lr_scheduler_type="cosine",
        weight_decay=0.01,
        optim="adamw_torch_fused",
        train_sampling_strategy="group_by_length",
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(
        model=model, args=arguments, train_dataset=rows["train"], eval_dataset=rows["validation"], data_collator=collate
    )
    trainer.train()
    print({"loss": trainer.evaluate(rows["test"])["eval_loss"], "steps": trainer.state.global_step})
