"""Data: built-in datasets and your own, split, tokenized and batched reproducibly.

data = load_data("topic")                                     needs no torch
tokenizer = Tokenizer.train(data.train.texts(), vocab=8000)   glassformer.training.tokenizers
rows = prepare(data.train, tokenizer, max_length=128)         glassformer.training.data.prepare
for batch in BatchStream(rows, batch_size=32, seed=0): ...    glassformer.training.data.batches
"""

from glassformer.training.data.dataset import Dataset, Provenance, Split, TaskName
from glassformer.training.data.load import load_data
from glassformer.training.data.sets import SETS

__all__ = ["SETS", "Dataset", "Provenance", "Split", "TaskName", "load_data"]
