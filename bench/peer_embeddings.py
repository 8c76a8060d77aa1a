"""Trains sentence embeddings with the trainer of sentence-transformers: the peer of `bench/embeddings.py`, as a command.

python bench/peer_embeddings.py TRAIN.jsonl VALIDATION.jsonl MODEL OUT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.evaluation import InformationRetrievalEvaluator
from sentence_transformers.losses import MultipleNegativesRankingLoss


def rows(path: str) -> dict[str, list[str]]:
    read = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    return {name: [row[name] for row in read] for name in ("first", "second")}


def main(train: str, validation: str, model: str, out: str, batch: str, epochs: str, lr: str, longest: str) -> None:
    encoder = SentenceTransformer(model, device="cpu")
    encoder.max_seq_length = int(longest)
    held = rows(validation)
    queries = {f"q{place}": text for place, text in enumerate(held["first"])}
    corpus = {f"d{place}": text for place, text in enumerate(held["second"])}
    right = {f"q{place}": {f"d{place}"} for place in range(len(queries))}
    evaluator = InformationRetrievalEvaluator(queries, corpus, right, mrr_at_k=[10], batch_size=int(batch))
    arguments = SentenceTransformerTrainingArguments(
        out,
        num_train_epochs=int(epochs),
        per_device_train_batch_size=int(batch),
        learning_rate=float(lr),
        warmup_ratio=0.1,
        weight_decay=0.01,
        lr_scheduler_type="cosine",
        eval_strategy="epoch",
        save_strategy="epoch",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        seed=0,
    )
    loss = MultipleNegativesRankingLoss(encoder, scale=20.0)
    data = Dataset.from_dict(rows(train))
    SentenceTransformerTrainer(encoder, arguments, train_dataset=data, loss=loss, evaluator=evaluator).train()
    encoder.save_pretrained(f"{out}/best")


if __name__ == "__main__":
    main(*sys.argv[1:])
