"""A shard as bytes: the rows of a group with their results, as Parquet, as npy with jsonl, or as jsonl."""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from glassformer.encoding.jobs.computing import Computed
from glassformer.encoding.jobs.groups import Group
from glassformer.encoding.tables import parquet_packages
from glassformer.errors import GlassformerError

BAD = ".bad_rows.jsonl"
ENDINGS = (".parquet", ".npy", ".jsonl", BAD)
COUNTS = ("rows", "bad", "left_out", "cut", "tokens")


@dataclass(frozen=True)
class Shard:
    """The files of a shard by their ending, and its counts."""

    files: dict[str, bytes]
    rows: int
    bad: int
    left_out: int
    cut: int
    tokens: int

    def counts(self) -> dict[str, int]:
        """Return the counts by name."""
        return {name: getattr(self, name) for name in COUNTS}


def make_shard(form: str, group: Group, computed: Computed, *, strict: bool = False) -> Shard:
    """Return the files of a shard; `computed` numbers the good rows of the group. A bad row is raised only with `strict`."""
    good = group.good
    faults = {place: row.fault for place, row in enumerate(group.rows) if row.fault is not None}
    faults |= {good[number]: why for number, why in computed.faults.items()}
    places = [good[number] for number in computed.numbers]
    if strict and faults:
        raise GlassformerError(f"--strict: bad row in {group.file} row {group.first + min(faults):,}: {faults[min(faults)]}")
    files = _files(form, group, places, computed.columns) if places else {}
    if faults:
        lines = [{"file": group.file, "row": group.first + place, "reason": faults[place]} for place in sorted(faults)]
        files[BAD] = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8", "backslashreplace")
    left_out = len(group.rows) - len(places) - len(faults)
    return Shard(files, len(places), len(faults), left_out, computed.cut, computed.tokens)


def _files(form: str, group: Group, places: list[int], columns: dict[str, Any]) -> dict[str, bytes]:
    beside: dict[str, Any] = {"file": [group.file] * len(places), "row": [group.first + place for place in places]}
    for i, name in enumerate(group.carried):
        beside[name] = [group.rows[place].beside[i] for place in places]
    if form == "parquet":
        return {".parquet": _parquet(group, beside, columns)}
    if form == "npy":
        file = io.BytesIO()
        np.save(file, columns["embedding"], allow_pickle=False)
        rest = {name: column for name, column in columns.items() if name != "embedding"}
        return {".npy": file.getvalue(), ".jsonl": _jsonl({**beside, **rest})}
    return {".jsonl": _jsonl({**beside, **columns})}


def _jsonl(columns: dict[str, Any]) -> bytes:
    names = list(columns)
    rows = (dict(zip(names, map(_plain, cells), strict=True)) for cells in zip(*columns.values(), strict=True))
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False, default=str) + "\n" for row in rows)
    return "".join(lines).encode("utf-8", "backslashreplace")


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold; NaN and infinity become null."""
    if isinstance(value, np.ndarray):
        # The shortest digits that restore a float32 are half as long as those of a float64.
        return [float(str(x)) for x in value] if value.dtype.kind == "f" else value.tolist()
    if isinstance(value, np.generic):
        return float(str(value)) if value.dtype.kind == "f" else value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return {str(key): _plain(one) for key, one in value.items()} if isinstance(value, dict) else value


def _parquet(group: Group, beside: dict[str, Any], columns: dict[str, Any]) -> bytes:
    arrow, parquet = parquet_packages()
    made: dict[str, Any] = {"file": arrow.array(beside.pop("file")), "row": arrow.array(beside.pop("row"), arrow.int64())}
    for name, values in beside.items():
        if name in group.types:
            made[name] = arrow.array(values, group.types[name])
        else:  # one type for all shards, whatever the rows of this one hold
            texts = [one if isinstance(one, str | None) else json.dumps(one, ensure_ascii=False) for one in values]
            safe = [one if one is None else one.encode("utf-8", "backslashreplace").decode() for one in texts]
            made[name] = arrow.array(safe, arrow.string())
    for name, values in columns.items():
        if isinstance(values, np.ndarray) and values.ndim == 2:
            made[name] = arrow.FixedSizeListArray.from_arrays(arrow.array(values.reshape(-1)), values.shape[1])
        else:
            array = arrow.array(values)
            made[name] = array.cast(_without_null(arrow, array.type))
    file = io.BytesIO()
    parquet.write_table(arrow.table(made), file, compression="zstd", use_dictionary=["file"])
    return file.getvalue()


def _without_null(arrow: Any, kind: Any) -> Any:
    """Return a type in which lists that are empty in all rows of a shard hold strings, as the labels of other shards do."""
    if arrow.types.is_null(kind):
        return arrow.string()
    if arrow.types.is_list(kind):
        return arrow.list_(_without_null(arrow, kind.value_type))
    if arrow.types.is_struct(kind):
        return arrow.struct([(kind.field(i).name, _without_null(arrow, kind.field(i).type)) for i in range(kind.num_fields)])
    return kind
