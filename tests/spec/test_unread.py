"""A field that somebody wrote is read by something, or refused: never taken in silence."""

from __future__ import annotations

from typing import Any

import pytest

from glassformer.program.encoder import build
from glassformer.spec import GATES, EncoderSpec, GlassformerError, field_rules, unread
from glassformer.spec.fields import FieldRule
from glassformer.spec.reading import draft, request
from glassformer.spec.rules import check

STARTS: list[tuple[str, dict[str, Any]]] = [
    ("attention", {}),
    ("layer", {}),
    ("encoder", {"norm": "pre", "vocab": 100, "layers": 2}),
    ("bert-tiny", {}),
    ("bert-tiny", {"head": "classify"}),
    ("bert-tiny", {"head": "mlm", "tie": False}),
    ("bert-tiny", {"head": "tag", "pooler": "none"}),
    ("bert-tiny", {"head": "project", "pooler": "attention"}),
    ("t5-small", {"layers": 2}),
    ("modernbert-base", {"layers": 4}),
    ("deberta-v3-xsmall", {"layers": 2}),
    ("vit-b16", {"layers": 2}),
    ("deit-ti-distilled", {"layers": 2}),
    ("whisper-tiny", {"layers": 2}),
]
MISSING: Any = object()
TRAINED = {"dropout"}  # read while training alone
LENGTH = {"positions"}  # the longest input, with or without a table
WHOLE_LAYER = {"d_ff", "activation", "norm", "norm_kind", "eps", "layer_scale"}  # may stand beside the attention asked about


def _others(rule: FieldRule, value: Any) -> list[Any]:
    if rule.kind == "whole":
        found = [(value or 1) * 2, 1, 3]
    elif rule.kind == "number":
        found = [(value or 0.1) / 2]
    else:
        found = {"choice": [*rule.choices], "yes_no": [True, False], "places": [(), ("q",)]}[rule.kind]
    return [other for other in found if other != value]


def _computed(spec: EncoderSpec) -> Any:
    program = build(spec, t=None if spec.one_length else 4)
    return program.inputs, program.parameters, program.steps, program.shared


def _says_what_is_so(spec: EncoderSpec, field: str, value: Any) -> bool:
    """Whether the encoder has this value already, by another name or by default."""
    same = {"final_norm": spec.norm_after_last, "share_layers": spec.layers, "kv_heads": spec.heads}
    if spec.head in ("mlm", "pretrain"):
        same["head_hidden"] = GATES.get(spec.activation, spec.activation)
    nothing = {"biases": (), "pooler": "none"}
    return value in (same.get(field, MISSING), nothing.get(field, MISSING))


def _silent(name: str, fields: dict[str, Any]) -> list[str]:
    """Fields that are taken and change nothing that is computed."""
    start = request(name, **fields).spec
    before, found = _computed(start), []
    for field, rule in field_rules().items():
        for other in _others(rule, getattr(start, field)):
            beside = start.block == "attention" and field in WHOLE_LAYER
            if beside or field in (*TRAINED, *LENGTH) or _says_what_is_so(start, field, other):
                continue
            try:
                after = _computed(request(name, **{**fields, field: other}).spec)
            except GlassformerError:
                continue
            if after == before:
                found.append(f"{field}={other}")
    return found


@pytest.mark.parametrize(("name", "fields"), STARTS, ids=lambda value: str(value)[:30])
def test_no_field_is_taken_and_read_by_nothing(name, fields):
    assert _silent(name, fields) == []


def test_without_the_rules_the_search_finds_what_nothing_reads(monkeypatch):
    monkeypatch.setattr(unread, "RULES", ())
    assert {"head_hidden=tanh", "spare_bias=True", "position_offset=3", "pool=mean"} <= set(_silent("layer", {}))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("encoder position_offset=2", "gives rows to a table of positions that is not there: position=none. Add position="),
        ("bert-base first_norm=false", "speaks of a norm before the attention, which is not there: norm=post. Add norm=pre."),
        ("bert-base spare_bias=true", "speaks of a head that predicts tokens, which is not there: head=none. Add head=mlm."),
        ("bert-base head_hidden=tanh", "speaks of a hidden layer in the head, and there is no head that has one: head=none. Add"),
        ("bert-base head_reads=mean", "says what a classifier reads, and there is none: head=none. Add head=classify."),
        ("encoder pool=mean", "says which tokens stand for the whole input, and nothing reads those: head=none. Add head="),
        ("bert-base head=mlm pooler=dense", "would be read by nothing: the head reads every token: head=mlm. Leave pooler out."),
        ("encoder layer_cycle=2", "says how layers that share weights take turns, and none do: share_layers=none."),
        ("layer embedding_scale=sqrt_d_model", "multiplies the rows of a token table that is not there: vocab=none. Add vocab"),
    ],
)
def test_what_nothing_reads_is_said_with_the_part_that_is_missing(words, message):
    name, *fields = words.split()
    with pytest.raises(GlassformerError) as refusal:
        request(name, **dict(field.split("=") for field in fields))
    assert str(refusal.value).startswith(fields[-1].partition("=")[0] + "=")
    assert message in str(refusal.value)


@pytest.mark.parametrize("words", ["head_hidden=none", "pool=first", "tie=true", "spare_bias=false", "position_offset=0"])
def test_a_value_that_asks_for_nothing_may_be_written_anywhere(words):
    request("encoder", **dict([words.split("=")]))


def test_a_draft_may_lack_the_parts_that_its_fields_speak_of():
    found, changed = draft("bert-base", pool="mean", head_hidden="tanh")
    assert changed == {"pool": "mean", "head_hidden": "tanh"}
    with pytest.raises(GlassformerError, match="head_hidden=tanh"):
        unread.require_read(found.spec, changed)
    unread.require_read(found.spec.replace(head="classify"), changed)


def test_the_positions_of_an_image_begin_at_the_first_row_of_their_table():
    with pytest.raises(GlassformerError, match=r"position_offset=2 is not allowed for an image: .* Leave it out\."):
        check(request("vit-b16").spec.replace(position_offset=2))
