"""The rules of heads: what each reads, and which sizes belong to it."""

from __future__ import annotations

from glassformer.errors import GlassformerError
from glassformer.spec.encoder_fields import CODED_HEADS, MASKED_HEADS
from glassformer.spec.encoder_sizes import EncoderSizes
from glassformer.spec.fields import field_text


def check_head(spec: EncoderSizes) -> None:
    if spec.head in MASKED_HEADS and spec.vocab is None:
        other = "" if spec.one_length else "vocab, or "  # image and audio encoders cannot have tokens
        raise GlassformerError(f"head={spec.head} predicts tokens, but there is no vocabulary. Give {other}head=classify.")
    if spec.head == "distilled" and spec.class_tokens < 2:
        raise GlassformerError(
            f"head=distilled reads a class token and a distillation token, but class_tokens={spec.class_tokens}. "
            "Try class_tokens=2."
        )
    if spec.head == "tag_patches" and spec.patch is None:
        raise GlassformerError(
            "head=tag_patches reads the patches of an image, but there is no image. Give image and patch, or head=tag."
        )
    if spec.pool == "class_tokens" and not spec.class_tokens:
        raise GlassformerError("pool=class_tokens takes the mean of the class tokens, and there are none. Try class_tokens=2.")
    if spec.head_projection is not None and (spec.head != "classify" or spec.head_reads != "mean"):
        raise GlassformerError(
            f"head_projection={spec.head_projection} projects tokens before their mean: give head=classify and head_reads=mean."
        )
    if spec.layer_sum and spec.head != "tag" and (spec.head != "classify" or spec.head_reads != "mean"):
        raise GlassformerError(
            "layer_sum=true sums states for a head that reads all of them: give head=tag, or head=classify and head_reads=mean."
        )
    if spec.layer_sum_normed and not (spec.layer_sum and spec.norm_after_last == "all" and spec.layers):
        raise GlassformerError("layer_sum_normed=true needs a sum of states: give layer_sum=true.")
    _vocabulary(spec)
    _restoring(spec)
    _codes(spec)
    if spec.contact_head and not spec.layers:
        raise GlassformerError("contact_head=true has a weight for each layer and head, but layers=0. Leave it out.")
    _classifier(spec)


def _classifier(spec: EncoderSizes) -> None:
    """Rules for the layers before the classes."""
    if spec.head_block and (spec.head != "tag" or spec.head_hidden != "none" or spec.layer_sum):
        raise GlassformerError(
            "head_block=true puts a feed-forward block before the classes of tokens: give head=tag, and neither head_hidden nor "
            "layer_sum."
        )
    if spec.head_norm and spec.head_hidden == "none":
        raise GlassformerError("head_norm=true normalises the head's hidden layer, but head_hidden=none. Try head_hidden=gelu.")


def _restoring(spec: EncoderSizes) -> None:
    """Rules of the decoder that restores patches."""
    if (spec.head == "restore") != bool(spec.restore):
        given = "head=restore" if spec.head == "restore" else f"restore={field_text(spec.restore)}"
        missing = "restore, such as restore=512,8,16,2048" if spec.head == "restore" else "head=restore"
        raise GlassformerError(f"{given} needs the sizes of the decoder that restores patches: give {missing}.")
    if not spec.restore:
        return
    given = f"restore={field_text(spec.restore)}"
    if len(spec.restore) != 4:
        raise GlassformerError(f"{given} must have four numbers: width, layers, heads and d_ff, such as 512,8,16,2048.")
    plain = spec.norm == "pre" and not spec.by_distance and not spec.rotary and not spec.groups and spec.window is None
    if spec.patch is None or not plain or spec.block != "layer" or not spec.attends or spec.registers or spec.kv_heads:
        raise GlassformerError(
            f"{given} restores patches of an image with plain layers and norm=pre: without relative positions, groups, "
            "registers, a window and shared keys. Leave one of them out."
        )
    if spec.stores_waves and spec.restore[0] % 4:
        raise GlassformerError(f"{given}: the stored sines and cosines need a width that is a multiple of 4.")
    spec.restorer  # its own rules  # noqa: B018


def _codes(spec: EncoderSizes) -> None:
    """Rules of codes that stand for sound."""
    if (spec.head in CODED_HEADS) != bool(spec.codebooks):
        given = f"head={spec.head}" if spec.head in CODED_HEADS else f"codebooks={field_text(spec.codebooks)}"
        missing = "codebooks, such as 2,320,256,256" if spec.head in CODED_HEADS else "head=compare_codes"
        raise GlassformerError(f"{given} needs the sizes of the codes for quantised audio: give {missing}.")
    if not spec.codebooks:
        return
    given = f"codebooks={field_text(spec.codebooks)}"
    if len(spec.codebooks) != 4 or spec.codebooks[2] % spec.codebooks[0]:
        raise GlassformerError(
            f"{given} must have four numbers, such as 2,320,256,256: groups, codes of each, a width that the groups divide, and "
            "the width compared in."
        )
    if not spec.raw_sound:
        raise GlassformerError(f"{given} quantises raw audio, but there is none. Give samples and mels=1, or leave it out.")


def _vocabulary(spec: EncoderSizes) -> None:
    """Rules of a masked-token head: its last vectors must have the width of the matrix that they are multiplied with."""
    if spec.head_width is not None and (spec.tie or not spec.head_dense):
        field = "tie=true" if spec.tie else "head_dense=false"
        raise GlassformerError(
            f"head_width={spec.head_width} sets the width of a hidden layer before an untied output matrix, but {field}. "
            "Give tie=false and head_dense=true, or leave head_width out."
        )
    if spec.head in MASKED_HEADS and spec.tie and not spec.wide_output and spec.vocab_width != spec.table_width:
        raise GlassformerError(
            f"head_dense=false multiplies vectors of d_model={spec.d_model} with the token table, whose width is "
            f"embedding_size={spec.embedding_size}. Give tie=false, or leave embedding_size out."
        )
