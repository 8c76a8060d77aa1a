"""A field that is set either has an effect or is refused; it is never silently ignored."""

from __future__ import annotations

from typing import Any

import pytest

from glassformer.configs.reading import draft, request
from glassformer.errors import GlassformerError
from glassformer.program.encoder import build
from glassformer.spec import GATES, EncoderSpec, field_rules, unread
from glassformer.spec.fields import FieldRule
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
    ("fnet-base", {"layers": 2}),
    ("t5-small", {"layers": 2}),
    ("modernbert-base", {"layers": 4}),
    ("deberta-v3-xsmall", {"layers": 2}),
    ("vit-b16", {"layers": 2}),
    ("deit-ti-distilled", {"layers": 2}),
    ("whisper-tiny", {"layers": 2}),
]
MISSING: Any = object()
TRAINED = {"dropout"}  # used only in training
LENGTH = {"positions"}  # the maximum length, with or without a table
WHOLE_LAYER = {"d_ff", "activation", "norm", "norm_kind", "eps", "layer_scale"}  # allowed with block=attention


def _others(rule: FieldRule, value: Any) -> list[Any]:
    if rule.kind == "whole":
        found = [(value or 1) * 2, 1, 3]
    elif rule.kind == "number":
        found = [(value or 0.1) / 2]
    else:
        found = {"choice": [*rule.choices], "yes_no": [True, False], "places": [(), ("q",)], "sizes": [(), (2, 3)]}[rule.kind]
    return [other for other in found if other != value]


def _computed(spec: EncoderSpec) -> Any:
    program = build(spec, t=None if spec.one_length else 4)
    return program.inputs, program.parameters, program.steps, program.shared


def _is_redundant(spec: EncoderSpec, field: str, value: Any) -> bool:
    """Whether the encoder already has this value, by another name or by default."""
    same = {"final_norm": spec.norm_after_last, "share_layers": spec.layers, "kv_heads": spec.heads}
    if spec.head in ("mlm", "pretrain"):
        same["head_hidden"] = GATES.get(spec.activation, spec.activation)
    nothing = {"biases": (), "pooler": "none"}
    return value in (same.get(field, MISSING), nothing.get(field, MISSING))


def _ignored(name: str, fields: dict[str, Any]) -> list[str]:
    """Return the fields that are accepted but do not change the computation."""
    start = request(name, **fields).spec
    before, found = _computed(start), []
    for field, rule in field_rules().items():
        for other in _others(rule, getattr(start, field)):
            other_part = start.block == "attention" and field in WHOLE_LAYER
            if other_part or field in (*TRAINED, *LENGTH) or _is_redundant(start, field, other):
                continue
            try:
                after = _computed(request(name, **{**fields, field: other}).spec)
            except GlassformerError:
                continue
            if after == before:
                found.append(f"{field}={other}")
    return found


@pytest.mark.parametrize(("name", "fields"), STARTS, ids=lambda value: str(value)[:30])
def test_no_field_is_silently_ignored(name, fields):
    assert _ignored(name, fields) == []


def test_without_the_rules_the_search_finds_ignored_fields(monkeypatch):
    monkeypatch.setattr(unread, "RULES", ())
    assert {"head_hidden=tanh", "spare_bias=True", "position_offset=3", "pool=mean"} <= set(_ignored("layer", {}))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("encoder position_offset=2", "adds rows to a position table, and there is none: position=none. Add position="),
        ("bert-base first_norm=false", "sets a norm before the attention, and there is none: norm=post. Add norm=pre."),
        ("bert-base spare_bias=true", "applies to a head that predicts tokens, and there is none: head=none. Add head=mlm."),
        ("bert-base head_hidden=tanh", "sets the hidden layer of a head, and there is no head with one: head=none. Add"),
        ("bert-base head_reads=mean", "sets the input of a classifier, and there is none: head=none. Add head=classify."),
        ("encoder pool=mean", "selects the pooled tokens, which nothing uses: head=none. Add head="),
        ("bert-base head=mlm pooler=dense", "has no effect, since the head reads every token: head=mlm. Leave pooler out."),
        ("encoder layer_cycle=2", "sets how layers share weights, and none do: share_layers=none."),
        ("fnet-base heads=4", "describes attention, and there is none: mixing=fourier. Leave it out, or give mixing=attention."),
        ("layer embedding_scale=sqrt_d_model", "scales token embeddings, and there are none: vocab=none. Add vocab"),
    ],
)
def test_a_field_without_effect_is_refused_with_the_missing_part(words, message):
    name, *fields = words.split()
    with pytest.raises(GlassformerError) as refusal:
        request(name, **dict(field.split("=") for field in fields))
    assert str(refusal.value).startswith(fields[-1].partition("=")[0] + "=")
    assert message in str(refusal.value)


@pytest.mark.parametrize("words", ["head_hidden=none", "pool=first", "tie=true", "spare_bias=false", "position_offset=0"])
def test_a_neutral_value_is_always_allowed(words):
    request("encoder", **dict([words.split("=")]))


def test_a_draft_may_lack_the_parts_that_its_fields_refer_to():
    found, changed = draft("bert-base", pool="mean", head_hidden="tanh")
    assert changed == {"pool": "mean", "head_hidden": "tanh"}
    with pytest.raises(GlassformerError, match="head_hidden=tanh"):
        unread.require_read(found.spec, changed)
    unread.require_read(found.spec.replace(head="classify"), changed)


def test_image_positions_start_at_row_0_of_their_table():
    with pytest.raises(GlassformerError, match=r"position_offset=2 is not allowed for an image: .* Leave it out\."):
        check(request("vit-b16").spec.replace(position_offset=2))
