"""EncoderSpec: derived sizes, variants, round trips."""

import json

import pytest
from hypothesis import given
from strategies import specs

from glassformer.configs.reading import from_document
from glassformer.spec import EncoderSpec, field_docs


def test_head_widths_follow_from_d_model_and_heads():
    spec = EncoderSpec(d_model=768, heads=12)
    assert (spec.head_k, spec.head_v, spec.ffn_width) == (64, 64, 3072)


def test_d_k_and_d_v_are_free():
    spec = EncoderSpec(d_model=64, heads=2, d_k=32, d_v=16)
    assert (spec.head_k, spec.head_v) == (32, 16)


def test_d_v_follows_d_k():
    assert EncoderSpec(d_model=64, heads=7, d_k=10).head_v == 10


def test_there_are_as_many_key_value_heads_as_query_heads_by_default():
    spec = EncoderSpec(d_model=64, heads=8)
    assert (spec.key_heads, spec.group) == (8, 1)
    assert (spec.replace(kv_heads=2).key_heads, spec.replace(kv_heads=2).group) == (2, 4)
    assert spec.replace(kv_heads=2).head_k == spec.head_k


def test_a_spec_is_immutable():
    with pytest.raises(AttributeError):
        EncoderSpec().layers = 3  # type: ignore[misc]


def test_pre_norm_has_a_final_norm_and_post_norm_has_none():
    assert EncoderSpec(norm="pre").norm_after_last == "all"
    assert EncoderSpec(norm="post").norm_after_last == "none"


def test_incomplete_patches_are_cut_off():
    assert EncoderSpec(image=384, patch=14, class_tokens=0, position="learned").patches == 27 * 27


def test_the_patches_of_an_oblong_image_are_counted_vertically_and_horizontally():
    assert EncoderSpec(image=224, image_width=112, patch=16).patches == 14 * 7


def test_all_layers_can_share_one_set_of_weights():
    spec = EncoderSpec(layers=12, share_layers=1)
    assert {spec.layer_weights(i) for i in range(12)} == {0}


def test_groups_of_layers_share_weights_in_order():
    spec = EncoderSpec(layers=6, share_layers=2)
    assert [spec.layer_weights(i) for i in range(6)] == [0, 0, 0, 3, 3, 3]


def test_a_group_can_cycle_through_several_layers():
    spec = EncoderSpec(layers=4, share_layers=2, layer_cycle=2)
    assert [spec.layer_weights(i) for i in range(4)] == [0, 1, 0, 1]


def test_every_third_layer_is_global_from_layer_0():
    spec = EncoderSpec(layers=7, window=128, global_every=3)
    assert [spec.layer_window(i) for i in range(7)] == [None, 128, 128, None, 128, 128, None]


def test_every_field_has_a_doc():
    assert all((doc and doc[0] == doc[0].lower()) or doc[:1].isupper() for doc in field_docs().values())
    assert set(field_docs()) == set(EncoderSpec.__dataclass_fields__)


@given(specs())
def test_spec_to_json_to_spec_is_the_identity(spec):
    document = json.loads(json.dumps(spec.to_dict()))
    assert from_document(document, source="test")[0] == spec
