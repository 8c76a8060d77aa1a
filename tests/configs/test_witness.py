"""Random small configs against transformers on the meta device: the same count, or a refusal, never another number."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tiny_models import class_of, guest

from glassformer.configs.huggingface import FAMILIES, from_config
from glassformer.errors import GlassformerError
from glassformer.program import build

COMPACT = ("squeezebert", "longformer", "mobilebert", "layoutlm", "fnet", "nystromformer", "layoutlmv3", "funnel")
FAMILIES_TRIED = ("gte", "nomic_bert", "eurobert", "rembert", "deberta", "deberta-v2", "esm", "roformer", "big_bird", *COMPACT)
# What a key may be besides the small numbers that sizes have: values at the edges of what the classes accept.
OTHER: dict[str, tuple[Any, ...]] = {
    "hidden_act": ("gelu", "silu", "relu", "gelu_new", "quick_gelu", "tanh"),
    "tie_word_embeddings": (True, False),
    "mlp_bias": (True, False),
    "attention_bias": (True, False),
    "type_vocab_size": (0, 1, 2, 5),
    "num_labels": (1, 2, 7),
    "num_hidden_layers": (0, 1, 3),
    "classifier_pooling": ("bos", "mean", "late"),
    "layer_norm_eps": (1e-5, 1e-12),
    "head_dim": (None, 4, 6),
}
SIZES = {
    "vocab_size": (11, 37),
    "hidden_size": (8, 12, 24),
    "num_attention_heads": (1, 2, 4),
    "intermediate_size": (5, 16),
    "max_position_embeddings": (7, 19),
}
DEBERTA = {
    "relative_attention": (True, True, True, False),
    "pos_att_type": (["c2p", "p2c"], "p2c|c2p", ["c2p"], "p2c", None),
    "max_relative_positions": (-1, 5, 40),
    "position_biased_input": (True, False),
    "pooler_hidden_act": ("gelu", "tanh"),
    "legacy": (True, True, True, False),
}
OWN = {
    "deberta": DEBERTA,
    "deberta-v2": {
        **DEBERTA,
        "position_buckets": (-1, 2),
        "share_att_key": (True, False),
        "conv_kernel_size": (0, 0, 1, 3, 5, 2),
        "conv_groups": (1, 2, 4),
        "norm_rel_ebd": ("none", "layer_norm"),
    },
    "esm": {
        "position_embedding_type": ("absolute", "rotary"),
        "token_dropout": (True, False, None),
        "mask_token_id": (None, 3, 10),
        "emb_layer_norm_before": (True, False, None),
    },
    "big_bird": {
        "attention_type": ("original_full", "block_sparse"),
        **{"use_bias": (True, False), "rescale_embeddings": (True, False), "block_size": (1, 16), "num_random_blocks": (1, 3)},
    },
    "roformer": {"embedding_size": (None, 4, 8), "rotary_value": (True, False)},
    "rembert": {"input_embedding_size": (4, 8), "output_embedding_size": (6, 8, 12)},
    "nystromformer": {
        **{"num_landmarks": (2, 4), "segment_means_seq_len": (4, 4, 8), "conv_kernel_size": (None, 1, 3, 4, 65)},
        "inv_coeff_init_option": (False, False, True),
    },
    "funnel": {
        **{"d_model": (8, 8, 12, 12, 16, 7), "n_head": (1, 2), "d_head": (3, 4), "d_inner": (5, 16)},
        **{"num_decoder_layers": (1, 2, 3, 0), "block_sizes": ([2, 1], [2, 1], [1, 1, 1])},
        **{"block_repeats": (None, None, None, [1, 2], [2, 1, 1]), "pooling_type": ("mean",) * 9 + ("max",)},
        "separate_cls": (True,) * 9 + (False,),
    },
    "layoutlmv3": {
        **{"max_2d_position_embeddings": (3, 20), "coordinate_size": (1,) * 9 + (2,), "shape_size": (2,) * 9 + (4,)},
        **{"hidden_size": (8,) * 9 + (12,), "rel_pos_bins": (2, 8), "max_rel_pos": (5, 5, 128, 128, 2)},
        **{"rel_2d_pos_bins": (4, 8), "max_rel_2d_pos": (3, 256, 2), "visual_embed": (True, False), "input_size": (8, 9)},
        **{"has_relative_attention_bias": (True, True, True, False), "has_spatial_attention_bias": (True, False)},
        **{"patch_size": (2, 4), "num_channels": (1, 3)},
    },
    "layoutlm": {"max_2d_position_embeddings": (3, 20)},
    "mobilebert": {
        **{"embedding_size": (4, 8, 12), "trigram_input": (True, True, False), "use_bottleneck": (True, True, False)},
        **{"intra_bottleneck_size": (4, 8), "use_bottleneck_attention": (False, False, False, True)},
        **{"key_query_shared_bottleneck": (True, True, True, False), "num_feedforward_networks": (1, 2, 4)},
        **{"normalization_type": ("no_norm", "no_norm", "no_norm", "layer_norm"), "classifier_activation": (True, True, False)},
    },
    "fnet": {"use_tpu_fourier_optimizations": (False, False, True), "tpu_short_seq_length": (7, 512)},
    "longformer": {"attention_window": (2, 2, 8, 8, 3, [4, 4], [2, 4])},
    "squeezebert": {
        **{"hidden_size": (12, 12, 24), "embedding_size": (12, 12, 24), "q_groups": (1, 2, 3), "k_groups": (1, 4)},
        **{"v_groups": (2, 3), "post_attention_groups": (1, 2), "intermediate_groups": (1, 2), "output_groups": (1, 2, 5)},
        **{"intermediate_size": (10, 16)},
    },
    "eurobert": {"num_key_value_heads": (1, 2, None)},
}


def drawn(chance: random.Random, family: str) -> tuple[str, dict[str, Any]]:
    """A class of the family, and a config with some of the keys given."""
    sizes = {"vocab_size": SIZES["vocab_size"]} if family == "funnel" else SIZES  # whose other sizes have names of their own
    config = {key: chance.choice(values) for key, values in (sizes | OWN.get(family, {})).items()}
    own = guest("transformers").AutoConfig.for_model(family)
    own_sizes = ("num_hidden_layers", "layer_norm_eps") if family == "funnel" else ()
    given = chance.sample([key for key in OTHER if hasattr(own, key) and key not in own_sizes], min(4, 4 - len(own_sizes)))
    segments = {"type_vocab_size": 2} if hasattr(own, "type_vocab_size") else {}
    config |= {**segments, "pad_token_id": 0} | ({} if family == "funnel" else {"num_hidden_layers": 2})
    config |= {key: chance.choice(OTHER[key]) for key in given}
    return chance.choice(list(FAMILIES[family].classes)), config


def counts(family: str, name: str, config: dict[str, Any]) -> tuple[int | None, int | None]:
    """Our count and that of transformers; None where one of them refuses."""
    torch, transformers = guest("torch"), guest("transformers")
    model_class = class_of(transformers, name)
    try:
        with torch.device("meta"):
            made = model_class.config_class(**config)
            theirs = sum(parameter.numel() for parameter in model_class(made).parameters())
    except Exception:
        theirs = None
    try:
        written = made.to_dict() if theirs is not None else {**config, "model_type": family}
        ours = sum(parameter.size for parameter in build(from_config(written, as_class=name).spec, t=4).parameters)
    except GlassformerError as error:
        assert "\n" not in str(error)
        ours = None
    return ours, theirs


def tried(family: str, times: int) -> int:
    """Compare so many configs; return how many both count."""
    chance, both = random.Random(family), 0
    for _ in range(times):
        name, config = drawn(chance, family)
        ours, theirs = counts(family, name, config)
        if ours is not None and theirs is not None:
            assert ours == theirs, (name, config)
            both += 1
    return both


@pytest.mark.parametrize("family", FAMILIES_TRIED)
def test_no_random_config_has_another_count_than_in_transformers(family):
    assert tried(family, 25) > 8


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES_TRIED)
def test_no_random_config_of_a_thousand_has_another_count_than_in_transformers(family):
    assert tried(family, 1000) > 300
