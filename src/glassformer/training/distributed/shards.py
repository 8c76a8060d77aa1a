"""Sharded states: planned by torch.distributed.checkpoint, stored as safetensors and JSON, never as a pickle.

    step-000120/
      shard-00000.safetensors   written by process 0: `weights/NAME` whole, or `weights/NAME@16,0`, the piece at that offset
      shard-00001.safetensors
      state.json  MANIFEST.json as in a state of one process

The format of DCP contains a pickled index, which can execute arbitrary code; here the file headers are the index.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch.distributed as dist
from safetensors import SafetensorError, safe_open
from torch import Size, Tensor
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.metadata import (
    STORAGE_TYPES,
    ChunkStorageMetadata,
    Metadata,
    MetadataIndex,
    TensorProperties,
    TensorStorageMetadata,
)
from torch.distributed.checkpoint.planner import LoadPlan, LoadPlanner, ReadItem, SavePlan, SavePlanner, WriteItem
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.distributed.checkpoint.storage import StorageReader, StorageWriter, WriteResult
from torch.futures import Future

from glassformer.errors import shown
from glassformer.training import state
from glassformer.training.distributed.processes import first, from_first, texts
from glassformer.training.pieces import Damaged, Piece, Plan, piece_key, plans
from glassformer.training.tensor_bytes import safetensors_bytes


def save_shards(checkpoints: Path, saved: state.Saved) -> None:
    """Write the part of each process; the folder is renamed only when all parts are on disk."""
    target = state.folder_of(checkpoints, saved.step)
    needed = sum(tensor.nbytes for tensor in saved.tensors.values())

    def prepare() -> Path:
        unfinished = target.with_name(f"{target.name}.tmp-{os.getpid()}")
        try:
            state.begin(unfinished)
        except OSError as error:
            raise state.CannotSave(state.refusal(checkpoints, saved.step, needed, error)) from None
        return unfinished

    unfinished = from_first(prepare)
    planner = DefaultSavePlanner(flatten_state_dict=False, flatten_sharded_tensors=False)
    tensors = {name: tensor.detach() for name, tensor in saved.tensors.items()}
    try:
        save(tensors, storage_writer=Writer(unfinished, target, saved, dist.get_rank()), planner=planner)
    except CheckpointException as failed:
        if first():
            shutil.rmtree(unfinished, ignore_errors=True)
        why = next(iter(failed.failures.values()))[0]
        if isinstance(why, OSError):
            raise state.CannotSave(state.refusal(checkpoints, saved.step, needed, why)) from None
        raise why from None


class Writer(StorageWriter):
    """Writes one file of named pieces per process; the first adds notes and manifest and renames the folder."""

    def __init__(self, unfinished: Path, target: Path, saved: state.Saved, rank: int) -> None:
        self.unfinished, self.target, self.saved, self.rank = unfinished, target, saved, rank

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Nothing is kept from one state to the next."""

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:  # noqa: FBT001
        """The folder exists already."""

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        return plans

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        pieces = {_key(item): cast(Tensor, planner.resolve_data(item)) for item in plan.items}
        name = f"shard-{self.rank:05d}.safetensors"
        written = (name, state.write(self.unfinished / name, *safetensors_bytes(pieces)))
        return _done([WriteResult(item.index, 0, written) for item in plan.items])

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:  # noqa: ARG002
        files = dict(result.storage_data for mine in results for result in mine)
        state.finish(self.unfinished, self.target, self.saved, files)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:  # noqa: ARG003
        return True


@dataclass(frozen=True)
class Sharded:
    """A state on disk whose tensors are read on demand, only the parts that this process needs."""

    step: int
    notes: dict[str, Any]
    folder: Path
    index: Metadata

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return tensor name -> full shape."""
        return {name: tuple(tensor.size) for name, tensor in self.index.state_dict_metadata.items()}  # type: ignore[union-attr]

    def fill(self, targets: Mapping[str, Tensor]) -> None:
        """Read into the given tensors; each process reads its part of sharded ones. A collective call."""
        planner = DefaultLoadPlanner(flatten_state_dict=False, flatten_sharded_tensors=False)
        try:
            load(dict(targets), storage_reader=Reader(self), planner=planner)
        except CheckpointException as failed:
            raise next(iter(failed.failures.values()))[0] from None


class Reader(StorageReader):
    """Reads pieces from a state that was written by any number of processes."""

    def __init__(self, saved: Sharded) -> None:
        self.saved = saved

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """Nothing is kept from one state to the next."""

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:  # noqa: ARG002
        return self.saved.index

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:  # noqa: FBT001
        """The index is read already."""

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        places: dict[MetadataIndex, Piece] = self.saved.index.storage_data
        by_file: dict[str, list[ReadItem]] = {}
        for item in plan.items:
            by_file.setdefault(places[item.storage_index].file, []).append(item)
        for name, items in by_file.items():
            with safe_open(self.saved.folder / name, framework="pt") as file:
                for item in items:
                    piece = file.get_slice(places[item.storage_index].key)
                    part = tuple(slice(at, at + size) for at, size in zip(item.storage_offsets, item.lengths, strict=True))
                    target = planner.resolve_tensor(item).detach()
                    target.copy_(piece[part] if part else piece[...])
                    planner.commit_tensor(item, target)
        return _done(None)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:  # noqa: ARG003
        return True


def load_shards(checkpoints: Path, step: int) -> Sharded:
    """Open a state after checking its files against the manifest; the processes share the files to check."""
    folder = state.folder_of(checkpoints, step)
    why, opened = "", None
    try:
        listed = state.manifest(folder)
        notes = json.loads(state.checked(folder, state.NOTES, listed))
        files = [name for name in listed if name != state.NOTES]
        for name in files[dist.get_rank() :: dist.get_world_size()]:
            state.checked(folder, name, listed)
        opened = Sharded(step, notes, folder, index_of(folder, files))
    except Damaged as damaged:
        why = str(damaged)
    if faults := [fault for fault in texts(why) if fault]:
        raise Damaged(faults[0])
    assert opened is not None
    return opened


def index_of(folder: Path, files: list[str]) -> Metadata:
    """Build the index of pieces from the headers of the files."""
    pieces = []
    for name in files:
        try:
            with safe_open(folder / name, framework="pt") as file:
                pieces += [Piece(name, key, tuple(file.get_slice(key).get_shape())) for key in file.keys()]  # noqa: SIM118
        except (OSError, SafetensorError) as error:
            raise Damaged(f"{name} cannot be read: {shown(str(error))}") from None
    found = plans(pieces)
    tensors: dict[str, STORAGE_TYPES] = {
        name: TensorStorageMetadata(TensorProperties(), Size(plan.shape), _chunks(plan)) for name, plan in found.items()
    }
    places = {MetadataIndex(name, piece.offsets): piece for name, plan in found.items() for piece in plan.pieces}
    return Metadata(tensors, storage_data=places)


def _chunks(plan: Plan) -> list[ChunkStorageMetadata]:
    return [ChunkStorageMetadata(Size(piece.offsets), Size(piece.sizes)) for piece in plan.pieces]


def _key(item: WriteItem) -> str:
    assert item.tensor_data is not None  # a state holds tensors only
    chunk = item.tensor_data.chunk
    return piece_key(item.index.fqn, chunk.offsets, chunk.sizes, item.tensor_data.size)


def _done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future
