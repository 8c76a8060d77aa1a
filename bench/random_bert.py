"""Writes BERT classifiers with random weights for the topic set, with a tokenizer that is trained on its texts.

python bench/random_bert.py LAYERS WIDTH FOLDER...                                                   the seed of FOLDER n is n
"""

from __future__ import annotations

import sys
from pathlib import Path

import transformers
from measuring import rows_of
from transformers import BertConfig, BertForSequenceClassification

from glassformer.training.tokenizers import Tokenizer

transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
layers, width = int(sys.argv[1]), int(sys.argv[2])
rows = rows_of("topic", "train")
tokenizer = Tokenizer.train([row["text"] for row in rows], vocab=8000)
labels = sorted({row["label"] for row in rows})
config = BertConfig(
    vocab_size=tokenizer.vocab, num_hidden_layers=layers, hidden_size=width, num_attention_heads=max(1, width // 64),
    intermediate_size=4 * width, id2label=dict(enumerate(labels)), pad_token_id=tokenizer.pad_id,
)  # fmt: skip
for seed, name in enumerate(sys.argv[3:]):
    transformers.set_seed(seed)
    folder = Path(name)
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save(folder / "tokenizer.json")
