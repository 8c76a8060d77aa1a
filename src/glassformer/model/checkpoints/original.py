"""The reference: the same folder opened with transformers, if it is installed."""

from __future__ import annotations

import importlib
import inspect
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from glassformer.checkpoints.folder import CheckpointFolder
from glassformer.checkpoints.tensor_names import tensor_names
from glassformer.errors import GlassformerError, shown
from glassformer.model.checkpoints.answers import Answer, Array
from glassformer.model.checkpoints.stored import read_into
from glassformer.spec import EncoderSpec, Seq2SeqSpec

INPUTS = {
    "tokens": "input_ids",
    "segments": "token_type_ids",
    "attend": "attention_mask",
    "boxes": "bbox",
    "image": "pixel_values",
    "frames": "input_features",
    "target": "decoder_input_ids",
}
OUTPUTS = {
    "last_hidden_state": "states",
    "encoder_last_hidden_state": "source",
    "logits": "logits",
    "prediction_logits": "logits",
    "seq_relationship_logits": "next",
    "sop_logits": "next",
    "text_embeds": "logits",
    "image_embeds": "logits",
}


def their_answer(folder: CheckpointFolder, given: Mapping[str, Array], *, dtype: torch.dtype = torch.float64) -> Answer:
    """What transformers computes from the same folder; if it cannot, the error in one line."""
    model = open_original(folder, dtype=dtype)
    with quiet():
        try:
            return run_original(model, folder, given)
        except (TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:  # FlauBERT with pre_norm, in 5.22
            said = shown(" ".join(str(error).split()) or type(error).__name__, limit=160)
            raise GlassformerError(f"transformers cannot compute {folder.model_class}: {said}.") from None


def open_original(folder: CheckpointFolder, *, dtype: torch.dtype = torch.float64) -> Any:
    """The folder as its class of transformers. The class comes from our own list of names, never from the file."""
    try:
        transformers = importlib.import_module("transformers")
    except ImportError:
        raise GlassformerError("transformers is not installed: pip install 'glassformer[hf]' to compare with it.") from None
    with quiet(), torch.random.fork_rng(devices=[]):
        try:
            model_class = _class(transformers, folder)
            model, left = _from_folder(model_class, folder, dtype, names={})
            if names := _other_names(folder, left):
                model, left = _from_folder(model_class, folder, dtype, names=names)
        except Exception as error:
            said = shown(" ".join(str(error).split()) or type(error).__name__, limit=160)
            raise GlassformerError(f"transformers cannot open this folder as {folder.model_class}: {said}.") from None
    if names := _other_names(folder, left):
        raise GlassformerError(
            f"transformers does not find {len(names):,} parameters of {folder.model_class} in this folder, "
            f"such as {shown(next(iter(names.values())))}, and would initialise them randomly."
        )
    _restore_padding(model, folder)
    return model.eval()


def _restore_padding(model: Any, folder: CheckpointFolder) -> None:
    """Read the token table again if its padding row was replaced by zeros: transformers 5.22 does so in Funnel."""
    place = folder.match.found.get("embeddings.E_token")
    table = model.get_input_embeddings() if place is not None else None
    row = getattr(table, "padding_idx", None)
    if place is not None and table is not None and row is not None and not table.weight[row].any():
        read_into(table.weight.data, folder.files.tensors[place.name], place)


def _from_folder(
    model_class: Any, folder: CheckpointFolder, dtype: torch.dtype, *, names: Mapping[str, str]
) -> tuple[Any, list[str]]:
    """The model, and its parameters that were not in the file. `names`: the file's names of its tensors."""
    # Only safetensors, no code, no network: the folder has passed all of our own checks before.
    model, told = model_class.from_pretrained(
        folder.path,
        dtype=dtype,
        attn_implementation="eager",
        use_safetensors=True,
        local_files_only=True,
        output_loading_info=True,
        key_mapping={f"^{re.escape(stored)}$": name for stored, name in names.items()} or None,
    )
    return model, sorted(told["missing_keys"])


def _other_names(folder: CheckpointFolder, left: Iterable[str]) -> dict[str, str]:
    """Tensors of the file that transformers has under another name and therefore left random: an encoder inside a whole model."""
    places = tensor_names(folder.spec, folder.family, folder.model_class, folder.shapes)
    known = {place.name: folder.match.found[name].name for name in folder.match.found for place in places[name]}
    return {known[name]: name for name in left if name in known}


def _class(transformers: Any, folder: CheckpointFolder) -> Any:
    found = getattr(transformers, folder.model_class, None)
    if found is None:
        auto = importlib.import_module("transformers.models.auto.configuration_auto")
        name = auto.model_type_to_module_name(folder.family)
        found = getattr(importlib.import_module(f"transformers.models.{name}.modeling_{name}"), folder.model_class)
    return found


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' progress bars, reports and warnings: the comparison reports any error."""
    logging = importlib.import_module("transformers.utils.logging")
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@torch.inference_mode()
def run_original(model: Any, folder: CheckpointFolder, given: Mapping[str, Array]) -> Answer:
    """One pass of a model of transformers."""
    tensors = _their_inputs(folder.spec, given)
    if model.main_input_name == "input_values" and "pixel_values" in tensors:  # a spectrogram: frames down, no channel
        tensors["input_values"] = tensors.pop("pixel_values")[:, 0].mT
    for name in ("attention_mask", "pixel_values", "input_features", "input_values"):
        if name in tensors:
            tensors[name] = tensors[name].to(torch.int64 if name == "attention_mask" else model.dtype)
    asked = inspect.signature(model.forward).parameters
    if "spatial_shapes" in asked:
        tensors |= _in_patches(folder.spec, tensors.pop("pixel_values").to(model.dtype))
    if "noise" in asked:  # patches in their order: they are shuffled even if all are kept
        patches = torch.arange(folder.spec.patches, dtype=model.dtype)
        tensors["noise"] = patches.expand(len(tensors["pixel_values"]), -1)
    if folder.model_class.endswith("ForMultipleChoice"):
        tensors = {name: value[:, None] for name, value in tensors.items()}
    outputs = model(**tensors, output_hidden_states=True)
    named = dict(_named(outputs, folder.spec))
    if getattr(model, "pooler", None) is not None and not folder.spec.has_pooler:
        named.pop("pooled", None)  # theirs has random weights: the file contains no pooler
    if folder.family in ("siglip_text_model", "siglip2_text_model") and "attend" in given:
        for name in ("pooled", "logits"):  # theirs is read from the last position, even if that is padding
            named.pop(name, None)
    whole = isinstance(folder.spec, Seq2SeqSpec)
    hidden = outputs.decoder_hidden_states if whole else outputs.hidden_states
    return Answer(tuple(state.double().numpy() for state in hidden), named)


def _their_inputs(spec: EncoderSpec, given: Mapping[str, Array]) -> dict[str, torch.Tensor]:
    """The inputs by the names of transformers. Raw audio has no feature axis, and a mask value for each sample."""
    tensors = {INPUTS[name]: torch.as_tensor(value) for name, value in given.items()}
    if spec.raw_sound:
        tensors["input_values"] = tensors.pop("input_features")[:, 0]
        if "attention_mask" in tensors:
            real_B1 = torch.tensor([[spec.frames_of(int(n))] for n in tensors["attention_mask"].sum(1)])
            tensors["attention_mask"] = torch.arange(tensors["input_values"].shape[1]) < real_B1
    return tensors


def _in_patches(spec: EncoderSpec, image: torch.Tensor) -> dict[str, torch.Tensor]:
    """Images as SigLIP 2 takes them: patches, pixel by pixel, with their grid."""
    (down, across), (tall, wide), batch = spec.patch_grid, spec.patch_size, len(image)
    cut = image.reshape(batch, spec.channels, down, tall, across, wide).permute(0, 2, 4, 3, 5, 1)
    return {
        "pixel_values": cut.flatten(3).flatten(1, 2).flatten(2),
        "pixel_attention_mask": torch.ones(batch, down * across, dtype=torch.int64),
        "spatial_shapes": torch.tensor([[down, across]] * batch),
    }


def _named(outputs: Any, spec: EncoderSpec) -> Iterator[tuple[str, Array]]:
    """Their outputs under our names; outputs that we lack are omitted."""
    for name, value in outputs.items():
        if name in OUTPUTS:
            yield OUTPUTS[name], value.double().numpy()
        elif name == "pooler_output":  # the vector of the whole input: projected, if the class has a projection
            yield "logits" if spec.head == "project" else "pooled", value.double().numpy()
        elif name == "start_logits":
            yield "logits", torch.stack([value, outputs["end_logits"]], dim=-1).double().numpy()
        elif name == "reconstruction":  # transformers returns an image assembled from patches: split again
            side = math.isqrt(spec.classes // spec.channels)
            pixels = torch.nn.functional.pixel_unshuffle(value, side)
            yield "logits", pixels.flatten(2).transpose(1, 2).double().numpy()
