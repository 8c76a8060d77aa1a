"""Low-rank adapters that are stored for each of several tasks and not applied by default (Sturua et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterator

from glassformer.program.axes import Axis
from glassformer.program.program import Writer
from glassformer.spec import EncoderSpec


def task_adapters(write: Writer, spec: EncoderSpec) -> None:
    """For every matrix of the layers, table and pooler: two matrices for each task, whose product has the size of the first."""
    tasks, ranks = spec.adapters
    task, rank = Axis("task", tasks), Axis("rank", ranks)
    for inside, index, rows, columns in _matrices(write, spec):
        inside.parameter(f"A_{index}", "adapter", task, rank, Axis("d_in", rows))
        inside.parameter(f"B_{index}", "adapter", task, Axis("d_out", columns), rank)


def _matrices(write: Writer, spec: EncoderSpec) -> Iterator[tuple[Writer, str, int, int]]:
    """Each matrix: its block, its index, and its sizes. Queries, keys and values are one."""
    embeddings, width = write.at("embeddings", "embeddings"), spec.d_model
    tables = {"token": spec.vocab, "segment": spec.segments, "position": spec.position_rows if spec.learns_positions else None}
    yield from ((embeddings, name, rows, spec.table_width) for name, rows in tables.items() if rows)
    queries, keys, values = spec.heads * spec.head_k, spec.key_heads * spec.head_k, spec.key_heads * spec.head_v
    for number in sorted({spec.layer_weights(number) for number in range(spec.layers)}):
        layer = write.at("layers", "layers").layer(number, number)
        attention, ffn = layer.at("attention", "attention"), layer.at("ffn", "ffn")
        yield attention, "QKV", width, queries + keys + values
        yield attention, "O", spec.heads * spec.head_v, width
        yield ffn, "1", width, spec.ffn_width
        yield ffn, "2", spec.ffn_width, width
    if spec.pooler == "dense":
        yield write.at("pooler", "pooler"), "P", width, width
